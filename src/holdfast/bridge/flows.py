"""What happens around one model call, and around one tool: the same for functions and coroutines.

`flow_driver` says how they are run.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.bridge_errors import Diverged, ToolCancelled
from holdfast.bridge.decisions import Decision, made_error
from holdfast.bridge.flow_driver import Exhausted, Flow, Partial, Perform, thrown, within
from holdfast.bridge.loop_control import text_of
from holdfast.bridge.model_request import HeldCall, Request, joined
from holdfast.bridge.recorded_values import encode_quickly, message
from holdfast.core import agent_breakpoints as rules
from holdfast.core.agent_breakpoints import Moment
from holdfast.model.agent_events import MAIN, EventData
from holdfast.recording.recording_state import RecordedCall
from holdfast.wire import agent_lines

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge

_now = time.perf_counter


# -- tools --------------------------------------------------------------------------------------


def tool(bridge: Bridge, call: ToolCall) -> Flow:
    control, values = bridge.control, bridge.values
    tool_id = bridge.tool_id(call.id)
    iteration = bridge.iteration
    bridge.apply_settings(call.lane)
    asked = call.input
    shown = values.cleaned(asked)
    key = agent_lines.text_key(call.name, shown)
    entry = bridge.recorded("tool", call.lane, call.name, key, lambda: bridge.raw(shown), iteration)
    decision, held_ms = _repeated(bridge, entry), 0.0
    if not control.is_idle:
        moment = Moment(
            rules.TOOL, call.name, iteration, bridge.tokens, asked, text_of(asked), lane=call.lane
        )
        about = {"name": call.name, "toolId": tool_id, "input": asked}
        stop = control.at_tool(moment, about, tool_id, call.allows)
        if stop is not None:
            decision, held_ms = yield from _held(bridge, stop)
    effective = asked
    fields = [f'"toolId":{encode_quickly(tool_id)},"name":{encode_quickly(call.name)}']
    if decision is not None and decision.action == "modify":
        effective = {**asked, **decision.data["input"]}
        fields.append(f'"input":{values.text(effective)},"requested":{values.placed(shown)}')
    else:
        fields.append(f'"input":{values.placed(shown)}')
    fields.append(f'"iteration":{iteration},"hash":"{key}"')
    if call.lane != MAIN:
        fields.append(f'"lane":{encode_quickly(call.lane)}')
    if call.pure:
        fields.append('"pure":true')
    if (outer := within.get()) is not None:
        fields.append(f'"within":{encode_quickly(outer)}')
    if decision is not None and decision.action != "continue":
        fields.append(f'"decision":{values.text(decision.shown())}')
    if entry is not None:
        fields.append('"replayed":true')
    bridge.write("tool_call_start", ",".join(fields))
    began = _now()
    try:
        result = yield from _tool_outcome(bridge, call, entry, decision, effective, tool_id)
    except GeneratorExit:
        raise
    except BaseException as error:
        duration = _now() - began
        taken = yield from _tool_failed(bridge, call, tool_id, entry, error, duration, held_ms)
        return taken
    duration = _now() - began
    is_faked = (decision is not None and decision.action == "skip") or _is_edited(bridge, entry)
    _tool_done(bridge, call, tool_id, result, duration, held_ms, is_faked)
    return result


def _tool_outcome(
    bridge: Bridge,
    call: ToolCall,
    entry: RecordedCall | None,
    decision: Decision | None,
    effective: dict[str, Any],
    tool_id: str,
) -> Flow:
    action = "continue" if decision is None else decision.action
    data = {} if decision is None else decision.data
    if entry is not None and _is_edited(bridge, entry):
        assert bridge.tape is not None
        return bridge.tape.edits[str(entry.tool_id)]
    if action == "skip":
        return data["result"]
    if action == "raise":
        raise thrown(made_error(data))
    if action == "cancel":
        raise ToolCancelled(f"{call.name} was cancelled before it ran", tool_id=tool_id)
    if entry is not None and bridge.replays_tools:
        return _outcome(bridge, entry)
    result = yield Perform(effective, tool_id)
    return result


def _outcome(bridge: Bridge, entry: RecordedCall, load: Any = None) -> Any:
    """What it gave when it was recorded, or raised."""
    try:
        return bridge.outcome(entry, load)
    except StopIteration as error:
        raise thrown(error) from None


def _is_edited(bridge: Bridge, entry: RecordedCall | None) -> bool:
    """Whether a fork was given another result for it."""
    return entry is not None and bridge.tape is not None and entry.tool_id in bridge.tape.edits


def _tool_done(
    bridge: Bridge,
    call: ToolCall,
    tool_id: str,
    result: Any,
    duration: float,
    held_ms: float,
    is_faked: bool,
    decided: str = "",
) -> None:
    who = f'"toolId":{encode_quickly(tool_id)},"name":{encode_quickly(call.name)}'
    faked = ',"faked":true' if is_faked else ""
    bridge.write("tool_result", f"{who},{bridge.values.recorded('result', result)}{faked}")
    held = f',"heldMs":{held_ms:.3f}' if held_ms else ""
    ended = f'{who},"isError":false,"durationMs":{duration * 1000:.3f}{held}{decided}'
    bridge.write("tool_call_end", ended)


def _tool_failed(
    bridge: Bridge,
    call: ToolCall,
    tool_id: str,
    entry: RecordedCall | None,
    error: BaseException,
    duration: float,
    held_ms: float,
) -> Flow:
    """Record it, and hold if somebody wants to see errors. A result may be given instead."""
    met = error.error if isinstance(error, Exhausted) else error
    who = f'"toolId":{encode_quickly(tool_id)},"name":{encode_quickly(call.name)}'
    said = f'{who},"isError":true,{bridge.values.failed(met)},"durationMs":{duration * 1000:.3f}'
    if held_ms:
        said += f',"heldMs":{held_ms:.3f}'
    if isinstance(error, ToolCancelled) and error.tool_id == tool_id:
        said += f',"cancelled":{"false" if error.abandoned else "true"}'
        said += f',"abandoned":{"true" if error.abandoned else "false"}'
    if isinstance(error, Diverged):
        raise error
    decision = None
    if isinstance(error, Exception):
        about = {"name": call.name, "toolId": tool_id, "input": call.input}
        decision, more_ms = yield from _error_held(bridge, rules.TOOL, call, about, met, entry)
        if decision is not None and decision.action == "skip":
            result, held_ms = decision.data["result"], held_ms + more_ms
            decided = _decided(bridge, decision)
            _tool_done(bridge, call, tool_id, result, duration, held_ms, True, decided)
            return result
    bridge.write("tool_call_end", said + _decided(bridge, decision))
    if decision is not None and decision.action == "raise":
        raise thrown(made_error(decision.data)) from met
    raise error


# -- models -------------------------------------------------------------------------------------


def model(bridge: Bridge, call: ModelCall) -> Flow:
    control, lane = bridge.control, bridge.lane(call.lane)
    iteration = bridge.next_iteration()
    held = HeldCall(bridge, call, iteration)
    bridge.apply_settings(call.lane)
    held.replay_changes()
    held.inject()
    request = Request(bridge, call, lane)
    asked = request.new
    entry = bridge.recorded(
        "model", call.lane, call.model or "", request.key, request.asked, iteration
    )
    decision, held_ms = _repeated(bridge, entry), 0.0
    if not control.is_idle:
        about = {
            "name": call.model or "",
            "messageCount": len(call.messages),
            "input": {"messagesKept": request.kept, "messages": bridge.raw(joined(asked))},
        }
        moment = Moment(
            *(rules.MODEL, call.model or "", iteration, bridge.tokens),
            *(call.settings, text_of(call.settings)),
            lane=call.lane,
        )
        stop = control.at_model(moment, about, held, call.allows)
        if stop is not None:
            decision, held_ms = yield from _held(bridge, stop)
            request = Request(bridge, call, lane)  # messages may have been injected
    if decision is not None and decision.action == "modify":
        edited = decision.data["input"].get("messages")
        if isinstance(edited, list):
            call.messages[:] = _edited(call, request, edited)
            request = Request(bridge, call, lane, key=request.key)
        call.settings.update(
            {name: each for name, each in decision.data["input"].items() if name != "messages"}
        )
    request.write(iteration, decision, entry is not None)
    began = _now()
    try:
        result = yield from _model_outcome(bridge, call, entry, decision)
    except GeneratorExit:
        raise
    except BaseException as error:
        duration = _now() - began
        taken = yield from _model_failed(bridge, call, iteration, entry, error, duration, held_ms)
        return taken
    is_faked = decision is not None and decision.action == "skip"
    partial = ""
    if isinstance(result, Partial):
        result, partial = result.chunks, ',"partial":true'
    _model_done(bridge, call, iteration, result, _now() - began, held_ms, is_faked, partial)
    return result


def _edited(call: ModelCall, request: Request, edited: list[Any]) -> list[Any]:
    """The messages as somebody wants them. Those that are as they were shown stay what they are:
    a framework's object, or a text with a secret that was not shown."""
    known = {
        agent_lines.exact_key(shown): message
        for shown, message in zip(request.shown, call.messages)  # noqa: B905 - one of each
    }
    found = [(each, agent_lines.exact_key(each)) for each in edited]
    return [known[key] if key in known else call.made(each) for each, key in found]


def _model_outcome(
    bridge: Bridge, call: ModelCall, entry: RecordedCall | None, decision: Decision | None
) -> Flow:
    action = "continue" if decision is None else decision.action
    if decision is not None and action == "skip":
        faked = decision.data["result"]
        return faked if call.load is None else call.load(faked)
    if decision is not None and action == "raise":
        raise thrown(made_error(decision.data))
    if entry is not None:
        return _outcome(bridge, entry, call.load)
    result = yield Perform(call)
    return result


def _model_done(
    bridge: Bridge,
    call: ModelCall,
    iteration: int,
    result: Any,
    duration: float,
    held_ms: float,
    is_faked: bool,
    decided: str = "",
) -> None:
    try:
        about = call.described(result)
    except Exception as problem:  # a describer of an integration, over somebody's object
        about = {"undescribed": message(problem)}
    usage = about.get("usage")
    if isinstance(usage, dict):
        bridge.used(usage)
    fields = [_model_fields(call, iteration, duration, held_ms), '"isError":false']
    for name in ("stopReason", "usage", "content", "toolCalls", "undescribed"):
        if about.get(name) is not None:
            fields.append(f'"{name}":{bridge.values.text(about[name])}')
    fields.append(bridge.values.recorded("response", result, call.dump))
    if is_faked:
        fields.append('"faked":true')
    bridge.write("api_response", ",".join(fields) + decided)


def _model_fields(call: ModelCall, iteration: int, duration: float, held_ms: float) -> str:
    fields = [f'"iteration":{iteration},"durationMs":{duration * 1000:.3f}']
    if call.lane != MAIN:
        fields.append(f'"lane":{encode_quickly(call.lane)}')
    if call.model is not None:
        fields.append(f'"model":{encode_quickly(call.model)}')
    if held_ms:
        fields.append(f'"heldMs":{held_ms:.3f}')
    return ",".join(fields)


def _model_failed(
    bridge: Bridge,
    call: ModelCall,
    iteration: int,
    entry: RecordedCall | None,
    error: BaseException,
    duration: float,
    held_ms: float,
) -> Flow:
    if isinstance(error, Diverged):
        raise error
    met = error.error if isinstance(error, Exhausted) else error
    decision = None
    if isinstance(error, Exception):
        about = {"name": call.model or "", "messageCount": len(call.messages)}
        decision, more_ms = yield from _error_held(bridge, rules.MODEL, call, about, met, entry)
        if decision is not None and decision.action == "skip":
            result, held_ms = decision.data["result"], held_ms + more_ms
            result = result if call.load is None else call.load(result)
            decided = _decided(bridge, decision)
            _model_done(bridge, call, iteration, result, duration, held_ms, True, decided)
            return result
    said = f'{_model_fields(call, iteration, duration, held_ms)},"isError":true,'
    said += bridge.values.failed(met) + _decided(bridge, decision)
    bridge.write("api_response", said)
    if decision is not None and decision.action == "raise":
        raise thrown(made_error(decision.data)) from met
    raise error


# -- holds --------------------------------------------------------------------------------------


def _held(bridge: Bridge, stop: Stop) -> Generator[Stop, Any, tuple[Decision, float]]:
    began = _now()
    try:
        decision = yield stop
    finally:
        bridge.control.left(stop)
    return decision, (_now() - began) * 1000


def _error_held(
    bridge: Bridge,
    of: str,
    call: Any,
    about: dict[str, Any],
    error: BaseException,
    entry: RecordedCall | None,
) -> Generator[Stop, Any, tuple[Decision | None, float]]:
    """What is decided of an error: now, or when it was recorded."""
    repeated = None if entry is None else _recorded_decision(bridge, entry.outcome)
    if bridge.control.is_idle:
        return repeated, 0.0
    shown = {"type": type(error).__qualname__, "message": message(error)}
    name = about["name"]
    asked = about.get("input")
    moment = Moment(
        *(rules.ERROR, name, bridge.iteration, bridge.tokens, asked, text_of(asked)),
        {**shown, "of": of},
        call.lane,
    )
    stop = bridge.control.at_error(moment, {**about, "error": shown}, call.allows)
    if stop is None:
        return repeated, 0.0
    return (yield from _held(bridge, stop))


def _decided(bridge: Bridge, decision: Decision | None) -> str:
    """The field that says what was decided of an error."""
    if decision is None or decision.action == "continue":
        return ""
    return f',"decision":{bridge.values.text(decision.shown())}'


def _repeated(bridge: Bridge, entry: RecordedCall | None) -> Decision | None:
    """What the debugger decided when this was recorded: it is decided again."""
    return None if entry is None else _recorded_decision(bridge, entry.request)


def _recorded_decision(bridge: Bridge, data: EventData) -> Decision | None:
    assert bridge.tape is not None
    recorded = bridge.tape.read_decision(data)
    if recorded is None:
        return None
    fields = dict(recorded)
    return Decision(str(fields.pop("action")), str(fields.pop("by", "recording")), fields)
