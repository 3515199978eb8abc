"""Where a session can be, and how an error looks: what several stories begin or end with."""

from __future__ import annotations

from typing import Any

import httpx

from harness import Program, Session

LOOP = Program("loop.py")
IDLE = Program("idle.py")
INPUT_PROMPT = Program("input_prompt.py")


def bring_to(session: Session, state: str) -> None:
    """Bring a new session into a state, by the requests that a user would make."""
    match state:
        case "created":
            pass
        case "running":
            session.launch(IDLE, wait=False)
            session.get("/output?wait=60")  # it has said that it is ready
        case "paused":
            session.break_at(LOOP, "add")
            session.launch(LOOP)
        case "waiting_for_input":
            session.launch(INPUT_PROMPT)
        case "terminated":
            session.launch(LOOP)
        case "failed":
            nowhere = {"code": "1", "route": "direct", "env": {"PYTHONHOME": "/nowhere"}}
            session.post("/launch", nowhere, expect=500)
        case _:
            raise ValueError(state)
    assert session.get("/status")["status"] == state


def check_error(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The error of an answer, which must have the shape that every error has."""
    assert answer.status_code == status, (answer.status_code, answer.text)
    body = answer.json()
    assert set(body) == {"error", "error_code"}
    error: dict[str, Any] = body["error"]
    assert set(error) == {"code", "message", "hint", "details"}
    assert error["code"] == error["code"].upper()
    assert body["error_code"] == body["error_code"].lower()
    assert error["message"]
    assert error["hint"]
    return error | {"short": body["error_code"]}
