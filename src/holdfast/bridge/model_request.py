"""A model call before it is made: its messages, what is new in them, and what may be added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.bridge import system_prompt
from holdfast.bridge.agent_calls import ModelCall
from holdfast.bridge.hold_decision import HoldDecision
from holdfast.bridge.lanes import Lane, Turn
from holdfast.model.agent_events import (
    API_REQUEST,
    COMMAND_APPLIED,
    CONTEXT_COMPACTION,
    CONVERSATION_EDITED,
    MAIN,
    MESSAGE_INJECTED,
    USER_INPUT,
    ApiRequest,
    ConversationEdited,
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


def _is_prompt(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in system_prompt.ROLES


def _encode_prompt(prompt: Any) -> str:
    return agent_lines.exact_key(prompt)


class PendingCall:
    """A model call before it is made, while its messages can still be changed."""

    def __init__(self, bridge: Bridge, call: ModelCall, turn: Turn) -> None:
        self._bridge = bridge
        self._call = call
        self._turn = turn
        self.is_fork_point = False
        """Whether it is the first live call of a fork."""
        self.is_held_by_fork = False

    @property
    def messages(self) -> list[Any]:
        """As JSON."""
        return [self._call.show(message) for message in list(self._call.messages)]

    def replay_changes(self) -> None:
        """Change what was changed when it was recorded, or what a fork wants where it begins."""
        tape, call = self._bridge.tape, self._call
        if tape is None:
            return
        if self._turn.is_recorded:
            for kind, data in tape.take_changes(call.lane):
                if kind == MESSAGE_INJECTED:
                    self._append(data.get("role", "user"), data.get("content"), None)
                else:
                    self._edit(data.get("messages"), data.get("system"))
            return
        edits = tape.take_fork_edits(call.lane)
        if edits is None:
            return
        self.is_fork_point = True
        if edits.messages is not None or edits.system is not None:
            if "modify" not in call.allows:
                raise ValueError(
                    f"the messages of {call.model or 'this model call'} cannot be edited: the way "
                    "it is watched does not allow it"
                )
            self._edit(edits.messages, edits.system)
        if edits.message is not None:
            self._append(edits.message.get("role", "user"), edits.message.get("content"), None)
        self.is_held_by_fork = edits.is_held

    def _edit(self, messages: Any, system: Any) -> None:
        bridge, call = self._bridge, self._call
        event: ConversationEdited = {"before": build_place(self._turn.iteration, call.lane)}
        if isinstance(messages, list):
            event["messages"] = messages
        if isinstance(system, str):
            event["system"] = system
        bridge.emit(CONVERSATION_EDITED(event))
        known = self._turn.scope.lane.known_texts
        before = {bridge.values.encode(each) for each in self.messages}
        self.change(messages if isinstance(messages, list) else None, event.get("system"))
        known |= {bridge.values.encode(each) for each in self.messages} - before

    def change(self, messages: list[Any] | None, system: str | None) -> None:
        """Other messages, and another system prompt, which stays in the later calls of the lane."""
        call = self._call
        prompt = call.system.read(call)
        if messages is not None:
            before = list(call.messages)
            call.messages[:] = self._make_messages(messages)
            self._change_run(before)
        if system is not None:
            call.system.write(call, system)
        self._note_prompt(prompt)

    def _make_messages(self, wanted: list[Any]) -> list[Any]:
        """The messages as somebody wants them. Those that are as they were shown stay what they
        are: a framework's object, or a text with a secret that was not shown."""
        values, call = self._bridge.values, self._call
        known = {
            agent_lines.exact_key(self._bridge.parse(values.encode(call.show(message)))): message
            for message in call.messages
        }
        keys = [(message, agent_lines.exact_key(message)) for message in wanted]
        return [known[key] if key in known else call.make(message) for message, key in keys]

    def _change_run(self, before: list[Any]) -> None:
        """The loop goes on with what was changed, even if it sends a copy of its own messages."""
        own, call = self._bridge.find_messages(self._call.lane), self._call
        if own is None or own is call.messages:
            return
        first = len(before) - len(own)
        if first < 0 or not _is_same(before[first:], own):
            return
        prefix = sum(1 for message in before[:first] if _is_prompt(call.show(message)))
        if prefix == first:
            is_kept = [_is_prompt(call.show(message)) for message in call.messages[:first]]
            own[:] = call.messages[sum(is_kept) :]

    def keep_prompt(self) -> None:
        """A system prompt that was changed stays so, though the loop sends the old one again."""
        prompts, call = self._turn.scope.lane.prompts, self._call
        if prompts:
            wanted = prompts.get(_encode_prompt(call.system.read(call)))
            if wanted is not None:
                call.system.write(call, wanted)

    def _note_prompt(self, before: Any) -> None:
        after, prompts = self._call.system.read(self._call), self._turn.scope.lane.prompts
        if not isinstance(after, str) or after == before:
            return
        old, new = _encode_prompt(before), _encode_prompt(after)
        for known, wanted in list(prompts.items()):
            if _encode_prompt(wanted) == old:
                prompts[known] = after
        prompts[old] = after
        prompts.pop(new, None)

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
        self.new, self.shown, self.digests = texts[kept:], lane.shown[:kept], lane.digests[:kept]
        for text in self.new:
            message = bridge.parse(text)
            self.shown.append(message)
            self.digests.append(agent_lines.loose_key(message))
        settings = encode(call.settings) if call.settings else "{}"
        self.key = key or agent_lines.request_key(call.model, settings, self.digests)

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
        if not self.new:
            return
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
