"""Symptom: lee, with four people, gets the attic, which has one bed."""

from __future__ import annotations

ROOMS = {"garden": 2, "tower": 4, "attic": 1}


def list_free(plan: dict[str, str]) -> list[str]:
    return [room for room in ROOMS if room not in plan]


def assign(requests: list[tuple[str, int]]) -> dict[str, str]:
    plan: dict[str, str] = {}
    for guest, people in requests:
        room = "waiting list"
        for room in list_free(plan):
            if ROOMS[room] >= people:
                break
        plan[room] = guest  # @bug
    return plan


def find_place(plan: dict[str, str], wanted: str) -> str:
    for place, name in plan.items():
        if name == wanted:
            return place
    return "nowhere"


def describe(requests: list[tuple[str, int]], wanted: str) -> str:
    plan = assign(requests)
    place = find_place(plan, wanted)
    return f"{wanted}: {place}"


def main() -> None:
    text = describe([("ivo", 2), ("mara", 3), ("lee", 4)], "lee")
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: plan[room if ROOMS.get(room, 0) >= people else "waiting list"] = guest
