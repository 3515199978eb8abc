"""No process outlives its owner when the owner dies: small servers, killed in many ways."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.targets.program.process_spawner import Warden, spawn
from holdfast.targets.program.process_tags import Tags
from holdfast.targets.program.warden import write_to_log
from polling import wait_until
from process_trees import (
    LONER,
    RUNAWAY,
    TIMEOUT,
    TREE,
    TREE_SIZE,
    WAIT_TO_BEGIN,
    PidPipe,
    count_descriptors,
    is_running,
    run_limited,
    start_program,
)

# A server in small: argv is the descriptor, the program and how its target is to be started.
OWNER = """
import asyncio, os, sys
from holdfast.targets.program.process_spawner import Warden, spawn
from holdfast.targets.program.process_tags import Tags
out, program, manner = int(sys.argv[1]), sys.argv[2], sys.argv[3]
async def main():
    tags = Tags()
    warden = Warden(tags.nonce)
    await warden.start()
    argv = [sys.executable, "-c", program, str(out)]
    tag = None if manner == "by group" else tags.new()
    begin, go = os.pipe()
    target = await spawn(argv, stdin=begin, pass_fds=[out], tag=tag)
    os.close(begin)
    os.close(go)
    warden.watch(target.pid)
    if manner == "detached":
        await asyncio.to_thread(sys.stdin.readline)
        await target.detach()
        warden.forget(target.pid)
    if manner == "forked" and not os.fork():
        os.close(out)
        os.read(0, 1)
        os._exit(0)
    print(warden.pid, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await warden.close()
asyncio.run(main())
"""


@pytest.fixture
def line() -> Iterator[PidPipe]:
    line = PidPipe()
    yield line
    line.close()


class Owner:
    def __init__(self, line: PidPipe, program: str, manner: str = "tagged") -> None:
        argv = [sys.executable, "-c", OWNER, str(line.theirs), WAIT_TO_BEGIN + program, manner]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, pass_fds=[line.theirs])

    def say(self, text: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def warden(self) -> int:
        """A pidfd of its warden, once all is in place and it heeds no polite signal."""
        assert self.process.stdout is not None
        pid = int(self.process.stdout.readline())
        wait_until(lambda: ignored_signals(pid) & 1 << signal.SIGHUP - 1, pause=0.001)
        return os.pidfd_open(pid)

    def __enter__(self) -> Owner:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def ignored_signals(pid: int) -> int:
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1], 16) for line in file if line.startswith("SigIgn"))


def wait_for_end(pidfd: int) -> None:
    ready, _, _ = select.select([pidfd], [], [], TIMEOUT)
    os.close(pidfd)
    assert ready


def test_a_runaway_does_not_outlive_its_server(line: PidPipe) -> None:
    with Owner(line, RUNAWAY) as owner:
        warden = owner.warden()
        line.read_pids(1)
        owner.process.kill()
        line.wait_until_gone()
        wait_for_end(warden)


@pytest.mark.parametrize("deadly", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_server_that_dies_takes_its_targets_along(line: PidPipe, deadly: signal.Signals) -> None:
    with Owner(line, TREE) as owner:
        warden = owner.warden()
        line.read_pids(TREE_SIZE)
        owner.process.send_signal(deadly)
        line.wait_until_gone()
        wait_for_end(warden)


def test_a_warden_ends_groups_where_there_are_no_tags(line: PidPipe) -> None:
    with Owner(line, LONER, "by group") as owner:
        warden = owner.warden()
        line.read_pids(1)
        owner.process.kill()
        line.wait_until_gone()
        wait_for_end(warden)


def test_a_server_that_closes_in_order_leaves_none(line: PidPipe) -> None:
    with Owner(line, TREE) as owner:
        warden = owner.warden()
        line.read_pids(TREE_SIZE)
        owner.process.communicate(timeout=TIMEOUT)
        assert owner.process.returncode == 0
        line.wait_until_gone()
        wait_for_end(warden)


def test_a_detached_family_outlives_its_server(line: PidPipe) -> None:
    with Owner(line, TREE, "detached") as owner:
        pids = line.read_pids(TREE_SIZE)
        owner.say(b"detach\n")
        warden = owner.warden()
        owner.process.kill()
        wait_for_end(warden)
        assert all(is_running(pid) for pid in pids)


def test_a_fork_of_the_server_does_not_hold_the_warden_back(line: PidPipe) -> None:
    with Owner(line, LONER, "forked") as owner:
        warden = owner.warden()
        line.read_pids(1)
        owner.process.kill()
        line.wait_until_gone()
        wait_for_end(warden)


def test_a_server_inside_a_target_takes_its_own_targets_along(line: PidPipe) -> None:
    async def main() -> None:
        argv = [sys.executable, "-c", OWNER, str(line.theirs), LONER, "tagged"]
        keep, stdin = os.pipe()
        server = await spawn(argv, stdin=keep, pass_fds=[line.theirs], tag=Tags().new())
        os.close(keep)
        await asyncio.to_thread(line.read_pids, 1)
        assert await server.kill_tree() == []
        await asyncio.to_thread(line.wait_until_gone)
        os.close(stdin)

    run_limited(main)


def wait_for_another(warden: Warden, pid: int) -> None:
    wait_until(lambda: warden.pid != pid, "another warden")


def test_a_killed_warden_has_a_successor_that_knows_the_groups(line: PidPipe) -> None:
    async def main() -> None:
        warden = Warden(Tags().nonce)
        await warden.start()
        target = await start_program(LONER, line, None)
        await asyncio.to_thread(line.read_pids, 1)
        warden.watch(target.pid)
        first = warden.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await asyncio.to_thread(wait_for_another, warden, first)
        assert target.returncode is None
        await warden.close()
        assert await target.wait() == -signal.SIGKILL

    run_limited(main)


def test_a_warden_shrugs_off_polite_signals(line: PidPipe) -> None:
    with Owner(line, LONER) as owner:
        warden = owner.warden()
        line.read_pids(1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.pidfd_send_signal(warden, number)
        owner.process.kill()
        line.wait_until_gone()
        wait_for_end(warden)


def test_a_closed_warden_leaves_no_descriptor() -> None:
    async def main() -> None:
        await (await spawn([sys.executable, "-V"])).wait()
        before = count_descriptors()
        warden = Warden(Tags().nonce)
        await warden.start()
        warden.watch(2**22 + 1)
        warden.forget(2**22 + 1)
        await warden.close()
        await warden.close()
        assert count_descriptors() == before

    run_limited(main)


def test_a_line_for_the_log_of_a_server_is_added_to_its_end(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with open(log, "wb") as file:
        file.write(b"Holdfast is at http://127.0.0.1:5000\n")
        file.flush()
        server = subprocess.Popen(["sleep", "60"], stderr=file)
    try:
        write_to_log(server.pid, b"the last line\n")
    finally:
        server.kill()
        server.wait()
    assert log.read_bytes() == b"Holdfast is at http://127.0.0.1:5000\nthe last line\n"
