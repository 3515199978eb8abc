"""The time limits that can change an answer, in seconds.

Each has a value that suits people at an ordinary machine. `HOLDFAST_TIMINGS`, a JSON object of
names and seconds, sets others: more for a machine that is very busy, less for a test of a limit.
What only paces work, gathers writes or guards against leaks stays where it is used, and so do the
defaults of waits that every request can set.

Read them as `timings.TIMINGS.name` where they are needed, and keep no copy.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from holdfast.probe import timings as probe_timings
from holdfast.probe.timings import FIELDS, ProbeTimings

VARIABLE = "HOLDFAST_TIMINGS"
_MAX_SECONDS = 86_400.0


@dataclass(frozen=True)
class Timings:
    """One field per limit, grouped by who uses them."""

    # -- what the settings begin with: `service/settings.py` ------------------------------------

    launch_timeout: float = 30.0
    """How long a launch may take."""
    attach_timeout: float = 30.0
    """How long attaching may take."""
    request_timeout: float = 10.0
    """How long the debugger may take for what runs no code of the user's."""
    evaluate_timeout: float = 10.0
    """How long an expression may take."""
    step_wait: float = 5.0
    """How long a step waits for its stop."""
    terminate_grace: float = 2.0
    """How long a program has to act on SIGTERM before it is killed."""

    # -- a program: `targets/program` -----------------------------------------------------------

    debugger_answer: float = 0.4
    """After this time a debugger counts as unable to answer, and is looked at from outside."""
    outside_look: float = 0.8
    """How long a look at a program from outside may take."""
    interrupt: float = 1.0
    """How long an expression whose time is up may take to be interrupted."""
    input_taken: float = 0.1
    """How long a program may take to say that it took its input, before it counts as waiting."""
    terminal_quiet: float = 0.1
    """How long nothing is typed before a program that reads from its terminal counts as waiting."""
    last_output: float = 0.5
    """How long the output of a program that has ended is read, if a child keeps it open."""
    last_messages: float = 0.5
    """How long the debugger's last messages are read, if a child keeps its connection open."""
    end_after_debugger: float = 2.0
    """After this time a program whose debugger has gone counts as running on without it."""
    killed: float = 15.0
    """How long a process that was killed may take to end."""
    interpreter_answer: float = 10.0
    """How long an interpreter may take to say which Python it is."""
    poetry_answer: float = 5.0
    """How long Poetry may take to say where a project's environment is."""
    greeting: float = 5.0
    """How long a debugger that listens somewhere may take for its first answer."""
    arrival: float = 2.0
    """How long a process in which our code has run may take to connect."""
    handshake: float = 5.0
    """How long a process that connects may take to prove that it knows the secret."""
    signal_read: float = 5.0
    """How long a server may leave a signal unread before its warden kills it."""

    # -- the operations: `service`, `store`, `recording` ----------------------------------------

    end_told: float = 5.0
    """How long an answer about a program that has just ended waits for the report of its end."""
    pause_reason: float = 2.0
    """How long a pause that is over looks for what it waits for."""
    watches: float = 1.0
    """How long all watches of a stop may take together."""
    tool_expression: float = 5.0
    """How long an expression may take that a tool evaluates."""
    until: float = 2.0
    """How long the expression of `until` may take after one step."""
    end_after_trace: float = 1.0
    """How long a program may go on after the call that was traced, before that is shown."""
    git_answer: float = 60.0
    """How long a command of git may take."""
    agent_grace: float = 2.0
    """How long an agent has to act on SIGTERM before it is killed."""
    rerun_begins: float = 60.0
    """How long a run of an agent has to begin its session, after the request waited for it."""
    hold_named: float = 2.0
    """After this time a hold that an agent does not name among those it has counts as over."""
    call_search: float = 5.0
    """How long a search looks through recorded calls before it answers with what it has found."""
    call_gives_up: float = 5.0
    """How long after its own time limit a held call may still be decided."""
    implicit_hold: float = 60.0
    """How long a call of an application that has not said hello is held at most."""
    call_room: float = 10.0
    """How long calls wait for the store to write those before, until they are refused."""
    store_free: float = 5.0
    """How long a read of the store waits for another process that has locked it."""
    session_free: float = 2.0
    """How long an agent that begins waits for those who look whether its session is taken."""
    index_free: float = 10.0
    """How long a change of the list of agent sessions waits for another."""

    # -- the faces: `server` --------------------------------------------------------------------

    request_head: float = 30.0
    """How long the head of a request may take to arrive."""
    whole_request: float = 120.0
    """How long all of a request may take to arrive."""
    unknown_client: float = 10.0
    """How long a client may take to show that it may use the server."""
    answer_read: float = 60.0
    """How long a client may leave an answer unread."""
    refusal_read: float = 2.0
    """How long a refused client may take to read its answer and leave."""
    last_requests: float = 3.0
    """How long a server that stops lets requests be answered."""
    server_stops: float = 60.0
    """How long a server that stops may take in all, until the kernel ends it."""
    server_stops_at_once: float = 2.0
    """The same after a second signal."""
    first_client: float = 15.0
    """How long a server that was started for a client waits for it."""
    editor_reads: float = 30.0
    """How long an editor may leave messages unread."""
    editor_ends: float = 10.0
    """How long the end of a program may take whose editor has left."""
    editors_leave: float = 1.0
    """How long a server that stops waits until editors have left."""
    agent_hello: float = 10.0
    """How long an agent's carrier may take to say who it is."""
    last_answers: float = 3.0
    """How long an agent that sends no more is answered."""
    abandoned_call: float = 10.0
    """How long an agent's end waits for calls that it has cancelled."""
    listed_files: float = 2.0
    """How long a list of a program's files waits for the program."""

    # -- in the user's own process: `client`, `bridge`, `embed` ---------------------------------

    request: float = 330.0
    """How long a client waits for an answer, unless it says otherwise."""
    server_proof: float = 10.0
    """How long a server may take to prove that it knows the secret."""
    server_start: float = 30.0
    """How long a server that a client has started may take to answer."""
    goodbye: float = 2.0
    """How long an application that ends waits until the server knows that it does."""
    stored_value: float = 30.0
    """How long a server may take to send a stored value that is being unpickled."""
    registration: float = 5.0
    """How long a server may take to hear of an agent's session."""
    listener_ends: float = 2.0
    """How long an agent that ends waits for the command that is being carried out."""
    spans_sent: float = 10.0
    """How long an agent waits until its spans are sent."""
    spans_exported: float = 30.0
    """How long spans of a recording may take to be sent."""
    adapter_stops: float = 15.0
    """How long an adapter may take to stop when its process ends."""

    # -- the command line: `cli` ----------------------------------------------------------------

    screen_step: float = 1.0
    """How long a full-screen view waits for a step or a pause before it shows a running program."""
    screen_key: float = 1.0
    """How long a key may take before the next one is handled."""
    agent_answer: float = 10.0
    """How long an agent may take to answer a command, unless the command line says otherwise."""
    side_request: float = 5.0
    """How long a request may take that only tells how another goes on."""
    completion: float = 1.0
    """How long a server may take to say what completes a word."""
    door_opens: float = 10.0
    """How long the door for agents may take to accept a connection."""
    server_ends: float = 30.0
    """How long what an agent has started may take to end with it."""
    log_written: float = 1.0
    """How long a server that ends waits until its log is written."""

    # -- inside the program: `probe` ------------------------------------------------------------

    probe: ProbeTimings = field(default_factory=ProbeTimings)
    """Those of the code that runs in the program being debugged."""

    def replace(self, values: Mapping[str, Any]) -> Timings:
        """These with some replaced. Raises ValueError for a name or a value that is wrong."""
        own = {each.name for each in fields(self)} - {"probe"}
        unknown = [name for name in values if name not in own and name not in FIELDS]
        if unknown:
            raise ValueError(f"there is no time limit {unknown[0]!r:.100}")
        for name, value in values.items():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not 0 < value <= _MAX_SECONDS:
                raise ValueError(f"{name} is a number of seconds above 0, not {value!r:.100}")
        inside = {name: value for name, value in values.items() if name not in own}
        others = {name: value for name, value in values.items() if name in own}
        return replace(self, **others, probe=self.probe.replace(inside))


def read_environment(environment: Mapping[str, str] = os.environ) -> Timings:
    """The timings that are set there. If one is wrong, a sentence says so, and none of them counts.

    The process goes on: it may be the user's own.
    """
    text = environment.get(VARIABLE)
    if not text:
        return Timings()
    try:
        values = json.loads(text)
        if not isinstance(values, dict):
            raise ValueError("it is not a JSON object of names and seconds")
        return Timings().replace(values)
    except (ValueError, RecursionError) as problem:
        print(f"{VARIABLE} is left out: {problem}", file=sys.stderr)
        return Timings()


def use(chosen: Timings) -> None:
    """Take these in this process from now on."""
    global TIMINGS
    TIMINGS = chosen
    probe_timings.use(chosen.probe.list())


TIMINGS = Timings()
use(read_environment())
