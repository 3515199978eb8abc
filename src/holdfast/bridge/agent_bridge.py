"""The bridge: one agent session, from `start` to its end."""

from __future__ import annotations

import contextlib
import datetime
import itertools
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
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, overload

from holdfast.bridge import (
    flow_driver,
    flows,
    function_wrappers,
    initial_holds,
    process_parent,
    state_snapshot,
)
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.agent_run import Run
from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.bridge_errors import Diverged
from holdfast.bridge.command_executor import CommandExecutor
from holdfast.bridge.command_listener import Listener
from holdfast.bridge.initial_holds import NOT_ARMED, Arming
from holdfast.bridge.lanes import ActiveTool, LaneTable, Turn
from holdfast.bridge.loop_control import Control
from holdfast.bridge.model_prices import ModelPrices
from holdfast.bridge.project_file import Price
from holdfast.bridge.recorded_values import Values, safe_repr
from holdfast.bridge.redaction import Redaction
from holdfast.bridge.replay_tape import FULL, ReplayTape
from holdfast.bridge.server_registration import Registration
from holdfast.core.agent_rules import AgentRule
from holdfast.model.agent_commands import REJECTED
from holdfast.model.agent_events import (
    COMMAND_APPLIED,
    ERROR,
    MAIN,
    REPLAY_DIVERGED,
    SESSION_END,
    SESSION_START,
    STATE_SNAPSHOT,
    TOOL_CALL_END,
    TOOL_CALL_START,
    TOOL_RESULT,
    VALUE_RECORDED,
    VARIABLE_SET,
    VERSION,
    Error,
    Event,
    EventData,
    EventType,
    Fields,
    LaneSummary,
    SessionStart,
    ToolCallEnd,
    ToolResult,
    ValueRecorded,
    VariableSet,
    build_place,
)
from holdfast.recording import liveness, retention, session_index
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory, SessionMetadata
from holdfast.recording.event_writer import EventWriter
from holdfast.recording.failure_log import FailureLog
from holdfast.recording.message_summary import MessageRange
from holdfast.recording.recording_state import (
    RecordedCall,
    RecordedStop,
    RecordingState,
    read_events,
)
from holdfast.recording.regular_files import open_regular
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

logger = logging.getLogger("holdfast")

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
        started_by: str | None = None,
        rules: tuple[AgentRule, ...] = (),
        arming: Arming = NOT_ARMED,
        prices: Mapping[str, Price] | None = None,
    ) -> None:
        self.name = name
        self.home = home
        self.tape = tape
        self.tokens = 0
        self.prices = ModelPrices(prices or {})
        self.cost: float | None = None
        """What the calls of this process cost so far; None if no price is known."""
        self.provider, self.model_name = provider, model
        self._lock = threading.Lock()
        self.lanes = LaneTable(self.emit)
        self._tool_numbers = itertools.count(1)
        self.tool_names: dict[str, None] = {}
        self.runs: list[Run] = []
        self.is_over = False
        self._has_diverged = False
        self._has_announced = False
        self._journal: EventWriter | None = None
        self._listener: Listener | None = None
        self.control = Control(self)
        self.control.apply_settings = self.apply_settings
        self.commands = CommandExecutor(self.control)
        self.control.rules = rules
        if home is not None:  # without its files nobody could decide what is held
            self.control.holds_first = arming.first_call
            for point in arming.breakpoints:
                self.commands.add_breakpoint(point)
        contents = None if home is None else ContentFiles(home.contents)
        self._failures = FailureLog(self.id)
        self.values = Values(contents, Redaction(redact), self._failures)
        if home is not None:
            self._open(home, started_by)

    # -- its life --------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return "" if self.home is None else self.home.id

    @property
    def directory(self) -> Path | None:
        return None if self.home is None else self.home.path

    def _open(self, home: SessionDirectory, started_by: str | None) -> None:
        is_reopened = self._resume(home)
        self._journal = EventWriter(home.events, home.id, home.agents.server_bell, self._failures)
        about: SessionMetadata = {
            "id": home.id,
            "name": self.name,
            "pid": os.getpid(),
            "startTime": agent_lines.format_timestamp(time.time()),
            "cwd": os.getcwd(),
            "argv": self.parse(self.values.encode([sys.executable, *sys.orig_argv[1:]])),
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
            "version": VERSION,
        }
        if run := os.environ.get("HOLDFAST_REPLAY_RUN"):
            about["replayRun"] = run  # by which whoever started it finds its session
        if self.tape is not None:
            about["replayOf"] = started["replayOf"] = self.tape.home.id
            about["mode"] = started["mode"] = self.tape.mode
            if self.tape.fork_at is not None:
                about["forkAt"] = started["forkAt"] = self.tape.fork_at
                about["parent"] = started["parent"] = self.tape.home.id
                if self.tape.fork_lane != MAIN:
                    about["forkLane"] = started["forkLane"] = self.tape.fork_lane
                if self.tape.is_edited:
                    about["edited"] = started["edited"] = True
        if started_by is not None:
            about["startedBy"] = started["startedBy"] = started_by
            about["parent"] = started["parent"] = about.get("parent", started_by)
        self._describe_arming(about, started)
        if is_reopened:
            started["reopened"] = True
        self._about = about
        self._write_metadata()
        self._attempt(lambda: home.agents.set_current(home))
        self._attempt(lambda: session_index.register(home, about))
        with contextlib.suppress(OSError):
            os.close(open_regular(home.commands, os.O_RDWR | os.O_CREAT))
        self.emit(SESSION_START(started))
        if self.tape is not None and self.tape.fork_at is not None:
            self._warn_of_side_effects(self.tape)
        self._listener = Listener(home, self.control, self.commands, self._emit_snapshot)
        self._listener.start()
        self.control.can_be_asked = True
        self._registration = Registration(home)
        threading.Thread(
            target=self._run_background_work, name="holdfast-tidy", daemon=True
        ).start()

    def announce_rule_hold(self, stop: Stop) -> None:
        """Nobody may be watching: the first hold of a rule is said aloud."""
        with self._lock:
            is_first, self._has_announced = not self._has_announced, True
        if is_first:
            initial_holds.announce_hold(self.id, stop.id, f"{stop.at} {stop.about.get('name')}")

    def _describe_arming(self, about: SessionMetadata, started: SessionStart) -> None:
        """What holds the loop from its first call on."""
        control = self.control
        if control.rules:
            about["rules"] = [rule.to_json() for rule in control.rules]
            started["rules"] = list(about["rules"])
        if control.holds_first:
            started["hold"] = True
        if control.breakpoints:
            started["breakpoints"] = [point.to_json() for point in control.breakpoints.values()]

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
                self.commands.executed.add(str(event["data"]["commandId"]))
        for name, lane in state.lanes.items():
            known = self.lanes.get(name)
            known.iteration, known.parent, known.within = lane.iteration, lane.parent, lane.within
            known.has_begun = True
        self._tool_numbers = itertools.count(state.counts.types[TOOL_CALL_START] + 1)
        self.control.begin_at(last_stop + 1)
        return home.events.exists() and home.events.stat().st_size > 0

    def _write_metadata(self) -> None:
        if self.home is not None:
            home, about = self.home, self._about
            self._attempt(lambda: home.write_metadata(about))

    def _attempt(self, work: Callable[[], object]) -> None:
        """Telemetry that fails is no reason for an agent to stop."""
        try:
            work()
        except OSError as problem:
            self._failures.report("files", problem)
        except ValueError as problem:
            logger.warning("the agent's files: %s", problem)

    def note_edited(self) -> None:
        """Somebody changed something where a fork begins."""
        if self.home is not None and self._journal is not None:
            self._about["edited"] = True
            self._write_metadata()

    def _run_background_work(self) -> None:
        """What need not be done before the agent begins."""
        assert self.home is not None
        agents = self.home.agents
        self._attempt(lambda: session_index.remove_dead(agents))
        self._attempt(lambda: retention.prune(agents))
        self._registration.keep_registered(lambda: self.is_over)

    def _warn_of_side_effects(self, tape: ReplayTape) -> None:
        if tools := tape.list_side_effects():
            what = "is not done again" if tape.mode == FULL else "is done once more"
            message = (
                f"the first {tape.fork_at} iterations come from the recording: what "
                f"{', '.join(tools)} did then {what}"
            )
            if "HOLDFAST_REPLAY_RUN" not in os.environ:  # who started it has said so already
                logger.warning("%s", message)
            self.emit(ERROR({"message": message, "context": "fork"}), warning=True, tools=tools)

    def close(self, reason: str = "closed") -> None:
        """End the session: its recording stays."""
        with self._lock:
            if self.is_over:
                return
            self.is_over = True
        if self.home is None or self._journal is None:
            return
        self.control.end_run()
        if self._listener is not None:
            self._listener.stop()
        self.control.close()
        self._report_unplayed()
        self.emit(SESSION_END({"reason": reason}))
        self._about["status"], self._about["reason"] = "ended", reason
        self._about["endTime"] = agent_lines.format_timestamp(time.time())
        self._write_metadata()
        home = self.home
        process_parent.leave(home.id)
        self._attempt(lambda: session_index.unregister(home))
        self._journal.close()
        liveness.release(home.lock)

    def _report_unplayed(self) -> None:
        """A replay that ends before its recording does has diverged, too."""
        if self.tape is None or self.tape.fork_at is not None or self._has_diverged:
            return
        if (call := self.tape.find_unplayed()) is not None:
            self._report_divergence(
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

    def detach_child(self) -> None:
        """In a forked child: the session is the parent's."""
        self._lock = threading.Lock()
        self.is_over = True
        rules = self.control.rules
        self.control = Control(self)
        self.control.rules = rules  # what is denied stays denied
        self.commands = CommandExecutor(self.control)
        self._listener = None
        self.values.contents = None
        if self._journal is not None:
            self._journal.detach_child()
            self._journal = None

    # -- events ----------------------------------------------------------------------------------

    def emit(self, event: Event, /, **more: object) -> int | None:
        """Write an event, without secrets; `more` are fields that its type does not list."""
        if self._journal is None:
            return None
        kind, fields = event
        data = fields if not more and type(fields) is dict else {**fields, **more}
        text = self.values.encode(data)
        if len(text) > agent_lines.MAX_INLINE_CHARS:
            text = agent_lines.encode_fields(
                # A loop names its own fields as it likes.
                {
                    json.dumps(name)[1:-1]: self.values.encode_body(value)
                    for name, value in data.items()
                }
            )
        return self._journal.append_all(((kind, text),))

    def record(self, kind: EventType[Fields], fields: Fields) -> None:
        """Write an event of a call, whose bodies are `RawJson`: encoded, and without secrets."""
        if self._journal is not None:
            self._journal.append_all(((kind, agent_lines.encode_fields(fields)),))

    def record_result(self, given: ToolResult, ended: ToolCallEnd) -> None:
        """Write both events of a tool that has ended well, as `record` writes one."""
        if self._journal is not None:
            result, end = agent_lines.encode_fields(given), agent_lines.encode_fields(ended)
            self._journal.append_all(((TOOL_RESULT, result), (TOOL_CALL_END, end)))

    def listen(self, listener: Callable[[int, str, float, str], None]) -> None:
        """Call `listener(seq, type, time, data as JSON)` for every event from now on."""
        if self._journal is not None:
            self._journal.listen(listener)

    def error(self, message: str, **more: Any) -> None:
        """Record that something went wrong; `more` are fields of your own."""
        context = str(more.pop("context", "agent"))
        self.emit(ERROR({"message": message, "context": context}), **more)

    # -- what the flows need ---------------------------------------------------------------------

    parse = staticmethod(json.loads)

    @property
    def iteration(self) -> int:
        """The model calls so far, of the lane of this context."""
        return self.lanes.scope.lane.iteration

    def begin_turn(self, call: ModelCall) -> Turn:
        scope = self.lanes.find_for_model(call.lane)
        turn = self.lanes.begin_turn(scope)
        call.lane = scope.lane.name
        if self.tape is not None:
            outer = self.lanes.tool
            is_inside_live = outer is not None and not outer.is_recorded
            turn.is_recorded = not is_inside_live and self.tape.covers(call.lane, turn.iteration)
        return turn

    def prepare_tool(self, call: ToolCall) -> ActiveTool:
        """The tool that is called, with the turn that asked for it."""
        number, lanes = next(self._tool_numbers), self.lanes
        outer = lanes.tool
        scope, turn = lanes.find_for_tool(call.lane, call.id, outer)
        call.lane = scope.lane.name
        is_recorded = False
        if self.tape is not None:
            if turn is not None:
                is_recorded = turn.is_recorded
            elif outer is None or outer.is_recorded:
                is_recorded = self.tape.covers(call.lane, scope.lane.iteration)
        place = 0 if turn is None else turn.place(call.id, call.name)
        tool_id = call.id or f"tool-{number}"
        tool = ActiveTool(tool_id, call.name, lanes, scope, turn, is_recorded, place, outer)
        lanes.begin_tool(tool)
        return tool

    def count_tokens(self, usage: Any) -> None:
        if isinstance(usage, dict):
            with self._lock:
                for name in ("inputTokens", "outputTokens"):
                    if isinstance(usage.get(name), int):
                        self.tokens += usage[name]

    def count_cost(self, cost: float) -> None:
        with self._lock:
            self.cost = (self.cost or 0.0) + cost

    def learn_model(self, call: ModelCall) -> None:
        """The first model call says which model this agent uses."""
        if self.model_name is None and call.model is not None:
            self.model_name, self.provider = call.model, call.provider or self.provider
            if self.home is not None and self._journal is not None:
                self._about["model"], self._about["provider"] = self.model_name, self.provider
                self._write_metadata()

    def plays(self, entry: RecordedCall) -> bool:
        """Whether a recorded tool gives its recorded outcome, and does not run."""
        return self.tape is not None and self.tape.mode == FULL and not self.tape.is_open(entry)

    def find_recorded_model(
        self, turn: Turn, name: str, key: str, request: Callable[[], Any]
    ) -> RecordedCall | None:
        """The call of the recording that this one is; None when this one is live."""
        tape, lane = self.tape, turn.scope.lane.name
        if tape is None or not turn.is_recorded:
            return None
        call = self._play(lambda: tape.take_model(lane, name, key, request, turn.iteration))
        turn.entry = call
        self._set_recorded(tape, call, lane)
        return call

    def find_recorded_tool(
        self, tool: ActiveTool, key: str, request: Callable[[], Any], iteration: int
    ) -> RecordedCall:
        tape, lane = self.tape, tool.scope.lane.name
        assert tape is not None
        entry = None if tool.turn is None else tool.turn.entry
        turn = (lane, iteration) if entry is None else (entry.lane, entry.iteration)
        call = self._play(lambda: tape.take_tool(lane, turn, tool.name, key, request, iteration))
        self._set_recorded(tape, call, lane)
        if self.plays(call):
            self.lanes.skip_iterations(tape.list_models_inside(call))
        return call

    def _set_recorded(self, tape: ReplayTape, call: RecordedCall, lane: str) -> None:
        for data in tape.list_variables(call):
            self.set_variable(str(data.get("key")), data.get("value"), None, lane)

    def replay_outcome(self, call: RecordedCall, load: Callable[[Any], Any] | None = None) -> Any:
        """What a call of the recording gave, or raised."""
        assert self.tape is not None
        tape = self.tape
        return self._play(lambda: tape.replay_outcome(call, load))

    def _play(self, play: Callable[[], T]) -> T:
        try:
            return play()
        except Diverged as diverged:
            self._report_divergence(str(diverged), diverged.details)
            raise

    def _report_divergence(self, message: str, details: EventData) -> None:
        """Once: what comes after the first difference is only its consequence."""
        with self._lock:
            if self._has_diverged:
                return
            self._has_diverged = True
        self.emit(REPLAY_DIVERGED({"message": message}), **details)

    def apply_settings(self, lane: str) -> None:
        for setting in self.control.take_settings(lane):
            self.set_variable(
                setting.key, setting.value, setting.command_id, lane, setting.is_for_lane
            )

    def set_variable(
        self, key: str, value: Any, command_id: str | None, lane: str, is_for_lane: bool = False
    ) -> None:
        run = self.find_run_with_variables(lane)
        if run is None and not is_for_lane:
            run = self.find_run_with_variables()
        try:
            if run is not None and isinstance(run.vars, MutableMapping):
                run.vars[key] = value
            elif run is not None:
                setattr(run.vars, key, value)
        except Exception as problem:  # an object of the loop's may refuse it in any way
            message = f"{key} cannot be set: {safe_repr(problem)}"
            error: Error = {"message": message, "context": "set_variable"}
            if command_id is not None:
                error["commandId"], error["status"] = command_id, REJECTED
            self.emit(ERROR(error))
            return
        before = build_place(self.lanes.get(lane).iteration, lane)
        event: VariableSet = {"key": key, "value": value, "before": before}
        if command_id is not None:
            event["commandId"] = command_id
        self.emit(VARIABLE_SET(event))
        if command_id is not None:
            self.emit(COMMAND_APPLIED({"commandId": command_id, "type": "set_variable"}))

    def can_set(self, lane: str | None) -> bool:
        return self.find_run_with_variables(lane) is not None

    def find_run_with_variables(self, lane: str | None = None) -> Run | None:
        runs = self.list_runs(lane)
        return next((run for run in runs if run.vars is not None), None)

    def list_runs(self, lane: str | None) -> list[Run]:
        """Those of a lane, or all; the innermost first."""
        return [run for run in reversed(self.runs) if lane is None or run.lane == lane]

    # -- what can be seen ------------------------------------------------------------------------

    def snapshot(
        self, what: str = "all", lane: str | None = None, shown: MessageRange | None = None
    ) -> dict[str, Any]:
        """Of a lane; without one, of the lane that is held, or else runs."""
        return state_snapshot.take_snapshot(self, what, lane, shown)

    def list_lanes(self) -> list[LaneSummary]:
        return state_snapshot.list_lanes(self)

    def _emit_snapshot(self) -> None:
        self.emit(STATE_SNAPSHOT(state_snapshot.describe_hold(self)))

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
        run = Run(self, messages, vars, list(tools or ()), lane)
        run.max_tokens, run.summary, run.working_set = max_tokens, summary, working_set
        return run

    @overload
    def tool(
        self, function: Callable[..., Any], *, name: str | None = None, pure: bool = False
    ) -> Any: ...

    @overload
    def tool(self, *, name: str | None = None, pure: bool = False) -> Callable[[F], F]: ...

    def tool(self, function: Any = None, *, name: str | None = None, pure: bool = False) -> Any:
        """Wraps a tool, sync or async. `pure` says that it changes nothing outside."""
        if function is None:
            return lambda decorated: self.tool(decorated, name=name, pure=pure)
        name = name or function_wrappers.name_of(function)
        self.tool_names[name] = None
        return function_wrappers.wrap_tool(self, function, name, pure)

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
            return lambda decorated: self.model(decorated, model=model, provider=provider)
        return function_wrappers.wrap_model(
            self, function, model or self.model_name, provider or self.provider
        )

    def call_tool(self, call: ToolCall, function: Callable[[dict[str, Any]], T]) -> T:
        self.tool_names.setdefault(call.name)
        result: T = flow_driver.run(self, flows.run_tool(self, call), function)
        return result

    async def acall_tool(
        self, call: ToolCall, function: Callable[[dict[str, Any]], Awaitable[T]]
    ) -> T:
        self.tool_names.setdefault(call.name)
        result: T = await flow_driver.run_async(self, flows.run_tool(self, call), function)
        return result

    def call_model(self, call: ModelCall, function: Callable[[ModelCall], T]) -> T:
        result: T = flow_driver.run(self, flows.run_model(self, call), function)
        return result

    async def acall_model(
        self, call: ModelCall, function: Callable[[ModelCall], Awaitable[T]]
    ) -> T:
        result: T = await flow_driver.run_async(self, flows.run_model(self, call), function)
        return result

    def stream_model(
        self, call: ModelCall, function: Callable[[ModelCall], Iterator[T]]
    ) -> Iterator[T]:
        return flow_driver.stream(flows.run_model(self, call), function)

    def astream_model(
        self, call: ModelCall, function: Callable[[ModelCall], AsyncIterator[T]]
    ) -> AsyncIterator[T]:
        return flow_driver.stream_async(self, flows.run_model(self, call), function)

    @property
    def current_lane(self) -> str:
        """The lane of this context."""
        return self.lanes.scope.lane.name

    @property
    def current_messages(self) -> list[Any] | None:
        """Those of the innermost run of this lane that named any, or of any lane."""
        own = self.find_messages(self.current_lane)
        return self.find_messages(None) if own is None else own

    def find_messages(self, lane: str | None) -> list[Any] | None:
        """Those of the innermost run of a lane that named any."""
        runs = self.list_runs(lane)
        return next((run.messages for run in runs if run.messages is not None), None)

    # -- what would differ from run to run -------------------------------------------------------

    def value(self, name: str, make: Callable[[], T]) -> T:
        """`make()`, recorded; in a replay, what it was."""
        tape = self.tape
        if tape is not None and self._is_value_recorded(tape):
            data = self._play(lambda: tape.take_value(self.current_lane, name))
            if data is not None:
                recorded: T = tape.restore_value(data)
                self._record_value(name, recorded)
                return recorded
        value = make()
        self._record_value(name, value)
        return value

    def _is_value_recorded(self, tape: ReplayTape) -> bool:
        scope, outer = self.lanes.scope, self.lanes.tool
        if scope.turn is not None:
            return scope.turn.is_recorded
        is_inside_live = outer is not None and not outer.is_recorded
        return not is_inside_live and tape.covers(scope.lane.name, scope.lane.iteration)

    def _record_value(self, name: str, value: Any) -> None:
        body, pickle, marker = self.values.record(value)
        event: ValueRecorded = {"name": name, "value": body}
        if pickle is not None:
            event["valuePickle"] = pickle
        if marker is not None:
            event["valueMarker"] = marker
        if self.current_lane != MAIN:
            event["lane"] = self.current_lane
        if (outer := self.lanes.tool) is not None:
            event["within"] = outer.id
        self.record(VALUE_RECORDED, event)

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
