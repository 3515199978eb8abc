"""Symptom: the pay of 3200 is taxed with 12 percent, and its bracket says 20."""

from __future__ import annotations

BRACKETS = [(1000, 0), (2500, 12), (5000, 20), (9000, 31)]


def find_bracket(pay: int) -> int:
    index = 0
    while index < len(BRACKETS) and pay > BRACKETS[index][0]:
        index += 1
    return index


def find_percent(pay: int) -> int:
    index = find_bracket(pay)
    percent = BRACKETS[max(index - 1, 0)][1]  # @bug
    return percent


def compute_tax(pay: int) -> int:
    percent = find_percent(pay)
    return pay * percent // 100


def compute_net(pay: int, fees: int) -> int:
    tax = compute_tax(pay)
    net = pay - tax - fees
    return net


def build_slip(name: str, pay: int) -> dict[str, object]:
    fees = 15 if name.startswith("x") else 0
    net = compute_net(pay, fees)
    return {"name": name, "net": net}


def render_slip(name: str, pay: int) -> str:
    slip = build_slip(name, pay)
    return f"{slip['name']}: {slip['net']}"


def main() -> None:
    text = render_slip("kim", 3200)
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: percent = BRACKETS[min(index, len(BRACKETS) - 1)][1]
