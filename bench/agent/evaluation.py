"""What it takes to find a bug: calls and tokens until its cause is in evidence, for each server.

Holdfast is played by several policies, each of which is reported on its own. The other servers are
played by several rules each, and for every program the cheapest of them counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import anyio
import psutil
from mcp import MCPError

from bench.agent import evaluation_policies, peers
from bench.agent.buggy_programs import ALL_PROGRAMS, BuggyProgram, Case, prepare
from bench.agent.evaluation_peers import DapMcp, McpDebugger, list_rules
from bench.agent.investigation import MAX_CALLS, Finding, Investigation, Policy, follow
from bench.agent.mcp_driver import ServerCommand, converse
from bench.agent.source_reading import Reading

OURS = "Holdfast"
CHOSEN = f"{OURS}: {evaluation_policies.CHOSEN}"
DAP_MCP, MCP_DEBUGGER = "dap-mcp", "mcp-debugger"
QUICK = ("parcel_rates", "split_bill", "user_settings")
"""Programs for a quick look."""
_AT_ONCE = 4
"""Conversations at the same time: calls and bytes are counted, and no time is taken."""
_FAREWELL = 10.0


class Cost(NamedTuple):
    """What it took until the cause was in evidence."""

    calls: float
    tokens: float


@dataclass(frozen=True)
class Evaluation:
    """What every contender found, by contender and by program."""

    findings: dict[str, dict[str, Finding]]

    @property
    def programs(self) -> list[str]:
        return list(next(iter(self.findings.values())))

    @property
    def peers(self) -> list[str]:
        return [name for name in self.findings if not name.startswith(OURS)]

    def cost(self, contender: str, program: str) -> Cost:
        """What was not found costs all calls that are allowed, each of the usual size."""
        findings = self.findings[contender]
        if findings[program].found:
            return _read_cost(findings[program])
        spent = [_read_cost(finding) for finding in findings.values()]
        calls, tokens = (sum(column) for column in zip(*spent, strict=True))
        return Cost(MAX_CALLS, MAX_CALLS / max(calls, 1) * tokens)

    def select(self, programs: Sequence[BuggyProgram]) -> Evaluation | None:
        """The part about these programs."""
        names = [program.name for program in programs if program.name in self.programs]
        found = {
            contender: {name: findings[name] for name in names}
            for contender, findings in self.findings.items()
        }
        return Evaluation(found) if names else None


def _read_cost(finding: Finding) -> Cost:
    return Cost(finding.calls, finding.tokens)


def measure(*, has_peers: bool, programs: Sequence[BuggyProgram] = ALL_PROGRAMS) -> Evaluation:
    """Let every contender look for the bug in each program."""
    return asyncio.run(_measure(programs, _list_contenders(has_peers=has_peers)))


def select(*names: str) -> list[BuggyProgram]:
    return [program for program in ALL_PROGRAMS if program.name in names]


@contextlib.contextmanager
def _open_case(program: BuggyProgram) -> Iterator[Case]:
    """A copy in a folder of its own. What still runs there afterwards is ended."""
    with tempfile.TemporaryDirectory(prefix="holdfast-evaluation-") as folder:
        try:
            yield prepare(program, Path(folder))
        finally:
            _end_processes(folder)


def _end_processes(folder: str) -> None:
    """End programs of this folder: dap-mcp leaves the last one behind when it is closed."""
    for process in psutil.process_iter(["cmdline"]):
        if any(folder in word for word in process.info["cmdline"] or ()):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


@dataclass(frozen=True)
class _Contender:
    """A server with one policy of ours, or a peer with all its rules."""

    name: str
    policy: Policy | None = None


def _list_contenders(*, has_peers: bool) -> list[_Contender]:
    ours = [
        _Contender(f"{OURS}: {name}", policy)
        for name, policy in evaluation_policies.POLICIES.items()
    ]
    if not has_peers:
        return ours
    peers.install_dap_mcp()
    with_node = [] if peers.install_mcp_debugger() is None else [_Contender(MCP_DEBUGGER)]
    return [*ours, _Contender(DAP_MCP), *with_node]


async def _measure(programs: Sequence[BuggyProgram], contenders: list[_Contender]) -> Evaluation:
    limit = asyncio.Semaphore(_AT_ONCE)

    async def search(contender: _Contender, program: BuggyProgram) -> Finding:
        async with limit:
            with _open_case(program) as case:
                if contender.policy is not None:
                    return await _search_ours(contender, contender.policy, case)
                return await _search_peer(contender.name, case)

    pairs = [(contender, program) for contender in contenders for program in programs]
    findings = iter(await asyncio.gather(*(search(*pair) for pair in pairs)))
    return Evaluation(
        {
            contender.name: {program.name: next(findings) for program in programs}
            for contender in contenders
        }
    )


async def _search_ours(contender: _Contender, policy: Policy, case: Case) -> Finding:
    with tempfile.TemporaryDirectory(prefix="holdfast-evaluation-") as home:
        environment = {**os.environ, "HOLDFAST_HOME": home, "VIRTUAL_ENV": sys.prefix}
        arguments = ("-m", "holdfast", "mcp")
        command = ServerCommand(sys.executable, arguments, case.path.parent, environment)
        async with converse(command) as agent:
            investigation = Investigation(agent, case, evaluation_policies.MOVES)
            finding = await follow(policy, investigation, contender.name)
            await _clean_up(agent.call("debug_stop", session_id="all"))
            return finding


async def _search_peer(name: str, case: Case) -> Finding:
    """Play every rule, as long as it may beat the best one so far in calls or in tokens."""
    kind = DapMcp if name == DAP_MCP else McpDebugger
    waiting = list(list_rules(kind, Reading(case), case.program.condition).items())
    findings: list[Finding] = []
    while waiting:
        async with converse(_find_command(name, case)) as agent:
            is_usable = True
            while waiting and is_usable:
                rule, policy = waiting.pop(0)
                agent.calls.clear()
                investigation = Investigation(agent, case, kind.MOVES, _take_best(findings))
                findings.append(await follow(policy, investigation, rule))
                is_usable = await _clean_up(kind.reset(agent))
    return _take_best(findings) or max(findings, key=lambda finding: finding.calls)


def _take_best(findings: list[Finding]) -> Finding | None:
    """The fewest calls and the fewest bytes, even if they are those of different rules."""
    found = [finding for finding in findings if finding.found]
    if not found:
        return None
    best = min(found, key=lambda finding: finding.calls)
    return Finding(best.policy, True, best.calls, min(finding.bytes for finding in found))


def _find_command(name: str, case: Case) -> ServerCommand:
    command = (
        peers.dap_mcp_command(case.path, case.path.parent)
        if name == DAP_MCP
        else peers.mcp_debugger_command()
    )
    if command is None:
        raise RuntimeError(f"{name} is not installed")
    return command


async def _clean_up(reset: Awaitable[object]) -> bool:
    """End what runs, which is not counted. False if the server cannot, and has to go."""
    try:
        with anyio.fail_after(_FAREWELL):
            await reset
    except (RuntimeError, MCPError, TimeoutError):
        return False
    return True
