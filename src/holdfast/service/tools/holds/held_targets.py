"""Describes what is held, whatever its kind, so that an agent can decide it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast.errors import EvaluationFailed, SessionNotFound
from holdfast.model.hold import Hold
from holdfast.model.session_state import Kind
from holdfast.service.tools.holds.shown_texts import show_json, show_message, show_text, show_value
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.agent_answers import AgentHold
from holdfast.wire.call_answers import CallHoldDetail
from holdfast.wire.hold_reports import HeldTarget
from holdfast.wire.session_answers import SettledHold
from holdfast.wire.session_requests import EvaluateHold

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_MAX_FRAMES = 20


class TargetDescriber:
    """Describes holds to one client."""

    def __init__(self, debugger: Debugger, client: ToolClient, show_secrets: bool = False) -> None:
        self._debugger = debugger
        self._client = client
        self._show_secrets = show_secrets

    async def describe_all(self, holds: Sequence[Hold]) -> list[HeldTarget]:
        """Those that are still held: what is known of each at first sight."""
        found = [await self.describe(hold.id, is_full=False) for hold in holds]
        return [target for target in found if target.outcome is UNSET]

    async def describe(self, hold_id: str, *, is_full: bool) -> HeldTarget:
        """One hold, open or settled. In full: with the stack, and all messages."""
        shown = await self._debugger.holds.get(hold_id)
        hold = self._debugger.holds.peek(hold_id)
        target = self._begin(hold)
        if isinstance(shown, SettledHold):
            target.outcome = f"{shown.outcome} by {shown.by}" if shown.by else shown.outcome
            return target
        target.allows = list(shown.allows)
        seconds = round(time.time() - hold.opened_at, 1)
        target.waits = seconds if seconds >= 1 else UNSET
        if isinstance(shown, CallHoldDetail):
            self._add_call(target, shown, is_full)
        elif isinstance(shown, AgentHold):
            agent = self._debugger.sessions.peek(hold.session_id).agent
            given = await asyncio.to_thread(
                agent.read_body, None if shown.input is UNSET else shown.input
            )
            self._add_agent(target, shown, given, is_full)
        return target

    async def evaluate(self, target: HeldTarget, expressions: Sequence[str]) -> None:
        """Add the values of expressions where it is held. What raises says so."""
        values = {}
        for expression in expressions:
            try:
                found = await self._debugger.holds.evaluate(
                    target.hold_id, EvaluateHold(expression=expression)
                )
            except EvaluationFailed as problem:
                values[show_text(expression)] = show_text(f"raised {problem.message}")
            else:
                text = found["result"] if isinstance(found, dict) else found.result
                values[show_text(expression)] = self._show(expression, text)
        target.values = values

    def _begin(self, hold: Hold) -> HeldTarget:
        target = HeldTarget(
            hold_id=hold.id,
            session_id=hold.session_id,
            kind=hold.kind.value,
            moment=hold.moment.value,
            reason=show_text(hold.reason),
        )
        if hold.location is not None:
            target.at = self._client.show_place(hold.location.file, hold.location.line)
            if hold.kind is Kind.PROGRAM and hold.location.function:
                target.what = show_text(hold.location.function)
        with contextlib.suppress(SessionNotFound):  # a settled hold may outlive its session
            name = self._debugger.sessions.peek(hold.session_id).summary().name
            target.owner = show_text(name) if name else UNSET
        return target

    # -- calls ------------------------------------------------------------------------------

    def _add_call(self, target: HeldTarget, shown: CallHoldDetail, is_full: bool) -> None:
        target.what = show_text(name_function(shown.alias, shown.qualname, shown.method_name))
        target.call_id = shown.call_id
        if shown.breakpoint is not UNSET:
            target.reason = show_text(f"breakpoint {shown.breakpoint}")
        target.arguments = {
            argument.name: self._show(argument.name, argument.text)
            + ("" if argument.is_passed else " (default)")
            for argument in shown.arguments
        }
        if shown.result is not None:
            target.result = self._show("result", shown.result.text)
        if shown.exception_type:
            target.exception = show_text(f"{shown.exception_type}: {shown.exception_message}")
        target.timeout = f"goes on by itself after {shown.timeout_ms / 1000:g} s"
        if "replace" in shown.allows and shown.replacements:
            target.replacements = [show_text(name) for name in shown.replacements]
        if is_full:
            if shown.signature:
                target.signature = show_text(shown.signature)
            target.stack = list_frames(shown.call_site.stack_trace, self._client)

    def _show(self, name: str, text: str) -> str:
        return show_value(name, text, self._show_secrets)

    # -- agents -----------------------------------------------------------------------------

    def _add_agent(self, target: HeldTarget, shown: AgentHold, given: Any, is_full: bool) -> None:
        target.what = show_text(shown.name) if shown.name else UNSET
        target.turn = f"iteration {shown.iteration}"
        if shown.lane is not UNSET:
            target.turn = show_text(f"{target.turn} of {shown.lane}")
        if shown.tool_id is not UNSET:
            target.tool_id = shown.tool_id
        rule = shown.breakpoint or shown.rule
        if rule:
            target.reason = show_text(f"{shown.reason} {describe_point(rule)}")
        if shown.rule:
            self._add_timeout(target, shown.rule)
        if shown.error:
            error = shown.error
            target.exception = show_text(f"{error.get('type')}: {error.get('message')}")
        if target.moment == "model":
            self._add_messages(target, given, is_full)
        elif isinstance(given, Mapping):
            target.arguments = {
                to_name(name): show_json(to_name(name), value, self._show_secrets)
                for name, value in given.items()
            }
        elif given is not None:
            target.arguments = {"input": show_json("input", given, self._show_secrets)}

    def _add_timeout(self, target: HeldTarget, rule: Mapping[str, object]) -> None:
        if rule.get("timeout") is not None:
            target.timeout = show_text(
                f"after {rule['timeout']} s its rule decides: {rule.get('onTimeout')}"
            )

    def _add_messages(self, target: HeldTarget, given: Any, is_full: bool) -> None:
        messages = given.get("messages") if isinstance(given, Mapping) else None
        if isinstance(messages, list) and messages:
            shown = messages if is_full else messages[-3:]
            target.messages = [show_message(message, self._show_secrets) for message in shown]


def name_function(alias: str | None, qualname: str | None, name: str) -> str:
    """A function as people know it: `Cart.price`, and the object's alias."""
    known = qualname or name
    return f"{known} of {alias}" if alias and alias not in known else known


def list_frames(stack: Sequence[Mapping[str, Any]], client: ToolClient) -> list[str]:
    """The frames of a call as `function file:line`, innermost first."""
    return [
        show_text(
            f"{frame.get('function')} "
            f"{client.show_path(str(frame.get('file') or frame.get('filename') or '?'))}:"
            f"{frame.get('line') or frame.get('lineno')}"
        )
        for frame in stack[:_MAX_FRAMES]
    ]


def describe_point(point: Mapping[str, object]) -> str:
    """A breakpoint or rule of an agent in a few words."""
    kind = point.get("on") or point.get("action") or ""
    names = ("name", "tool", "count", "regex", "pattern", "condition", "if")
    given = dict.fromkeys(str(point[name]) for name in names if point.get(name) is not None)
    words = [str(point.get("id") or ""), str(kind), *given]
    return " ".join(word for word in words if word)


def to_name(name: object) -> str:
    return show_text(str(name))
