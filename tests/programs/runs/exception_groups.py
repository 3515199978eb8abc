"""`except*`, from Python 3.11 on."""


def handle(errors):
    seen = []
    try:
        raise ExceptionGroup("several", errors)
    except* ValueError as group:
        seen.append(len(group.exceptions))
    except* TypeError:
        seen.append("type")
    return seen


handle([ValueError(1), ValueError(2)])
handle([TypeError(1), ValueError(2)])
