"""A strict call: the server is asked before it is made and told when it has ended.

`StrictCall.steps` is the whole of it, for every way of calling: ask, wait if the call is held,
carry out the decision, report. `call_runner` takes the steps. Our own work happens
`without_interception`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import Any

from holdfast.client import decision_effects, stacks, storage_refusals
from holdfast.client.call_hold import Hold
from holdfast.client.decision_effects import Plan
from holdfast.client.exceptions import (
    DebugError,
    DebugProtocolError,
    DebugSerializationError,
    DebugServerError,
)
from holdfast.client.function_registry import Description
from holdfast.client.hold_notice import announce_hold
from holdfast.client.invocation import Invocation, current_call_id, current_task_name
from holdfast.client.outcome import Outcome, exception_message, exception_name
from holdfast.client.proxy_base import without_interception
from holdfast.client.recorder import Answer, Recorder, logger
from holdfast.client.snapshots import Snapshot
from holdfast.client.value_parcel import Parcel
from holdfast.client.value_preview import clean

Steps = Generator[Hold | Invocation, Any, Outcome]
Changes = list[tuple[str, str, Snapshot, Any]]
"""What a call changed: the part (`args`, `kwargs`, `target`), the name in it, the value after."""


class CallValues:
    """The values of a call before it runs."""

    __slots__ = ("args", "kwargs", "target", "target_age")

    def __init__(
        self,
        target: Snapshot,
        target_age: int | None,
        args: list[Snapshot],
        kwargs: dict[str, Snapshot],
    ) -> None:
        self.target = target
        self.target_age = target_age  # in nanoseconds, if it was not compared for this call
        self.args = args
        self.kwargs = kwargs


class StrictCall:
    __slots__ = ("_call_id", "_described", "_invocation", "_recorder", "_values")

    def __init__(self, recorder: Recorder, invocation: Invocation) -> None:
        self._recorder = recorder
        self._invocation = invocation
        self._call_id = ""
        self._values: CallValues
        self._described: Description

    def steps(self) -> Steps:
        """Everything from the question to the report."""
        with without_interception():
            self._take_values()
            decision = self._ask()
        invocation = self._invocation
        action = ""
        carry_out = self._plan_before
        step: Invocation | Outcome = invocation
        try:
            while decision.get("action") == "poll":
                hold = self._hold(decision, "before it runs", self._plan_before)
                decision, carry_out = (yield hold), hold.carry_out
            action = str(decision.get("action"))
            if action != "continue":
                with without_interception():
                    step = carry_out(decision).step
        except DebugServerError:
            raise  # nobody is there to be told
        except BaseException as problem:  # the call is not made; the server is told why
            self._report(Outcome(error=problem), None, action)
            raise
        if isinstance(step, Outcome):
            outcome, executed = step, None
        else:
            outcome, executed = (yield step), step
        return (yield from self._end(outcome, executed, action))

    def steps_after(self, values: CallValues, call_id: str, outcome: Outcome) -> Steps:
        """The steps of a call that ran before a rule concerned it: only its end can be decided."""
        self._values = values
        with without_interception():
            self._ask(began=call_id)
        self._call_id = call_id
        return (yield from self._end(outcome, self._invocation, ""))

    def _end(self, outcome: Outcome, executed: Invocation | None, action: str) -> Steps:
        answer = self._report(outcome, executed, action)
        if answer.get("action") is not None:
            outcome = yield from self._decide_end(answer, outcome)
        if outcome.error is None:
            outcome.value = self._invocation.deliver(outcome.value)
        return outcome

    def _decide_end(self, answer: Answer, outcome: Outcome) -> Steps:
        """How the call ends by a decision, made at a hold or by a breakpoint beforehand."""
        recorder, invocation = self._recorder, self._invocation

        def carry_out(decision: Answer) -> Plan:
            return decision_effects.plan_after(recorder, decision, outcome, invocation)

        plan = carry_out
        moment = "with its result" if outcome.error is None else "with its exception"
        try:
            while answer.get("action") == "poll":
                hold = self._hold(answer, moment, carry_out)
                answer, plan = (yield hold), hold.carry_out
        except DebugServerError:
            raise  # nobody is there to be told
        except BaseException:  # whatever ended the wait, the hold must not stay open
            with without_interception():
                recorder.abandon_hold(self._call_id)
            raise
        with without_interception():
            step = plan(answer).step
        return step if isinstance(step, Outcome) else outcome

    def _hold(self, answer: Answer, moment: str, plan: Callable[[Answer], Plan]) -> Hold:
        with without_interception():
            announce_hold(answer, self._invocation, moment, self._recorder.connection.url)
        return Hold(self._recorder, self._call_id, answer, self._invocation.frame, plan)

    def _plan_before(self, decision: Answer) -> Plan:
        return decision_effects.plan_before(self._recorder, decision, self._invocation)

    # -- the question ---------------------------------------------------------------------------

    def _take_values(self) -> None:
        invocation, snapshots = self._invocation, self._recorder.snapshots
        lenient, take = invocation.lenient, snapshots.take
        if not snapshots.is_lenient(lenient):
            self._recorder.forecast.check(invocation.function, invocation.full_name)
        target: Snapshot | None = None
        args: list[Snapshot] = []
        kwargs: dict[str, Snapshot] = {}
        try:
            target, age = self._recorder.targets.take(invocation)
            for value in invocation.args:
                args.append(take(value, lenient=lenient))
            for name, value in invocation.kwargs.items():
                kwargs[name] = take(value, lenient=lenient)
        except DebugSerializationError as refused:
            place: int | str | None = None  # of the value that refused
            if target is not None and len(args) < len(invocation.args):
                place = len(args)
            elif target is not None:
                place = list(invocation.kwargs)[len(kwargs)]
            raise name_refused(refused, invocation, place) from refused.cause
        self._values = CallValues(target, age, args, kwargs)

    def _ask(self, began: str | None = None) -> Answer:
        """Tell the server of the call, and return what it decides. `began`: its id if it ran."""
        invocation, recorder, values = self._invocation, self._recorder, self._values
        thread = threading.current_thread()
        described = self._described = recorder.functions.describe(
            invocation.function, type(invocation.target), invocation.name
        )
        fields = {
            "method_name": clean(invocation.name),
            "target_cid": values.target.cid,
            "call_type": invocation.kind,
            "alias": None if invocation.alias is None else clean(invocation.alias),
            "qualname": invocation.qualname,
            "signature": described.signature,
            "thread": {"id": thread.ident, "name": clean(thread.name)},
            "task": current_task_name(),
            "parent_call_id": current_call_id(),
            "began": began,
            "target_age_ns": values.target_age,
            "evaluates": True,
        }
        if invocation.stack is not None:
            stack = invocation.stack
        elif recorder.settings.capture_locals:
            stack = stacks.with_locals(invocation.frame)
        else:
            stack = recorder.stacks.capture(invocation.frame)
        site = (
            f', "call_site": {{"timestamp": {time.time():.6f}, '
            f'"target_cid": "{values.target.cid}", "stack_trace": {stack}}}'
        )
        answer = recorder.send("/api/call/start", fields, self._pack_values, site)
        for field in ("call_id", "action"):
            if not isinstance(answer.get(field), str) or not answer[field]:
                raise DebugProtocolError(f"the server's answer to a call has no {field}")
        described.sent_to = recorder.session_id
        self._call_id = invocation.call_id = answer["call_id"]
        invocation.remember(values.target)
        return answer

    def _pack_values(self, parcel: Parcel) -> dict[str, Any]:
        invocation, values = self._invocation, self._values
        fields: dict[str, Any] = {
            "args": [
                parcel.item(snapshot, value)
                for snapshot, value in zip(values.args, invocation.args, strict=True)
            ],
            "kwargs": {
                clean(name): parcel.item(snapshot, invocation.kwargs[name])
                for name, snapshot in values.kwargs.items()
            },
        }
        session_id = self._recorder.session_id
        if session_id is not None and self._described.sent_to != session_id:
            fields["parameters"] = self._described.parameters
        target = parcel.item(values.target, invocation.target)
        if len(target) > 1:
            fields["target"] = target
        needs = parcel.needs()
        if needs:
            fields["needs"] = needs
        return fields

    # -- the report -----------------------------------------------------------------------------

    def _report(self, outcome: Outcome, executed: Invocation | None, action: str) -> Answer:
        """Tell the server how the call ended. If that fails, the result is still delivered."""
        recorder, error = self._recorder, outcome.error
        with without_interception():
            lenient = self._invocation.lenient
            result, refused = recorder.snapshots.take_outcome(outcome.value, error, lenient)
            changes = self._find_changes(executed)
            fields: dict[str, Any] = {
                "call_id": self._call_id,
                "timestamp": round(time.time(), 6),
                "status": "success" if error is None else "exception",
                "duration_ns": outcome.nanoseconds,
                "action": action if action not in ("", "continue") else None,
                "marker": result.marker,
            }
            if error is not None:
                fields["exception_type"] = exception_name(error)
                fields["exception_message"] = exception_message(error)
            try:
                answer = recorder.send(
                    "/api/call/complete",
                    fields,
                    lambda parcel: _pack_outcome(parcel, outcome, result, changes),
                )
            except DebugError:
                recorder.status = "error"
                logger.exception("the end of call %s could not be reported", self._call_id)
                answer = {}
        if error is None and executed is not None:
            recorder.forecast.note(executed.function, refused)
        if refused is not None:
            name = self._invocation.full_name
            raise storage_refusals.name_result(refused, name) from refused.cause
        return answer

    def _find_changes(self, executed: Invocation | None) -> Changes:
        """What the call did to its arguments and its target, if it was made."""
        if executed is None:
            return []
        invocation, values, retake = self._invocation, self._values, self._recorder.snapshots.retake
        candidates = [
            ("args", str(index), snapshot, value)
            for index, (snapshot, value) in enumerate(zip(values.args, executed.args, strict=False))
            if value is invocation.args[index]
        ]
        candidates += [
            ("kwargs", clean(name), snapshot, invocation.kwargs[name])
            for name, snapshot in values.kwargs.items()
            if executed.kwargs.get(name) is invocation.kwargs[name]
        ]
        changes = [
            (part, name, after, value)
            for part, name, before, value in candidates
            if (after := retake(before, value)) is not None
        ]
        if values.target_age is None:
            target = self._recorder.targets.retake(values.target, invocation)
            if target is not None:
                changes.append(("target", "", target, invocation.target))
                invocation.remember(target)
        return changes


def name_refused(
    refused: DebugSerializationError, invocation: Invocation, place: int | str | None
) -> DebugSerializationError:
    """The error, with the name of the value: that of an argument, or the target if None."""
    name = invocation.full_name
    if place is None:
        return storage_refusals.name_target(refused, name)
    return storage_refusals.name_argument(refused, invocation.function, name, place)


def _pack_outcome(
    parcel: Parcel, outcome: Outcome, result: Snapshot, changes: Changes
) -> dict[str, Any]:
    kind = "result" if outcome.error is None else "exception"
    item = parcel.item(result, outcome.value if outcome.error is None else outcome.error)
    fields: dict[str, Any] = {f"{kind}_{name}": part for name, part in item.items()}
    if changes:
        changed: dict[str, Any] = {}
        for part, name, snapshot, value in changes:
            item = parcel.item(snapshot, value)
            if part == "target":
                changed["target"] = item
            else:
                changed.setdefault(part, {})[name] = item
        fields["changed"] = changed
    needs = parcel.needs()
    if needs:
        fields["needs"] = needs
    return fields
