"""How an agent looks for a bug with the other servers: several fixed rules, the best one counts.

The rules are the same for both; each server follows them with its own tools. One of them can log
without stopping, so that it has one more rule.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import anyio

from bench.agent.investigation import Investigation, Policy
from bench.agent.mcp_driver import Conversation
from bench.agent.peers import install_dap_mcp
from bench.agent.source_reading import Function, Reading

_POLL, _PATIENCE = 0.02, 60.0
_SHOW_LOCALS = "' '.join(k + '=' + repr(v)[:60] for k, v in locals().items())"


@dataclass(frozen=True)
class Stop:
    """Where the program stands."""

    function: str
    line: int


class Debugger(Protocol):
    """One server's tools. What moves the program answers with the stop and its variables."""

    def __init__(self, agent: Investigation) -> None: ...
    async def break_at(self, line: int, condition: str | None = None) -> None: ...
    async def launch(self) -> Stop | None: ...
    async def step_into(self) -> Stop | None: ...
    async def step_over(self) -> Stop | None: ...
    async def resume(self) -> Stop | None: ...
    @staticmethod
    async def reset(agent: Conversation) -> None:
        """End what runs, and forget its breakpoints."""


# -- the rules -------------------------------------------------------------------------------------


async def step_from_symptom(kind: type[Debugger], agent: Investigation) -> None:
    """From the first line of the symptom's function, into everything."""
    await _step_from(kind(agent), agent.reading.symptom.first_line)


async def step_from_producer(kind: type[Debugger], agent: Investigation) -> None:
    """From the first line of the function that the symptom's value comes from."""
    order = agent.reading.order_functions()
    await _step_from(kind(agent), order[1].first_line)


async def look_at_returns(kind: type[Debugger], agent: Investigation) -> None:
    """A breakpoint wherever a function returns; look, and go on to the next."""
    debugger = kind(agent)
    for function in agent.reading.order_functions():
        for line in function.last_lines:
            await debugger.break_at(line)
    stop = await debugger.launch()
    while stop is not None:
        stop = await debugger.resume()


async def step_through_functions(kind: type[Debugger], agent: Investigation) -> None:
    """A breakpoint at the start of each function; step over its lines once, skip later calls."""
    debugger = kind(agent)
    waiting: dict[int, Function] = {}
    for function in agent.reading.order_functions():
        await debugger.break_at(function.first_line)
        waiting[function.first_line] = function
    stop = await debugger.launch()
    inside: list[Function] = []
    while stop is not None:
        if stop.line in waiting:
            inside.append(waiting.pop(stop.line))
        is_inside = any(stop.line in function.lines for function in inside)
        stop = await (debugger.step_over() if is_inside else debugger.resume())


async def look_at_crash(kind: type[Debugger], agent: Investigation) -> None:
    """Run until an exception stops it."""
    await kind(agent).launch()


async def step_where(line: int, kind: type[Debugger], agent: Investigation) -> None:
    """From the place where the symptom's condition holds, into everything."""
    await _step_from(kind(agent), line, agent.case.program.condition)


async def log_lines(agent: Investigation) -> None:
    """Log the variables at each line of a function, without stops: one function after the other."""
    for function in agent.reading.order_functions():
        condition = agent.reading.find_condition(function)
        debugger = McpDebugger(agent)
        for line in function.lines:
            await debugger.log_at(line, condition)
        await debugger.launch_logging()
        await debugger.close()


async def log_returns(agent: Investigation) -> None:
    """Log the variables wherever a function returns, without stops, all in one run."""
    debugger = McpDebugger(agent)
    for function in agent.reading.order_functions():
        condition = agent.reading.find_condition(function)
        for line in function.last_lines:
            await debugger.log_at(line, condition)
    await debugger.launch_logging()


async def _step_from(debugger: Debugger, line: int, condition: str | None = None) -> None:
    await debugger.break_at(line, condition)
    stop = await debugger.launch()
    while stop is not None:
        stop = await debugger.step_into()


def list_rules(kind: type[Debugger], reading: Reading, condition: str | None) -> dict[str, Policy]:
    """The rules by name. Those that end soon come first, for they are what others have to beat."""
    rules: dict[str, Policy] = {"crash": partial(look_at_crash, kind)}
    if condition is not None:
        for function, line in reading.find_places(condition):
            rules[f"where in {function.name}"] = partial(step_where, line, kind)
    rules["into, from the producer"] = partial(step_from_producer, kind)
    rules["into, from the symptom"] = partial(step_from_symptom, kind)
    rules["functions"] = partial(step_through_functions, kind)
    rules["returns"] = partial(look_at_returns, kind)
    if kind is McpDebugger:
        rules["logging, returns"] = log_returns
        rules["logging, lines"] = log_lines
    return rules


# -- the servers -----------------------------------------------------------------------------------


class DapMcp:
    """Each answer has the whole view: source, variables, frames, threads."""

    MOVES = frozenset({"launch", "next", "step_in", "step_out", "continue_execution"})
    _FRAME = re.compile(r"^ *\d+ -> (\S+)\tpath=[^\t]*\tline=(\d+)", re.MULTILINE)

    def __init__(self, agent: Investigation) -> None:
        self._agent = agent

    async def break_at(self, line: int, condition: str | None = None) -> None:
        more = {} if condition is None else {"condition": condition}
        await self._agent.ask("set_breakpoint", path=str(self._agent.case.path), line=line, **more)

    async def launch(self) -> Stop | None:
        return await self._move("launch")

    async def step_into(self) -> Stop | None:
        return await self._move("step_in")

    async def step_over(self) -> Stop | None:
        return await self._move("next")

    async def resume(self) -> Stop | None:
        return await self._move("continue_execution")

    @staticmethod
    async def reset(agent: Conversation) -> None:
        await agent.call("terminate")
        await agent.call("remove_all_breakpoints")

    async def _move(self, tool: str) -> Stop | None:
        frame = self._FRAME.search(str(await self._agent.ask(tool)))
        return None if frame is None else Stop(frame[1], int(frame[2]))


class McpDebugger:
    """Variables are a call of their own, and so is the session."""

    MOVES = frozenset({"start_debugging", "step_into", "step_over", "continue_execution"})

    def __init__(self, agent: Investigation) -> None:
        self._agent = agent
        self._session: dict[str, str] = {}

    async def break_at(self, line: int, condition: str | None = None) -> None:
        more = {} if condition is None else {"condition": condition}
        await self._set(line, **more)

    async def log_at(self, line: int, condition: str | None) -> None:
        more = {} if condition is None else {"condition": condition}
        await self._set(line, logMessage=f"line {line}: {{{_SHOW_LOCALS}}}", **more)

    async def launch(self) -> Stop | None:
        return await self._look(await self._start())

    async def launch_logging(self) -> None:
        """Run to the end, and read what was logged, page by page."""
        await self._start()
        await self._wait()
        page = await self._agent.ask("get_output", **self._session)
        while page.get("hasMore"):
            since = page["nextSince"]
            page = await self._agent.ask("get_output", **self._session, since=since)

    async def step_into(self) -> Stop | None:
        return await self._look(await self._agent.ask("step_into", **self._session))

    async def step_over(self) -> Stop | None:
        return await self._look(await self._agent.ask("step_over", **self._session))

    async def resume(self) -> Stop | None:
        await self._agent.ask("continue_execution", **self._session)
        return await self._look(await self._wait())

    async def close(self) -> None:
        await self._agent.ask_unseen("close_debug_session", **self._session)
        self._session = {}

    @staticmethod
    async def reset(agent: Conversation) -> None:
        for session in (await agent.call("list_debug_sessions"))["sessions"]:
            await agent.call("close_debug_session", sessionId=session["id"])

    async def _open(self) -> None:
        if not self._session:
            python = str(install_dap_mcp())
            options = {"language": "python", "executablePath": python}
            created = await self._agent.ask("create_debug_session", **options)
            self._session = {"sessionId": created["sessionId"]}

    async def _set(self, line: int, **more: str) -> None:
        await self._open()
        file = str(self._agent.case.path)
        await self._agent.ask("set_breakpoint", **self._session, file=file, line=line, **more)

    async def _start(self) -> Any:
        await self._open()
        path = str(self._agent.case.path)
        return await self._agent.ask("start_debugging", **self._session, scriptPath=path)

    async def _wait(self) -> Any:
        """Until it stands or has ended. An agent would be slower than this, so it costs nothing."""
        with anyio.fail_after(_PATIENCE):
            while True:
                listed = await self._agent.ask_unseen("list_debug_sessions")
                states = {each["id"]: each for each in listed["sessions"]}
                mine = states.get(self._session["sessionId"], {})
                if mine.get("state") != "running":
                    return mine
                await asyncio.sleep(_POLL)

    async def _look(self, answer: Any) -> Stop | None:
        if answer.get("state") == "running":
            answer = await self._wait()
        if answer.get("state") != "paused":
            return None
        seen = await self._agent.ask("get_local_variables", **self._session)
        frame = seen.get("frame")
        return None if frame is None else Stop(frame["name"], frame["line"])
