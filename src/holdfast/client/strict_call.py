"""A strict call: the server is asked before it is made and told when it has ended.

`StrictCall.steps` is the whole of it, for every way of calling: ask, wait if the call is held,
carry out the decision, report. `call_runner` takes the steps. Our own work happens
`without_interception`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from json.encoder import encode_basestring_ascii as quote
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
from holdfast.client.recorder import Answer, Recorder, logger, write_members
from holdfast.client.snapshots import Snapshot
from holdfast.client.switch import switch
from holdfast.client.value_parcel import Parcel
from holdfast.client.value_preview import clean

_MAX_DESCRIPTIONS = 100  # of one function: a name and an alias each

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
        invocation = self._invocation
        try:
            with without_interception():
                self._take_values()
                decision = self._ask()
        except DebugProtocolError:
            if switch.recorder is self._recorder:
                raise
            return (yield from self._run_unrecorded())
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

    def _run_unrecorded(self) -> Steps:
        """Another thread turned debugging off after this call had begun to ask."""
        self._invocation.call_id = ""
        outcome: Outcome = yield self._invocation
        if outcome.error is None:
            outcome.value = self._invocation.deliver(outcome.value)
        return outcome

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
        members = [_describe_call(invocation, described)]
        name = quote(clean(thread.name))
        members.append(f'"thread": {{"id": {_write_number(thread.ident)}, "name": {name}}}')
        task, parent = current_task_name(), current_call_id()
        if task is not None:
            members.append(f'"task": {quote(task)}')
        if parent is not None:
            members.append(f'"parent_call_id": {quote(parent)}')
        if began is not None:
            members.append(f'"began": {quote(began)}')
        if values.target_age is not None:
            members.append(f'"target_age_ns": {values.target_age}')
        if invocation.stack is not None:
            stack = invocation.stack
        elif recorder.settings.capture_locals:
            stack = stacks.with_locals(invocation.frame)
        else:
            stack = recorder.stacks.capture(invocation.frame)
        cid = values.target.cid
        members.append(
            f'"target_cid": "{cid}", "call_site": {{"timestamp": {time.time():.6f}, '
            f'"target_cid": "{cid}", "stack_trace": {stack}}}'
        )
        answer = recorder.send("/api/call/start", ", ".join(members), self._pack_values)
        for field in ("call_id", "action"):
            if not isinstance(answer.get(field), str) or not answer[field]:
                raise DebugProtocolError(f"the server's answer to a call has no {field}")
        described.sent_to = recorder.session_id
        self._call_id = invocation.call_id = answer["call_id"]
        invocation.remember(values.target)
        return answer

    def _pack_values(self, parcel: Parcel) -> str:
        invocation, values, item = self._invocation, self._values, parcel.item
        args = [
            item(snapshot, value)
            for snapshot, value in zip(values.args, invocation.args, strict=True)
        ]
        text = f', "args": [{", ".join(args)}]'
        if values.kwargs:
            kwargs = [
                f"{quote(clean(name))}: {item(snapshot, invocation.kwargs[name])}"
                for name, snapshot in values.kwargs.items()
            ]
            text += f', "kwargs": {{{", ".join(kwargs)}}}'
        fields: dict[str, Any] = {}
        session_id = self._recorder.session_id
        if session_id is not None and self._described.sent_to != session_id:
            fields["parameters"] = self._described.parameters
        if not parcel.has(values.target.cid):
            fields["target"] = parcel.add(values.target, invocation.target)
        return text + _add_needs(parcel, fields)

    # -- the report -----------------------------------------------------------------------------

    def _report(self, outcome: Outcome, executed: Invocation | None, action: str) -> Answer:
        """Tell the server how the call ended. If that fails, the result is still delivered."""
        recorder, error = self._recorder, outcome.error
        with without_interception():
            lenient = self._invocation.lenient
            result, refused = recorder.snapshots.take_outcome(outcome.value, error, lenient)
            changes = self._find_changes(executed)
            members = (
                f'"call_id": {quote(self._call_id)}, "timestamp": {time.time():.6f}, '
                f'"status": "{"success" if error is None else "exception"}", '
                f'"duration_ns": {_write_number(outcome.nanoseconds)}'
            )
            if action not in ("", "continue"):
                members += f', "action": {quote(action)}'
            if result.marker is not None:
                members += f', "marker": {quote(result.marker)}'
            if error is not None:
                members += f', "exception_type": {quote(exception_name(error))}'
                members += f', "exception_message": {quote(exception_message(error))}'
            try:
                answer = recorder.send(
                    "/api/call/complete",
                    members,
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
        changes: Changes = []
        for index, (before, value) in enumerate(zip(values.args, executed.args, strict=False)):
            if before.fixed or value is not invocation.args[index]:
                continue
            after = retake(before, value)
            if after is not None:
                changes.append(("args", str(index), after, value))
        for name, before in values.kwargs.items():
            value = invocation.kwargs[name]
            if before.fixed or executed.kwargs.get(name) is not value:
                continue
            after = retake(before, value)
            if after is not None:
                changes.append(("kwargs", clean(name), after, value))
        if values.target_age is None and not values.target.fixed:
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


def _describe_call(invocation: Invocation, described: Description) -> str:
    """What is the same for each call of a function: members of a JSON object."""
    how = (invocation.name, invocation.kind, invocation.alias, invocation.qualname)
    members = described.members.get(how)
    if members is None:
        if len(described.members) >= _MAX_DESCRIPTIONS:
            described.members.clear()
        fields = {
            "method_name": clean(invocation.name),
            "call_type": invocation.kind,
            "alias": None if invocation.alias is None else clean(invocation.alias),
            "qualname": invocation.qualname,
            "signature": described.signature,
            "evaluates": True,
        }
        members = described.members[how] = write_members(fields)
    return members


def _write_number(number: int | None) -> str:
    return "null" if number is None else str(number)


def _pack_outcome(parcel: Parcel, outcome: Outcome, result: Snapshot, changes: Changes) -> str:
    kind = "result" if outcome.error is None else "exception"
    text, fields = f', "{kind}_cid": "{result.cid}"', {}
    if not parcel.has(result.cid):
        value = outcome.value if outcome.error is None else outcome.error
        fields = {f"{kind}_{name}": part for name, part in parcel.add(result, value).items()}
        del fields[f"{kind}_cid"]
    if changes:
        changed: dict[str, Any] = {}
        for part, name, snapshot, value in changes:
            item = _build_item(parcel, snapshot, value)
            if part == "target":
                changed["target"] = item
            else:
                changed.setdefault(part, {})[name] = item
        fields["changed"] = changed
    return text + _add_needs(parcel, fields)


def _build_item(parcel: Parcel, snapshot: Snapshot, value: Any) -> dict[str, Any]:
    return {"cid": snapshot.cid} if parcel.has(snapshot.cid) else parcel.add(snapshot, value)


def _add_needs(parcel: Parcel, fields: dict[str, Any]) -> str:
    """The members with these fields, and with what their values refer to."""
    needs = parcel.needs()
    if needs:
        fields["needs"] = needs
    members = write_members(fields) if fields else ""
    return f", {members}" if members else ""
