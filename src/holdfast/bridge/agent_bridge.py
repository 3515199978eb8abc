"""The bridge: one agent session, from `start` to its end."""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
import random
import sys
import threading
import time
import uuid
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, overload

from holdfast.bridge import flow_driver, flows, function_wrappers, state_snapshot
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.bridge_errors import Diverged
from holdfast.bridge.command_listener import Listener
from holdfast.bridge.loop_control import Control
from holdfast.bridge.model_request import Lane
from holdfast.bridge.recorded_values import Values, message, safe_repr
from holdfast.bridge.redaction import Redaction
from holdfast.bridge.replay_tape import FULL, ReplayTape
from holdfast.bridge.server_registration import Registration
from holdfast.model.agent_events import MAIN, TOOL_CALL_START, EventData, SessionStart
from holdfast.recording import liveness, retention, session_index
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory, SessionMetadata
from holdfast.recording.event_writer import EventWriter
from holdfast.recording.recording_state import (
    RecordedCall,
    RecordedStop,
    RecordingState,
    read_events,
)
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

logger = logging.getLogger("holdfast")

_lane: ContextVar[str] = ContextVar("holdfast_lane", default=MAIN)
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Bridge:
    def __init__(
        self,
        name: str,
        home: SessionDirectory | None,
        *,
        redact: bool | Sequence[str] = True,
        provider: str | None = None,
        model: str | None = None,
        tape: ReplayTape | None = None,
        parent: str | None = None,
    ) -> None:
        self.name = name
        self.home = home
        self.tape = tape
        self.iteration = 0
        self.tokens = 0
        self.provider, self.model_name = provider, model
        self._lock = threading.Lock()
        self._lanes: dict[str, Lane] = {}
        self._tools = 0
        self._tool_names: dict[str, None] = {}
        self._runs: list[Run] = []
        self.is_over = False
        self._has_diverged = False
        self._journal: EventWriter | None = None
        self._listener: Listener | None = None
        self.control = Control(self)
        self.control.when_held(lambda: self.apply_settings(MAIN))
        contents = None if home is None else ContentFiles(home.contents)
        self.values = Values(contents, Redaction(redact))
        if home is not None:
            self._open(home, parent)

    # -- its life --------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return "" if self.home is None else self.home.id

    @property
    def directory(self) -> Path | None:
        return None if self.home is None else self.home.path

    def _open(self, home: SessionDirectory, parent: str | None) -> None:
        is_reopened = self._resume(home)
        self._journal = EventWriter(home.events, home.id, home.agents.server_bell)
        about: SessionMetadata = {
            "id": home.id,
            "name": self.name,
            "pid": os.getpid(),
            "startTime": agent_lines.format_timestamp(time.time()),
            "cwd": os.getcwd(),
            "argv": self.raw(self.values.cleaned([sys.executable, *sys.orig_argv[1:]])),
            "provider": self.provider,
            "model": self.model_name,
            "status": "running",
        }
        started: SessionStart = {
            "name": about["name"],
            "pid": about["pid"],
            "cwd": about["cwd"],
            "provider": self.provider,
            "model": self.model_name,
        }
        if run := os.environ.get("HOLDFAST_REPLAY_RUN"):
            about["replayRun"] = run  # by which whoever started it finds its session
        if self.tape is not None:
            about["replayOf"] = started["replayOf"] = self.tape.home.id
            about["mode"] = started["mode"] = self.tape.mode
            if self.tape.fork_at is not None:
                about["forkAt"] = started["forkAt"] = self.tape.fork_at
                about["parent"] = started["parent"] = self.tape.home.id
        if parent is not None:
            about["parent"] = started["parent"] = parent
        if is_reopened:
            started["reopened"] = True
        self._about = about
        self._described()
        _survive(lambda: home.agents.set_current(home))
        _survive(lambda: session_index.register(home, about))
        with contextlib.suppress(OSError):
            os.close(os.open(home.commands, os.O_WRONLY | os.O_CREAT, 0o600))
        self.emit("session_start", **started)
        if self.tape is not None and self.tape.fork_at is not None:
            self._warn_of_side_effects(self.tape)
        self._listener = Listener(home, self.control, self._look)
        self._listener.start()
        self._registration = Registration(home)
        threading.Thread(target=self._tidy, name="holdfast-tidy", daemon=True).start()

    def _resume(self, home: SessionDirectory) -> bool:
        """Go on with a session that was there before; whether it was.

        Its commands are not executed again, and its numbers are not given again.
        """
        state, last_stop = RecordingState(keeps_messages=False), 0
        for event in read_events(Tail(home.events)):
            changed = state.take(event)
            if isinstance(changed, RecordedStop):
                last_stop = max(last_stop, changed.number)
            if "commandId" in event["data"]:
                self.control.executed.add(str(event["data"]["commandId"]))
        self.iteration = state.last_iteration
        self._tools = state.counts.types[TOOL_CALL_START]
        self.control.begin_at(last_stop + 1)
        return home.events.exists() and home.events.stat().st_size > 0

    def _described(self) -> None:
        if self.home is not None:
            home, about = self.home, self._about
            _survive(lambda: home.write_metadata(about))

    def _tidy(self) -> None:
        """What need not be done before the agent begins."""
        assert self.home is not None
        _survive(lambda: session_index.remove_dead(self.home.agents) if self.home else None)
        _survive(lambda: retention.prune(self.home.agents) if self.home else None)
        self._registration.keep(lambda: self.is_over)

    def _warn_of_side_effects(self, tape: ReplayTape) -> None:
        if tools := tape.side_effects():
            what = "is not done again" if tape.mode == FULL else "is done once more"
            said = (
                f"the first {tape.fork_at} iterations come from the recording: what "
                f"{', '.join(tools)} did then {what}"
            )
            if "HOLDFAST_REPLAY_RUN" not in os.environ:  # who started it has said so already
                logger.warning("%s", said)
            self.emit("error", message=said, context="fork", warning=True, tools=tools)

    def close(self, reason: str = "closed") -> None:
        """End the session: its recording stays."""
        with self._lock:
            if self.is_over:
                return
            self.is_over = True
        if self.home is None or self._journal is None:
            return
        self.control.run_ended()
        if self._listener is not None:
            self._listener.stop()
        self.control.close()
        self._say_what_is_left()
        self.emit("session_end", reason=reason)
        self._about["status"], self._about["reason"] = "ended", reason
        self._about["endTime"] = agent_lines.format_timestamp(time.time())
        self._described()
        home = self.home
        _survive(lambda: session_index.unregister(home))
        self._journal.close()
        liveness.release(home.lock)

    def _say_what_is_left(self) -> None:
        """A replay that ends before its recording does has diverged, too."""
        if self.tape is None or self.tape.fork_at is not None or self._has_diverged:
            return
        if (call := self.tape.find_unplayed()) is not None:
            self._say_diverged(
                f"the agent ended, and the recording goes on with {call} of iteration "
                f"{call.iteration}",
                {"kind": call.kind, "name": call.name, "iteration": call.iteration},
            )

    def __enter__(self) -> Bridge:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close("closed" if error is None else "error")

    def forked(self) -> None:
        """In a child: the session is the parent's."""
        self._lock = threading.Lock()
        self.is_over = True
        self.control = Control(self)
        self._listener = None
        self.values.contents = None
        if self._journal is not None:
            self._journal.forked()
            self._journal = None

    # -- events ----------------------------------------------------------------------------------

    def emit(self, kind: str, /, **data: Any) -> int | None:
        """An event of any type."""
        if self._journal is None:
            return None
        text = self.values.cleaned(data)
        if len(text) > agent_lines.MAX_INLINE_CHARS:
            each = (f"{json.dumps(name)}:{self.values.text(value)}" for name, value in data.items())
            text = f"{{{','.join(each)}}}"
        return self._journal.append(kind, text)

    def write(self, kind: str, fields: str) -> None:
        """An event whose fields are JSON already."""
        if self._journal is not None:
            self._journal.append(kind, f"{{{fields}}}")

    def listen(self, hears: Callable[[int, str, float, str], None]) -> None:
        """`hears(seq, type, moment, data as JSON)` is told every event from now on."""
        if self._journal is not None:
            self._journal.listen(hears)

    @property
    def lost_events(self) -> int:
        return 0 if self._journal is None else self._journal.lost

    def error(self, message: str, **more: Any) -> None:
        """Something went wrong that the loop wants to have on record."""
        self.emit("error", message=message, **{"context": "agent", **more})

    # -- what the flows need ---------------------------------------------------------------------

    @staticmethod
    def raw(text: str) -> Any:
        return json.loads(text)

    def lane(self, name: str) -> Lane:
        found = self._lanes.get(name)
        return self._lanes.setdefault(name, Lane()) if found is None else found

    def next_iteration(self) -> int:
        with self._lock:
            self.iteration += 1
            return self.iteration

    def tool_id(self, given: str | None) -> str:
        with self._lock:
            self._tools += 1
            return given or f"tool-{self._tools}"

    def used(self, usage: Mapping[str, Any]) -> None:
        with self._lock:
            for name in ("inputTokens", "outputTokens"):
                if isinstance(usage.get(name), int):
                    self.tokens += usage[name]

    def asked(self, call: ModelCall) -> None:
        """Now it is known which model this is."""
        if self.model_name is None and call.model is not None:
            self.model_name, self.provider = call.model, call.provider or self.provider
            if self.home is not None and self._journal is not None:
                self._about["model"], self._about["provider"] = self.model_name, self.provider
                self._described()

    @property
    def replays_tools(self) -> bool:
        return self.tape is not None and self.tape.mode == FULL

    def recorded(
        self,
        kind: str,
        lane: str,
        name: str,
        key: str,
        asked: Callable[[], Any],
        iteration: int,
    ) -> RecordedCall | None:
        """The call of the recording that this one is; None when this one is live."""
        tape = self.tape
        if tape is None or not tape.covers(iteration):
            return None
        call = self._played(lambda: tape.take_call(kind, lane, name, key, asked, iteration))
        for data in tape.list_variables(call):
            self.set_variable(str(data.get("key")), data.get("value"), None, lane)
        if kind == "tool" and self.replays_tools:
            with self._lock:
                self.iteration += tape.count_models_inside(call)
        return call

    def outcome(self, call: RecordedCall, load: Callable[[Any], Any] | None = None) -> Any:
        """What a call of the recording gave, or raised."""
        assert self.tape is not None
        tape = self.tape
        return self._played(lambda: tape.replay_outcome(call, load))

    def _played(self, play: Callable[[], T]) -> T:
        try:
            return play()
        except Diverged as diverged:
            self._say_diverged(str(diverged), diverged.details)
            raise

    def _say_diverged(self, message: str, details: EventData) -> None:
        """Once: what comes after the first difference is only its consequence."""
        with self._lock:
            if self._has_diverged:
                return
            self._has_diverged = True
        self.emit("replay_diverged", message=message, **details)

    def apply_settings(self, lane: str) -> None:
        for each in self.control.taken_settings():
            self.set_variable(each.key, each.value, each.command_id, lane)

    def set_variable(self, key: str, value: Any, command_id: str | None, lane: str) -> None:
        found = self._with_vars()
        try:
            if found is not None and isinstance(found.vars, MutableMapping):
                found.vars[key] = value
            elif found is not None:
                setattr(found.vars, key, value)
        except Exception as problem:  # what belongs to the loop may refuse it
            said = {} if command_id is None else {"commandId": command_id, "status": "rejected"}
            why = f"{key} cannot be set: {safe_repr(problem)}"
            self.emit("error", message=why, context="set_variable", **said)
            return
        before: dict[str, Any] = {"iteration": self.iteration}
        if lane != MAIN:
            before["lane"] = lane
        said = {} if command_id is None else {"commandId": command_id}
        self.emit("variable_set", key=key, value=value, before=before, **said)
        if command_id is not None:
            self.emit("command_applied", commandId=command_id, type="set_variable")

    def can_set(self) -> bool:
        return self._with_vars() is not None

    def _with_vars(self) -> Run | None:
        return next((run for run in reversed(self._runs) if run.vars is not None), None)

    # -- what can be seen ------------------------------------------------------------------------

    def snapshot(self, what: str = "all") -> dict[str, Any]:
        run = self._runs[-1] if self._runs else None
        enabled = list(run.tools) if run is not None and run.tools else list(self._tool_names)
        found: dict[str, Any] = {
            "timestamp": agent_lines.format_timestamp(time.time()),
            "sessionId": self.id,
            "iteration": self.iteration,
            "paused": bool(self.control.stops),
        }
        messages = self._messages(run)
        if what in ("messages", "all"):
            found["messages"] = state_snapshot.of_messages(messages)
        if what in ("context", "all"):
            size = sum(len(self.values.cleaned(each)) for each in messages)
            limit, summary = (None, None) if run is None else (run.max_tokens, run.summary)
            found["context"] = state_snapshot.of_context(size, limit, summary)
        if what in ("tools", "all"):
            found["tools"] = {"enabled": enabled, "count": len(enabled)}
        found["provider"] = {"name": self.provider, "model": self.model_name}
        found["workingSet"] = list(run.working_set) if run is not None else []
        if what == "all":
            found["stops"] = [stop.about for stop in list(self.control.stops.values())]
            found["tokens"] = self.tokens
            with_vars = self._with_vars()
            if with_vars is not None:
                found["variables"] = state_snapshot.of_variables(with_vars.vars)
        return found

    def _messages(self, run: Run | None) -> list[Any]:
        """Those of a held model call, else those that the loop said are its own; as JSON."""
        for stop in list(self.control.stops.values()):
            if stop.call is not None:
                return [stop.call.shown(each) for each in list(stop.call.messages)]
        if run is not None and run.messages is not None:
            return list(run.messages)
        texts = next(iter(self._lanes.values())).texts if self._lanes else []
        return [json.loads(text) for text in texts]

    def _look(self) -> None:
        stops = list(self.control.stops)
        self.emit(
            "state_snapshot", paused=True, waiting="resume", iteration=self.iteration, stops=stops
        )

    # -- the loop --------------------------------------------------------------------------------

    def run(
        self,
        *,
        messages: list[Any] | None = None,
        vars: Any = None,  # noqa: A002 - the word that the loop's author would use
        tools: Sequence[str] | None = None,
        lane: str | None = None,
        max_tokens: int | None = None,
        summary: str | None = None,
        working_set: Sequence[str] = (),
    ) -> Run:
        """Marks the loop, and what of it may be inspected, injected into and set."""
        found = Run(self, messages, vars, list(tools or ()), lane or _lane.get())
        found.max_tokens, found.summary, found.working_set = max_tokens, summary, working_set
        return found

    @overload
    def tool(
        self, function: Callable[..., Any], *, name: str | None = None, pure: bool = False
    ) -> Any: ...

    @overload
    def tool(self, *, name: str | None = None, pure: bool = False) -> Callable[[F], F]: ...

    def tool(self, function: Any = None, *, name: str | None = None, pure: bool = False) -> Any:
        """Wraps a tool, sync or async. `pure` says that it changes nothing outside."""
        if function is None:
            return lambda found: self.tool(found, name=name, pure=pure)
        called = name or function_wrappers.name_of(function)
        self._tool_names[called] = None
        return function_wrappers.tool(self, function, called, pure)

    @overload
    def model(
        self,
        function: Callable[..., Any],
        *,
        model: str | None = None,
        provider: str | None = None,
    ) -> Any: ...

    @overload
    def model(
        self, *, model: str | None = None, provider: str | None = None
    ) -> Callable[[F], F]: ...

    def model(
        self, function: Any = None, *, model: str | None = None, provider: str | None = None
    ) -> Any:
        """Wraps the function that calls a model, sync or async, whole or streamed."""
        if function is None:
            return lambda found: self.model(found, model=model, provider=provider)
        return function_wrappers.model(
            self, function, model or self.model_name, provider or self.provider
        )

    def call_tool(self, call: ToolCall, function: Callable[[dict[str, Any]], T]) -> T:
        self._tool_names.setdefault(call.name)
        found: T = flow_driver.run(self, flows.tool(self, call), function)
        return found

    async def acall_tool(
        self, call: ToolCall, function: Callable[[dict[str, Any]], Awaitable[T]]
    ) -> T:
        self._tool_names.setdefault(call.name)
        found: T = await flow_driver.run_async(self, flows.tool(self, call), function)
        return found

    def call_model(self, call: ModelCall, function: Callable[[ModelCall], T]) -> T:
        found: T = flow_driver.run(self, flows.model(self, call), function)
        return found

    async def acall_model(
        self, call: ModelCall, function: Callable[[ModelCall], Awaitable[T]]
    ) -> T:
        found: T = await flow_driver.run_async(self, flows.model(self, call), function)
        return found

    def stream_model(
        self, call: ModelCall, function: Callable[[ModelCall], Iterator[T]]
    ) -> Iterator[T]:
        return flow_driver.stream(flows.model(self, call), function)

    def astream_model(
        self, call: ModelCall, function: Callable[[ModelCall], AsyncIterator[T]]
    ) -> AsyncIterator[T]:
        return flow_driver.stream_async(flows.model(self, call), function)

    @property
    def current_lane(self) -> str:
        return _lane.get()

    @property
    def current_messages(self) -> list[Any] | None:
        """Those of the innermost run that named any."""
        return next(
            (run.messages for run in reversed(self._runs) if run.messages is not None), None
        )

    # -- what would differ from run to run -------------------------------------------------------

    def value(self, name: str, make: Callable[[], T]) -> T:
        """`make()`, recorded; in a replay, what it was."""
        tape = self.tape
        if tape is not None and tape.covers(self.iteration):
            data = self._played(lambda: tape.take_value(self.current_lane, name))
            if data is not None:
                found: T = tape.restore_value(data)
                self._value(name, found)
                return found
        found = make()
        self._value(name, found)
        return found

    def _value(self, name: str, found: Any) -> None:
        fields = [f'"name":{json.dumps(name)}', self.values.recorded("value", found)]
        if self.current_lane != MAIN:
            fields.append(f'"lane":{json.dumps(self.current_lane)}')
        if (within := flow_driver.within.get()) is not None:
            fields.append(f'"within":{json.dumps(within)}')
        self.write("value_recorded", ",".join(fields))

    def time(self) -> float:
        return self.value("time", time.time)

    def now(self, zone: datetime.tzinfo | None = datetime.timezone.utc) -> datetime.datetime:
        return self.value("now", lambda: datetime.datetime.now(zone))

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(self.value("uuid4", lambda: str(uuid.uuid4())))

    def random(self) -> float:
        return self.value("random", random.random)

    def randint(self, low: int, high: int) -> int:
        return self.value("randint", lambda: random.randint(low, high))

    def choice(self, items: Sequence[T]) -> T:
        return items[self.value("choice", lambda: random.randrange(len(items)))]


class Run:
    """One run of the loop: `with dbg.run(messages=…, vars=…):`, or `async with`."""

    def __init__(
        self, bridge: Bridge, messages: list[Any] | None, given: Any, tools: list[str], lane: str
    ) -> None:
        self._bridge = bridge
        self.messages, self.vars, self.tools, self.lane = messages, given, tools, lane
        self.max_tokens: int | None = None
        self.summary: str | None = None
        self.working_set: Sequence[str] = ()

    def __enter__(self) -> Run:
        self._before = _lane.set(self.lane)
        self._bridge._runs.append(self)
        self._bridge.lane(self.lane).count = 0  # a conversation may begin anew
        self._bridge.emit("run_start", **self._lane())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        bridge = self._bridge
        with contextlib.suppress(ValueError):
            _lane.reset(self._before)
        if self in bridge._runs:
            bridge._runs.remove(self)
        if not bridge._runs:
            bridge.control.run_ended()
        said = self._lane()
        if error is not None:
            shown = message(error)
            said["error"] = {"type": type(error).__qualname__, "message": shown}
            if isinstance(error, Exception):
                bridge.error(shown, context="run", type=type(error).__qualname__)
        bridge.emit("run_end", isError=error is not None, iterations=bridge.iteration, **said)

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)

    def _lane(self) -> dict[str, Any]:
        return {} if self.lane == MAIN else {"lane": self.lane}


def _survive(work: Callable[[], object]) -> None:
    """Telemetry that fails is no reason for an agent to stop."""
    try:
        work()
    except (OSError, ValueError) as problem:
        logger.warning("the agent's files: %s", problem)
