"""Symptom: a form with an empty street is accepted."""

from __future__ import annotations

FIELDS = ("name", "street", "town")


def find_problem(name: str, value: str) -> str:
    if not value.strip():
        return f"{name} is empty"
    if len(value) > 40:
        return f"{name} is too long"
    return ""


def check_form(form: dict[str, str]) -> list[str]:
    problems: list[str] = []
    for name in FIELDS:
        problem = find_problem(name, form.get(name, ""))
        if not problem:
            return problems  # @bug
        problems.append(problem)
    return problems


def accept(form: dict[str, str]) -> str:
    problems = check_form(form)
    return "rejected" if problems else "accepted"


def main() -> None:
    state = accept({"name": "Ada", "street": "  ", "town": "Ulm"})
    print(f"form {state}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: continue
