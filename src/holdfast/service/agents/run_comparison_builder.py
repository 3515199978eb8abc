"""Answers that show two recorded runs side by side."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from holdfast.recording.recording_state import MODEL, seq_of
from holdfast.recording.run_alignment import AlignedStep
from holdfast.recording.run_comparison import ComparedRun, LineageAnswer, Step
from holdfast.service.agents.conversation_builder import build_totals
from holdfast.service.agents.recorded_texts import MAX_PAGE_CHARS, RecordedTexts
from holdfast.wire.conversation_answers import (
    ComparedRuns,
    ComparedStep,
    ComparedTotals,
    RunLineage,
    StepDifference,
    StepPair,
)
from holdfast.wire.message_text import format_answer, split_thoughts


def build_comparison(
    runs: tuple[ComparedRun, ComparedRun],
    steps: list[AlignedStep],
    lineage: LineageAnswer | None,
    texts: tuple[RecordedTexts, RecordedTexts],
    after: int,
    limit: int,
) -> ComparedRuns:
    different = [index for index, step in enumerate(steps) if step.what is not None]
    shown: list[StepPair] = []
    for index in range(len(steps))[after + 1 : after + 1 + limit]:
        shown.append(_build_pair(index, steps[index], texts))
        if sum(each.shown for each in texts) >= MAX_PAGE_CHARS:
            break
    return ComparedRuns(
        equal=not different,
        left=_build_run(runs[0], sum(step.left is not None for step in steps)),
        right=_build_run(runs[1], sum(step.right is not None for step in steps)),
        lineage=None if lineage is None else _build_lineage(lineage),
        first_difference=different[0] if different else None,
        same=len(steps) - len(different),
        total_steps=len(steps),
        has_more=bool(shown) and shown[-1].index < len(steps) - 1,
        steps=shown,
    )


def _build_run(run: ComparedRun, steps: int) -> ComparedTotals:
    calls = [step.call for lane in run.lanes.values() for step in lane]
    iterations = max((call.iteration for call in calls), default=0)
    return ComparedTotals(
        session_id=run.id,
        name=str(run.started.get("name") or ""),
        steps=steps,
        **build_totals(run.totals.describe(), iterations),
    )


def _build_lineage(lineage: LineageAnswer) -> RunLineage:
    return RunLineage(
        relation=lineage["relation"],
        parent=lineage["parent"],
        child=lineage["child"],
        at=lineage["at"],
        text=lineage["detail"],
    )


def _build_pair(
    index: int, step: AlignedStep, texts: tuple[RecordedTexts, RecordedTexts]
) -> StepPair:
    difference = [] if step.what is None else [StepDifference(what=step.what, text=step.detail)]
    return StepPair(
        index=index,
        lane=step.lane,
        same=step.what is None,
        left=None if step.left is None else _build_step(step.left, texts[0]),
        right=None if step.right is None else _build_step(step.right, texts[1]),
        differences=difference,
    )


def _build_step(step: Step, texts: RecordedTexts) -> ComparedStep:
    call, outcome = step.call, step.call.outcome
    texts.begin_part()
    fields: dict[str, Any] = {}
    if call.kind == MODEL:
        fields["message_count"] = len(step.asked["messages"])
        fields["messages"] = texts.show_messages(call.request.get("messages"))
    else:
        fields["input_text"] = texts.show_json(step.asked).text
        fields["tool_id"] = str(call.tool_id)
        if step.ran_with is not None:
            fields["ran_with_text"] = texts.show_json(step.ran_with).text
    if call.ended is not None and step.error is None:
        fields["result_text"] = texts.show_value(_simplify(step)).text
    took = outcome.get("durationMs")
    return ComparedStep(
        kind=call.kind,
        name=call.name,
        iteration=call.iteration,
        seq=seq_of(call.began),
        error=texts.show_failure(outcome) if step.error is not None else UNSET,
        duration_ms=took if isinstance(took, (int, float)) else None,
        replayed=bool(call.request.get("replayed")),
        **fields,
    )


def _simplify(step: Step) -> Any:
    """What a model said and asks for, as a person reads it; what a tool gave, as it is."""
    answered = step.answered
    if step.call.kind != MODEL or not isinstance(answered, dict):
        return answered
    calls = answered.get("toolCalls")
    names = [str(call.get("name")) for call in calls or () if isinstance(call, dict)]
    said = format_answer(split_thoughts(answered.get("content"))[1])
    asked = f"→ {', '.join(names)}" if names else ""
    return f"{said}\n{asked}".strip() or answered
