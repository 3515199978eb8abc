"""Symptom: eve, whose plan allows no uploads, uploads 4 files."""

from __future__ import annotations

PLANS: dict[str, dict[str, int]] = {
    "team": {"uploads": 50, "seats": 8},
    "free": {"uploads": 3},
    "frozen": {"uploads": 0},
    "trial": {"seats": 1},
}
USERS = {"ann": "team", "bob": "free", "eve": "frozen"}
USUAL = 10


def find_limit(user: str) -> int:
    plan = PLANS[USERS[user]]
    limit = plan.get("uploads") or USUAL  # @bug
    return limit


def count_left(user: str, used: int) -> int:
    left = find_limit(user) - used
    return max(left, 0)


def upload(user: str, used: int, files: int) -> int:
    left = count_left(user, used)
    return min(left, files)


def main() -> None:
    uploaded = {}
    for user in USERS:
        uploaded[user] = upload(user, 1, 4)
    stored = uploaded["eve"]
    print(f"eve uploads {stored} files")  # @symptom


if __name__ == "__main__":
    main()

# @fix: limit = plan.get("uploads", USUAL)
