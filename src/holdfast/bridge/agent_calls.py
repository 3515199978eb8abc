"""What an agent is about to do, as the bridge sees it: call a model, or a tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from holdfast.bridge.answer_summary import AnswerSummary, copy_message, describe_answer
from holdfast.bridge.system_prompt import IN_MESSAGES, SystemPrompt
from holdfast.core.call_parameters import CallParameters
from holdfast.model.agent_commands import AT_MODEL, AT_TOOL


@dataclass
class ToolCall:
    name: str
    input: dict[str, Any]
    """By argument name: what a hold shows and may change."""
    id: str | None = None
    """The provider's id of it, if there is one."""
    lane: str = ""
    """Which agent, when several run in one process; that of the context, if it is not named."""
    pure: bool = False
    """It changes nothing outside: forking past it needs no warning."""
    parameters: CallParameters | None = None
    """What it takes, if that is known: an input that is decided has to fit."""
    allows: tuple[str, ...] = AT_TOOL
    """The decisions that can be carried out while it is held."""


@dataclass
class ModelCall:
    messages: list[Any]
    """What will be sent. Injected messages are appended to it, an edit replaces what is in it."""
    model: str | None = None
    provider: str | None = None
    lane: str = ""
    """Which agent, when several run in one process; that of the context, if it is not named."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Whatever else makes the request: part of what a replay compares."""
    parameters: CallParameters | None = None
    """What it takes besides its messages, if that is known: a decision can change that."""
    show: Callable[[Any], Any] = lambda message: message
    """One message as JSON."""
    make: Callable[[dict[str, Any]], Any] = copy_message
    """One message of `{"role", "content"}`."""
    describe: Callable[[Any], AnswerSummary] = describe_answer
    """A result's `stopReason`, `content`, `toolCalls`, `usage` (`inputTokens`, `outputTokens`)."""
    dump: Callable[[Any], Any] | None = None
    """A result as JSON, and back; without these, JSON where that is exact, and pickle elsewhere."""
    load: Callable[[Any], Any] | None = None
    system: SystemPrompt = IN_MESSAGES
    """Where its system prompt is."""
    allows: tuple[str, ...] = AT_MODEL
    """The decisions that can be carried out while it is held."""
