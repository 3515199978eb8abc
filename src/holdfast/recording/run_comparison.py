"""Compares two runs of an agent: how far they are the same, and where they part.

Runs are compared lane by lane and step by step; a step is a call of a model or a tool. The tools of
one turn may run in any order, and each is compared with its like. Random ids, durations and tokens
make no difference. What went on inside a tool is left out where the other run took that tool from a
recording. Nothing here reads a file: events come in, and what is known of them goes out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypedDict

from holdfast.model.agent_events import EventData, RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.recording_state import (
    MODEL,
    TOOL,
    RecordedCall,
    RecordingState,
    lane_of,
    seq_of,
)
from holdfast.recording.run_totals import RunTotals, TotalsAnswer
from holdfast.wire import agent_lines
from holdfast.wire.json_difference import describe_difference


class StepAnswer(TypedDict, total=False):
    """One side of a difference."""

    kind: str
    name: str
    iteration: int
    toolId: str
    asked: object
    """Of a tool: its input. Of a model: its name, settings and all messages."""
    ranWith: object
    """The input that a decision gave it instead."""
    answered: object
    """Of a tool: its result. Of a model: what it said and asks for."""
    error: object
    replayed: bool
    """It came from a recording."""


class DifferenceAnswer(TypedDict):
    """The first difference of a lane."""

    lane: str
    step: int
    """Which step of the lane, from 1 on."""
    what: str
    """`call` (something else is called, or nothing), `request`, `decision` or `outcome`."""
    detail: str
    """What differs, as a sentence."""
    a: StepAnswer | None
    b: StepAnswer | None


class LaneAnswer(TypedDict):
    """One agent of the two processes."""

    lane: str
    same: int
    """The steps before the first difference."""
    stepsA: int
    stepsB: int
    difference: DifferenceAnswer | None


class LineageAnswer(TypedDict):
    """How the two runs are related."""

    relation: str
    """`fork`, `replay` or `siblings` (forks of the same run)."""
    parent: str
    child: str | None
    """Of siblings: null."""
    at: int | None
    """Of a fork: how many iterations come from its parent."""
    detail: str


class RunAnswer(TypedDict):
    """One of the two runs."""

    id: str
    name: str
    totals: TotalsAnswer


class ComparisonAnswer(TypedDict):
    """How two runs compare."""

    equal: bool
    a: RunAnswer
    b: RunAnswer
    lineage: LineageAnswer | None
    first: DifferenceAnswer | None
    """The difference that came first."""
    lanes: list[LaneAnswer]


@dataclass(eq=False)
class Step:
    """One call of a model or a tool, with what it was asked and what came of it."""

    call: RecordedCall
    asked: Any
    ran_with: Any = None
    answered: Any = None

    @property
    def key(self) -> tuple[str, str, str]:
        name = self.call.name if self.call.kind == TOOL else ""
        return self.call.kind, name, str(self.call.request.get("hash", ""))

    @property
    def may_be_changed(self) -> bool:
        """Whether it may have run with something else than its key is of."""
        request = self.call.request
        return self.ran_with is not None or "decision" in request or not request.get("hash")

    @property
    def error(self) -> EventData | None:
        """What it raised: type and message."""
        if not self.call.outcome.get("isError"):
            return None
        error = self.call.outcome.get("error")
        return error if isinstance(error, dict) else {"message": error}

    def describe(self) -> StepAnswer:
        call = self.call
        answer: StepAnswer = {
            "kind": call.kind,
            "name": call.name,
            "iteration": call.iteration,
            "asked": self.asked,
        }
        if call.tool_id is not None:
            answer["toolId"] = call.tool_id
        if self.ran_with is not None:
            answer["ranWith"] = self.ran_with
        if self.error is not None:
            answer["error"] = self.error
        elif call.ended is not None:
            answer["answered"] = self.answered
        if call.request.get("replayed"):
            answer["replayed"] = True
        return answer


@dataclass
class ComparedRun:
    """A run, read for a comparison."""

    id: str
    lanes: dict[str, list[Step]] = field(default_factory=dict)
    totals: RunTotals = field(default_factory=RunTotals)
    started: EventData = field(default_factory=dict)
    """The fields of its first `session_start`."""


def read_run(
    session_id: str, events: Iterable[RecordedEvent], contents: ContentFiles | None = None
) -> ComparedRun:
    """The steps of a run. `contents` has the bodies that are not in the events."""
    run, state = ComparedRun(session_id), RecordingState(contents)
    steps: dict[RecordedCall, Step] = {}
    for event in events:
        changed = state.take(event)
        run.totals.take(event, changed)
        if event["type"] == "session_start" and not run.started:
            run.started = event["data"]
        if not isinstance(changed, RecordedCall):
            continue
        if changed.began is event:
            sent = state.lanes[lane_of(event["data"])].sent
            steps[changed] = _begin_step(changed, state, sent)
            run.lanes.setdefault(changed.lane, []).append(steps[changed])
        elif changed.ended is event and changed in steps:
            steps[changed].answered = _read_answer(changed, state)
    return run


def _begin_step(call: RecordedCall, state: RecordingState, sent: list[Any]) -> Step:
    request = call.request
    if call.kind == MODEL:
        settings = state.read_body(request.get("settings")) or {}
        return Step(call, {"model": call.name, "settings": settings, "messages": sent})
    given = state.read_body(request.get("input"))
    if "requested" not in request:
        return Step(call, given)
    return Step(call, state.read_body(request["requested"]), ran_with=given)


def _read_answer(call: RecordedCall, state: RecordingState) -> Any:
    outcome = call.outcome
    if call.kind == TOOL:
        return state.read_body(outcome.get("result"))
    parts = {
        name: state.read_body(outcome[name])
        for name in ("content", "toolCalls", "stopReason")
        if outcome.get(name) is not None
    }
    return parts or state.read_body(outcome.get("response"))


# -- comparing ------------------------------------------------------------------------------------


def compare_runs(a: ComparedRun, b: ComparedRun) -> ComparisonAnswer:
    """Where they part, in every lane, and which of these places came first."""
    lanes: list[LaneAnswer] = []
    first: tuple[int, DifferenceAnswer] | None = None
    lanes_a, lanes_b = leave_out_inner_steps(a, b), leave_out_inner_steps(b, a)
    for lane in dict.fromkeys([*lanes_a, *lanes_b]):
        ours, theirs = lanes_a.get(lane, []), lanes_b.get(lane, [])
        same, found = _compare_lane(lane, ours, theirs)
        lanes.append(
            {
                "lane": lane,
                "same": same,
                "stepsA": len(ours),
                "stepsB": len(theirs),
                "difference": None if found is None else found[1],
            }
        )
        if found is not None and (first is None or found[0] < first[0]):
            first = found
    return {
        "equal": first is None,
        "a": _describe_run(a),
        "b": _describe_run(b),
        "lineage": find_lineage(a, b),
        "first": None if first is None else first[1],
        "lanes": lanes,
    }


def leave_out_inner_steps(run: ComparedRun, other: ComparedRun) -> dict[str, list[Step]]:
    """The lanes of a run, without what went on inside tools that the other has from a recording."""
    taken = Counter(
        (lane, step.key)
        for lane, steps in other.lanes.items()
        for step in steps
        if step.call.kind == TOOL and step.call.request.get("replayed")
    )
    outer: set[object] = set()
    for lane, steps in run.lanes.items():
        for step in steps:
            if taken[lane, step.key] > 0 and step.call.kind == TOOL:
                taken[lane, step.key] -= 1
                if not step.call.request.get("replayed"):
                    outer.add(step.call.tool_id)
    steps_by_time = sorted(
        (step for steps in run.lanes.values() for step in steps),
        key=lambda step: seq_of(step.call.began),
    )
    inner: set[int] = set()
    for step in steps_by_time:
        if step.call.within is not None and step.call.within in outer:
            inner.add(id(step))
            outer.add(step.call.tool_id or "")
    kept = {
        lane: [step for step in steps if id(step) not in inner] for lane, steps in run.lanes.items()
    }
    return {lane: steps for lane, steps in kept.items() if steps}


def _describe_run(run: ComparedRun) -> RunAnswer:
    name = str(run.started.get("name") or "")
    return {"id": run.id, "name": name, "totals": run.totals.describe()}


def _compare_lane(
    lane: str, ours: list[Step], theirs: list[Step]
) -> tuple[int, tuple[int, DifferenceAnswer] | None]:
    """How many steps are the same; the first difference, with the number of its event."""
    same = 0
    groups_a, groups_b = group_steps(ours), group_steps(theirs)
    for at in range(max(len(groups_a), len(groups_b))):
        group_a = groups_a[at] if at < len(groups_a) else []
        group_b = groups_b[at] if at < len(groups_b) else []
        found: list[tuple[int, DifferenceAnswer]] = []
        equal = 0
        for position, (one, other) in enumerate(pair_steps(group_a, group_b)):
            difference = compare_steps(one, other)
            if difference is None:
                equal += 1
                continue
            place, what, detail = difference
            answer: DifferenceAnswer = {
                "lane": lane,
                "step": same + position + 1,
                "what": what,
                "detail": detail,
                "a": None if one is None else one.describe(),
                "b": None if other is None else other.describe(),
            }
            found.append((place, answer))
        if found:
            return same + equal, min(found, key=lambda item: item[0])
        same += equal
    return same, None


def group_steps(steps: list[Step]) -> list[list[Step]]:
    """Model calls one by one; the tools between two of them together."""
    groups: list[list[Step]] = []
    for step in steps:
        if step.call.kind == TOOL and groups and groups[-1][0].call.kind == TOOL:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def pair_steps(ours: list[Step], theirs: list[Step]) -> Iterator[tuple[Step | None, Step | None]]:
    """Each step with its like: the same call, else one of the same tool, else whichever is left."""
    partners: dict[Step, Step] = {}
    left = list(theirs)
    for is_like in (_has_same_key, _has_same_name, lambda one, other: True):
        for one in ours:
            if one not in partners:
                other = next((other for other in left if is_like(one, other)), None)
                if other is not None:
                    partners[one] = other
                    left.remove(other)
    yield from ((one, partners.get(one)) for one in ours)
    yield from ((None, other) for other in left)


def _has_same_key(one: Step, other: Step) -> bool:
    return one.key == other.key


def _has_same_name(one: Step, other: Step) -> bool:
    return one.key[:2] == other.key[:2]


def compare_steps(one: Step | None, other: Step | None) -> tuple[int, str, str] | None:
    """The number of the event at which they part, what is different, and how; None for nothing."""
    if one is None or other is None:
        step = one or other
        assert step is not None
        which = "A" if one is not None else "B"
        return seq_of(step.call.began), "call", f"only {which} calls {step.call}"
    began = min(seq_of(one.call.began), seq_of(other.call.began))
    if one.key[:2] != other.key[:2]:
        return began, "call", f"A calls {one.call}, B calls {other.call}"
    if one.key != other.key:
        detail = describe_difference(one.asked, other.asked)
        return began, "request", f"{one.call} is asked for something else: {detail}"
    if one.may_be_changed or other.may_be_changed:
        ran_with = [step.asked if step.ran_with is None else step.ran_with for step in (one, other)]
        if ran_with[0] != ran_with[1] and agent_lines.loose_key(
            ran_with[0]
        ) != agent_lines.loose_key(ran_with[1]):
            detail = describe_difference(*ran_with)
            return began, "decision", f"{one.call} ran with another input: {detail}"
    ended = min(seq_of(step.call.ended or step.call.began) for step in (one, other))
    detail = _compare_outcomes(one, other)
    return (ended, "outcome", f"{one.call} {detail}") if detail else None


def _compare_outcomes(one: Step, other: Step) -> str:
    """What is different about what came of them; nothing if that is the same."""
    if (one.call.ended is None) != (other.call.ended is None):
        return f"has ended in {'B' if one.call.ended is None else 'A'} only"
    if one.error != other.error:
        if one.error is None or other.error is None:
            which, error = ("B", other.error) if one.error is None else ("A", one.error)
            return f"failed in {which} only: {_format_error(error)}"
        return f"failed with {_format_error(one.error)} in A, {_format_error(other.error)} in B"
    if one.answered != other.answered and agent_lines.loose_key(
        one.answered
    ) != agent_lines.loose_key(other.answered):
        return f"gave something else: {describe_difference(one.answered, other.answered)}"
    return ""


def _format_error(error: EventData | None) -> str:
    error = error or {}
    text = f"{error.get('type') or 'an error'}: {error.get('message') or ''}"
    return text.rstrip(": ")[:200]


# -- lineage --------------------------------------------------------------------------------------


def find_lineage(a: ComparedRun, b: ComparedRun) -> LineageAnswer | None:
    """How the runs are related, as far as they say so themselves."""
    for child, parent in ((b, a), (a, b)):
        if parent.id == child.started.get("parent") or parent.id == child.started.get("replayOf"):
            at = child.started.get("forkAt")
            if isinstance(at, int):
                detail = f"{child.id} is a fork of {parent.id} at {at}"
                return _build_lineage("fork", parent.id, child.id, at, detail)
            detail = f"{child.id} is a replay of {parent.id}"
            return _build_lineage("replay", parent.id, child.id, None, detail)
    common = a.started.get("replayOf")
    if isinstance(common, str) and common == b.started.get("replayOf"):
        return _build_lineage("siblings", common, None, None, f"both come from {common}")
    return None


def _build_lineage(
    relation: str, parent: str, child: str | None, at: int | None, detail: str
) -> LineageAnswer:
    return {
        "relation": relation,
        "parent": parent,
        "child": child,
        "at": at,
        "detail": detail,
    }
