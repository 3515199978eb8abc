"""Symptom: the client opens db2:5432, and the settings of the project say port 6543."""

from __future__ import annotations

from typing import Any

PROJECT = {"database": {"host": "db1", "port": 6543}, "log": {"level": "info"}}
MACHINE = {"database": {"host": "db2"}}


def merge(base: dict[str, Any], layer: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in layer.items():
        merged[name] = value  # @bug
    return merged


def load(layers: list[dict[str, Any]]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for layer in layers:
        settings = merge(settings, layer)
    return settings


def find_address(settings: dict[str, Any]) -> str:
    database = settings.get("database", {})
    host = database.get("host", "localhost")
    port = database.get("port", 5432)
    return f"{host}:{port}"


def connect(layers: list[dict[str, Any]]) -> str:
    settings = load(layers)
    address = find_address(settings)
    return f"postgres://{address}"


def main() -> None:
    url = connect([PROJECT, MACHINE])
    print(f"opens {url}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: known = merged.get(name)
# @fix: merged[name] = merge(known, value) if isinstance(known, dict) else value
