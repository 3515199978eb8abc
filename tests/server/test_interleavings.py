"""Random interleavings: whatever clients do in whatever order, the session is where it must be.

A model knows the state that each session must be in. Rules do what clients do, at right and at
wrong times, alone and two at once; after each, the server must agree with the model, must never
answer 500, and no wait may hang. `HOLDFAST_RUNS` sets how many runs there are (`make soak`).
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from harness import Program, Server

PROGRAM = Program("endless_calls.py")
MARKERS = ("inner", "first", "body", "last", "loop")
STEPS = ("step-over", "step-into", "step-out")
LIVE = ("running", "paused")
RUNS = int(os.environ.get("HOLDFAST_RUNS", "12"))


@dataclass
class Modelled:
    """What a session must be like."""

    id: str
    state: str = "created"
    points: dict[str, str] = field(default_factory=dict)  # breakpoint id -> marker

    @property
    def path(self) -> str:
        return f"/sessions/{self.id}"

    def after_running(self) -> str:
        """The program runs for ever: it comes to a breakpoint if there is one."""
        return "paused" if self.points else "running"


class Clients(RuleBasedStateMachine):
    server: Server

    def __init__(self) -> None:
        super().__init__()
        self.sessions: list[Modelled] = []
        self.http = self.server.http

    # -- asking ---------------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        answer = self.http.request(method, path, json=body)
        assert answer.status_code != 500, answer.text
        assert answer.status_code != 504, answer.text
        return answer

    def operate(self, one: Modelled, operation: str, body: Any, allowed: bool) -> Any:
        """Do it: it works when the model allows it, and is refused with 409 otherwise."""
        answer = self.ask("POST", f"{one.path}/{operation}", body)
        if not allowed:
            assert answer.status_code == 409, (operation, one.state, answer.text)
            assert answer.json()["error"]["details"]["state"] == one.state
            return None
        assert answer.status_code == 200, (operation, one.state, answer.text)
        return answer.json()

    def pick(self, index: int) -> Modelled:
        return self.sessions[index % len(self.sessions)]

    # -- rules ----------------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        self.create()

    @precondition(lambda self: len(self.sessions) < 3)
    @rule()
    def create(self) -> None:
        made = self.ask("POST", "/sessions", {"name": "random"}).json()
        assert made["status"] == "created"
        self.sessions.append(Modelled(made["session_id"]))

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9), marker=st.sampled_from(MARKERS))
    def add_breakpoint(self, index: int, marker: str) -> None:
        one = self.pick(index)
        body = {"file": PROGRAM.path, "line": PROGRAM.line(marker)}
        point = self.ask("POST", f"{one.path}/breakpoints", body).json()
        assert point["verified"]
        one.points[point["breakpoint_id"]] = marker
        if one.state == "running":
            self.expect(one, "paused")

    @precondition(lambda self: any(one.points for one in self.sessions))
    @rule(index=st.integers(0, 9))
    def remove_breakpoint(self, index: int) -> None:
        one = next(one for one in self.sessions if one.points)
        point = sorted(one.points)[index % len(one.points)]
        assert self.ask("DELETE", f"{one.path}/breakpoints/{point}").status_code == 200
        del one.points[point]

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9))
    def launch(self, index: int) -> None:
        one = self.pick(index)
        allowed = one.state in ("created", "terminated")
        body = {"script": PROGRAM.path, "wait": 60 if one.points else 0}
        answer = self.operate(one, "launch", body, allowed)
        if allowed:
            one.state = one.after_running()
            assert answer["status"] == one.state

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9))
    def restart(self, index: int) -> None:
        one = self.pick(index)
        allowed = one.state != "created"
        answer = self.operate(one, "restart", {"wait": 60 if one.points else 0}, allowed)
        if allowed:
            one.state = one.after_running()
            assert answer["status"] == one.state

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9))
    def resume(self, index: int) -> None:
        one = self.pick(index)
        allowed = one.state == "paused"
        answer = self.operate(one, "continue", {"wait": 60 if one.points else 0}, allowed)
        if allowed:
            one.state = one.after_running()
            assert answer["status"] == one.state

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9), step=st.sampled_from(STEPS))
    def step(self, index: int, step: str) -> None:
        one = self.pick(index)
        leaves = step == "step-out" and self.is_outermost(one)
        wait = 60 if one.points or not leaves else 0
        answer = self.operate(one, step, {"wait": wait}, one.state == "paused")
        if answer is None:
            return
        one.state = one.after_running() if leaves else "paused"
        assert answer["status"] == one.state
        if one.state == "paused":
            assert answer["location"]["line"] > 0

    def is_outermost(self, one: Modelled) -> bool:
        """Out of the module there is nothing to step to: the program just runs on."""
        place = self.ask("GET", f"{one.path}/status").json().get("location")
        return bool(place) and place["function"] == "<module>"

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9))
    def pause(self, index: int) -> None:
        one = self.pick(index)
        answer = self.operate(one, "pause", {"wait": 60}, one.state == "running")
        if answer is not None:
            assert answer["status"] == "paused"
            one.state = "paused"

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9))
    def evaluate(self, index: int) -> None:
        one = self.pick(index)
        answer = self.operate(one, "evaluate", {"expression": "6 * 7"}, one.state == "paused")
        if answer is not None:
            assert answer["result"] == "42"

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9))
    def look_around(self, index: int) -> None:
        one = self.pick(index)
        answer = self.ask("GET", f"{one.path}/stacktrace")
        assert answer.status_code == (200 if one.state == "paused" else 409), answer.text
        if one.state == "paused":
            assert self.ask("GET", f"{one.path}/frames/0/variables").status_code == 200

    @precondition(lambda self: any(one.state in LIVE for one in self.sessions))
    @rule(index=st.integers(0, 9))
    def kill_the_program(self, index: int) -> None:
        live = [one for one in self.sessions if one.state in LIVE]
        one = live[index % len(live)]
        os.kill(self.ask("GET", one.path).json()["pid"], signal.SIGKILL)
        one.state = "terminated"
        status = self.ended(one)
        how = status["reason"], status["exit_code"]
        assert how == ("target_exited", -9), self.ask("GET", f"{one.path}/events").json()

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9))
    def terminate(self, index: int) -> None:
        one = self.pick(index)
        answer = self.operate(one, "terminate", None, one.state in LIVE)
        if answer is not None:
            one.state = "terminated"
            assert answer["status"] == "terminated"

    @precondition(lambda self: self.sessions)
    @rule(index=st.integers(0, 9))
    def delete(self, index: int) -> None:
        one = self.pick(index)
        assert self.ask("DELETE", one.path).json()["deleted"] is True
        assert self.ask("GET", one.path).status_code == 404
        self.sessions.remove(one)

    @precondition(lambda self: any(one.state == "paused" for one in self.sessions))
    @rule(
        index=st.integers(0, 9),
        first=st.sampled_from((*STEPS, "continue", "evaluate")),
        second=st.sampled_from((*STEPS, "continue", "evaluate")),
    )
    def two_at_once(self, index: int, first: str, second: str) -> None:
        """Two clients, one hold: nothing breaks, and the session ends where the winner took it."""
        paused = [one for one in self.sessions if one.state == "paused"]
        one = paused[index % len(paused)]
        bodies = {"evaluate": {"expression": "6 * 7"}}
        default = {"wait": 60 if one.points else 0.5}
        before = len(self.list_moves(one))

        def do(operation: str) -> int:
            with httpx.Client(base_url=self.server.url, timeout=100, trust_env=False) as http:
                body = bodies.get(operation, default)
                return http.post(f"{one.path}/{operation}", json=body).status_code

        with ThreadPoolExecutor(2) as both:
            codes = list(both.map(do, (first, second)))
        assert set(codes) <= {200, 404, 409}, (first, second, codes)
        done = [each for each, code in zip((first, second), codes, strict=True) if code == 200]
        moves = self.list_moves(one)[before:]
        winners = sorted(each for each in done if each != "evaluate")
        assert sorted(action for action, _ in moves) == winners, (first, second, codes, moves)
        assert winners or first == second == "evaluate", (first, second, codes)
        self.settle(one, moves)

    def list_moves(self, one: Modelled) -> list[tuple[str, str]]:
        """Each time that it was let go: the operation, and the function that it was held in."""
        moves, function = [], ""
        for event in self.ask("GET", f"{one.path}/events?limit=10000").json()["events"]:
            if event["event"] == "stopped":
                function = event["location"]["function"]
            elif event["event"] == "continued":
                moves.append((event["action"], function))
        return moves

    def settle(self, one: Modelled, moves: list[tuple[str, str]]) -> None:
        """After a race: a second winner came after the stop of the first, and took it further."""
        action, function = moves[-1] if moves else ("evaluate", "")
        runs_on = action == "continue" or (action, function) == ("step-out", "<module>")
        self.expect(one, one.after_running() if runs_on else "paused")

    # -- agreement ------------------------------------------------------------------------------

    def expect(self, one: Modelled, state: str) -> Any:
        wait = 60 if state == "paused" else 0
        answer = self.ask("GET", f"{one.path}/status?wait={wait}").json()
        assert answer["status"] == state, answer
        one.state = state
        return answer

    def ended(self, one: Modelled) -> Any:
        """A killed program is noticed at once; a paused one is paused until then."""
        since = 0
        while True:
            page = self.ask("GET", f"{one.path}/events?since={since}&wait=60").json()
            assert page["events"], "its end was never told"
            since = page["last_seq"]
            if any(each["type"] == "terminated" for each in page["events"]):
                answer = self.ask("GET", f"{one.path}/status").json()
                if answer["status"] == "terminated":
                    return answer

    @invariant()
    def the_server_agrees(self) -> None:
        for one in self.sessions:
            answer = self.ask("GET", f"{one.path}/status").json()
            assert answer["status"] == one.state, (one, answer)

    def teardown(self) -> None:
        for one in self.sessions:
            self.ask("DELETE", one.path)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_interleaving_of_clients_breaks_a_session(server: Server) -> None:
    machine = type("ClientsOfTheServer", (Clients,), {"server": server})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=RUNS,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
