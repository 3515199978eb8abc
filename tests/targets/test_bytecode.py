"""Bytecode that a full disk, or a machine that went down, left half written stops no launch."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.targets.program import launcher


def _start_interpreter(cache: Path, largest: int = resource.RLIM_INFINITY) -> dict[str, Any]:
    """What an interpreter says that keeps its bytecode there, in files of at most that size."""

    async def arm() -> dict[str, Any]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))
        env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        try:
            target = await launcher.arm(
                sys.executable, cwd="/", env=env, tag=None, request_timeout=60
            )
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        try:
            return dict(await target.read_hello(60))
        finally:
            await target.kill()

    return asyncio.run(arm())


def _list_cached(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.pyc"))


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    assert _start_interpreter(tmp_path, largest=4096)["pid"]
    assert [each for each in _list_cached(tmp_path) if each.stat().st_size == 4096] == []

    assert _start_interpreter(tmp_path)["pid"]
    assert max(each.stat().st_size for each in _list_cached(tmp_path)) > 4096


@pytest.mark.slow
def test_damaged_bytecode_of_the_debugger_is_made_anew(tmp_path: Path) -> None:
    _start_interpreter(tmp_path)
    [damaged] = [each for each in _list_cached(tmp_path) if "net_command_json." in each.name]
    whole = damaged.stat().st_size
    os.truncate(damaged, whole // 2)

    assert _start_interpreter(tmp_path)["pid"]

    assert damaged.stat().st_size > whole // 2


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the probe without bytecode."""
    copy = tmp_path / "probe"
    shutil.copytree(launcher.PROBE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(launcher, "PROBE", copy)
    return copy


@pytest.mark.parametrize("place", ["beside", "elsewhere"])
def test_damaged_bytecode_of_the_probe_is_made_anew(
    tmp_path: Path, probe: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = probe
    if place == "elsewhere":
        cache = tmp_path / "bytecode"
        monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(cache))
    _start_interpreter(tmp_path)
    written = [each for each in _list_cached(cache) if each.parts[-2] in ("probe", "__pycache__")]
    assert "__init__" in {each.name.partition(".")[0] for each in written}
    for each in written:
        os.truncate(each, each.stat().st_size // 2)

    assert _start_interpreter(tmp_path)["pid"]


def test_a_child_that_cannot_load_the_probe_runs_as_without_a_debugger(probe: Path) -> None:
    (probe / "program_runner.py").unlink()
    join = [sys.executable, str(probe / "boot.py"), "--join", "1", launcher.DEBUGPY]

    ran = subprocess.run(
        [*join, "-c", "print('plain')"], capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "plain\n", "")


# -- whose the cache is ---------------------------------------------------------------------------


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.slow
def test_the_cache_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert _start_interpreter(tmp_path / "caches")["pid"]
    finally:
        os.umask(before)
    assert _mode(tmp_path / "caches" / "holdfast") == 0o700
    assert _list_cached(tmp_path)


@pytest.mark.slow
def test_bytecode_that_others_could_have_written_is_deleted(tmp_path: Path) -> None:
    planted = tmp_path / "holdfast" / "pycache" / "planted.pyc"
    planted.parent.mkdir(parents=True)
    planted.write_bytes(b"")
    planted.parents[1].chmod(0o777)
    assert _start_interpreter(tmp_path)["pid"]
    assert not planted.exists()
    assert _mode(tmp_path / "holdfast") == 0o700
    assert _list_cached(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_a_cache_of_another_user_is_neither_read_nor_written(tmp_path: Path) -> None:
    assert _start_interpreter(tmp_path)["pid"]
    written = _list_cached(tmp_path)
    for file in written:  # of the right name, and with an error that loading it would raise
        file.write_bytes(file.read_bytes()[:16] + b"nonsense")
    os.chown(tmp_path / "holdfast", 65534, 65534)
    before = [file.stat().st_mtime_ns for file in written]
    assert _start_interpreter(tmp_path)["pid"]
    assert [file.stat().st_mtime_ns for file in _list_cached(tmp_path)] == before
