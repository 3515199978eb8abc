"""Source files are read once a change, and only so many bytes of them are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.service.programs import source_files
from holdfast.service.programs.source_files import SourceFiles


def test_a_file_is_read_again_when_it_changed(tmp_path: Path) -> None:
    known, file = SourceFiles(), tmp_path / "a.py"
    file.write_text("x = 1\n")
    first = known.get(str(file))
    assert known.get(str(file)) is first
    file.write_text("x = 10\n")
    again = known.get(str(file))
    assert again is not None
    assert again.line(1) == "x = 10"


def test_the_oldest_go_when_there_are_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_files, "_MAX_TOTAL_BYTES", 2500)
    known = SourceFiles()
    files = [str(tmp_path / f"{name}.py") for name in "abc"]
    for file in files:
        Path(file).write_text("#" * 1000 + "\n")
    first, second, third = (known.get(file) for file in files)
    assert known.get(files[2]) is third
    assert known.get(files[1]) is second
    assert known.get(files[0]) is not first

    Path(files[0]).write_text("#" * 10_000 + "\n")
    huge = known.get(files[0])
    assert huge is not None
    assert known.get(files[0]) is huge  # however large, the one in use is kept
