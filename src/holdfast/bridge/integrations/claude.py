"""The Claude Agent SDK: `ClaudeAgentOptions(hooks=hooks())`.

The agent's loop runs in a program of its own, which asks these hooks before and after each tool. So
tools are recorded and held, their input changed, and a call refused; model calls are not seen. What
the program does not allow is not offered: a result cannot be supplied instead of running the tool,
and a tool that runs cannot be cancelled.
"""

from __future__ import annotations

import asyncio
from typing import Any

from claude_agent_sdk import HookMatcher

from holdfast.bridge import Bridge, ToolCancelled, active
from holdfast.bridge.agent_calls import ToolCall
from holdfast.bridge.integrations._split_tool_call import SplitCall
from holdfast.model.agent_commands import AT_TOOL

_A_DAY = 24 * 3600.0
# Claude runs the tool itself: a hook cannot give it another result.
_ALLOWS = tuple(action for action in AT_TOOL if action != "skip")


def hooks(
    dbg: Bridge | None = None, *, lane: str | None = None, timeout: float = _A_DAY
) -> dict[Any, list[HookMatcher]]:
    """Hooks that record and steer tools.

    One that is held for longer than `timeout` seconds is refused: it does not run.
    """
    watching = _Hooks(dbg or active(), lane)

    def build_matchers(hook: Any) -> list[HookMatcher]:
        return [HookMatcher(hooks=[hook], timeout=timeout, on_failure="block")]

    return {
        "PreToolUse": build_matchers(watching.hold_tool),
        "PostToolUse": build_matchers(watching.end_tool),
        "PostToolUseFailure": build_matchers(watching.fail_tool),
    }


class ToolFailed(Exception):
    """A tool of Claude's failed, and this is what it said."""


class _Hooks:
    def __init__(self, dbg: Bridge, lane: str | None) -> None:
        self._dbg = dbg
        self._lane = lane
        self._calls: dict[str, tuple[SplitCall, asyncio.Future[Any]]] = {}

    async def hold_tool(self, given: Any, tool_use_id: str | None, _context: Any) -> Any:
        name, asked = given["tool_name"], given["tool_input"]
        tool_id = str(given.get("tool_use_id") or tool_use_id)
        lane = given.get("agent_id") or self._lane or ""
        call = ToolCall(name, dict(asked), id=tool_id, lane=lane, allows=_ALLOWS)
        split = SplitCall(self._dbg, call)
        await split.begin()
        ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if split.input is None:
            return await _refuse(split, ended)
        self._calls[tool_id] = (split, ended)
        split.perform_with(lambda _: _wait_for_claude(ended, tool_id))
        if split.input == asked:
            return {}
        return _build_decision("allow", updatedInput=split.input)

    async def end_tool(self, given: Any, tool_use_id: str | None, _context: Any) -> Any:
        split, ended = self._calls.pop(_tool_id(given, tool_use_id), (None, None))
        if split is None or ended is None:
            return {}
        response = given.get("tool_response")
        ended.set_result(response)
        try:
            result = await split.outcome()
        except ToolCancelled:
            return {}  # it was abandoned, and came to its end all the same
        return {} if result is response else _build_output(result)

    async def fail_tool(self, given: Any, tool_use_id: str | None, _context: Any) -> Any:
        split, ended = self._calls.pop(_tool_id(given, tool_use_id), (None, None))
        if split is not None and ended is not None:
            ended.set_exception(ToolFailed(str(given.get("error"))))
            await split.wait()
        return {}


async def _wait_for_claude(ended: asyncio.Future[Any], tool_id: str) -> Any:
    """The tool runs in Claude's program: who cancels this waiting does not end it."""
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        raise ToolCancelled(
            "it was abandoned: it goes on in Claude's program", tool_id=tool_id, abandoned=True
        ) from None


async def _refuse(split: SplitCall, nothing: asyncio.Future[Any]) -> Any:
    nothing.cancel()
    try:
        # There is one in a replay: the tool does not run then, either.
        reason = str(await split.outcome())
    except Exception as error:  # whatever was decided to raise, or was recorded
        reason = f"{type(error).__name__}: {error}"
    return _build_decision("deny", permissionDecisionReason=reason)


def _build_decision(decision: str, **more: Any) -> dict[str, Any]:
    output = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return {"hookSpecificOutput": output}


def _build_output(result: Any) -> dict[str, Any]:
    output = {"hookEventName": "PostToolUse", "updatedToolOutput": result}
    return {"hookSpecificOutput": output}


def _tool_id(given: Any, tool_use_id: str | None) -> str:
    return str(given.get("tool_use_id") or tool_use_id)
