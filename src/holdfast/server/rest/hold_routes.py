"""Holds: what waits for a decision, whatever its kind, and the one place to decide it."""

from __future__ import annotations

from typing import Annotated, Any

from holdfast.server.request_parser import convert, refuse_unknown
from holdfast.server.route_table import Documented, RouteList
from holdfast.service.debugger import Debugger
from holdfast.service.run_options import RunOptions
from holdfast.service.session import DecisionRequest
from holdfast.wire.session_answers import ContinuedHolds, SettledHold
from holdfast.wire.session_requests import ContinueAll, DecisionHead, EvaluateHold, HoldDecision
from holdfast.wire.target_answers import DecisionAnswer, EvaluationAnswer, HoldDetail, HoldList

routes = RouteList("/api")
_ALL = ContinueAll()
# Its other fields are the action's own, which the operation checks against the table of decisions.
_DECISION_FIELDS = tuple(HoldDecision.__annotations__)
DecisionBody = Annotated[dict[str, Any], Documented(HoldDecision)]


@routes.get("/holds")
async def list_holds(debugger: Debugger) -> HoldList:
    """Everything that waits for a decision now, of every kind."""
    return debugger.holds.all()


@routes.post("/holds/continue")
async def continue_all(debugger: Debugger, body: ContinueAll = _ALL) -> ContinuedHolds:
    """Continue every held call and every held agent, of one session or of all."""
    return await debugger.holds.continue_all(body.session_id, body.by or "rest")


@routes.get("/holds/{hold_id}")
async def get_hold(debugger: Debugger, hold_id: str) -> HoldDetail | SettledHold:
    """One hold, open or settled."""
    return await debugger.holds.get(hold_id)


@routes.post("/holds/{hold_id}/decision")
async def decide(debugger: Debugger, hold_id: str, body: DecisionBody) -> DecisionAnswer:
    """Decide a hold. The first decision wins; a later one learns who made it.

    Of an agent: `modify` takes `input`, `skip` takes `result`, `raise` takes `exception_type` and
    `exception_message`, `inject` takes `role` and `content`. The answer comes when the agent has
    gone on; one that does not answer within `timeout` seconds is 504, and stays held.
    """
    refuse_unknown(body, _DECISION_FIELDS)
    head = convert(body, DecisionHead)
    names = DecisionHead.__struct_fields__
    fields = {name: value for name, value in body.items() if name not in names}
    options = RunOptions(
        by=head.by or "rest",
        wait=head.wait,
        include=head.include,
        output_since=head.output_since,
        output_bytes=head.output_bytes,
    )
    return await debugger.holds.decide(hold_id, DecisionRequest(head.action, options, fields))


@routes.post("/holds/{hold_id}/evaluate")
async def evaluate(debugger: Debugger, hold_id: str, body: EvaluateHold) -> EvaluationAnswer:
    """Evaluate an expression in the frame of whoever makes a held call: there, never here."""
    return await debugger.holds.evaluate(hold_id, body)
