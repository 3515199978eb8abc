"""A model call before it is made: its messages, what is new in them, and what may be added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.bridge.agent_calls import ModelCall
from holdfast.bridge.decisions import Decision
from holdfast.bridge.flow_driver import within
from holdfast.bridge.recorded_values import encode_quickly
from holdfast.model.agent_events import MAIN
from holdfast.wire import agent_lines

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge


@dataclass
class Lane:
    """What is remembered of one agent from one model call to the next."""

    texts: list[str] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    count: int = 0
    heard: set[str] = field(default_factory=set)
    """What a user said and was told of, and what the debugger put in."""


def _is_same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # an array in it, or somebody's own idea of equality
        return False


class HeldCall:
    """A model call before it is made, while its messages can still be changed."""

    def __init__(self, bridge: Bridge, call: ModelCall, iteration: int) -> None:
        self._bridge = bridge
        self._call = call
        self._iteration = iteration

    @property
    def messages(self) -> list[Any]:
        return self._call.messages

    def shown(self, wanted: Any) -> Any:
        return self._call.shown(wanted)

    def replay_changes(self) -> None:
        bridge = self._bridge
        if bridge.tape is None:
            return
        for data in bridge.tape.take_injected_messages(self._call.lane, self._iteration):
            self._put(data.get("role", "user"), data.get("content"), None)
        forked = bridge.tape.fork_at
        if forked is not None and self._iteration == forked + 1 and bridge.tape.message is not None:
            added, bridge.tape.message = bridge.tape.message, None
            self._put(added.get("role", "user"), added.get("content"), None)

    def inject(self) -> None:
        for each in self._bridge.control.taken_injections():
            self._put(each.role, each.content, each.command_id)

    def _put(self, role: str, content: Any, command_id: str | None) -> None:
        bridge, call = self._bridge, self._call
        made = call.made({"role": role, "content": content})
        call.messages.append(made)
        lane = bridge.lane(call.lane)
        lane.heard.add(bridge.values.cleaned(call.shown(made)))
        before: dict[str, Any] = {"iteration": self._iteration}
        if call.lane != MAIN:
            before["lane"] = call.lane
        said = {} if command_id is None else {"commandId": command_id}
        bridge.emit("message_injected", role=role, content=content, before=before, **said)
        if command_id is not None:
            bridge.emit("command_applied", commandId=command_id, type="inject_message")


class Request:
    """The messages of a model call: what is new in them, and a key of them all."""

    def __init__(self, bridge: Bridge, call: ModelCall, lane: Lane, key: str | None = None) -> None:
        self._bridge, self._call, self._lane = bridge, call, lane
        cleaned = bridge.values.cleaned
        now = [call.shown(each) for each in call.messages]
        # To compare is quicker than to write, and the longer a loop runs, the more is as it was.
        kept = 0
        for one, other in zip(now, lane.shown):  # noqa: B905 - as far as both go
            if type(one) is not dict or not _is_same(one, other):
                break
            kept += 1
        texts = lane.texts[:kept]
        for at in range(kept, len(now)):
            texts.append(cleaned(now[at]))
            if kept == at < len(lane.texts) and texts[at] == lane.texts[at]:
                kept += 1
        self.texts, self.kept = texts, kept
        self.new = texts[kept:]
        self.shown = lane.shown[:kept] + [bridge.raw(text) for text in self.new]
        self.digests = lane.digests[:kept] + [
            agent_lines.loose_key(each) for each in self.shown[kept:]
        ]
        self.key = key or agent_lines.exact_key(
            call.model, bridge.raw(cleaned(call.settings)), self.digests
        )

    def asked(self) -> dict[str, Any]:
        """All of it, to compare with what was asked in a recording."""
        settings = self._bridge.raw(self._bridge.values.cleaned(self._call.settings))
        return {"model": self._call.model, "settings": settings, "messages": self.shown}

    def write(self, iteration: int, decision: Decision | None, is_replayed: bool) -> None:
        bridge, call, lane, values = self._bridge, self._call, self._lane, self._bridge.values
        self._say_what_is_new()
        fields = [f'"iteration":{iteration},"messageCount":{len(self.texts)}']
        for name, value in (("model", call.model), ("provider", call.provider)):
            if value is not None:
                fields.append(f'"{name}":{encode_quickly(value)}')
        if call.lane != MAIN:
            fields.append(f'"lane":{encode_quickly(call.lane)}')
        fields.append(f'"messagesKept":{self.kept},"messages":{values.placed(joined(self.new))}')
        if call.settings:
            fields.append(f'"settings":{values.text(call.settings)}')
        fields.append(f'"hash":"{self.key}"')
        if (outer := within.get()) is not None:
            fields.append(f'"within":{encode_quickly(outer)}')
        if decision is not None and decision.action != "continue":
            fields.append(f'"decision":{values.text(decision.shown())}')
        if is_replayed:
            fields.append('"replayed":true')
        bridge.write("api_request", ",".join(fields))
        lane.texts, lane.shown, lane.digests = self.texts, self.shown, self.digests
        lane.count = len(self.texts)
        bridge.asked(call)

    def _say_what_is_new(self) -> None:
        bridge, call, lane = self._bridge, self._call, self._lane
        if len(self.texts) < lane.count:
            bridge.emit("context_compaction", before=lane.count, after=len(self.texts))
        for text in self.new:
            if text in lane.heard:
                continue
            shown = bridge.raw(text)
            if isinstance(shown, dict) and shown.get("role") in ("user", "human"):
                lane.heard.add(text)
                lane_of = {} if call.lane == MAIN else {"lane": call.lane}
                bridge.emit("user_input", content=shown.get("content"), **lane_of)


def joined(texts: list[str]) -> str:
    return f"[{','.join(texts)}]"
