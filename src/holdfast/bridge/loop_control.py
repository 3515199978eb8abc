"""What somebody outside has asked for, and what is held because of it.

The loop asks here before every model call and every tool; commands come in from the thread that
listens. That a command was taken is written before it is carried out: should the process die in
between, it is not carried out a second time.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.bridge import decisions
from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.decisions import Decision
from holdfast.bridge.recorded_values import as_json
from holdfast.bridge.tool_cancellation import Cancellable, Interruptible
from holdfast.core import agent_breakpoints as rules
from holdfast.core.agent_breakpoints import AgentBreakpoint, Moment
from holdfast.errors import InvalidInput
from holdfast.model import agent_commands
from holdfast.model.agent_commands import (
    ACCEPTED,
    APPLIED,
    AT_ERROR,
    EXPIRED,
    INSPECTABLE,
    REJECTED,
    Command,
)
from holdfast.model.agent_events import MAIN

PROCESSING = "command_processing"
_ACTIONS = ", ".join(agent_commands.ACTIONS)


class Loop(Protocol):
    """What control needs of the loop that it controls."""

    def emit(self, kind: str, /, **data: Any) -> int | None: ...
    def snapshot(self, what: str) -> dict[str, Any]: ...
    def can_set(self) -> bool: ...


@dataclass(frozen=True)
class Plan:
    """A command that was understood: what to say of it, and what to do then."""

    status: str
    effect: Callable[[], None] = lambda: None
    note: str | None = None


@dataclass(frozen=True)
class Injection:
    role: str
    content: Any
    command_id: str | None = None


@dataclass(frozen=True)
class Setting:
    key: str
    value: Any
    command_id: str | None = None


class Control:
    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._points = itertools.count(1)
        self.breakpoints: dict[str, AgentBreakpoint] = {}
        self.stops: dict[str, Stop] = {}
        self.injections: list[Injection] = []
        self.settings: list[Setting] = []
        self.executed: set[str] = set()
        self.past_tools: set[str] = set()
        self._running: dict[str, Interruptible | Cancellable] = {}
        self._cancelling: dict[Interruptible | Cancellable, str] = {}
        self._pausing: Command | None = None
        self._is_executing = False
        self._steps: int | None = None
        """Model calls that may still pass before a step is done."""
        self._stepped = 0
        self._step_command: str | None = None
        self._is_closed = False
        self._apply: Callable[[], None] = lambda: None
        self._plans: dict[str, Callable[[Command], Plan]] = {
            "pause": self._pause,
            "resume": self._resume,
            "step": self._step,
            "inspect": self._inspect,
            "inject_message": self._inject,
            "set_variable": self._set,
            "cancel_tool": self._cancel,
            "breakpoint": self._breakpoint,
        }

    def begin_at(self, stop: int) -> None:
        """The number of the first stop: those of an earlier life are not given again."""
        self._numbers = itertools.count(stop)

    def when_held(self, apply: Callable[[], None]) -> None:
        """`apply` is called when something can be changed because the loop stands still."""
        self._apply = apply

    # -- asked by the loop -----------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Nothing was asked for that could hold anything: a glance, without the lock."""
        return not self._may_hold and self._pausing is None and self._steps is None

    @property
    def _may_hold(self) -> bool:
        """A command that is said to be taken already counts before it is carried out."""
        return bool(self.breakpoints) or self._is_executing

    def at_model(
        self,
        moment: Moment,
        about: dict[str, Any],
        call: Any,
        allows: tuple[str, ...] = agent_commands.AT_MODEL,
    ) -> Stop | None:
        if self.is_idle:
            return None
        with self._lock:
            reason = None
            if self._steps is not None:
                self._steps -= 1
                if self._steps < 0:
                    reason = "step"
                    self._step_done()
                else:
                    self._stepped = moment.iteration
            pausing, hit = self._pausing, self._hit(moment)
            if pausing is not None:
                reason = "pause"
                self._pausing = None
            if hit is not None:
                reason = "breakpoint"
            if reason is None:
                return None
            self._steps = None
            stop = self._held(reason, moment, about, allows, hit)
            stop.call = call
            if pausing is not None:
                self._applied(pausing.id, "pause")
            if reason == "step":
                self._applied(self._step_command, "step")
                self._step_command = None
            return stop

    def at_tool(
        self,
        moment: Moment,
        about: dict[str, Any],
        tool_id: str,
        allows: tuple[str, ...] = agent_commands.AT_TOOL,
    ) -> Stop | None:
        if not self._may_hold:
            return None
        with self._lock:
            hit = self._hit(moment)
            if hit is None:
                return None
            return self._held("breakpoint", moment, about, allows, hit, tool_id)

    def at_error(
        self,
        moment: Moment,
        about: dict[str, Any],
        allows: tuple[str, ...] = AT_ERROR,
    ) -> Stop | None:
        if not self._may_hold:
            return None
        with self._lock:
            hit = self._hit(moment)
            if hit is None:
                return None
            return self._held(
                "breakpoint",
                moment,
                about,
                tuple(each for each in agent_commands.AT_ERROR if each in allows),
                hit,
            )

    def _hit(self, moment: Moment) -> AgentBreakpoint | None:
        """Every breakpoint counts its hit; the first one is named."""
        found = [each for each in self.breakpoints.values() if each.is_hit(moment)]
        return found[0] if found else None

    def _held(
        self,
        reason: str,
        moment: Moment,
        about: dict[str, Any],
        allows: tuple[str, ...],
        hit: AgentBreakpoint | None,
        tool_id: str | None = None,
    ) -> Stop:
        stop_id = f"stop-{next(self._numbers)}"
        said: dict[str, Any] = {"stop": stop_id, "reason": reason, "at": moment.at, **about}
        said["iteration"] = moment.iteration
        if moment.lane != MAIN:
            said["lane"] = moment.lane
        if hit is not None:
            said["breakpoint"] = hit.shown()
            call = {"id": tool_id, "name": moment.name, "input": about.get("input")}
            self._loop.emit(
                "breakpoint_hit",
                breakpoint=hit.shown(),
                toolCall=call if moment.at == rules.TOOL else None,
                iteration=moment.iteration,
                stop=stop_id,
            )
        said["allows"] = list(allows)
        stop = Stop(stop_id, moment.at, allows, said, tool_id)
        self.stops[stop_id] = stop
        self._loop.emit("paused", **said)
        return stop

    def left(self, stop: Stop) -> None:
        """The loop goes on from it, decided or not."""
        with self._lock:
            if self.stops.pop(stop.id, None) is not None:
                self._loop.emit("resumed", stop=stop.id, action="withdrawn", by="agent")

    def runs(self, tool_id: str, running: Interruptible | Cancellable) -> None:
        self._running[tool_id] = running

    def ran(self, tool_id: str) -> None:
        running = self._running.pop(tool_id, None)
        command = self._cancelling.pop(running, None) if running is not None else None
        if command is not None:
            self._applied(command, "cancel_tool")
        if len(self.past_tools) > 10_000:
            self.past_tools.clear()
        self.past_tools.add(tool_id)

    def run_ended(self) -> None:
        """No model call of this run ends the step: it is complete, and the next run is held."""
        if self._steps is None:
            return
        with self._lock:
            if self._steps is not None and self._stepped:
                self._step_done()

    def _step_done(self) -> None:
        if self._stepped:
            self._loop.emit("step_complete", iteration=self._stepped)
        self._stepped = 0

    def close(self) -> None:
        """Nobody listens any more: nothing is held, and what was held does not run."""
        with self._lock:
            self._is_closed = True
            self.breakpoints.clear()
            self._pausing, self._steps = None, None
            said = {"exception_message": "the session was closed while this was held"}
            decision = Decision("raise", "agent", {"exception_type": "RuntimeError", **said})
            for stop in list(self.stops.values()):
                self._release(stop, decision)

    def taken_injections(self) -> list[Injection]:
        if not self.injections:
            return []
        with self._lock:
            taken, self.injections = self.injections, []
            return taken

    def taken_settings(self) -> list[Setting]:
        if not self.settings:
            return []
        with self._lock:
            taken, self.settings = self.settings, []
            return taken

    # -- commands --------------------------------------------------------------------------------

    def execute(self, command: Command) -> None:
        with self._lock:
            if command.id in self.executed or self._is_closed:
                return
            self.executed.add(command.id)
            try:
                plan = self._plan(command)
            except (InvalidInput, ValueError, TypeError) as problem:
                self._reject(command.id, str(problem))
                return
            self._is_executing = True
            try:
                self._carry_out(command, plan)
            finally:
                self._is_executing = False

    def _carry_out(self, command: Command, plan: Plan) -> None:
        said = {"note": plan.note} if plan.note else {}
        self._loop.emit(
            "command_executed",
            commandId=command.id,
            type=command.type,
            status=plan.status,
            **said,
        )
        try:
            plan.effect()
        except Exception as problem:  # of a message's own making, shown by somebody's code
            self._reject(command.id, f"it failed: {problem!r}")

    def refuse(self, command_id: str, why: str) -> None:
        """What is no command at all; said once."""
        with self._lock:
            if command_id not in self.executed:
                self.executed.add(command_id)
                self._reject(command_id, why)

    def _reject(self, command_id: str, why: str) -> None:
        self._loop.emit(
            "error",
            message=f"Invalid command: {why}",
            context=PROCESSING,
            commandId=command_id,
            status=REJECTED,
        )

    def _plan(self, command: Command) -> Plan:
        understood = self._plans.get(command.type)
        if understood is None:
            known = ", ".join(agent_commands.COMMANDS)
            raise ValueError(f"there is no command {command.type[:100]!r}; there are {known}")
        return understood(command)

    def _applied(self, command_id: str | None, kind: str) -> None:
        if command_id is not None:
            self._loop.emit("command_applied", commandId=command_id, type=kind)

    def _respond(self, command: Command, **said: Any) -> None:
        self._loop.emit("command_response", commandId=command.id, type=command.type, **said)

    def _pause(self, command: Command) -> Plan:
        if any(stop.at == rules.MODEL for stop in self.stops.values()):
            return Plan(APPLIED, note="it is held already")

        def effect() -> None:
            self._pausing = command

        return Plan(ACCEPTED, effect)

    def _resume(self, command: Command) -> Plan:
        data = dict(command.data)
        wanted = data.pop("stop", None)
        action = data.pop("action", None) or decisions.action_of(data)
        by = str(data.pop("by", "command"))
        if action not in agent_commands.ACTIONS:
            raise ValueError(f"there is no action {str(action)[:100]!r}; there are {_ACTIONS}")
        if wanted is not None and not isinstance(wanted, str):
            raise ValueError(f"stop is the name of one, not {wanted!r:.100}")
        if wanted is not None and wanted not in self.stops:
            return Plan(EXPIRED, note=f"{str(wanted)[:100]} is not held")
        held = [self.stops[wanted]] if wanted is not None else list(self.stops.values())
        if not held:
            if self._pausing is not None:
                return Plan(APPLIED, self._stop_pausing, "it had not stopped yet")
            return Plan(APPLIED, note="nothing is held")
        if action not in ("continue", "step") and len(held) > 1:
            stops = ", ".join(each.id for each in held)
            raise ValueError(f"several are held ({stops}): name the stop to {action}")
        for stop in held:
            if action not in stop.allows:
                allowed = ", ".join(stop.allows)
                raise ValueError(f"{stop.id} does not allow {action}; it allows {allowed}")
            if action == "modify" and stop.at == rules.MODEL:
                decisions.check_messages(data)
        fields = decisions.check_decision(held[0].at, action, data)
        decision = Decision("continue" if action == "step" else action, by, fields)

        def effect() -> None:
            if action == "step":
                self._arm_step(held)
            for stop in held:
                self._release(stop, decision)

        return Plan(APPLIED, effect)

    def _stop_pausing(self) -> None:
        self._pausing = None

    def _release(self, stop: Stop, decision: Decision) -> None:
        if self.stops.pop(stop.id, None) is None:
            return
        if decision.action == "inject":
            self.injections.append(Injection(decision.data["role"], decision.data["content"]))
            self._apply_at(stop)
        self._loop.emit("resumed", stop=stop.id, **decision.shown())
        stop.decide(decision)

    def _arm_step(self, held: list[Stop]) -> None:
        """One iteration, and then a stop before the next model call."""
        self._pausing = None
        # Held before a model call, that call is the step; held at a tool, the rest of it is.
        iterations = [int(stop.about.get("iteration") or 0) for stop in held]
        self._stepped = max(iterations, default=0)
        self._steps = 0 if held else 1
        self._step_command = None

    def _step(self, command: Command) -> Plan:
        if not isinstance(command.data.get("stop", ""), str):
            raise ValueError("stop is the name of one")
        if "stop" in command.data and command.data["stop"] not in self.stops:
            return Plan(EXPIRED, note=f"{command.data['stop'][:100]} is not held")
        if self.stops:
            data: dict[str, Any] = {"action": "step"}
            data |= {name: each for name, each in command.data.items() if name in ("stop", "by")}
            return self._resume(Command("resume", command.id, data))

        def effect() -> None:
            self._arm_step([])
            self._step_command = command.id

        return Plan(ACCEPTED, effect)

    def _inspect(self, command: Command) -> Plan:
        what = command.data.get("what", "all")
        if what not in INSPECTABLE:
            raise ValueError(f"what is one of {', '.join(INSPECTABLE)}, not {what!r:.100}")

        def effect() -> None:
            self._respond(command, success=True, data=self._loop.snapshot(what))

        return Plan(APPLIED, effect)

    def _inject(self, command: Command) -> Plan:
        fields = decisions.check_decision(rules.MODEL, "inject", command.data)
        role, content = fields["role"], fields["content"]
        held = [stop for stop in self.stops.values() if stop.at == rules.MODEL]

        def effect() -> None:
            self.injections.append(Injection(role, content, command.id))
            if held:
                self._apply_at(held[0])
            self._respond(command, success=True)

        return Plan(APPLIED if held else ACCEPTED, effect)

    def _apply_at(self, stop: Stop) -> None:
        """While a model call is held, its messages can be changed: nobody else does."""
        if stop.call is not None:
            stop.call.inject()

    def _set(self, command: Command) -> Plan:
        key = command.data.get("key")
        if not isinstance(key, str) or not key:
            raise ValueError("key is the name of a variable")
        if "value" not in command.data:
            raise ValueError("value is missing")
        if not self._loop.can_set():
            raise ValueError("this loop gave no variables to set: `with dbg.run(vars=…)`")

        def effect() -> None:
            self.settings.append(Setting(key, command.data["value"], command.id))
            if self.stops:
                self._apply()
            self._respond(command, success=True)

        return Plan(APPLIED if self.stops else ACCEPTED, effect)

    def _cancel(self, command: Command) -> Plan:
        tool_id = command.data.get("toolId", command.data.get("tool_id"))
        if not isinstance(tool_id, str) or not tool_id:
            raise ValueError("toolId is the id of a tool call")
        held = next((stop for stop in self.stops.values() if stop.tool_id == tool_id), None)
        if held is not None:
            decision = Decision("cancel", str(command.data.get("by", "command")))
            stop = held
            return Plan(APPLIED, lambda: self._release(stop, decision))
        running = self._running.get(tool_id)
        if running is not None:
            found = running
            return Plan(ACCEPTED, lambda: self._cancelled(command, found))
        if tool_id in self.past_tools:
            return Plan(EXPIRED, note=f"tool call {tool_id[:100]} is over")
        raise ValueError(f"no tool call {tool_id[:100]!r} is under way")

    def _cancelled(self, command: Command, running: Interruptible | Cancellable) -> None:
        self._cancelling[running] = command.id
        if not running.cancel():
            self._cancelling.pop(running, None)
            self._respond(command, success=False, message="it ended at this very moment")
        elif running.note is not None:
            self._respond(command, success=True, message=running.note)

    def _breakpoint(self, command: Command) -> Plan:
        action = command.data.get("action")
        match action:
            case "add":
                point = rules.parse_breakpoint(command.data, f"bp-{next(self._points)}")
                return Plan(APPLIED, lambda: self._add(command, point))
            case "list":
                shown = [each.shown() for each in self.breakpoints.values()]
                data = {"breakpoints": shown}
                return Plan(APPLIED, lambda: self._respond(command, success=True, data=data))
            case "clear":
                point_id = command.data.get("id")
                if point_id not in self.breakpoints:
                    raise ValueError(f"there is no breakpoint {str(point_id)[:100]!r}")
                return Plan(APPLIED, lambda: self._clear(command, [point_id]))
            case "clear-all" | "clear_all":
                return Plan(APPLIED, lambda: self._clear(command, list(self.breakpoints)))
            case _:
                raise ValueError(f"action is add, list, clear or clear-all, not {action!r:.100}")

    def _add(self, command: Command, point: AgentBreakpoint) -> None:
        self.breakpoints[point.id] = point
        self._respond(command, success=True, data={"breakpoint": point.shown(), "id": point.id})

    def _clear(self, command: Command, ids: list[str]) -> None:
        for each in ids:
            self.breakpoints.pop(each, None)
        self._respond(command, success=True, data={"cleared": ids})


def text_of(value: Any) -> Callable[[], str]:
    """The JSON of a value, made once, when somebody wants it."""
    made: list[str] = []

    def text() -> str:
        if not made:
            with contextlib.suppress(Exception):
                made.append(as_json(value))
        return made[0] if made else ""

    return text
