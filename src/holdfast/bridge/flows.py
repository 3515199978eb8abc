"""What happens around one model call, and around one tool: the same for functions and coroutines.

`flow_driver` runs them.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.bridge_errors import Diverged, ModelDenied, ToolCancelled, ToolDenied
from holdfast.bridge.flow_driver import (
    Exhausted,
    Flow,
    Partial,
    Perform,
    Shaped,
    ShapedError,
    make_throwable,
)
from holdfast.bridge.hold_decision import HoldDecision, build_error
from holdfast.bridge.lanes import ActiveTool, Turn
from holdfast.bridge.loop_control import encode_lazily
from holdfast.bridge.model_request import PendingCall, Request, join_texts
from holdfast.bridge.recorded_values import error_message
from holdfast.bridge.system_prompt import IN_MESSAGES
from holdfast.core import agent_breakpoints as rules
from holdfast.core import agent_rules
from holdfast.core.agent_breakpoints import Moment
from holdfast.model.agent_events import (
    API_RESPONSE,
    MAIN,
    TOOL_CALL_END,
    TOOL_CALL_START,
    ApiResponse,
    EventData,
    HeldCall,
    ToolCallEnd,
    ToolCallStart,
    ToolResult,
)
from holdfast.recording.recording_state import RecordedCall
from holdfast.wire import agent_lines

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge

_now = time.perf_counter
_LIVE = object()
"""Stands for the result of a call that is really made."""


# -- tools --------------------------------------------------------------------------------------


def run_tool(bridge: Bridge, call: ToolCall) -> Flow:
    tool = bridge.prepare_tool(call)
    try:
        control, values, tool_id = bridge.control, bridge.values, tool.id
        iteration = tool.scope.lane.iteration if tool.turn is None else tool.turn.iteration
        if control.settings:
            bridge.apply_settings(call.lane)
        requested = call.input
        text = values.encode(requested)
        key = agent_lines.text_key(call.name, text)
        entry, decision, withdrawn, held_ms = None, None, None, 0.0
        if tool.is_recorded:
            entry = bridge.find_recorded_tool(tool, key, lambda: bridge.parse(text), iteration)
            decision = _repeat_decision(bridge, entry)
        if not control.is_idle:
            given = requested if call.parameters is None else call.parameters.complete(requested)
            moment = Moment(
                *(rules.TOOL, call.name, iteration, bridge.tokens, given),
                encode_lazily(*((requested,) if given is requested else (requested, given))),
                lane=call.lane,
                rule_actions=_list_rule_actions(
                    entry, is_live=decision is None and not (entry and bridge.plays(entry))
                ),
                parameters=call.parameters,
            )
            about: HeldCall = {"name": call.name, "toolId": tool_id, "input": requested}
            control.announce_tool(tool_id)
            stop = control.stop_at_tool(moment, about, tool_id, call.allows)
            if isinstance(stop, Stop):
                try:
                    decision, held_ms = yield from _hold(bridge, stop)
                except GeneratorExit:
                    control.forget_tool(tool_id)
                    raise
                except BaseException as error:  # its task was cancelled while it was held
                    withdrawn = error
            elif stop is not None:
                decision = stop
            is_played = entry is not None and bridge.plays(entry)
            if decision is not None and decision.action == "modify" and not is_played:
                changed = {**given, **decision.data["input"]}
                decision = control.deny_changed_input(moment, changed, decision)
        effective = requested
        event: ToolCallStart = {
            "toolId": tool_id,
            "name": call.name,
            "input": values.place(text),
            "iteration": iteration,
            "hash": key,
        }
        if decision is not None and decision.action != "continue":
            if decision.action == "modify":
                effective = {**requested, **decision.data["input"]}
                event["requested"] = event["input"]
                event["input"] = values.encode_body(effective)
            event["decision"] = values.encode_body(decision.fields)
        if call.lane != MAIN:
            event["lane"] = call.lane
        if call.pure:
            event["pure"] = True
        if (outer := tool.outer) is not None:
            event["within"] = outer.id
        if entry is not None:
            event["replayed"] = True
        control.announce_tool(tool_id)
        bridge.record(TOOL_CALL_START, event)
        began = _now()
        try:
            if withdrawn is not None:
                raise withdrawn
            is_plain = entry is None and decision is None
            result = _LIVE if is_plain else _find_result(bridge, tool, entry, decision)
            if result is _LIVE:
                try:
                    result = yield Perform(effective, tool)
                finally:
                    if tool.inner is not None:
                        bridge.lanes.close_scope(tool.inner)
        except GeneratorExit:
            control.forget_tool(tool_id)
            raise
        except BaseException as error:  # whatever the call raises is its outcome
            duration, held_ms = _measure(tool, began, held_ms)
            return (yield from _fail_tool(bridge, call, tool, entry, error, duration, held_ms))
        duration = _now() - began
        if tool.held is not None:
            duration, held_ms = _measure(tool, began, held_ms)
        is_faked = not is_plain and (
            (decision is not None and decision.action == "skip") or _is_edited(bridge, entry)
        )
        _end_tool(bridge, call, tool_id, result, duration, held_ms, is_faked)
        return result
    finally:
        bridge.control.end_tool(tool.id)
        bridge.lanes.end_tool(tool)


def _to_milliseconds(seconds: float) -> float:
    """To the microsecond. `round` takes four times as long."""
    return int(seconds * 1_000_000 + 0.5) / 1000


def _measure(tool: ActiveTool, began: float, held_ms: float) -> tuple[float, float]:
    """The seconds that it took itself, and the milliseconds that it or something in it was held."""
    now = _now()
    if tool.held is None:
        return now - began, held_ms
    held = tool.held.seconds(now)
    return max(now - began - held, 0.0), held_ms + held * 1000


def _find_result(
    bridge: Bridge, tool: ActiveTool, entry: RecordedCall | None, decision: HoldDecision | None
) -> Any:
    """The result of a tool that does not run; `_LIVE` if it does. Raises what it raises instead."""
    if entry is not None and _is_edited(bridge, entry):
        assert bridge.tape is not None
        return bridge.tape.edits[str(entry.tool_id)]
    if decision is not None:
        match decision.action:
            case "skip":
                return decision.data["result"]
            case "raise":
                raise make_throwable(build_error(decision.data))
            case "cancel":
                raise ToolCancelled(f"{tool.name} was cancelled before it ran", tool_id=tool.id)
            case "deny":
                raise ToolDenied(str(decision.data["message"]), tool_id=tool.id)
    if entry is not None and bridge.plays(entry):
        return _replay_outcome(bridge, entry)
    return _LIVE


def _replay_outcome(bridge: Bridge, entry: RecordedCall, load: Any = None) -> Any:
    """What it gave when it was recorded, or raised."""
    shape = entry.outcome.get("returned")
    try:
        result = bridge.replay_outcome(entry, load)
    except Exception as error:
        raise (ShapedError(error, shape) if shape else make_throwable(error)) from None
    return Shaped(result, shape) if shape else result


def _is_edited(bridge: Bridge, entry: RecordedCall | None) -> bool:
    """Whether a fork was given another result for it."""
    return entry is not None and bridge.tape is not None and entry.tool_id in bridge.tape.edits


def _end_tool(
    bridge: Bridge,
    call: ToolCall,
    tool_id: str,
    result: Any,
    duration: float,
    held_ms: float,
    is_faked: bool,
    decision: HoldDecision | None = None,
) -> None:
    shaped = result if isinstance(result, Shaped) else None
    body, pickle, marker = bridge.values.record(result if shaped is None else shaped.value)
    given: ToolResult = {"toolId": tool_id, "name": call.name, "result": body}
    if shaped is not None:
        given["returned"] = shaped.shape
        if shaped.is_partial:
            given["partial"] = True
    if pickle is not None:
        given["resultPickle"] = pickle
    if marker is not None:
        given["resultMarker"] = marker
    if is_faked:
        given["faked"] = True
    ended: ToolCallEnd = {
        "toolId": tool_id,
        "name": call.name,
        "isError": False,
        "durationMs": _to_milliseconds(duration),
    }
    if held_ms:
        ended["heldMs"] = round(held_ms, 3)
    if decision is not None:
        ended["decision"] = bridge.values.encode_body(decision.fields)
    bridge.record_result(given, ended)


def _fail_tool(
    bridge: Bridge,
    call: ToolCall,
    tool: ActiveTool,
    entry: RecordedCall | None,
    error: BaseException,
    duration: float,
    held_ms: float,
) -> Flow:
    """Record it, and hold if somebody wants to see errors. A result may be given instead."""
    if isinstance(error, Diverged):
        raise error
    cause, tool_id = error.error if isinstance(error, Exhausted) else error, tool.id
    body, pickle, marker = bridge.values.record_error(cause)
    event: ToolCallEnd = {
        "toolId": tool_id,
        "name": call.name,
        "isError": True,
        "error": body,
        "durationMs": _to_milliseconds(duration),
    }
    if pickle is not None:
        event["errorPickle"] = pickle
    if marker is not None:
        event["errorMarker"] = marker
    if held_ms:
        event["heldMs"] = round(held_ms, 3)
    if isinstance(error, ShapedError):
        event["returned"] = error.shape
    if isinstance(cause, ToolDenied) and cause.tool_id == tool_id:
        event["denied"] = True
    elif isinstance(cause, ToolCancelled) and cause.tool_id == tool_id:
        event["cancelled"], event["abandoned"] = not cause.abandoned, cause.abandoned
    decision = None
    if isinstance(error, Exception):
        about: HeldCall = {"name": call.name, "toolId": tool_id, "input": call.input}
        number = tool.scope.lane.iteration if tool.turn is None else tool.turn.iteration
        decision, more_ms = yield from _hold_error(
            bridge, rules.TOOL, call, number, about, cause, entry
        )
        if decision is not None and decision.action == "skip":
            result, held_ms = decision.data["result"], held_ms + more_ms
            _end_tool(bridge, call, tool_id, result, duration, held_ms, True, decision)
            return result
    if decision is not None and decision.action != "continue":
        event["decision"] = bridge.values.encode_body(decision.fields)
    bridge.record(TOOL_CALL_END, event)
    if decision is not None and decision.action == "raise":
        raise make_throwable(build_error(decision.data)) from cause
    raise error


# -- models -------------------------------------------------------------------------------------


def run_model(bridge: Bridge, call: ModelCall) -> Flow:
    turn = bridge.begin_turn(call)
    try:
        control, lane, iteration = bridge.control, turn.scope.lane, turn.iteration
        pending = PendingCall(bridge, call, turn)
        bridge.apply_settings(call.lane)
        pending.keep_prompt()
        pending.replay_changes()
        pending.inject()
        request = Request(bridge, call, lane)
        entry = bridge.find_recorded_model(turn, call.model or "", request.key, request.describe)
        decision, withdrawn, held_ms = _repeat_decision(bridge, entry), None, 0.0
        if pending.is_held_by_fork or not control.is_idle:
            new = bridge.parse(join_texts(request.new))
            about: HeldCall = {
                "name": call.model or "",
                "messageCount": len(call.messages),
                "input": {"messagesKept": request.kept, "messages": new},
            }
            if call.system is not IN_MESSAGES and (prompt := call.system.read(call)) is not None:
                about["system"] = prompt
            moment = Moment(
                *(rules.MODEL, call.model or "", iteration, bridge.tokens),
                *(call.settings, encode_lazily(call.settings)),
                lane=call.lane,
                rule_actions=_list_rule_actions(entry, is_live=False),
                parameters=call.parameters,
            )
            reason = "fork" if pending.is_held_by_fork else None
            stop = control.stop_at_model(moment, about, pending, call.allows, reason)
            if stop is not None and not isinstance(stop, Stop):
                decision = stop
            elif stop is not None:
                try:
                    decision, held_ms = yield from _hold(bridge, stop)
                except GeneratorExit:
                    raise
                except BaseException as error:  # its task was cancelled while it was held
                    decision, withdrawn = None, error
                request = Request(bridge, call, lane)  # messages may have been injected
                is_edited = decision is not None and decision.action not in ("continue", "step")
                if pending.is_fork_point and is_edited:
                    bridge.note_edited()
        if decision is not None and decision.action == "modify":
            given = decision.data["input"]
            edited, system = given.get("messages"), decision.data.get("system")
            call.settings.update({name: given[name] for name in given if name != "messages"})
            pending.change(
                edited if isinstance(edited, list) else None,
                system if isinstance(system, str) else None,
            )
            request = Request(bridge, call, lane, key=request.key)
        request.record(iteration, decision, entry is not None)
        began = _now()
        try:
            if withdrawn is not None:
                raise withdrawn
            result = _find_answer(bridge, call, entry, decision)
            if result is _LIVE:
                result = yield Perform(call)
        except GeneratorExit:
            raise
        except BaseException as error:  # whatever the call raises is its outcome
            duration = _now() - began
            return (yield from _fail_model(bridge, call, turn, entry, error, duration, held_ms))
        event = _begin_response(call, iteration, _now() - began, held_ms, is_error=False)
        recorded = result
        if isinstance(result, Partial):
            result, event["partial"] = result.chunks, True
            recorded = result
        elif isinstance(result, Shaped):
            recorded, event["returned"] = result.value, result.shape
            if result.is_partial:
                event["partial"] = True
        is_faked = decision is not None and decision.action == "skip"
        is_free = is_faked or entry is not None
        _end_model(bridge, call, turn, event, recorded, is_faked, is_free=is_free)
        return result
    finally:
        bridge.lanes.end_turn(turn)


def _find_answer(
    bridge: Bridge, call: ModelCall, entry: RecordedCall | None, decision: HoldDecision | None
) -> Any:
    """The answer of a model that is not called; `_LIVE` if it is. Raises what it raises instead."""
    if decision is not None and decision.action == "skip":
        return _load_result(call, decision)
    if decision is not None and decision.action == "raise":
        raise make_throwable(build_error(decision.data))
    if decision is not None and decision.action == "deny":
        raise ModelDenied(str(decision.data["message"]))
    if entry is not None:
        return _replay_outcome(bridge, entry, call.load)
    return _LIVE


def _load_result(call: ModelCall, decision: HoldDecision) -> Any:
    """The result that somebody gave instead of the model's."""
    result = decision.data["result"]
    return result if call.load is None else call.load(result)


def _begin_response(
    call: ModelCall, iteration: int, duration: float, held_ms: float, *, is_error: bool
) -> ApiResponse:
    event: ApiResponse = {
        "iteration": iteration,
        "durationMs": _to_milliseconds(duration),
        "isError": is_error,
    }
    if call.lane != MAIN:
        event["lane"] = call.lane
    if call.model is not None:
        event["model"] = call.model
    if held_ms:
        event["heldMs"] = round(held_ms, 3)
    return event


def _end_model(
    bridge: Bridge,
    call: ModelCall,
    turn: Turn,
    event: ApiResponse,
    result: Any,
    is_faked: bool,
    decision: HoldDecision | None = None,
    *,
    is_free: bool = True,
) -> None:
    """`is_free`: the answer did not come from a model, so it cost nothing."""
    values = bridge.values
    try:
        summary = call.describe(result)
    except Exception as problem:  # a describer of an integration, over somebody's object
        event["undescribed"] = values.encode_body(error_message(problem))
        summary = {}
    if summary.get("usage") is not None:
        bridge.count_tokens(summary["usage"])
        event["usage"] = values.encode_body(summary["usage"])
        if bridge.prices:
            model = call.model or bridge.model_name
            cost = 0.0 if is_free else bridge.prices.compute_cost(model, summary["usage"])
            if cost is not None:
                bridge.count_cost(cost)
                event["cost"] = cost
    if summary.get("stopReason") is not None:
        event["stopReason"] = values.encode_body(summary["stopReason"])
    if summary.get("content") is not None:
        event["content"] = values.encode_body(summary["content"])
    if summary.get("toolCalls") is not None:
        bridge.lanes.note_asked(turn, summary["toolCalls"])
        event["toolCalls"] = values.encode_body(summary["toolCalls"])
    event["response"], pickle, marker = values.record(result, call.dump)
    if pickle is not None:
        event["responsePickle"] = pickle
    if marker is not None:
        event["responseMarker"] = marker
    if is_faked:
        event["faked"] = True
    if decision is not None:
        event["decision"] = values.encode_body(decision.fields)
    bridge.record(API_RESPONSE, event)


def _fail_model(
    bridge: Bridge,
    call: ModelCall,
    turn: Turn,
    entry: RecordedCall | None,
    error: BaseException,
    duration: float,
    held_ms: float,
) -> Flow:
    if isinstance(error, Diverged):
        raise error
    cause, iteration = error.error if isinstance(error, Exhausted) else error, turn.iteration
    decision = None
    if isinstance(error, Exception):
        about: HeldCall = {"name": call.model or "", "messageCount": len(call.messages)}
        decision, more_ms = yield from _hold_error(
            bridge, rules.MODEL, call, iteration, about, cause, entry
        )
        if decision is not None and decision.action == "skip":
            result, held_ms = _load_result(call, decision), held_ms + more_ms
            event = _begin_response(call, iteration, duration, held_ms, is_error=False)
            _end_model(bridge, call, turn, event, result, True, decision)
            return result
    event = _begin_response(call, iteration, duration, held_ms, is_error=True)
    if isinstance(error, ShapedError):
        event["returned"] = error.shape
    event["error"], pickle, marker = bridge.values.record_error(cause)
    if pickle is not None:
        event["errorPickle"] = pickle
    if marker is not None:
        event["errorMarker"] = marker
    if decision is not None and decision.action != "continue":
        event["decision"] = bridge.values.encode_body(decision.fields)
    bridge.record(API_RESPONSE, event)
    if decision is not None and decision.action == "raise":
        raise make_throwable(build_error(decision.data)) from cause
    raise error


# -- holds --------------------------------------------------------------------------------------


def _hold(bridge: Bridge, stop: Stop) -> Generator[Stop, Any, tuple[HoldDecision, float]]:
    """Wait at a stop: the decision, and the milliseconds until it came."""
    if "rule" in stop.about:
        bridge.announce_rule_hold(stop)
    around = bridge.lanes.list_held_times()
    for held in around:
        held.begin(stop.began)
    try:
        decision = yield stop
    finally:
        ended = _now()
        for held in around:
            held.end(ended)
        bridge.control.leave(stop)
    return decision, (ended - stop.began) * 1000


def _hold_error(
    bridge: Bridge,
    of: str,
    call: ModelCall | ToolCall,
    iteration: int,
    about: HeldCall,
    error: BaseException,
    entry: RecordedCall | None,
) -> Generator[Stop, Any, tuple[HoldDecision | None, float]]:
    """What is decided of an error: now, or when it was recorded."""
    repeated = None if entry is None else _find_recorded_decision(bridge, entry.outcome)
    if bridge.control.is_idle:
        return repeated, 0.0
    kind, message = type(error).__qualname__, error_message(error)
    about["error"] = {"type": kind, "message": message}
    given = about.get("input")
    moment = Moment(
        *(rules.ERROR, about["name"], iteration, bridge.tokens, given, encode_lazily(given)),
        {"type": kind, "message": message, "of": of},
        call.lane,
    )
    stop = bridge.control.stop_at_error(moment, about, call.allows)
    if stop is None:
        return repeated, 0.0
    return (yield from _hold(bridge, stop))


def _list_rule_actions(entry: RecordedCall | None, *, is_live: bool) -> tuple[str, ...]:
    """The rules that count. What was recorded was decided then, and only what runs is denied."""
    if entry is None:
        return agent_rules.ACTIONS
    return (agent_rules.DENY, agent_rules.ALLOW) if is_live else (agent_rules.ALLOW,)


def _repeat_decision(bridge: Bridge, entry: RecordedCall | None) -> HoldDecision | None:
    """What the debugger decided when this was recorded: it is decided again."""
    return None if entry is None else _find_recorded_decision(bridge, entry.request)


def _find_recorded_decision(bridge: Bridge, data: EventData) -> HoldDecision | None:
    assert bridge.tape is not None
    recorded = bridge.tape.read_decision(data)
    if recorded is None:
        return None
    fields = dict(recorded)
    return HoldDecision(str(fields.pop("action")), str(fields.pop("by", "recording")), fields)
