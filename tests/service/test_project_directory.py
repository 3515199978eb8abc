"""The service checks a session's directory, whoever asks for the session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from holdfast.errors import UnusablePath
from holdfast.model.config import SessionConfig
from holdfast.service.debugger import Debugger
from holdfast.service.programs.project_directory import resolve_settings


def test_a_session_in_a_missing_directory_is_not_opened(tmp_path: Path) -> None:
    async def open_session() -> None:
        debugger = await Debugger.open(tmp_path, trusted=lambda *_: True, pool_size=0)
        try:
            with pytest.raises(UnusablePath, match="no such directory"):
                await debugger.programs.open(SessionConfig(cwd=str(tmp_path / "missing")))
            assert debugger.programs.all() == []
        finally:
            await debugger.store.aclose()

    asyncio.run(open_session())


def test_a_directory_is_made_absolute_and_other_settings_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    absolute = str(tmp_path / "project")
    assert resolve_settings({"cwd": "project", "name": "a"}) == {"cwd": absolute, "name": "a"}
    assert resolve_settings({"cwd": "~/project"}) == {"cwd": absolute}
    assert resolve_settings({"cwd": None}) == {"cwd": None}
    assert resolve_settings({"name": "a"}) == {"name": "a"}
