"""Symptom: the best score is 980, although someone has 1040."""

from __future__ import annotations

TABLE = "ann,312\nbea,1040\ncem,980\ndot,77\n"


def read_scores(text: str) -> list[tuple[str, str]]:
    scores = []
    for line in text.splitlines():
        name, points = line.split(",")
        scores.append((name, points))
    return scores


def find_best(scores: list[tuple[str, str]]) -> tuple[str, str]:
    winner, best = scores[0]
    for name, score in scores:
        if score > best:  # @bug
            winner, best = name, score
    return winner, best


def main() -> None:
    scores = read_scores(TABLE)
    winner, best = find_best(scores)
    print(f"{winner} has {best}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: if int(score) > int(best):
