"""Answers that show a recorded run as a conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, UnsetType

from holdfast.model.agent_events import MAIN, EventData
from holdfast.recording.conversation import (
    Conversation,
    ConversationCall,
    ModelRequest,
    Turn,
)
from holdfast.recording.placed_data import read_data
from holdfast.recording.recording_state import RecordedStop, lane_of, seq_of
from holdfast.recording.run_totals import TotalsAnswer
from holdfast.service.agents.recorded_texts import (
    MAX_PAGE_CHARS,
    RecordedTexts,
    ShownText,
    encode,
)
from holdfast.wire import message_text
from holdfast.wire.conversation_answers import (
    AskedTool,
    ConversationAnswer,
    ConversationHold,
    ConversationLane,
    ConversationTool,
    ConversationTurn,
    ConversationUsage,
    RecordedDecision,
    StepMessage,
    StepMessages,
    SystemPromptText,
)
from holdfast.wire.described import none_to_unset
from holdfast.wire.session_requests import StepMessagesQuery

_MAX_VARIABLE_CHARS = 1 << 20
"""Of all variables together."""
_MAX_MESSAGE_CHARS = 8 << 20
"""About how many characters of messages an answer with those of one call has."""
_MAX_ASKED = 1000
"""So many of the tools that an answer asks for are named."""
_MAX_NAME_CHARS = 1000
_TOOL_CHARS = 400
"""About how many characters of JSON a tool takes besides its texts."""


@dataclass(frozen=True)
class TurnPage:
    """Some turns of a run, oldest first."""

    turns: list[ConversationTurn]
    total: int
    has_earlier: bool
    has_more: bool


class ConversationBuilder:
    """Builds answers about one run, as it was after the last event that was taken."""

    def __init__(
        self,
        conversation: Conversation,
        texts: RecordedTexts,
        *,
        is_over: bool,
        holds: Mapping[str, str],
        name: str,
    ) -> None:
        self._run = conversation
        self._texts = texts
        self._is_over = is_over
        self._holds = holds
        self._name = name

    # -- turns -------------------------------------------------------------------------------

    def build_page(self, lane: str | None, after: int | None, limit: int) -> TurnPage:
        """The turns after number `after`; without it, the newest."""
        turns = [turn for turn in self._run.turns if lane in (None, turn.lane)]
        if after is None:
            shown = [self._build_turn(turn) for turn in self._take(turns[::-1], limit)][::-1]
            return TurnPage(shown, len(turns), len(shown) < len(turns), has_more=False)
        later = [turn for turn in turns if turn.number > after]
        shown = [self._build_turn(turn) for turn in self._take(later, limit)]
        is_cut = len(later) < len(turns)
        return TurnPage(shown, len(turns), is_cut, has_more=len(shown) < len(later))

    def _take(self, turns: list[Turn], limit: int) -> Iterator[Turn]:
        for turn in turns[:limit]:
            yield turn
            if self._texts.shown >= MAX_PAGE_CHARS:
                return

    def _build_turn(self, turn: Turn) -> ConversationTurn:
        """Its answer goes before its tools, and they before its messages, if there is no room."""
        model, texts = turn.model, self._texts
        texts.begin_part()
        left_out = texts.left_out
        data: EventData = {} if model is None else model.read_data()
        outcome: EventData = {} if model is None else model.read_outcome()
        asked = data if model is None or model.call is not None else data.get("input")
        fields: EventData = asked if isinstance(asked, dict) else {}
        name = data.get("model") if model is None or model.call is not None else data.get("name")
        answer = None if model is None else self._build_answer(model, outcome)
        decision = UNSET if model is None else self._build_decision(model, data, outcome)
        tools = texts.take_last(turn.tools, self._build_tool, _TOOL_CHARS)
        messages = texts.show_messages(fields.get("messages"))
        return ConversationTurn(
            number=turn.number,
            lane=turn.lane,
            depth=turn.depth,
            within=none_to_unset(data.get("within")),
            iteration=turn.iteration,
            seq=seq_of(turn.began),
            timestamp=turn.began.get("timestamp"),
            status="none" if model is None else model.find_status(self._is_over),
            model=str(name) if name else UNSET,
            message_count=_whole(data.get("messageCount")),
            messages=messages,
            answer=answer,
            tools=tools,
            left_out=texts.left_out - left_out or UNSET,
            decision=decision,
            replayed=bool(data.get("replayed")),
        )

    def _build_answer(
        self, model: ConversationCall, outcome: EventData
    ) -> ConversationAnswer | None:
        if model.call is None or model.call.ended is None:
            return None
        texts = self._texts
        shown, thinking, calls = self._show_answer(outcome)
        return ConversationAnswer(
            seq=seq_of(model.call.ended),
            text=shown.text,
            size=shown.size,
            cid=shown.cid,
            thinking=texts.cut(thinking).text if thinking else UNSET,
            asks_for=calls,
            stop_reason=self._show_reason(outcome),
            usage=_build_usage(texts.read_body(outcome.get("usage"))),
            cost=none_to_unset(_number(outcome.get("cost"))),
            duration_ms=_number(outcome.get("durationMs")),
            held_ms=none_to_unset(_number(outcome.get("heldMs"))),
            is_error=bool(outcome.get("isError")),
            error=texts.show_failure(outcome),
        )

    def _show_reason(self, outcome: EventData) -> str | None:
        reason = self._texts.read_body(outcome.get("stopReason"))
        return None if reason is None else self._texts.show_value(reason).text

    def _show_answer(self, outcome: EventData) -> tuple[ShownText, str, list[AskedTool]]:
        """What it says, what was thought, and the tools that it asks for."""
        texts, content = self._texts, outcome.get("content")
        calls = _list_asked(texts.read_body(outcome.get("toolCalls")))
        if outcome.get("isError"):
            return ShownText(""), "", calls
        if content is None:
            response = outcome.get("response")
            is_shown = response is not None and not calls
            return texts.show_value(response) if is_shown else ShownText(""), "", calls
        thinking, rest = message_text.split_thoughts(texts.read_body(content))
        shown = texts.cut(message_text.format_answer(rest), is_json=False)
        return shown, thinking, calls

    # -- tools -------------------------------------------------------------------------------

    def _build_tool(self, tool: ConversationCall) -> ConversationTool:
        data, outcome, texts = tool.read_data(), tool.read_outcome(), self._texts
        given = texts.show_json(data.get("input"))
        is_given = "result" in outcome
        result = texts.show_value(outcome.get("result")) if is_given else ShownText("")
        form: str | UnsetType = "json" if result.is_json else "text"
        ended = None if tool.call is None else tool.call.ended
        return ConversationTool(
            tool_id=str(data.get("toolId")),
            name=str(data.get("name") or ""),
            seq=seq_of(tool.began),
            timestamp=tool.began.get("timestamp"),
            status=tool.find_status(self._is_over),
            input_text=given.text,
            input_size=given.size,
            input_cid=given.cid,
            requested_text=texts.show_json(data["requested"]).text
            if "requested" in data
            else UNSET,
            result_text=result.text if is_given else UNSET,
            result_format=form if is_given else UNSET,
            result_size=result.size,
            result_cid=result.cid,
            end_seq=UNSET if ended is None else seq_of(ended),
            is_error=bool(outcome.get("isError")),
            error=texts.show_failure(outcome),
            duration_ms=_number(outcome.get("durationMs")),
            held_ms=none_to_unset(_number(outcome.get("heldMs"))),
            decision=self._build_decision(tool, data, outcome),
            pure=bool(data.get("pure")),
            replayed=bool(data.get("replayed")),
            within=none_to_unset(data.get("within")),
            subagents=tool.lanes,
        )

    def _build_decision(
        self, call: ConversationCall, data: EventData, outcome: EventData
    ) -> RecordedDecision | UnsetType:
        """What a stop of it ended with; of one without a stop, what its own events say."""
        if call.stop is not None and call.stop.ended is not None:
            return self._texts.show_decision(read_data(call.stop.ended["data"]))
        return self._texts.show_decision(data.get("decision") or outcome.get("decision"))

    # -- what belongs to the whole run ---------------------------------------------------------

    def build_lanes(self) -> list[ConversationLane]:
        run, state = self._run, self._run.state
        turns = Counter(turn.lane for turn in run.turns)
        return [
            ConversationLane(
                lane=name,
                label=self._name if name == MAIN else name,
                parent=lane.parent,
                within=none_to_unset(lane.within),
                depth=run.depths.get(name, 0),
                iteration=lane.iteration,
                status="idle" if self._is_over else state.status_of(name),
                turns=turns[name],
            )
            for name, lane in state.lanes.items()
        ]

    def build_holds(self) -> list[ConversationHold]:
        stops = () if self._is_over else self._run.state.stops.values()
        return [self._build_hold(stop) for stop in stops]

    def _build_hold(self, stop: RecordedStop) -> ConversationHold:
        data = read_data(stop.data)
        allows = data.get("allows")
        return ConversationHold(
            stop=stop.id,
            hold_id=none_to_unset(self._holds.get(stop.id)),
            at=str(data.get("at") or ""),
            reason=str(data.get("reason") or "pause"),
            name=str(data.get("name") or ""),
            lane=lane_of(data),
            iteration=_whole(data.get("iteration")),
            tool_id=none_to_unset(data.get("toolId")),
            seq=seq_of(stop.began),
            timestamp=stop.began.get("timestamp"),
            allows=[str(name) for name in allows] if isinstance(allows, list) else [],
        )

    def build_variables(self) -> dict[str, str]:
        """As many as there is room for."""
        self._texts.begin_part(_MAX_VARIABLE_CHARS)
        shown: dict[str, str] = {}
        for name, body in self._run.variables.items():
            if self._texts.is_full:
                break
            shown[name] = self._texts.show_json(body).text
            self._texts.shown += len(name)
        return shown


def build_totals(totals: TotalsAnswer, iterations: int) -> dict[str, Any]:
    """The fields of the totals of a run."""
    return {
        "iterations": iterations,
        "model_calls": totals["modelCalls"],
        "tool_calls": totals["toolCalls"],
        "failures": totals["failures"],
        "input_tokens": totals["inputTokens"],
        "output_tokens": totals["outputTokens"],
        "cached_tokens": totals["cachedTokens"],
        "cost": totals["cost"],
        "duration_ms": round(totals["seconds"] * 1000),
        "held_ms": round(totals["heldSeconds"] * 1000),
    }


def build_step_messages(
    session_id: str, query: StepMessagesQuery, request: ModelRequest
) -> StepMessages:
    data = request.event["data"]
    is_held = request.event["type"] == "paused"
    model = data.get("name") if is_held else data.get("model")
    messages = _build_messages(request.messages, query)
    system = request.system
    return StepMessages(
        session_id=session_id,
        lane=query.lane or MAIN,
        iteration=query.iteration,
        fork_at=query.iteration - 1,
        seq=seq_of(request.event),
        timestamp=request.event.get("timestamp"),
        is_held=is_held,
        model=str(model) if model else UNSET,
        system=None
        if system is None
        else SystemPromptText(text=message_text.format_content(system), place=request.system_place),
        first=query.first,
        messages=messages,
        total=len(request.messages),
        has_more=query.first + len(messages) < len(request.messages),
        settings_json=UNSET if request.settings is None else encode(request.settings),
    )


def _build_messages(messages: list[Any], query: StepMessagesQuery) -> list[StepMessage]:
    """Whole messages from `first` on, and at least one: until there are enough."""
    end = None if query.count is None else query.first + query.count
    shown: list[StepMessage] = []
    chars = 0
    for message in messages[query.first : end]:
        role, text = message_text.format_message(message)
        shown.append(StepMessage(role=role, text=text, json=encode(message)))
        chars += len(text) + len(shown[-1].json) + len(role)
        if chars >= _MAX_MESSAGE_CHARS:
            break
    return shown


def _list_asked(calls: Any) -> list[AskedTool]:
    found = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [
        AskedTool(
            tool_id=str(call["id"]) if call.get("id") is not None else UNSET,
            name=str(call.get("name") or "")[:_MAX_NAME_CHARS],
        )
        for call in found[:_MAX_ASKED]
    ]


def _build_usage(usage: Any) -> ConversationUsage | None:
    if not isinstance(usage, dict):
        return None
    cached = usage.get("cachedTokens")
    return ConversationUsage(
        input_tokens=_whole(usage.get("inputTokens")),
        output_tokens=_whole(usage.get("outputTokens")),
        cached_tokens=cached if isinstance(cached, int) else UNSET,
    )


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else None
