"""The schema, as numbered steps. A step once released is never edited; add the next one."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from importlib import resources

_NAME = re.compile(r"(\d{4})_\w+\.sql")


@dataclass(frozen=True)
class Migration:
    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    steps = []
    for entry in resources.files(__name__).iterdir():
        if match := _NAME.fullmatch(entry.name):
            sql = entry.read_text(encoding="utf-8")
            steps.append(Migration(int(match[1]), entry.name, sql))
    return sorted(steps, key=lambda step: step.version)


def latest_version() -> int:
    return migrations()[-1].version


def version_of(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(connection: sqlite3.Connection, *, upto: int | None = None) -> None:
    """Apply the steps still missing, each in its own transaction together with its number."""
    present = version_of(connection)
    for step in migrations():
        if present < step.version and (upto is None or step.version <= upto):
            _apply(connection, step)


def _apply(connection: sqlite3.Connection, step: Migration) -> None:
    script = f"BEGIN IMMEDIATE;\n{step.sql}\nPRAGMA user_version = {step.version};\nCOMMIT;"
    try:
        connection.executescript(script)
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
