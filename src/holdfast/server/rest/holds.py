"""Holds: what waits for a decision, whatever its kind, and the one place to decide it."""

from __future__ import annotations

from holdfast.model.session import Kind
from holdfast.server.rest import bodies
from holdfast.server.rest.common import Json, ServiceHere, after, chosen, router, seconds, shows
from holdfast.service import execution
from holdfast.service.service import Service
from holdfast.wire import rest

routes = router()
_HOLD = {
    "hold_id": "hold_1",
    "session_id": "sess_abc123",
    "kind": "program",
    "reason": "breakpoint",
    "location": {"file": "/code/main.py", "line": 10, "function": "main"},
    "allows": ["continue", "step-over", "step-into", "step-out"],
}


@routes.get("/holds", responses=shows({"holds": [_HOLD], "total": 1}))
async def list_holds(service: ServiceHere) -> Json:
    """Everything that waits for a decision now, of every kind."""
    found = [rest.hold(each) for each in service.holds()]
    return {"holds": found, "total": len(found)}


@routes.get("/holds/{hold_id}", responses=shows(_HOLD))
async def get_hold(service: ServiceHere, hold_id: str) -> Json:
    """One hold, open or settled."""
    held = service.ledger.get(hold_id)
    outcome = service.ledger.outcome(hold_id)
    shown = {**rest.hold(held), "open": outcome is None}
    if outcome is not None:
        shown["outcome"] = getattr(outcome, "action", "withdrawn")
        shown["by"] = getattr(outcome, "by", None)
    return shown


@routes.post("/holds/{hold_id}/decision", responses=shows({"status": "running"}))
async def decide(service: ServiceHere, hold_id: str, body: bodies.DecisionBody) -> Json:
    """Decide a hold. The first decision wins; a later one learns who made it."""
    held = service.ledger.still_open(hold_id)
    if held.kind is Kind.CALLS:
        return _decide_call(service, hold_id, body)
    session = service.session(held.session_id)
    patience = seconds(body.wait, session, 0.0)
    wanted = chosen(body.include)
    await execution.act(session, body.action, body.by or "rest", hold_id=hold_id)
    return {"hold_id": hold_id, "action": body.action, **await after(session, patience, wanted)}


def _decide_call(service: Service, hold_id: str, body: bodies.DecisionBody) -> Json:
    held = service.calls.decide(hold_id, body.action, body.by or "rest", body.model_extra or {})
    session = service.calls.session(held.call.session_id)
    return {
        "hold_id": hold_id,
        "action": body.action,
        "call_id": held.call.id,
        "session_id": session.id,
        "status": session.state.value,
    }
