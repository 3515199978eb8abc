"""Holds: what waits for a decision, whatever its kind, and the one place to decide it."""

from __future__ import annotations

from holdfast import errors
from holdfast.model.hold import Hold
from holdfast.model.session import Kind
from holdfast.server.rest import bodies
from holdfast.server.rest.common import Json, ServiceHere, after, chosen, router, seconds, shows
from holdfast.service import execution, inspection
from holdfast.service import session as program
from holdfast.service.calls import decisions
from holdfast.service.calls.shown import brief_json, held_json
from holdfast.service.service import Service
from holdfast.wire import rest

routes = router()
_ACTIONS = {*program.ACTIONS, *decisions.ACTIONS}
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
    found = [_brief(service, each) for each in service.holds()]
    return {"holds": found, "total": len(found)}


def _brief(service: Service, held: Hold) -> Json:
    if held.kind is Kind.CALLS:
        return {**rest.hold(held), **brief_json(service.calls.held(held.id))}
    return rest.hold(held)


@routes.post("/holds/continue", responses=shows({"continued": ["hold_1"], "total": 1}))
async def continue_all(service: ServiceHere, body: bodies.ContinueAll | None = None) -> Json:
    """Continue every held call, of one session or of all."""
    wanted = body or bodies.ContinueAll()
    if wanted.session_id is not None:
        service.calls.session(wanted.session_id)
    done = service.calls.resume_all(wanted.session_id, wanted.by or "rest")
    return {"continued": done, "total": len(done)}


@routes.get("/holds/{hold_id}", responses=shows(_HOLD))
async def get_hold(service: ServiceHere, hold_id: str) -> Json:
    """One hold, open or settled."""
    held = service.ledger.get(hold_id)
    outcome = service.ledger.outcome(hold_id)
    shown = {**rest.hold(held), "open": outcome is None}
    if held.kind is Kind.CALLS and outcome is None:
        shown = {**held_json(service.calls, service.calls.held(hold_id)), **shown}
    if outcome is not None:
        shown["outcome"] = getattr(outcome, "action", "withdrawn")
        shown["by"] = getattr(outcome, "by", None)
    return shown


@routes.post("/holds/{hold_id}/decision", responses=shows({"status": "running"}))
async def decide(service: ServiceHere, hold_id: str, body: bodies.DecisionBody) -> Json:
    """Decide a hold. The first decision wins; a later one learns who made it."""
    held = service.ledger.still_open(hold_id)
    if body.action not in _ACTIONS:
        raise errors.InvalidDecision(
            f"no action {body.action!r:.100}",
            hint=f"This hold allows: {', '.join(held.actions)}.",
            field="action",
            possible=list(held.actions),
        )
    if held.kind is Kind.CALLS:
        return _decide_call(service, hold_id, body)
    session = service.session(held.session_id)
    patience = seconds(body.wait, session, 0.0)
    wanted = chosen(body.include)
    await execution.act(session, body.action, body.by or "rest", hold_id=hold_id)
    return {"hold_id": hold_id, "action": body.action, **await after(session, patience, wanted)}


@routes.post(
    "/holds/{hold_id}/evaluate",
    responses=shows({"result": "84", "type": "int", "variable_reference": 0}),
)
async def evaluate(service: ServiceHere, hold_id: str, body: bodies.Evaluate) -> Json:
    """Evaluate an expression in the frame of whoever makes a held call: there, never here."""
    held = service.ledger.still_open(hold_id)
    if held.kind is not Kind.CALLS:
        session = service.session(held.session_id)
        return await inspection.evaluate(
            session, body.expression, body.frame_id, body.context, body.timeout
        )
    return await service.calls.evaluate(hold_id, body.expression, body.timeout)


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
