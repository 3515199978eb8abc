"""`except*`, from Python 3.11 on."""


def split(errors):
    seen = []
    try:
        raise ExceptionGroup("several", errors)
    except* ValueError as group:
        seen.append(len(group.exceptions))
    except* (KeyError, TypeError) as group:
        seen.append("others")
        for error in group.exceptions:
            seen.append(type(error).__name__)
    finally:
        seen.append("end")
    return seen


def main():
    print(split([ValueError(1), ValueError(2)]), split([KeyError(1), ValueError(2)]))
    try:
        split([OSError(1)])
    except ExceptionGroup as group:
        print(group)


main()
