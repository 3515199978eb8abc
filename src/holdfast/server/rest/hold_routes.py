"""Holds: what waits for a decision, whatever its kind, and the one place to decide it."""

from __future__ import annotations

from holdfast import errors
from holdfast.model import agent
from holdfast.model.hold import Hold
from holdfast.model.session import Kind
from holdfast.server.rest import bodies
from holdfast.server.rest.shared import (
    Json,
    ServiceHere,
    after,
    chosen,
    patience_of,
    router,
    seconds,
    shows,
)
from holdfast.service.agents import shown as agents
from holdfast.service.agents import steering
from holdfast.service.calls import call_actions
from holdfast.service.calls.call_renderer import brief_json, held_json
from holdfast.service.debugger import Debugger
from holdfast.service.programs import inspection, program_launch
from holdfast.service.programs import program_session as program
from holdfast.wire import rest

routes = router()
_ACTIONS = {*program.ACTIONS, *call_actions.ACTIONS, *agent.ACTIONS}
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


def _brief(service: Debugger, held: Hold) -> Json:
    if held.kind is Kind.CALLS:
        return {**rest.hold(held), **brief_json(service.calls.held(held.id))}
    if held.kind is Kind.AGENT:
        return {**rest.hold(held), **agents.held_json(service.agents.held(held.id)[1])}
    return rest.hold(held)


@routes.post("/holds/continue", responses=shows({"continued": ["hold_1"], "total": 1}))
async def continue_all(service: ServiceHere, body: bodies.ContinueAll | None = None) -> Json:
    """Continue every held call and every held agent, of one session or of all."""
    wanted = body or bodies.ContinueAll()
    by, of_one = wanted.by or "rest", wanted.session_id
    if of_one is not None and of_one not in service.agents.sessions:
        service.calls.session(of_one)
    done = service.calls.resume_all(of_one, by)
    patience = service.settings.request_timeout
    done += await steering.continue_all(service.agents, service.ledger, of_one, by, patience)
    return {"continued": done, "total": len(done)}


@routes.get("/holds/{hold_id}", responses=shows(_HOLD))
async def get_hold(service: ServiceHere, hold_id: str) -> Json:
    """One hold, open or settled."""
    held = service.ledger.get(hold_id)
    outcome = service.ledger.outcome(hold_id)
    shown = {**rest.hold(held), "open": outcome is None}
    if held.kind is Kind.CALLS and outcome is None:
        shown = {**held_json(service.calls, service.calls.held(hold_id)), **shown}
    if held.kind is Kind.AGENT and outcome is None:
        _session, stop = service.agents.held(hold_id)
        shown = {**agents.held_json(stop, whole=True), **shown}
    if outcome is not None:
        shown["outcome"] = getattr(outcome, "action", "withdrawn")
        shown["by"] = getattr(outcome, "by", None)
    return shown


@routes.post("/holds/{hold_id}/decision", responses=shows({"status": "running"}))
async def decide(service: ServiceHere, hold_id: str, body: bodies.DecisionBody) -> Json:
    """Decide a hold. The first decision wins; a later one learns who made it.

    Of an agent: `modify` takes `input`, `skip` takes `result`, `raise` takes `exception_type` and
    `exception_message`, `inject` takes `role` and `content`. The answer comes when the agent has
    gone on; one that does not answer within `timeout` seconds is 504, and stays held.
    """
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
    if held.kind is Kind.AGENT:
        return await _decide_agent(service, hold_id, body)
    session = service.session(held.session_id)
    patience = seconds(body.wait, session, 0.0)
    wanted = chosen(body.include)
    await program_launch.act(session, body.action, body.by or "rest", hold_id=hold_id)
    return {"hold_id": hold_id, "action": body.action, **await after(session, patience, wanted)}


@routes.post(
    "/holds/{hold_id}/evaluate",
    responses=shows({"result": "84", "type": "int", "variable_reference": 0}),
)
async def evaluate(service: ServiceHere, hold_id: str, body: bodies.Evaluate) -> Json:
    """Evaluate an expression in the frame of whoever makes a held call: there, never here."""
    held = service.ledger.still_open(hold_id)
    if held.kind is Kind.AGENT:
        service.session(held.session_id)  # says what an agent can be asked instead
    if held.kind is not Kind.CALLS:
        session = service.session(held.session_id)
        return await inspection.evaluate(
            session, body.expression, body.frame_id, body.context, body.timeout
        )
    return await service.calls.evaluate(hold_id, body.expression, body.timeout)


async def _decide_agent(service: Debugger, hold_id: str, body: bodies.DecisionBody) -> Json:
    options = body.model_extra or {}
    session, held = await steering.decide(
        service.agents,
        service.ledger,
        hold_id,
        body.action,
        body.by or "rest",
        options,
        _timeout(options, service),
    )
    patience = patience_of(body.wait, service.settings, 0.0)
    if patience:
        await session.wait_until(lambda: session.settled, patience)
    decided = {"hold_id": hold_id, "action": body.action, "stop": held.stop}
    return {**agents.state_json(session), **decided}


def _timeout(options: Json, service: Debugger) -> float:
    given = options.get("timeout", service.settings.request_timeout)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 300:
        raise errors.InvalidInput("timeout is a number of seconds, up to 300", field="timeout")
    return float(given)


def _decide_call(service: Debugger, hold_id: str, body: bodies.DecisionBody) -> Json:
    held = service.calls.decide(hold_id, body.action, body.by or "rest", body.model_extra or {})
    session = service.calls.session(held.call.session_id)
    return {
        "hold_id": hold_id,
        "action": body.action,
        "call_id": held.call.id,
        "session_id": session.id,
        "status": session.state.value,
    }
