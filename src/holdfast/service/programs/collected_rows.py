"""What an experiment has collected: a row for each hit, and what is to be said of the run."""

from __future__ import annotations

from holdfast.targets.program.target import CollectedRow

_MAX_ROWS = 10_000


class CollectedRows:
    """The rows of one run, the first ones, and how many hits there were."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.expressions: tuple[str, ...] = ()
        self.rows: list[CollectedRow] = []
        self.hits = 0
        self.remarks: list[str] = []
        self._shown = 0

    def add(self, row: CollectedRow) -> None:
        self.hits = max(self.hits, row["hit"])
        if len(self.rows) < _MAX_ROWS:
            self.rows.append(row)

    def list_new(self) -> list[CollectedRow]:
        """Those that no report has shown yet."""
        return self.rows[self._shown :]

    def note_shown(self) -> None:
        """A report has shown all there is."""
        self._shown = len(self.rows)
        self.remarks = []
