"""What the loop is held by: breakpoints, pauses and steps, and the stops where it waits.

The loop asks here before every model call and every tool. `command_executor` changes what is asked
for, in the thread that listens to commands.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.bridge_errors import ToolCancelled
from holdfast.bridge.hold_decision import HoldDecision
from holdfast.bridge.recorded_values import list_texts
from holdfast.bridge.tool_cancellation import Announced, Cancellable, Interruptible
from holdfast.core import agent_breakpoints as rules
from holdfast.core.agent_breakpoints import AgentBreakpoint, Moment
from holdfast.core.agent_rules import ALLOW, DENY, HOLD, AgentRule, find_rule
from holdfast.model import agent_commands
from holdfast.model.agent_events import (
    BREAKPOINT_HIT,
    COMMAND_APPLIED,
    COMMAND_RESPONSE,
    MAIN,
    PAUSED,
    RESUMED,
    STEP_COMPLETE,
    CommandResponse,
    Event,
    HeldCall,
    LaneSummary,
    Paused,
    StepComplete,
)
from holdfast.recording.message_summary import MessageRange

_MAX_PAST_TOOLS = 10_000


class Loop(Protocol):
    """What control needs of the loop that it controls."""

    def emit(self, event: Event, /, **more: object) -> int | None: ...
    def snapshot(
        self, what: str, lane: str | None = None, shown_messages: MessageRange | None = None
    ) -> dict[str, Any]: ...
    def can_set(self, lane: str | None) -> bool: ...
    def list_lanes(self) -> list[LaneSummary]: ...


@dataclass(frozen=True)
class Injection:
    """A message that waits for the next model call."""

    role: str
    content: Any
    command_id: str | None = None
    lane: str = MAIN


@dataclass(frozen=True)
class Setting:
    """A variable that waits to be set."""

    key: str
    value: Any
    command_id: str | None = None
    lane: str = MAIN
    is_for_lane: bool = False
    """Whether the lane was named: then only its own variables are meant."""


@dataclass
class Step:
    """A step of one lane, or of the whole session."""

    left: int
    """Model calls that may still pass before it is done."""
    stepped: dict[str, int]
    """The iteration that each lane does."""
    command_id: str | None = None
    has_held: bool = False
    """Whether something was held since it began."""


class Control:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.lock = threading.RLock()
        self._numbers = itertools.count(1)
        self.breakpoints: dict[str, AgentBreakpoint] = {}
        self.rules: tuple[AgentRule, ...] = ()
        """Those of the project. Nobody changes them while the agent runs."""
        self.holds_first = False
        """Whether the next call is held, whatever it is: the session began so."""
        self.can_be_asked = False
        """Whether somebody can decide a hold: there are files for it, and they are read."""
        self.stops: dict[str, Stop] = {}
        self.injections: list[Injection] = []
        self.settings: list[Setting] = []
        self.past_tools: deque[str] = deque(maxlen=_MAX_PAST_TOOLS)
        self.running: dict[str, Announced | Interruptible | Cancellable] = {}
        self.cancelling: dict[str, list[str]] = {}
        """The commands that cancel a tool, by the id of the tool."""
        self.pauses: dict[str | None, str | None] = {}
        """The lanes that are held at their next model call, each with the command that waits for
        it. None stands for every lane: once one is held, it lasts until that is released."""
        self.is_executing = False
        """Whether a command is carried out: it counts from the moment that it is acknowledged."""
        self.steps: dict[str | None, Step] = {}
        """By lane, like `pauses`."""
        self.is_closed = False
        self.apply_settings: Callable[[str], None] = lambda lane: None
        """Sets the variables of a lane that wait; called only while that lane stands still."""

    def begin_at(self, stop: int) -> None:
        """The number of the first stop: those of an earlier life are not given again."""
        self._numbers = itertools.count(stop)

    # -- asked by the loop -----------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Nothing was asked for that could hold anything: a glance, without the lock."""
        return not (
            self.breakpoints
            or self.rules
            or self.holds_first
            or self.is_executing
            or self.pauses
            or self.steps
        )

    def stop_at_model(
        self,
        moment: Moment,
        about: HeldCall,
        call: Any,
        allows: tuple[str, ...] = agent_commands.AT_MODEL,
        wanted: str | None = None,
    ) -> Stop | HoldDecision | None:
        """Where the call waits, or what a rule has decided of it.

        `wanted` is the reason to hold it in any case.
        """
        if wanted is None and self.is_idle:
            return None
        with self.lock:
            rule = self._find_rule(moment)
            if (denial := self._deny(rule, moment)) is not None:
                return denial
            first, steps = self._take_first(rule), self._find_ended_steps(moment)
            hit = self._count_hits(moment, rule)
            pauses = [lane for lane in (moment.lane, None) if lane in self.pauses]
            if _is_hold(rule):
                reason = "rule"
            elif hit is not None:
                reason = "breakpoint"
            elif pauses:
                reason = "pause"
            elif steps:
                reason = "step"
            elif first is not None or wanted is not None:
                reason = str(first or wanted)
            else:
                return None
            stop = self._open_stop(reason, moment, about, allows, hit, rule=rule)
            stop.call = call
            for lane in pauses:
                self._acknowledge(self.pauses[lane], "pause")
                self.pauses[lane] = None
            for step in steps if reason == "step" else ():
                self._acknowledge(step.command_id, "step")
                step.command_id = None
            self.pauses.pop(moment.lane, None)
            self.steps.pop(moment.lane, None)
            if None in self.steps:
                self.steps[None].has_held = True
            return stop

    def _find_ended_steps(self, moment: Moment) -> list[Step]:
        """The steps that end before this model call; it may be one that still belongs to them."""
        ended = []
        for lane in (moment.lane, None):
            step = self.steps.get(lane)
            if step is None:
                continue
            if step.left > 0:
                step.left -= 1
                step.stepped[moment.lane] = moment.iteration
            else:
                self._complete_step(step, moment.lane)
                ended.append(step)
        return ended

    def stop_at_tool(
        self,
        moment: Moment,
        about: HeldCall,
        tool_id: str,
        allows: tuple[str, ...] = agent_commands.AT_TOOL,
    ) -> Stop | HoldDecision | None:
        """Where the tool waits, or what a rule has decided of it."""
        with self.lock:
            rule = self._find_rule(moment)
            if (denial := self._deny(rule, moment)) is not None:
                return denial
            reason = self._take_first(rule)
            hit = self._count_hits(moment, rule)
            if hit is not None:
                reason = "breakpoint"
            if _is_hold(rule):
                reason = "rule"
            if reason is None:
                return None
            return self._open_stop(reason, moment, about, allows, hit, tool_id, rule)

    def deny_changed_input(
        self, moment: Moment, changed: dict[str, Any], decision: HoldDecision
    ) -> HoldDecision:
        """What becomes of a tool that gets another input: a rule may deny that."""
        texts = encode_lazily(changed)
        moment = replace(moment, input=changed, texts=texts, rule_actions=(DENY,))
        with self.lock:
            return self._deny(self._find_rule(moment), moment) or decision

    def stop_at_error(
        self, moment: Moment, about: HeldCall, allows: tuple[str, ...] = agent_commands.AT_ERROR
    ) -> Stop | None:
        if not self.breakpoints and not self.is_executing:
            return None
        allows = tuple(action for action in agent_commands.AT_ERROR if action in allows)
        with self.lock:
            hit = self._count_hits(moment, self._find_rule(moment))
            if hit is None:
                return None
            return self._open_stop("breakpoint", moment, about, allows, hit)

    def _find_rule(self, moment: Moment) -> AgentRule | None:
        rule = find_rule(self.rules, moment) if self.rules else None
        return rule if rule is not None and rule.action in moment.rule_actions else None

    def _deny(self, rule: AgentRule | None, moment: Moment) -> HoldDecision | None:
        """What becomes of a call that a rule does not let pass, if it is one."""
        if rule is None:
            return None
        rule.hits += 1
        if rule.action == DENY:
            return _build_denial(rule, moment, "is denied by a rule of this project")
        if rule.action == HOLD and not self.can_be_asked:
            return _build_denial(rule, moment, "has to be decided, and nobody can be asked")
        return None

    def _take_first(self, rule: AgentRule | None) -> str | None:
        """The reason of the hold that the session begins with; None once it was held."""
        if not self.holds_first or _is_allowed(rule):
            return None
        self.holds_first = False
        return "start"

    def _count_hits(self, moment: Moment, rule: AgentRule | None) -> AgentBreakpoint | None:
        """Every breakpoint counts its hit; the first one is named. What a rule allows is no hit."""
        if _is_allowed(rule):
            return None
        hits = [point for point in self.breakpoints.values() if point.is_hit(moment)]
        return hits[0] if hits else None

    def _open_stop(
        self,
        reason: str,
        moment: Moment,
        about: HeldCall,
        allows: tuple[str, ...],
        hit: AgentBreakpoint | None,
        tool_id: str | None = None,
        rule: AgentRule | None = None,
    ) -> Stop:
        stop_id = f"stop-{next(self._numbers)}"
        event: Paused = {
            "stop": stop_id,
            "reason": reason,
            "at": moment.at,
            "iteration": moment.iteration,
            **about,
            "allows": list(allows),
        }
        if moment.lane != MAIN:
            event["lane"] = moment.lane
        if rule is not None and reason == "rule":
            event["rule"] = rule.to_json()
        if hit is not None:
            event["breakpoint"] = hit.to_json()
            call = {"id": tool_id, "name": moment.name, "input": about.get("input")}
            self.loop.emit(
                BREAKPOINT_HIT(
                    {
                        "breakpoint": event["breakpoint"],
                        "toolCall": call if moment.at == rules.TOOL else None,
                        "iteration": moment.iteration,
                        "stop": stop_id,
                    }
                ),
                **({} if moment.lane == MAIN else {"lane": moment.lane}),
            )
        stop = Stop(stop_id, moment.at, allows, event, tool_id, parameters=moment.parameters)
        self.stops[stop_id] = stop
        self.loop.emit(PAUSED(event))
        if rule is not None and reason == "rule":
            self._set_timer(stop, rule, moment)
        return stop

    def _set_timer(self, stop: Stop, rule: AgentRule, moment: Moment) -> None:
        """The rule decides what nobody has decided in time."""
        if rule.timeout is None or rule.on_timeout == HOLD:
            return
        why = f"was not decided within {rule.timeout:g} s"
        if rule.on_timeout == DENY:
            decision = _build_denial(rule, moment, why)
        else:
            decision = HoldDecision("continue", rule.id, {"rule": rule.to_json(), "message": why})

        def decide() -> None:
            with self.lock:
                self.release(stop, decision)

        stop.timer = threading.Timer(rule.timeout, decide)
        stop.timer.daemon = True
        stop.timer.start()

    def leave(self, stop: Stop) -> None:
        """The loop goes on from it, decided or not."""
        if stop.timer is not None:
            stop.timer.cancel()
        with self.lock:
            if self.stops.pop(stop.id, None) is not None:
                self.loop.emit(RESUMED({"stop": stop.id, "action": "withdrawn", "by": "agent"}))

    def announce_tool(self, tool_id: str, has_returned_awaitable: bool = False) -> None:
        """It can be cancelled from here on, also between the end of a hold and its start."""
        self.running.setdefault(tool_id, Announced(has_returned_awaitable))

    def begin_tool(self, tool_id: str, running: Interruptible | Cancellable) -> None:
        with self.lock:
            announced = self.running.get(tool_id)
            self.running[tool_id] = running
        if not (isinstance(announced, Announced) and announced.is_wanted):
            return
        if announced.has_returned_awaitable:
            running.cancel()
        else:
            running.has_cancelled = True
            raise ToolCancelled("it was cancelled before it ran", tool_id=tool_id)

    def end_tool(self, tool_id: str) -> None:
        """Once it has run, or when it is clear that it does not. A second time changes nothing."""
        if tool_id not in self.running:
            return
        with self.lock:
            running = self.running.pop(tool_id)
            self.past_tools.append(tool_id)
            for command in self.cancelling.pop(tool_id, ()):
                if running.has_cancelled:
                    self._acknowledge(command, "cancel_tool")
                else:
                    self.refuse_cancellation(command)

    def forget_tool(self, tool_id: str) -> None:
        """It is dropped, perhaps by the garbage collector, where no lock may be taken."""
        if self.running.pop(tool_id, None) is not None:
            self.past_tools.append(tool_id)
            self.cancelling.pop(tool_id, None)

    def refuse_cancellation(self, command_id: str) -> None:
        message = "it was not cancelled: it had ended, or went on in spite of it"
        response: CommandResponse = {
            "commandId": command_id,
            "type": "cancel_tool",
            "success": False,
            "message": message,
        }
        self.loop.emit(COMMAND_RESPONSE(response))

    def end_run(self) -> None:
        """No model call of this run ends the step: it is complete, and the next run is held."""
        if not self.steps:
            return
        with self.lock:
            for step in self.steps.values():
                for lane in list(step.stepped):
                    self._complete_step(step, lane)

    def _complete_step(self, step: Step, lane: str) -> None:
        iteration = step.stepped.pop(lane, 0)
        if iteration:
            event: StepComplete = {"iteration": iteration}
            if lane != MAIN:
                event["lane"] = lane
            self.loop.emit(STEP_COMPLETE(event))

    def close(self) -> None:
        """Nobody listens any more: nothing is held, and what was held does not run."""
        with self.lock:
            self.is_closed, self.can_be_asked, self.holds_first = True, False, False
            self.breakpoints.clear()
            self.pauses.clear()
            self.steps.clear()
            message = "the session was closed while this was held"
            data = {"exception_type": "RuntimeError", "exception_message": message}
            for stop in list(self.stops.values()):
                self.release(stop, HoldDecision("raise", "agent", data))

    def take_injections(self, lane: str) -> list[Injection]:
        if not self.injections and not self.is_executing:
            return []
        with self.lock:
            taken = [injection for injection in self.injections if injection.lane == lane]
            self.injections = [one for one in self.injections if one.lane != lane]
            return taken

    def take_settings(self, lane: str) -> list[Setting]:
        if not self.settings and not self.is_executing:
            return []
        with self.lock:
            taken = [setting for setting in self.settings if setting.lane == lane]
            self.settings = [setting for setting in self.settings if setting.lane != lane]
            return taken

    def _acknowledge(self, command_id: str | None, kind: str) -> None:
        if command_id is not None:
            self.loop.emit(COMMAND_APPLIED({"commandId": command_id, "type": kind}))

    # -- asked by commands -----------------------------------------------------------------------

    def release(self, stop: Stop, decision: HoldDecision) -> None:
        if self.stops.pop(stop.id, None) is None:
            return
        if decision.action == "inject":
            role, content = decision.data["role"], decision.data["content"]
            self.injections.append(Injection(role, content, lane=stop.lane))
            self.inject_into(stop)
        self.loop.emit(
            RESUMED({"stop": stop.id, "action": decision.action, "by": decision.by}),
            **decision.data,
        )
        stop.decide(decision)

    def inject_into(self, stop: Stop) -> None:
        """While a model call is held, its messages can be changed: nobody else does."""
        if stop.call is not None:
            stop.call.inject()

    def end_waiting(self) -> None:
        """Somebody lets the session go on: lanes that were not held yet are not held any more."""
        if self.pauses.get(None, "") is None:
            del self.pauses[None]
        step = self.steps.get(None)
        if step is not None and step.has_held:
            del self.steps[None]

    def arm_step(
        self, held: list[Stop], lane: str | None = None, command_id: str | None = None
    ) -> None:
        """One iteration of a lane, or of every lane, and then a stop before the next."""
        self.pauses.pop(lane, None)
        # Held before a model call, that call is the step; held at a tool, the rest of it is.
        stepped = {stop.lane: int(stop.about.get("iteration") or 0) for stop in held}
        self.steps[lane] = Step(0 if held else 1, stepped, command_id)


def _is_allowed(rule: AgentRule | None) -> bool:
    return rule is not None and rule.action == ALLOW


def _is_hold(rule: AgentRule | None) -> bool:
    return rule is not None and rule.action == HOLD


def _build_denial(rule: AgentRule, moment: Moment, why: str) -> HoldDecision:
    what = moment.name or f"the {moment.at}"
    message = f"{what} {why} ({rule.id}: {rule.title})"
    return HoldDecision("deny", rule.id, {"rule": rule.to_json(), "message": message})


def encode_lazily(*values: Any) -> Callable[[], Sequence[str]]:
    """The texts that patterns are matched with, made once, when somebody wants them."""
    texts: list[str] = []

    def get() -> Sequence[str]:
        if not texts:
            for value in values:
                texts.extend(list_texts(value))
        return texts

    return get
