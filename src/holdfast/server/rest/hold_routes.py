"""Holds: what waits for a decision, whatever its kind, and the one place to decide it."""

from __future__ import annotations

from holdfast.server.rest import bodies
from holdfast.server.rest.shared import Answer, ServiceHere, options_of, router, shows
from holdfast.service.session import DecisionRequest

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
async def list_holds(service: ServiceHere) -> Answer:
    """Everything that waits for a decision now, of every kind."""
    return Answer(service.holds.all())


@routes.post("/holds/continue", responses=shows({"continued": ["hold_1"], "total": 1}))
async def continue_all(service: ServiceHere, body: bodies.ContinueAll | None = None) -> Answer:
    """Continue every held call and every held agent, of one session or of all."""
    request = body or bodies.ContinueAll()
    return Answer(await service.holds.continue_all(request.session_id, request.by or "rest"))


@routes.get("/holds/{hold_id}", responses=shows(_HOLD))
async def get_hold(service: ServiceHere, hold_id: str) -> Answer:
    """One hold, open or settled."""
    return Answer(await service.holds.get(hold_id))


@routes.post("/holds/{hold_id}/decision", responses=shows({"status": "running"}))
async def decide(service: ServiceHere, hold_id: str, body: bodies.DecisionBody) -> Answer:
    """Decide a hold. The first decision wins; a later one learns who made it.

    Of an agent: `modify` takes `input`, `skip` takes `result`, `raise` takes `exception_type` and
    `exception_message`, `inject` takes `role` and `content`. The answer comes when the agent has
    gone on; one that does not answer within `timeout` seconds is 504, and stays held.
    """
    request = DecisionRequest(body.action, options_of(body), body.model_extra or {})
    return Answer(await service.holds.decide(hold_id, request))


@routes.post(
    "/holds/{hold_id}/evaluate",
    responses=shows({"result": "84", "type": "int", "variable_reference": 0}),
)
async def evaluate(service: ServiceHere, hold_id: str, body: bodies.Evaluate) -> Answer:
    """Evaluate an expression in the frame of whoever makes a held call: there, never here."""
    answer = await service.holds.evaluate(
        hold_id,
        body.expression,
        frame_id=body.frame_id,
        context=body.context,
        timeout=body.timeout,
    )
    return Answer(answer)
