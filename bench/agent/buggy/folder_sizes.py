"""Symptom: the tree has 136 kB, and its files add up to 111."""

from __future__ import annotations

from typing import Any

TREE: dict[str, Any] = {
    "docs": {"a.md": 10, "img": {"b.png": 40, "link": "src/main.py"}},
    "src": {"lib": {"util.py": 36, "test": {}}, "main.py": 25},
}


def find_file(tree: dict[str, Any], path: str) -> int:
    node: Any = tree
    for part in path.split("/"):
        node = node[part]
    return int(node)


def measure(node: Any) -> int:
    if isinstance(node, int):
        return node
    if isinstance(node, str):
        size = find_file(TREE, node)  # @bug
        return size
    size = 0
    for child in node.values():
        size += measure(child)
    return size


def report(tree: dict[str, Any]) -> str:
    parts = {name: measure(node) for name, node in tree.items()}
    total = sum(parts.values())
    return f"{total} kB in {len(parts)} folders"


def main() -> None:
    text = report(TREE)
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: size = 0
