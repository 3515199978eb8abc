"""A model call before it is made: its messages, what is new in them, and what may be added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.bridge.agent_calls import ModelCall
from holdfast.bridge.hold_decision import HoldDecision
from holdfast.bridge.lanes import Lane, Turn
from holdfast.model.agent_events import (
    API_REQUEST,
    COMMAND_APPLIED,
    CONTEXT_COMPACTION,
    MAIN,
    MESSAGE_INJECTED,
    USER_INPUT,
    ApiRequest,
    MessageInjected,
    UserInput,
    build_place,
)
from holdfast.wire import agent_lines

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge


def _is_same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # an array in it, or somebody's own idea of equality
        return False


class PendingCall:
    """A model call before it is made, while its messages can still be changed."""

    def __init__(self, bridge: Bridge, call: ModelCall, turn: Turn) -> None:
        self._bridge = bridge
        self._call = call
        self._turn = turn

    @property
    def messages(self) -> list[Any]:
        """As JSON."""
        return [self._call.show(message) for message in list(self._call.messages)]

    def replay_changes(self) -> None:
        """Inject what was injected when it was recorded, and the message of a fork."""
        tape = self._bridge.tape
        if tape is None:
            return
        if self._turn.is_recorded:
            for data in tape.take_injected_messages(self._call.lane):
                self._append(data.get("role", "user"), data.get("content"), None)
            return
        is_first_live = tape.fork_lane == self._call.lane
        if is_first_live and tape.message is not None:
            message, tape.message = tape.message, None
            self._append(message.get("role", "user"), message.get("content"), None)

    def inject(self) -> None:
        """Add what was injected by command."""
        for injection in self._bridge.control.take_injections(self._call.lane):
            self._append(injection.role, injection.content, injection.command_id)

    def _append(self, role: str, content: Any, command_id: str | None) -> None:
        bridge, call = self._bridge, self._call
        message = call.make({"role": role, "content": content})
        call.messages.append(message)
        self._turn.scope.lane.known_texts.add(bridge.values.encode(call.show(message)))
        before = build_place(self._turn.iteration, call.lane)
        event: MessageInjected = {"role": role, "content": content, "before": before}
        if command_id is not None:
            event["commandId"] = command_id
        bridge.emit(MESSAGE_INJECTED(event))
        if command_id is not None:
            bridge.emit(COMMAND_APPLIED({"commandId": command_id, "type": "inject_message"}))


class Request:
    """The messages of a model call: what is new in them, and a key of them all."""

    def __init__(self, bridge: Bridge, call: ModelCall, lane: Lane, key: str | None = None) -> None:
        self._bridge, self._call, self._lane = bridge, call, lane
        encode = bridge.values.encode
        now = [call.show(message) for message in call.messages]
        # To compare is quicker than to encode, and the longer a loop runs, the more is as it was.
        kept = 0
        for one, other in zip(now, lane.shown):  # noqa: B905 - as far as both go
            if type(one) is not dict or not _is_same(one, other):
                break
            kept += 1
        texts = lane.texts[:kept]
        for at in range(kept, len(now)):
            texts.append(encode(now[at]))
            if kept == at < len(lane.texts) and texts[at] == lane.texts[at]:
                kept += 1
        self.texts, self.kept = texts, kept
        self.new = texts[kept:]
        self.shown = lane.shown[:kept] + [bridge.parse(text) for text in self.new]
        self.digests = lane.digests[:kept] + [
            agent_lines.loose_key(message) for message in self.shown[kept:]
        ]
        self.key = key or agent_lines.exact_key(
            call.model, bridge.parse(encode(call.settings)), self.digests
        )

    def describe(self) -> dict[str, Any]:
        """All of it, to compare with the request of a recording."""
        settings = self._bridge.parse(self._bridge.values.encode(self._call.settings))
        return {"model": self._call.model, "settings": settings, "messages": self.shown}

    def record(self, iteration: int, decision: HoldDecision | None, is_replayed: bool) -> None:
        bridge, call, lane, values = self._bridge, self._call, self._lane, self._bridge.values
        self._record_news()
        event: ApiRequest = {
            "iteration": iteration,
            "messageCount": len(self.texts),
            "messagesKept": self.kept,
            "messages": values.place(join_texts(self.new)),
            "hash": self.key,
        }
        if call.model is not None:
            event["model"] = call.model
        if call.provider is not None:
            event["provider"] = call.provider
        if call.lane != MAIN:
            event["lane"] = call.lane
        if call.settings:
            event["settings"] = values.encode_body(call.settings)
        if (outer := bridge.lanes.tool) is not None:
            event["within"] = outer.id
        if decision is not None and decision.action != "continue":
            event["decision"] = values.encode_body(decision.fields)
        if is_replayed:
            event["replayed"] = True
        bridge.record(API_REQUEST, event)
        lane.texts, lane.shown, lane.digests = self.texts, self.shown, self.digests
        lane.count = len(self.texts)
        bridge.learn_model(call)

    def _record_news(self) -> None:
        """Messages that are fewer than before, and those that a user wrote since."""
        bridge, call, lane = self._bridge, self._call, self._lane
        if len(self.texts) < lane.count:
            bridge.emit(CONTEXT_COMPACTION({"before": lane.count, "after": len(self.texts)}))
        for text, message in zip(self.new, self.shown[self.kept :]):  # noqa: B905 - one of each
            if text in lane.known_texts or not isinstance(message, dict):
                continue
            if message.get("role") in ("user", "human"):
                lane.known_texts.add(text)
                event: UserInput = {"content": message.get("content")}
                if call.lane != MAIN:
                    event["lane"] = call.lane
                bridge.emit(USER_INPUT(event))


def join_texts(texts: list[str]) -> str:
    return f"[{','.join(texts)}]"
