"""Programs that hang: blocked threads, C code that lets nothing else run, deadlocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from generous_timings import set_timings
from harness import Program, Server, Session
from polling import wait_until

BLOCKED = Program("blocked_threads.py")
DEADLOCKS = Program("deadlocks.py")
HOG = Program("interpreter_hog.py")
WAITS = {"wait_for_lock": "lock", "wait_for_job": "queue", "wait_for_bytes": "bytes"}


def list_threads(session: Session) -> dict[str, Any]:
    return {thread["name"]: thread for thread in session.get("/threads")["threads"]}


def find_own_frame(session: Session, name: str) -> dict[str, Any]:
    """The frame of the thread's own function, below those of the standard library."""
    thread = list_threads(session)[name]["thread_id"]
    frames = session.get(f"/threads/{thread}/stacktrace")["frames"]
    return next(frame for frame in frames if frame["name"] == name)


# -- blocked threads ------------------------------------------------------------------------------


def test_blocked_threads_can_be_looked_into_while_another_is_held(
    session: Session, python: str
) -> None:
    session.break_at(BLOCKED, "held")
    session.launch(BLOCKED, python=python)
    for number, (name, marker) in enumerate(WAITS.items(), 41):
        frame = find_own_frame(session, name)
        assert frame["line"] == BLOCKED.line(marker)
        assert session.locals(frame["id"])["secret"]["value"] == str(number)
        assert session.evaluate("secret * 2 + len(LEVEL)", frame_id=frame["id"]) == str(
            number * 2 + 1
        )
        [scope, _globals] = session.get(f"/frames/{frame['id']}/scopes")["scopes"]
        shown = session.get(f"/scopes/{scope['reference']}/variables")["variables"]
        assert {each["name"]: each["value"] for each in shown}["secret"] == str(number)
        assert session.get(f"/source?frame_id={frame['id']}")["line"] == frame["line"]


def test_evaluating_in_a_blocked_thread_assigns_nothing(session: Session) -> None:
    session.break_at(BLOCKED, "held")
    session.launch(BLOCKED)
    frame = find_own_frame(session, "wait_for_lock")["id"]
    refused = session.post(
        "/evaluate", {"expression": "secret = 1", "frame_id": frame, "context": "repl"}, expect=400
    )
    assert "statement" in refused["error"]["message"]
    assert "held" in refused["error"]["hint"]
    assert session.evaluate("[secret := 1, secret]", frame_id=frame) == "[1, 1]"
    assert session.evaluate("secret", frame_id=frame) == "41"
    failed = session.post("/evaluate", {"expression": "1 / 0", "frame_id": frame}, expect=400)
    assert "ZeroDivisionError" in failed["error"]["message"]
    numbers = session.locals(frame)["numbers"]["variable_reference"]
    items = session.get(f"/variables/{numbers}")["items"]
    assert [item["value"] for item in items] == ["41", "42"]
    change = {"name": "0", "value": "7"}
    refused = session.post(f"/variables/{numbers}/set", change, expect=409)
    assert "read" in refused["error"]["message"]
    assert "GET /threads" in refused["error"]["hint"]
    assert refused["error"]["details"]["possible"] == ["evaluate"]


def test_a_slow_expression_in_a_blocked_thread_holds_up_nothing(session: Session) -> None:
    session.break_at(BLOCKED, "held")
    session.launch(BLOCKED)
    frame = find_own_frame(session, "wait_for_lock")["id"]
    endless = {"expression": "[0 for _ in iter(int, 1)]", "frame_id": frame, "timeout": 0.1}
    late = session.post("/evaluate", endless, expect=504)
    assert late["error"]["details"]["interrupted"] is True
    assert session.evaluate("secret", frame_id=frame) == "41"


def test_a_frame_of_a_blocked_thread_is_gone_once_it_has_run_on(
    session: Session, python: str
) -> None:
    session.break_at(BLOCKED, "held", "end")
    session.launch(BLOCKED, python=python)
    frame = find_own_frame(session, "wait_for_lock")["id"]
    numbers = session.locals(frame)["numbers"]["variable_reference"]
    session.post("/step-over")
    # Its thread is blocked still, so it is the frame that it was.
    assert session.locals(frame)["secret"]["value"] == "41"
    assert session.get(f"/variables/{numbers}")["total"] == 2
    session.break_at(BLOCKED, "unlocked")
    stop = session.resume()
    assert stop["location"]["line"] == BLOCKED.line("unlocked")
    for path in (f"/frames/{frame}/variables", f"/variables/{numbers}"):
        gone = session.get(path, expect=404)
        assert gone["error"]["hint"]
    session.post("/evaluate", {"expression": "secret", "frame_id": frame}, expect=404)


def test_the_threads_of_a_running_program_can_be_looked_into(session: Session) -> None:
    session.launch(BLOCKED, args=["stay"], wait=0)
    session.get("/output?wait=60")
    frame = find_own_frame(session, "wait_for_lock")["id"]
    numbers = session.locals(frame)["numbers"]["variable_reference"]
    assert session.get(f"/variables/{numbers}")["total"] == 2
    assert session.evaluate("secret", frame_id=frame) == "41"
    assert session.get("/status")["status"] == "running"
    session.post("/evaluate", {"expression": "1"}, expect=409)  # of the stop that there is none of


# -- C code that lets nothing else run ------------------------------------------------------------


@pytest.fixture(scope="module")
def impatient_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that soon looks at a program from outside."""
    server = Server(
        tmp_path_factory.mktemp("impatient") / "data", env=set_timings(debugger_answer=0.05)
    )
    yield server
    server.stop()


@pytest.fixture
def hog(impatient_server: Server) -> Iterator[Session]:
    with impatient_server.session() as made:
        yield made


def start_hog(session: Session, kind: str, **options: Any) -> None:
    """Start a program that will soon keep the interpreter's lock for ever."""
    session.launch(HOG, args=[kind], wait=0, **options)
    session.get("/output?wait=60")


def is_busy(threads: Any, kind: str) -> bool:
    """Whether the thread that holds the interpreter is where it calls the C code of this kind."""
    place = next((t.get("location") for t in threads if t.get("holds_gil")), None) or {}
    is_own = place.get("file") == HOG.path
    if kind == "regex":  # which the library calls, in a function of the same name
        return not is_own and place.get("function") == "match"
    return is_own and place["line"] == HOG.line("add")


def read_threads_outside(session: Session, kind: str) -> Any:
    """The threads, once they are read from outside and the program is in its C code."""
    seen: Any = None

    def look() -> Any:
        nonlocal seen
        seen = session.server.http.get(session.path("/threads")).json()
        return seen if seen.get("outside") and is_busy(seen["threads"], kind) else None

    return wait_until(look, lambda: f"a look from outside: {seen}")


def read_threads_inside(session: Session) -> Any:
    """The threads as the debugger tells them; a slow one is looked at from outside instead."""

    def look() -> Any:
        answer = session.get("/threads")
        return None if answer.get("outside") else answer

    return wait_until(look, "an answer of the debugger")


def test_stacks_are_read_from_outside_while_c_code_holds_the_interpreter(
    hog: Session, python: str
) -> None:
    start_hog(hog, "regex", python=python)
    answer = read_threads_outside(hog, "regex")
    assert "holds the interpreter's lock" in answer["message"]
    threads = {thread["name"]: thread for thread in answer["threads"]}
    assert set(threads) == {"MainThread", "waiter-1", "waiter-2"}
    assert threads["MainThread"]["holds_gil"] is True
    assert all(thread["outside"] and thread["status"] == "running" for thread in threads.values())

    # Of the thread that holds it, unless another is asked for.
    stack = hog.get("/stacktrace")
    assert (stack["outside"], stack["thread_id"]) == (True, threads["MainThread"]["thread_id"])
    own = [(frame["name"], frame["line"]) for frame in stack["frames"] if frame["file"] == HOG.path]
    assert own == [("match", HOG.line("match")), ("<module>", HOG.line("call"))]
    assert not any("id" in frame for frame in stack["frames"])
    assert stack["frames"][-1]["name"] == "<module>", "frames of the debugger are shown"
    waiter = threads["waiter-2"]["thread_id"]
    for path in (f"/threads/{waiter}/stacktrace", f"/stacktrace?thread_id={waiter}"):
        frame = next(f for f in hog.get(path)["frames"] if f["file"] == HOG.path)
        assert frame["name"] == "wait"
    page = hog.get("/stacktrace?start=1&count=1")
    assert (page["frames"], page["total"]) == ([stack["frames"][1]], stack["total"])
    hog.get("/threads/999/stacktrace", expect=404)


def test_threads_have_the_same_ids_from_outside_and_from_inside(
    server_with: Callable[..., Server],
) -> None:
    with server_with(debugger_answer=1).session() as hog:  # enough for an answer from inside
        hog.launch(HOG, args=["sum", "hold"], wait=0)
        hog.get("/output?wait=60")
        inside = {t["name"]: t["thread_id"] for t in read_threads_inside(hog)["threads"]}
        hog.post("/stdin", {"text": "\n"})
        answer = read_threads_outside(hog, "sum")
    assert {t["name"]: t["thread_id"] for t in answer["threads"]} == inside
    place = next(t for t in answer["threads"] if t.get("holds_gil"))["location"]
    assert (place["line"], place["function"]) == (HOG.line("add"), "add")


def test_a_pause_says_what_it_waits_for(hog: Session, python: str) -> None:
    start_hog(hog, "regex", python=python)
    read_threads_outside(hog, "regex")
    answer = hog.post("/pause", {"wait": 0.1})
    assert (answer["status"], answer["pause_pending"]) == ("running", True)
    assert "holds the interpreter's lock" in answer["message"]
    assert "takes effect when that returns" in answer["message"]
    assert answer["busy_at"]["line"] > 0
    report = hog.get("/deadlocks")
    assert (report["outside"], report["cycles"]) == (True, [])
    assert "holds the interpreter's lock" in report["message"]
    assert hog.post("/terminate")["status"] == "terminated"


def test_a_pause_in_a_blocked_main_thread_names_the_lock(session: Session) -> None:
    lines = ["import threading", "gate = threading.Lock()", "gate.acquire()"]
    lines += ["print('ready', flush=True)", "gate.acquire()"]
    session.post("/launch", {"code": "\n".join(lines)})
    session.get("/output?wait=60")
    wait_until(lambda: session.get("/deadlocks")["cycles"], "the deadlock")
    answer = session.post("/pause", {"wait": 0.1})
    assert (answer["status"], answer["pause_pending"]) == ("running", True)
    assert "MainThread waits for lock gate" in answer["message"]
    assert answer["busy_at"]["line"] == 5
    [line] = answer["deadlocks"]
    assert "which it holds itself" in line


# -- deadlocks ------------------------------------------------------------------------------------

CYCLES = [
    *(["first", "second"], ["one", "other"], ["twice"], ["joiner", "helper"]),
    *(["red", "blue"], ["ping", "pong"], ["sword", "board"], ["pool_0", "pool_1"]),
]
OUTSIDE_OF_CYCLES = {
    "consumer": ("queue", "jobs"),
    "listener": ("condition", "changed"),
    "notifier": ("lock", "hidden"),
}


def read_deadlocks(session: Session) -> Any:
    """The report once every thread and task of the program waits for the last time."""
    report: Any = None

    def look() -> Any:
        nonlocal report
        report = session.get("/deadlocks")
        waits = {thread["name"]: thread["waits_for"] or {} for thread in report["threads"]}
        others = {name: waits.get(name, {}) for name in OUTSIDE_OF_CYCLES}
        found = {name: (wait.get("kind"), wait.get("name")) for name, wait in others.items()}
        is_whole = found == OUTSIDE_OF_CYCLES and len(report["cycles"]) == len(CYCLES)
        return report if is_whole else None

    return wait_until(look, lambda: f"all of the deadlocks: {report}")


def test_deadlocks_name_who_waits_for_what_and_who_holds_it(session: Session, python: str) -> None:
    session.launch(DEADLOCKS, wait=0, python=python)
    session.get("/output?wait=60")
    report = read_deadlocks(session)
    threads = {thread["name"]: thread for thread in report["threads"]}
    names = {thread["thread_id"]: name for name, thread in threads.items()}

    def who_holds(name: str) -> str | None:
        return names.get(threads[name]["held_by"])

    cycles = [
        {*(names[thread] for thread in cycle["threads"]), *cycle["tasks"]}
        for cycle in report["cycles"]
    ]
    assert sorted(map(sorted, cycles)) == sorted(map(sorted, CYCLES))
    assert (who_holds("first"), who_holds("second")) == ("second", "first")
    assert (who_holds("one"), who_holds("other")) == ("other", "one")
    assert (who_holds("joiner"), who_holds("helper")) == ("helper", "joiner")
    assert who_holds("twice") == "twice"
    waits = {name: thread["waits_for"] for name, thread in threads.items()}
    assert (waits["first"]["kind"], waits["first"]["name"]) == ("lock", "theirs")
    assert (waits["first"]["global_name"], waits["second"]["global_name"]) == ("second", "first")
    assert (who_holds("pool_0"), waits["pool_0"]["kind"]) == ("pool_1", "future")
    assert (waits["one"]["type"], waits["one"]["name"]) == ("RLock", "other.lock")
    assert waits["twice"]["name"] == "self.balances['lock']"
    assert (waits["joiner"]["kind"], waits["joiner"]["name"]) == ("thread", "helper")
    for name, marker in (("first", "cross"), ("one", "transfer"), ("helper", "helped")):
        assert threads[name]["location"]["line"] == DEADLOCKS.line(marker)

    # These wait for something that nobody holds, or whose holder cannot be known.
    assert (waits["consumer"]["kind"], waits["consumer"]["name"]) == ("queue", "jobs")
    assert (waits["listener"]["kind"], waits["listener"]["name"]) == ("condition", "changed")
    assert waits["notifier"]["name"] == "hidden"
    assert waits["loop"] is None
    for name in ("consumer", "listener", "notifier"):
        assert who_holds(name) is None
        assert threads[name]["note"]

    tasks = {task["task"]: task for task in report["tasks"]}
    assert (tasks["ping"]["held_by"], tasks["red"]["held_by"]) == (["pong"], ["blue"])
    assert tasks["red"]["waits_for"]["name"] == "theirs"
    assert sorted(tasks["gatherer"]["held_by"]) == ["idle", "ping"]
    assert tasks["idle"]["held_by"] == []
    message = next(c["message"] for c in report["cycles"] if "joiner" in c["message"])
    assert "joiner waits for the end of thread helper" in message
    assert "helper waits for lock first_of_two" in message
    assert "which joiner holds" in message


def test_a_thread_that_the_debugger_holds_is_no_deadlock(session: Session) -> None:
    session.break_at(BLOCKED, "held")
    session.launch(BLOCKED)
    report = session.get("/deadlocks")
    assert report["cycles"] == []
    threads = {thread["name"]: thread for thread in report["threads"]}
    assert threads["MainThread"]["status"] == "paused"
    assert threads["MainThread"]["waits_for"] is None
    assert threads["wait_for_lock"]["held_by"] == threads["MainThread"]["thread_id"]
    assert threads["wait_for_bytes"]["waits_for"] is None
    session.post("/terminate")
    assert session.get("/deadlocks", expect=409)["error_code"] == "wrong_state"
