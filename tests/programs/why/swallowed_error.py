"""A setting that cannot be converted, and an error that nobody sees."""

DEFAULTS = {"timeout": 30, "retries": 3}


def convert(text):
    return int(text)


def load(raw):
    settings = dict(DEFAULTS)
    for key, text in raw.items():
        try:
            settings[key] = convert(text)
        except Exception:  # @bug
            pass
    return settings


def plan(settings):
    return settings["timeout"] * settings["retries"]


def main():
    settings = load({"timeout": "1.5", "retries": "4"})
    budget = plan(settings)
    print(budget)  # @why budget


main()
