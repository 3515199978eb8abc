"""Commands from outside, carried out on the control of a loop.

That a command was taken is written before it is carried out: should the process die in between, it
is not carried out a second time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.bridge import hold_decision
from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.hold_decision import HoldDecision
from holdfast.bridge.loop_control import Control, Injection, Setting
from holdfast.core import agent_breakpoints as rules
from holdfast.core.agent_breakpoints import AgentBreakpoint
from holdfast.core.decision_check import check_fields
from holdfast.errors import InvalidInput
from holdfast.model import agent_commands
from holdfast.model.agent_commands import (
    ACCEPTED,
    ACTIONS,
    APPLIED,
    EXPIRED,
    INSPECTABLE,
    REJECTED,
    Command,
)
from holdfast.model.agent_events import (
    COMMAND_EXECUTED,
    COMMAND_RESPONSE,
    ERROR,
    MAIN,
    CommandExecuted,
    CommandResponse,
)
from holdfast.model.decision import Moment
from holdfast.recording.message_summary import MessageRange

PROCESSING = "command_processing"


@dataclass(frozen=True)
class Plan:
    """A command that was understood: how it is acknowledged, and what to do then."""

    status: str
    effect: Callable[[], None] = lambda: None
    note: str | None = None


class CommandExecutor:
    def __init__(self, control: Control) -> None:
        self._control = control
        self._loop = control.loop
        self._points = itertools.count(1)
        self.executed: set[str] = set()
        self._plans: dict[str, Callable[[Command], Plan]] = {
            "pause": self._plan_pause,
            "resume": self._plan_resume,
            "step": self._plan_step,
            "inspect": self._plan_inspect,
            "inject_message": self._plan_injection,
            "set_variable": self._plan_setting,
            "cancel_tool": self._plan_cancellation,
            "breakpoint": self._plan_breakpoint,
        }

    def execute(self, command: Command) -> None:
        control = self._control
        with control.lock:
            if command.id in self.executed or control.is_closed:
                return
            self.executed.add(command.id)
            try:
                plan = self._plan(command)
            except (InvalidInput, ValueError, TypeError) as problem:
                self._reject(command.id, str(problem))
                return
            control.is_executing = True
            try:
                self._carry_out(command, plan)
            finally:
                control.is_executing = False

    def _carry_out(self, command: Command, plan: Plan) -> None:
        event: CommandExecuted = {
            "commandId": command.id,
            "type": command.type,
            "status": plan.status,
        }
        if plan.note:
            event["note"] = plan.note
        self._loop.emit(COMMAND_EXECUTED(event))
        try:
            plan.effect()
        except Exception as problem:  # somebody's code makes a message, or shows it
            self._reject(command.id, f"it failed: {problem!r}")

    def refuse(self, command_id: str, why: str) -> None:
        """Report what is no command at all, once."""
        with self._control.lock:
            if command_id not in self.executed:
                self.executed.add(command_id)
                self._reject(command_id, why)

    def _reject(self, command_id: str, why: str) -> None:
        self._loop.emit(
            ERROR(
                {
                    "message": f"Invalid command: {why}",
                    "context": PROCESSING,
                    "commandId": command_id,
                    "status": REJECTED,
                }
            ),
        )

    def _plan(self, command: Command) -> Plan:
        plan = self._plans.get(command.type)
        if plan is None:
            known = ", ".join(agent_commands.COMMANDS)
            raise ValueError(f"there is no command {command.type[:100]!r}; there are {known}")
        return plan(command)

    def _respond(
        self,
        command: Command,
        *,
        success: bool = True,
        data: object = None,
        message: str | None = None,
    ) -> None:
        event: CommandResponse = {
            "commandId": command.id,
            "type": command.type,
            "success": success,
        }
        if data is not None:
            event["data"] = data
        if message is not None:
            event["message"] = message
        self._loop.emit(COMMAND_RESPONSE(event))

    # -- each command ----------------------------------------------------------------------------

    def _plan_pause(self, command: Command) -> Plan:
        control, lane = self._control, self._find_lane(command)
        held = {stop.lane for stop in control.stops.values() if stop.at == rules.MODEL}
        if lane in held or (lane is None and held and not self._find_running(held)):
            return Plan(APPLIED, note="it is held already")

        def pause() -> None:
            control.pauses[lane] = command.id

        return Plan(ACCEPTED, pause)

    def _find_lane(self, command: Command) -> str | None:
        """The lane that a command names, if it names one."""
        lane = command.data.get("lane")
        if lane is None:
            return None
        known = [each["lane"] for each in self._loop.list_lanes()]
        if lane not in known:
            raise ValueError(f"there is no lane {lane!r:.100}; there are {', '.join(known)}")
        return str(lane)

    def _find_running(self, held: set[str]) -> bool:
        """Whether some lane may still call a model: not held, nor waiting for one that is."""
        lanes = {lane["lane"]: lane for lane in self._loop.list_lanes()}
        waiting = set(held)
        for name in held:
            while (parent := lanes[name].get("parent")) is not None and parent not in waiting:
                waiting.add(parent)
                name = parent
        return any(
            lane["status"] == "running" and name not in waiting for name, lane in lanes.items()
        )

    def _choose_lane(self, command: Command) -> str:
        """The lane that is named, else the one that is held, else the main one."""
        lane = self._find_lane(command)
        if lane is not None:
            return lane
        stops = sorted(self._control.stops.values(), key=lambda stop: stop.at != rules.MODEL)
        if stops:
            return stops[0].lane
        lanes = self._loop.list_lanes()
        used = [each["lane"] for each in lanes if each["iteration"] and "parent" not in each]
        return MAIN if MAIN in used or not used else used[0]

    def _plan_resume(self, command: Command) -> Plan:
        stops, data = self._control.stops, dict(command.data)
        wanted = data.pop("stop", None)
        action = data.pop("action", None) or hold_decision.infer_action(data)
        by = str(data.pop("by", "command"))
        data.pop("lane", None)
        if action not in ACTIONS:
            known = ", ".join(ACTIONS)
            raise ValueError(f"there is no action {str(action)[:100]!r}; there are {known}")
        if wanted is not None and not isinstance(wanted, str):
            raise ValueError(f"stop is the name of one, not {wanted!r:.100}")
        if wanted is not None and wanted not in stops:
            return Plan(EXPIRED, note=f"{wanted[:100]} is not held")
        lane = self._find_lane(command)
        held = [stops[wanted]] if wanted is not None else list(stops.values())
        if lane is not None:
            held = [stop for stop in held if stop.lane == lane]
        if not held:
            if self._control.pauses:
                return Plan(APPLIED, self._control.pauses.clear, "it had not stopped yet")
            return Plan(APPLIED, note="nothing is held")
        if action not in ("continue", "step") and len(held) > 1:
            names = ", ".join(stop.id for stop in held)
            raise ValueError(f"several are held ({names}): name the stop to {action}")
        for stop in held:
            if action not in stop.allows:
                allowed = ", ".join(stop.allows)
                raise ValueError(f"{stop.id} does not allow {action}; it allows {allowed}")
        fields = hold_decision.check_fields(Moment(held[0].at), action, data)
        if action == "modify":
            _check_input(held[0], fields.get("input") or {})
        decision = HoldDecision("continue" if action == "step" else action, by, fields)

        def release() -> None:
            self._control.end_waiting()
            if action == "step":
                # Of a stop that is named, its own lane steps.
                self._control.arm_step(held, lane if wanted is None else held[0].lane)
            for stop in held:
                self._control.release(stop, decision)

        return Plan(APPLIED, release)

    def _plan_step(self, command: Command) -> Plan:
        stop = command.data.get("stop", "")
        if not isinstance(stop, str):
            raise ValueError("stop is the name of one")
        if "stop" in command.data and stop not in self._control.stops:
            return Plan(EXPIRED, note=f"{stop[:100]} is not held")
        lane = self._find_lane(command)
        if any(lane is None or held.lane == lane for held in self._control.stops.values()):
            given = ("stop", "by", "lane")
            data = {name: value for name, value in command.data.items() if name in given}
            return self._plan_resume(Command("resume", command.id, {**data, "action": "step"}))
        return Plan(ACCEPTED, lambda: self._control.arm_step([], lane, command.id))

    def _plan_inspect(self, command: Command) -> Plan:
        what = command.data.get("what", "all")
        if what not in INSPECTABLE:
            raise ValueError(f"what is one of {', '.join(INSPECTABLE)}, not {what!r:.100}")
        lane, shown = self._find_lane(command), _parse_range(command, what)
        return Plan(
            APPLIED, lambda: self._respond(command, data=self._loop.snapshot(what, lane, shown))
        )

    def _plan_injection(self, command: Command) -> Plan:
        fields = check_fields(Moment.MODEL, "inject", command.data)
        lane, stops = self._choose_lane(command), self._control.stops.values()
        held = [stop for stop in stops if stop.at == rules.MODEL and stop.lane == lane]

        def inject() -> None:
            self._control.injections.append(
                Injection(fields["role"], fields["content"], command.id, lane)
            )
            if held:
                self._control.inject_into(held[0])
            self._respond(command)

        return Plan(APPLIED if held else ACCEPTED, inject)

    def _plan_setting(self, command: Command) -> Plan:
        control, key = self._control, command.data.get("key")
        if not isinstance(key, str) or not key:
            raise ValueError("key is the name of a variable")
        if "value" not in command.data:
            raise ValueError("value is missing")
        named, lane = self._find_lane(command), self._choose_lane(command)
        if not self._loop.can_set(named):
            whose = "this loop" if named is None else f"lane {named}"
            raise ValueError(f"{whose} gave no variables to set: `with dbg.run(vars=…)`")
        is_held = any(stop.lane == lane for stop in control.stops.values())

        def set_variable() -> None:
            setting = Setting(key, command.data["value"], command.id, lane, named is not None)
            control.settings.append(setting)
            if is_held:
                control.apply_settings(lane)
            self._respond(command)

        return Plan(APPLIED if is_held else ACCEPTED, set_variable)

    def _plan_cancellation(self, command: Command) -> Plan:
        control = self._control
        tool_id = command.data.get("toolId", command.data.get("tool_id"))
        if not isinstance(tool_id, str) or not tool_id:
            raise ValueError("toolId is the id of a tool call")
        held = [stop for stop in control.stops.values() if stop.tool_id == tool_id]
        if held:
            decision = HoldDecision("cancel", str(command.data.get("by", "command")))
            return Plan(APPLIED, lambda: control.release(held[0], decision))
        if tool_id in control.running:
            return Plan(ACCEPTED, lambda: self._cancel(command, tool_id))
        if tool_id in control.past_tools:
            return Plan(EXPIRED, note=f"tool call {tool_id[:100]} is over")
        raise ValueError(f"no tool call {tool_id[:100]!r} is under way")

    def _cancel(self, command: Command, tool_id: str) -> None:
        control = self._control
        running = control.running.get(tool_id)  # it may have been dropped meanwhile
        if running is None or not running.cancel():
            control.refuse_cancellation(command.id)
            return
        control.cancelling.setdefault(tool_id, []).append(command.id)
        if running.note is not None:
            self._respond(command, message=running.note)

    def _plan_breakpoint(self, command: Command) -> Plan:
        action, points = command.data.get("action"), self._control.breakpoints
        match action:
            case "add":
                point = rules.parse_breakpoint(command.data, f"bp-{next(self._points)}")
                return Plan(APPLIED, lambda: self._add(command, point))
            case "list":
                data = {"breakpoints": [point.to_json() for point in points.values()]}
                if self._control.rules:
                    data["rules"] = [rule.to_json() for rule in self._control.rules]
                return Plan(APPLIED, lambda: self._respond(command, data=data))
            case "clear":
                point_id = command.data.get("id")
                for rule in self._control.rules:
                    if rule.id == point_id:
                        raise ValueError(
                            f"{rule.id} is a rule of {rule.source}: it counts until the file is "
                            "changed and the agent started again"
                        )
                if point_id not in points:
                    raise ValueError(f"there is no breakpoint {str(point_id)[:100]!r}")
                return Plan(APPLIED, lambda: self._clear(command, [point_id]))
            case "clear-all" | "clear_all":
                return Plan(APPLIED, lambda: self._clear(command, list(points)))
            case _:
                raise ValueError(f"action is add, list, clear or clear-all, not {action!r:.100}")

    def add_breakpoint(self, data: Mapping[str, Any]) -> None:
        """One that the session begins with."""
        point = rules.parse_breakpoint(data, f"bp-{next(self._points)}")
        self._control.breakpoints[point.id] = point

    def _add(self, command: Command, point: AgentBreakpoint) -> None:
        self._control.breakpoints[point.id] = point
        self._respond(command, data={"breakpoint": point.to_json(), "id": point.id})

    def _clear(self, command: Command, ids: list[str]) -> None:
        for point_id in ids:
            self._control.breakpoints.pop(point_id, None)
        data: dict[str, Any] = {"cleared": ids}
        if self._control.rules:
            data["rules"] = [rule.to_json() for rule in self._control.rules]
        self._respond(command, data=data)


def _check_input(stop: Stop, changes: Mapping[str, Any]) -> None:
    """Whether the call that is held can be made with these changes; the hold stays if not."""
    if stop.parameters is None:
        return
    what = str(stop.about.get("name") or f"the {stop.at}")
    if stop.at == rules.MODEL:
        stop.parameters.check(what, ("messages",), changes)
        return
    given = stop.about.get("input")
    stop.parameters.check(what, given if isinstance(given, Mapping) else (), changes)


def _parse_range(command: Command, what: str) -> MessageRange | None:
    """The messages to show whole: all that were asked for by name, else those of a range."""
    first, count = command.data.get("first"), command.data.get("count")
    for name, value in (("first", first), ("count", count)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise ValueError(f"{name} is a whole number, not {value!r:.100}")
    if count is not None and count < 0:
        raise ValueError(f"count is at least 0, not {count}")
    if what != "messages" and first is None and count is None:
        return None
    return MessageRange(first or 0, count)
