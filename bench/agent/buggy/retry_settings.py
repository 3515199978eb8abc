"""Symptom: the client waits for 90 seconds, although the file says 1.5 seconds, 3 times."""

from __future__ import annotations

DEFAULTS = {"timeout": 30.0, "retries": 2.0}
FILE = "timeout = 1.5s\nretries = 3\n"


def parse_lines(text: str) -> dict[str, str]:
    pairs = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        pairs[name.strip()] = value.strip()
    return pairs


def read_number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = DEFAULTS[name]  # @bug
    return number


def load(text: str) -> dict[str, float]:
    settings = dict(DEFAULTS)
    for name, value in parse_lines(text).items():
        settings[name] = read_number(name, value)
    return settings


def plan_wait(settings: dict[str, float]) -> float:
    return settings["timeout"] * settings["retries"]


def main() -> None:
    settings = load(FILE)
    wait = plan_wait(settings)
    print(f"waits {wait} s")  # @symptom


if __name__ == "__main__":
    main()

# @fix: number = float(text.rstrip("s"))
