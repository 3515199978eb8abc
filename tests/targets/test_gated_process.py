"""A command that waits until its process is tagged: it is then started as any other."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.targets.program import warden
from holdfast.targets.program.gated_process import GatedProcess
from holdfast.targets.program.process_tags import Tags, tags_work


async def prepare(
    command: Sequence[str], out: int, env: dict[str, str] | None = None
) -> GatedProcess:
    tag = Tags().new()
    return await GatedProcess.start(
        command, cwd=None, env=env or {}, stdout=out, stderr=out, tag=tag
    )


def run(command: Sequence[str], file: Path, env: dict[str, str] | None = None) -> int:
    """The exit code; what it prints is in the file."""

    async def main() -> int:
        with file.open("wb") as out:
            gated = await prepare(command, out.fileno(), env)
        await gated.open()
        return await gated.process.wait()

    return asyncio.run(main())


@pytest.mark.parametrize("env", [{}, {"A": "b"}, {"LC_CTYPE": "C", "A.B": "\udcff"}])
def test_a_command_has_only_the_variables_that_it_is_given(
    tmp_path: Path, env: dict[str, str]
) -> None:
    assert run(["/usr/bin/env", "-0"], tmp_path / "out", env) == 0
    words = filter(None, (tmp_path / "out").read_bytes().split(b"\0"))
    assert sorted(words) == sorted(os.fsencode(f"{name}={value}") for name, value in env.items())


def test_a_broken_pipe_ends_a_command_as_it_does_elsewhere(tmp_path: Path) -> None:
    assert run(["/bin/sh", "-c", "kill -PIPE $$"], tmp_path / "out") == -13


def test_a_command_inherits_no_descriptor(tmp_path: Path) -> None:
    code = "import os; print(sorted(int(fd) for fd in os.listdir('/dev/fd'))[:4])"
    run([sys.executable, "-I", "-S", "-c", code], tmp_path / "out")
    assert (tmp_path / "out").read_text() == "[0, 1, 2, 3]\n"  # the last reads the directory


@pytest.mark.skipif(not tags_work(), reason="there are no tags here")
def test_it_is_tagged_before_it_is_let_go_on(tmp_path: Path) -> None:
    async def main() -> None:
        with (tmp_path / "out").open("wb") as out:
            gated = await prepare(["/bin/true"], out.fileno())
        tag = gated.process.tag
        assert tag is not None
        assert warden.tag_of(gated.process.pid) == tag
        await gated.open()
        await gated.process.wait()

    asyncio.run(main())


def test_a_command_that_is_not_let_go_on_never_runs(tmp_path: Path) -> None:
    async def main() -> int:
        with (tmp_path / "out").open("wb") as out:
            gated = await prepare(["/bin/echo", "ran"], out.fileno())
        gated.close()
        return await gated.process.wait()

    assert asyncio.run(main()) == 0
    assert (tmp_path / "out").read_text() == ""


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        run(["/no/such/command"], tmp_path / "out")
    assert caught.value.filename == "/no/such/command"
