"""Answers whose shape depends on the kind of target: one name for each union of them.

Answers about sessions and holds carry `kind`, which tells their shapes apart.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from holdfast.wire.agent_answers import AgentDecision, AgentHold, AgentStatus, AgentSummary
from holdfast.wire.call_answers import (
    CallDecisionAnswer,
    CallEvaluation,
    CallHold,
    CallHoldDetail,
    CallSessionAnswer,
)
from holdfast.wire.program_answers import ProgramDetail, ProgramStatus, ProgramSummary, Variable
from holdfast.wire.session_answers import ProgramHold

StatusAnswer = ProgramStatus | AgentStatus
SummaryAnswer = ProgramSummary | CallSessionAnswer | AgentSummary
DetailAnswer = ProgramDetail | CallSessionAnswer | AgentSummary
DecisionAnswer = ProgramStatus | CallDecisionAnswer | AgentDecision
EvaluationAnswer = Variable | CallEvaluation
HoldSummary = ProgramHold | CallHold | AgentHold
HoldDetail = ProgramHold | CallHoldDetail | AgentHold


class SessionList(Struct):
    """Sessions of every kind."""

    sessions: Annotated[list[SummaryAnswer], Meta(description="The sessions, oldest first.")]
    total: Annotated[int, Meta(description="How many they are.")]


class HoldList(Struct):
    """Everything that waits for a decision."""

    holds: Annotated[list[HoldSummary], Meta(description="The open holds, oldest first.")]
    total: Annotated[int, Meta(description="How many they are.")]
