"""No process outlives its owner while the owner lives: with real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from holdfast.targets.program import warden
from holdfast.targets.program.process_killer import kill_all
from holdfast.targets.program.process_spawner import Spawned, spawn
from holdfast.targets.program.process_tags import Tags, find_tagged, untag
from process_trees import (
    HEADLESS,
    LONER,
    POLITE,
    RUNAWAY,
    STOPPED,
    STUBBORN,
    TIMEOUT,
    TREE,
    TREE_SIZE,
    PidPipe,
    count_descriptors,
    is_running,
    run_limited,
    start_program,
)


@pytest.fixture
def line() -> Iterator[PidPipe]:
    line = PidPipe()
    yield line
    line.close()


def find_tagged_by(nonce: int) -> list[int]:
    """The living processes of every session of one server."""

    def belongs(pid: int) -> bool:
        tag = warden.tag_of(pid)
        return tag is not None and tag >> warden.COUNTER_BITS == nonce

    return warden.sweep(belongs)


async def exit_with(code: str) -> Spawned:
    return await spawn([sys.executable, "-I", "-S", "-c", f"import os; {code}"])


# -- starting and waiting ------------------------------------------------------------------------

ENDS = [("os._exit(0)", 0), ("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", -9)]


@pytest.mark.parametrize(("code", "expected"), ENDS)
def test_the_exit_code_tells_how_a_target_ended(code: str, expected: int) -> None:
    async def main() -> None:
        target = await exit_with(code)
        assert await asyncio.gather(*(target.wait() for _ in range(3))) == [expected] * 3
        assert await target.wait() == target.returncode == expected

    run_limited(main)


def test_waiting_works_without_pidfds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")

    async def main() -> None:
        target = await exit_with("os._exit(3)")
        assert await target.wait() == 3

    run_limited(main)


def test_waiting_and_killing_work_under_uvloop(line: PidPipe) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> None:
        target = await start_program(TREE, line, Tags().new())
        await asyncio.to_thread(line.read_pids, TREE_SIZE)
        assert await target.kill_tree() == []
        assert target.returncode == -signal.SIGKILL

    loop = uvloop.new_event_loop()
    try:
        loop.run_until_complete(asyncio.wait_for(main(), TIMEOUT))
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    line.wait_until_gone()


def test_twenty_targets_start_at_once() -> None:
    async def main() -> None:
        before = count_descriptors()
        targets = await asyncio.gather(*(exit_with(f"os._exit({n})") for n in range(20)))
        codes = await asyncio.gather(*(target.wait() for target in targets))
        assert codes == list(range(20))
        assert count_descriptors() == before

    run_limited(main)


@pytest.mark.parametrize("argv", [["no-such-program"], ["./no/such/program"]])
def test_a_missing_program_is_a_clean_error(argv: list[str]) -> None:
    async def main() -> None:
        await (await exit_with("os._exit(0)")).wait()  # the starter thread and its loop exist
        before = count_descriptors()
        with pytest.raises(FileNotFoundError):
            await spawn(argv)
        assert count_descriptors() == before

    run_limited(main)


def test_a_missing_directory_is_named() -> None:
    async def main() -> None:
        with pytest.raises(FileNotFoundError, match="no-such-directory"):
            await spawn([sys.executable, "-V"], cwd="no-such-directory")

    run_limited(main)


def test_pipes_are_the_callers_business() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="PIPE"):
            await spawn([sys.executable, "-V"], stdout=subprocess.PIPE)

    run_limited(main)


def test_a_start_that_is_cancelled_leaves_no_process(line: PidPipe) -> None:
    async def main() -> None:
        starting = asyncio.create_task(start_program(LONER, line, Tags().new()))
        await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await asyncio.to_thread(line.wait_until_gone)

    run_limited(main)


# -- tags ----------------------------------------------------------------------------------------


def test_a_tag_finds_the_whole_family_and_nobody_else(line: PidPipe) -> None:
    async def main() -> None:
        tags = Tags()
        one, other = tags.new(), tags.new()
        assert one is not None
        assert other is not None
        target = await start_program(TREE, line, one)
        stranger = await start_program(LONER, line, other)
        pids = set(await asyncio.to_thread(line.read_pids, TREE_SIZE + 1))
        assert set(find_tagged(one)) == pids - {stranger.pid}
        assert find_tagged(other) == [stranger.pid]
        assert set(find_tagged_by(tags.nonce)) == pids
        assert find_tagged_by(Tags().nonce) == []
        assert await target.kill_tree() == []
        assert find_tagged_by(tags.nonce) == [stranger.pid]
        untag(stranger.pid)
        assert find_tagged_by(tags.nonce) == []
        assert await stranger.kill_tree() == []

    run_limited(main)
    line.wait_until_gone()


def test_a_process_from_a_pool_takes_the_tag_of_its_session(line: PidPipe) -> None:
    async def main() -> None:
        tags = Tags()
        target = await start_program(LONER, line, tags.new())
        tag = tags.new()
        assert tag is not None
        target.retag(tag)
        assert find_tagged(tag) == [target.pid]
        await target.kill_tree()

    run_limited(main)


# -- ending --------------------------------------------------------------------------------------


@pytest.mark.parametrize("grace", [None, 0.2])
@pytest.mark.parametrize(
    ("program", "size"), [(TREE, TREE_SIZE), (STUBBORN, 1), (STOPPED, 1), (HEADLESS, 1)]
)
def test_killing_leaves_none(line: PidPipe, program: str, size: int, grace: float | None) -> None:
    async def main() -> None:
        tag = Tags().new()
        assert tag is not None
        target = await start_program(program, line, tag)
        await asyncio.to_thread(line.read_pids, size)
        before = count_descriptors()
        assert await kill_all(tag, target.pid, grace) == []
        assert find_tagged(tag) == []
        await target.wait()
        assert count_descriptors() < before  # at least its pidfd

    run_limited(main)
    line.wait_until_gone()


def test_a_process_that_forks_and_exits_all_the_time_does_not_run_away(line: PidPipe) -> None:
    async def main() -> None:
        target = await start_program(RUNAWAY, line, Tags().new())
        await target.wait()
        assert await target.kill_tree() == []
        await asyncio.to_thread(line.wait_until_gone)

    run_limited(main)


def test_a_target_may_end_by_itself_within_its_grace(line: PidPipe) -> None:
    async def main() -> None:
        target = await start_program(POLITE, line, Tags().new())
        (pid,) = await asyncio.to_thread(line.read_pids, 1)
        os.kill(pid, signal.SIGSTOP)
        assert await target.kill_tree(grace=TIMEOUT) == []
        assert target.returncode == 7

    run_limited(main)


def test_processes_left_behind_are_killed_after_their_leader_ended(line: PidPipe) -> None:
    async def main() -> None:
        target = await start_program(TREE, line, Tags().new())
        await asyncio.to_thread(line.read_pids, TREE_SIZE)
        os.kill(target.pid, signal.SIGKILL)
        await target.wait()
        assert await target.kill_tree() == []

    run_limited(main)
    line.wait_until_gone()


def test_without_tags_group_and_descendants_go(line: PidPipe) -> None:
    async def main() -> None:
        target = await start_program(TREE, line, None)
        pids = await asyncio.to_thread(line.read_pids, TREE_SIZE)
        assert await target.kill_tree() == []
        # Only the daemon escapes: nothing leads to it any more.
        assert len([pid for pid in pids if is_running(pid)]) == 1

    run_limited(main)


def test_our_own_group_is_never_killed() -> None:
    async def main() -> None:
        for group in (0, 1, os.getpgrp(), None):
            assert await kill_all(None, group) == []

    run_limited(main)
