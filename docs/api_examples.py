"""Asks a real server every question of docs/api.md: a program, an application's calls, an agent.

What differs from run to run (ids, times, paths, process ids) is replaced by fixed values.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from agent_process import AgentProcess
from harness import Server
from holdfast.server.app import build_table
from holdfast.trust import proofs
from holdfast.wire import batch_format
from http_application import compute_cid, encode_value

Json = dict[str, Any]
_SHOP = '''\
"""A small shop."""

import asyncio

PRICES = {"tea": 4.0, "cake": 3.5}


def total(order):
    amount = 0.0
    for name, count in order.items():
        amount += PRICES[name] * count
    return amount


async def deliver(name):
    await asyncio.sleep(0.01)
    return name


async def main():
    waiting = asyncio.create_task(deliver("tea"), name="delivery")
    await asyncio.sleep(0)
    print("total", total({"tea": 2, "cake": 1}))
    await waiting
    print("thanks,", input("your name? "))


asyncio.run(main())
'''
_LOOP_LINE = 11
_TEST = """\
def test_the_order_is_paid():
    order = {"tea": 2}
    paid = sum(order.values())
    assert paid == 8
"""
_IDLE = "import time\nprint('ready')\nwhile True:\n    time.sleep(0.01)\n"
_DEADLOCK = """\
import threading

tea, cake = threading.Lock(), threading.Lock()
both = threading.Barrier(2)


def serve(first, second):
    with first:
        both.wait()
        with second:
            pass


waiter = threading.Thread(target=serve, args=(cake, tea), name="waiter", daemon=True)
waiter.start()
serve(tea, cake)
"""
_MAX_ITEMS = 6


class Recorder:
    """Asks, and keeps the first question and answer of each route."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.examples: Json = {}
        self._templates = {(route.method, route.path): None for route in build_table()[1]}

    def ask(self, method: str, template: str, body: Any = None, query: str = "", **ids: Any) -> Any:
        assert (method, template) in self._templates, (method, template)
        path = re.sub(r"\{(\w+)\}", lambda match: str(ids[match[1]]), template)
        options: Json = {} if body is None else {"json": body}
        if isinstance(body, bytes):
            options = {"content": body, "headers": {"content-type": batch_format.MEDIA_TYPE}}
        response = self.server.http.request(
            method, path + (f"?{query}" if query else ""), **options
        )
        assert response.status_code < 400, (method, template, response.text)
        is_json = response.headers["content-type"] == "application/json"
        answer = response.json() if is_json else _describe_bytes(response.content)
        example: Json = {"answer": answer}
        if body is not None and not isinstance(body, bytes):
            example["request"] = body
        if query:
            example["query"] = query
        self.examples.setdefault(f"{method} {template}", example)
        return answer

    @contextlib.contextmanager
    def listen(self, template: str, query: str, last: str) -> Iterator[None]:
        """Follow a stream within the block, and then up to the message of this name."""
        assert ("GET", template) in self._templates, template
        with self.server.http.stream("GET", f"{template}?{query}") as response:
            lines = response.iter_lines()
            heard = [next(lines)]
            yield
            while not (heard[-1] == "" and f"event: {last}" in heard):
                heard.append(next(lines))
        example = {"answer": "\n".join(heard) + "\n", "query": query}
        self.examples.setdefault(f"GET {template}", example)

    def missing(self) -> list[str]:
        names = (f"{method} {path}" for method, path in self._templates)
        return [name for name in names if name not in self.examples]


def _describe_bytes(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    return text if text.isprintable() or text.startswith("id:") else f"{len(content)} bytes"


def capture_examples() -> Json:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "shop.py").write_text(_SHOP)
        server = Server(folder / "data")
        recorder = Recorder(server)
        try:
            _ask_about_tools(recorder, folder)
            _ask_about_traces(recorder, folder)
            _ask_about_programs(recorder, folder)
            _ask_about_captures(recorder, folder)
            _ask_about_pausing(recorder)
            _ask_about_hanging(recorder, folder)
            _ask_about_attaching(recorder, folder)
            _ask_about_calls(recorder)
            _ask_about_agents(recorder, folder)
            _ask_about_events(recorder)
            _ask_about_the_server(recorder)
        finally:
            server.stop()
        assert recorder.missing() == [], recorder.missing()
        examples: Json = _Normaliser(folder).normalise(recorder.examples)
        return examples


# -- the questions --------------------------------------------------------------------------------


def _ask_about_tools(recorder: Recorder, folder: Path) -> None:
    """An experiment in a call, then step by step; what waits, was called, and runs elsewhere."""
    query = f"client=ann&cwd={folder}"

    def use(tool: str, **request: Any) -> Any:
        return recorder.ask("POST", f"/tools/{tool}", request, query)

    run = {"target": "shop.py", "breakpoints": [f"shop.py:{_LOOP_LINE}"]}
    recorder.ask("POST", "/run", {**run, "collect": ["name", "amount"]}, query)
    recorder.server.post(f"/tools/debug_stop?{query}", {})
    use("debug_run", **run)
    use("debug_step", count=3)
    use("debug_inspect", expressions=["PRICES[name] * count"])
    use("debug_evaluate", expression="amount + 1")
    use("debug_set_breakpoints", add=["total if len(order) > 5"])
    use("debug_sessions")
    hold = use("hold_list")["holds"][0]
    use("hold_decide", hold_id=hold["hold_id"], action="step-over")
    use("debug_continue", until="shop.py:12")
    use("debug_stop")


def _ask_about_traces(recorder: Recorder, folder: Path) -> None:
    """What a run did: one call of it, a value, another run."""
    query = f"client=ann&cwd={folder}"
    run = {"target": "shop.py", "stdin": "ann\n"}
    traced = {**run, "function": "total"}
    trace = recorder.ask("POST", "/tools/debug_trace", traced, query)["trace_id"]
    why = {**run, "variable": "amount", "at": "shop.py:12"}
    whole = recorder.ask("POST", "/tools/debug_why", why, query)["trace_id"]
    recorder.ask("POST", "/tools/debug_diff", {"run_a": whole, "run_b": whole}, query)
    recorder.ask("GET", "/api/traces", query="limit=1")
    recorder.ask("GET", "/api/traces/{trace_id}", trace_id=trace)
    recorder.ask("GET", "/api/traces/{trace_id}/calls/{key}", trace_id=trace, key="0")
    asked = f"variable=amount&at={folder}/shop.py:12"
    recorder.ask("GET", "/api/traces/{trace_id}/why", query=asked, trace_id=whole)
    recorder.ask("DELETE", "/api/traces/{trace_id}", trace_id="all")


def _ask_about_captures(recorder: Recorder, folder: Path) -> None:
    """A test that fails."""
    (folder / "test_shop.py").write_text(_TEST)
    environ = {**os.environ, "HOLDFAST_HOME": str(recorder.server.data_dir)}
    command = [sys.executable, "-m", "pytest", "-q", "--holdfast", "-p", "no:cacheprovider"]
    subprocess.run([*command, "test_shop.py"], cwd=folder, env=environ, capture_output=True)
    recorder.ask("GET", "/api/captures")
    recorder.ask("GET", "/api/captures/{capture_id}", capture_id="latest")
    recorder.ask("DELETE", "/api/captures/{capture_id}", capture_id="all")


def _ask_about_programs(recorder: Recorder, folder: Path) -> None:
    ask, shop = recorder.ask, str(folder / "shop.py")
    at = "/sessions/{session_id}"
    at_once = {"launch": {"script": shop}, "breakpoints": [_line(shop)], "wait": 20}
    whole = ask("POST", "/sessions", {"name": "shop", **at_once})
    recorder.server.delete(f"/sessions/{whole['session_id']}/breakpoints")
    recorder.server.delete(f"/sessions/{whole['session_id']}")
    created = recorder.server.post("/sessions", {"name": "shop", "cwd": str(folder)})
    session = {"session_id": created["session_id"]}
    ask("POST", "/breakpoint-profiles", {"name": "loop", "breakpoints": [_line(shop)]})
    ask("GET", "/breakpoint-profiles")
    ask("GET", "/breakpoint-profiles/{name}", name="loop")
    point = ask("POST", f"{at}/breakpoints", {**_line(shop), "condition": "count > 0"}, **session)
    ask("GET", f"{at}/breakpoints", **session)
    ids = {**session, "breakpoint_id": point["breakpoint_id"]}
    ask("GET", at + "/breakpoints/{breakpoint_id}", **ids)
    ask("PATCH", at + "/breakpoints/{breakpoint_id}", {"condition": "count > 1"}, **ids)
    ask("POST", f"{at}/exception-breakpoints", {"filters": ["uncaught"]}, **session)
    ask("GET", f"{at}/exception-breakpoints", **session)
    ask("DELETE", f"{at}/exception-breakpoints", **session)
    ask("PATCH", at, {"timeout_minutes": 120}, **session)

    stop = ask("POST", f"{at}/launch", {"script": shop, "wait": 20}, **session)
    ask("GET", "/sessions", query="status=paused")
    ask("GET", at, **session)
    ask("GET", f"{at}/status", query="include=source,locals,stack", **session)
    ask("GET", f"{at}/ping", **session)
    ask("POST", f"{at}/ping", **session)
    ask("GET", f"{at}/dap", **session)
    ask("GET", "/api/holds")
    ask("GET", "/api/holds/{hold_id}", hold_id=stop["hold_id"])
    _look_around(recorder, session, stop["thread_id"], shop)

    _watch_values(recorder, session)
    ask("POST", f"{at}/step-over", {"wait": 5}, **session)
    ask("POST", f"{at}/step-into", **session)
    thread = {**session, "thread_id": stop["thread_id"]}
    for action in ("step-over", "step-into"):
        ask("POST", at + "/threads/{thread_id}/" + action, **thread)
    hold = ask("GET", f"{at}/status", **session)["hold_id"]
    ask("POST", "/api/holds/{hold_id}/decision", {"action": "step-over", "wait": 5}, hold_id=hold)
    ask("POST", f"{at}/step-out", **session)
    ask("POST", f"{at}/restart", {"wait": 20}, **session)
    ask("POST", at + "/threads/{thread_id}/step-out", **thread)
    ask("POST", f"{at}/relaunch", {"wait": 20}, **session)
    ask("DELETE", at + "/breakpoints/{breakpoint_id}", **ids)
    ask("DELETE", f"{at}/breakpoints", **session)
    ask("POST", at + "/threads/{thread_id}/continue", {"wait": 20}, **thread)
    recorder.server.get(f"/sessions/{created['session_id']}/status?wait=20")
    ask("GET", f"{at}/output", **session)
    ask("POST", f"{at}/stdin", {"input": "ann\n", "wait": 20, "include": "output"}, **session)
    path = f"/sessions/{created['session_id']}/status?wait=20"
    while recorder.server.get(path)["status"] != "terminated":
        pass  # each of these waits
    ask("GET", f"{at}/output/stream", **session)
    ask("DELETE", f"{at}/output", **session)
    ask("GET", f"{at}/events", query="types=stopped&limit=1", **session)

    clone = ask("POST", f"{at}/clone", {"name": "second try"}, **session)
    exported = ask("GET", f"{at}/export", **session)
    ask("POST", "/sessions/import", exported)
    session = {"session_id": clone["session_id"]}
    again = {"breakpoints": [_line(shop)], "wait": 20}
    recorder.server.post(f"/sessions/{clone['session_id']}/launch", again)
    ask("POST", f"{at}/continue", {"wait": 20}, **session)
    recorder.server.delete(f"/sessions/{clone['session_id']}/breakpoints")
    recorder.server.post(f"/sessions/{clone['session_id']}/continue", {"wait": 20})
    ask("POST", f"{at}/input", {"input": "ben\n"}, **session)
    recorder.server.post(f"/sessions/{clone['session_id']}/restart")
    ask("POST", f"{at}/terminate", **session)
    ask("DELETE", "/breakpoint-profiles/{name}", name="loop")
    ask("DELETE", at, **session)
    ask("GET", "/api/launches", query="limit=1")
    ask("DELETE", "/api/launches")


def _watch_values(recorder: Recorder, session: dict[str, str]) -> None:
    """Stop when `amount` changes, go on until it is above a limit, and begin again."""
    ask, at = recorder.ask, "/sessions/{session_id}"
    ask("GET", f"{at}/data-breakpoint-info", query="name=amount&frame_id=0", **session)
    ask("POST", f"{at}/data-breakpoints", {"name": "amount", "access_type": "change"}, **session)
    ask("GET", f"{at}/data-breakpoints", **session)
    path = f"/sessions/{session['session_id']}"
    recorder.server.post(f"{path}/continue", {"wait": 20})
    ask("DELETE", f"{at}/data-breakpoints", **session)
    for route in ("watch-until", "watch_until"):
        recorder.server.post(f"{path}/restart", {"wait": 20})
        until = {"expression": "amount > 5", "wait": 20}
        ask("POST", f"{at}/{route}", until, **session)
    recorder.server.post(f"{path}/restart", {"wait": 20})


def _ask_about_pausing(recorder: Recorder) -> None:
    created = recorder.server.post("/sessions", {"name": "busy"})
    path, session = f"/sessions/{created['session_id']}", {"session_id": created["session_id"]}
    recorder.server.post(f"{path}/launch", {"code": _IDLE})
    recorder.server.get(f"{path}/output?wait=20")
    stop = recorder.ask("POST", "/sessions/{session_id}/pause", {"wait": 20}, **session)
    recorder.server.post(f"{path}/continue")
    template = "/sessions/{session_id}/threads/{thread_id}/pause"
    recorder.ask("POST", template, {"wait": 20}, **session, thread_id=stop["thread_id"])
    recorder.server.delete(path)


def _ask_about_hanging(recorder: Recorder, folder: Path) -> None:
    script = folder / "deadlock.py"
    script.write_text(_DEADLOCK)
    created = recorder.server.post("/sessions", {"name": "hanging"})
    path, session = f"/sessions/{created['session_id']}", {"session_id": created["session_id"]}
    recorder.server.post(f"{path}/launch", {"script": str(script)})
    while not recorder.server.get(f"{path}/deadlocks")["cycles"]:
        pass
    recorder.ask("GET", "/sessions/{session_id}/deadlocks", **session)
    recorder.server.delete(path)


def _line(shop: str) -> Json:
    return {"file": shop, "line": _LOOP_LINE}


def _look_around(recorder: Recorder, session: Json, thread_id: int, shop: str) -> None:
    ask, at = recorder.ask, "/sessions/{session_id}"
    frame = {**session, "frame_id": 0}
    ask("GET", f"{at}/stacktrace", query="count=2", **session)
    ask(
        "GET",
        at + "/threads/{thread_id}/stacktrace",
        query="count=1",
        **session,
        thread_id=thread_id,
    )
    ask("GET", f"{at}/threads", **session)
    ask("GET", f"{at}/tasks", **session)
    scopes = ask("GET", at + "/frames/{frame_id}/scopes", **frame)["scopes"]
    scope = {**session, "reference": scopes[0]["reference"]}
    variables = ask("GET", at + "/frames/{frame_id}/variables", **frame)["variables"]
    ask("GET", at + "/scopes/{reference}/variables", query="summary=true", **scope)
    order = next(each for each in variables if each["name"] == "order")
    ask("GET", at + "/variables/{reference}", **session, reference=order["reference"])
    path = at + "/frames/{frame_id}/variables/{reference}/children"
    ask("GET", path, query="count=1", **frame, reference="order")
    ask("POST", at + "/variables/{reference}/set", {"name": "amount", "value": "1.5"}, **scope)
    ask("POST", f"{at}/evaluate", {"expression": "PRICES[name] * count"}, **session)
    watch = ask("POST", f"{at}/watch", {"expression": "amount"}, **session)
    ask("GET", f"{at}/watch", **session)
    ask("DELETE", at + "/watch/{watch_id}", **session, watch_id=watch["id"])
    ask("DELETE", f"{at}/watch", **session)
    ask("POST", f"{at}/completions", {"text": "order.it"}, **session)
    ask("POST", f"{at}/hover", {"expression": "order"}, **session)
    ask("GET", f"{at}/source", query=f"path={shop}&start=8&count=3", **session)


def _ask_about_attaching(recorder: Recorder, folder: Path) -> None:
    """A program that listens for a debugger."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = folder / "idle.py"
    script.write_text("print('ready', flush=True)\ninput()\n")
    listen = ["-m", "debugpy", "--listen", f"127.0.0.1:{port}", str(script)]
    with subprocess.Popen(
        [sys.executable, "-Xfrozen_modules=off", *listen],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as program:
        assert program.stdout is not None
        program.stdout.readline()
        # Other processes of the machine are left out of the example.
        listed = recorder.ask("GET", "/processes")["processes"]
        own = [process for process in listed if process["pid"] == program.pid]
        recorder.examples["GET /processes"]["answer"] = {"processes": own, "total": len(own)}
        joined = recorder.ask("POST", "/processes/join", {"pid": program.pid, "name": "shop"})
        recorder.server.delete(f"/sessions/{joined['session_id']}")
        created = recorder.server.post("/sessions", {"name": "attached"})
        session = {"session_id": created["session_id"]}
        recorder.ask("POST", "/sessions/{session_id}/attach", {"port": port}, **session)
        recorder.ask("POST", "/sessions/{session_id}/detach", **session)
        recorder.server.delete(f"/sessions/{created['session_id']}")
        program.kill()


def _ask_about_calls(recorder: Recorder) -> None:
    ask = recorder.ask
    about = {"name": "shop", "pid": 1, "argv": ["shop.py"], "cwd": "/code", "python": "3.12.1"}
    opened = ask("POST", "/api/call/session", about)
    session_id = opened["session_id"]
    ask("POST", "/api/call/register", {"name": "free", "signature": "(order)"})
    point = ask("POST", "/api/breakpoints", {"function": "total", "condition": "args[0] > 10"})
    ids = {"breakpoint_id": point["id"]}
    ask("GET", "/api/breakpoints")
    ask("GET", "/api/breakpoints/{breakpoint_id}", **ids)
    ask("PATCH", "/api/breakpoints/{breakpoint_id}", {"condition": "args[0] > 5"}, **ids)
    start = {
        "session_id": session_id,
        "method_name": "total",
        "args": [_sent(7)],
        "call_site": {
            "timestamp": 1769173800.0,
            "stack_trace": [{"filename": "/code/shop.py", "lineno": 24, "function": "main"}],
        },
        "signature": "(order)",
        "thread": {"id": 1, "name": "MainThread"},
        "evaluates": True,
    }
    call = ask("POST", "/api/call/start", start)
    hold = {"hold_id": call["hold_id"]}
    recorder.examples.pop("GET /api/holds/{hold_id}")
    ask("GET", "/api/holds/{hold_id}", **hold)
    at = {"call_id": call["call_id"]}
    ask("GET", "/api/poll/{call_id}", **at)
    _evaluate_in_hold(recorder, call)
    recorder.server.post(
        f"/api/holds/{call['hold_id']}/decision", {"action": "continue", "by": "ann"}
    )
    done = {"call_id": call["call_id"], "status": "success", "duration_ns": 1_500_000}
    sent = _sent(11.5)
    result = {"result_cid": sent["cid"], "result_data": sent["data"]}
    ask("POST", "/api/call/complete", {**done, "timestamp": 1769173800.1, **result})
    other = recorder.server.post("/api/call/start", {**start, "args": [_sent(8)]})
    ask("POST", "/api/holds/continue", {"session_id": session_id, "by": "ann"})
    ask("DELETE", "/api/poll/{call_id}", call_id=other["call_id"])
    ask("GET", "/api/calls", query="function=total&limit=1")
    ask("GET", "/api/calls/timeline", query="filter=args[0]==7")
    ask("GET", "/api/calls/{call_id}", **at)
    ask("GET", "/api/calls/{call_id}/tree", **at)
    ask("POST", "/tools/calls_search", {"function": "total", "limit": 1})
    ask("GET", "/api/functions", query=f"session={session_id}")
    cid = {"cid": compute_cid(7)}
    ask("GET", "/api/cid/{cid}", **cid)
    ask("GET", "/api/cid/{cid}/preview", **cid)
    ask("GET", "/api/cid/{cid}/calls", query="limit=1", **cid)
    ask("GET", "/api/diff", query=f"left={compute_cid(7)}&right={compute_cid(8)}")
    ask("GET", "/api/call/rules", query=f"session_id={session_id}")
    leased = recorder.server.post("/api/call/session", {**about, "mode": "leased"})["session_id"]
    ask("POST", "/api/call/records", batch_format.encode_head(int(leased[6:], 16), 1, 0, 0, 0))
    ask("DELETE", "/api/breakpoints/{breakpoint_id}", **ids)
    ask("DELETE", "/api/breakpoints")
    ask("POST", "/api/call/session/end", {"session_id": session_id})


def _sent(value: object) -> Json:
    return {**encode_value(value), "preview": {"text": repr(value), "type": type(value).__name__}}


def _evaluate_in_hold(recorder: Recorder, call: Json) -> None:
    """Somebody evaluates while the application polls, evaluates, and answers."""
    server = recorder.server
    script = (
        "import json, sys, urllib.request as r\n"
        "url, call = sys.argv[1:]\n"
        "poll = json.load(r.urlopen(f'{url}/api/poll/{call}?wait=20'))\n"
        "print(poll['request_id'], flush=True)\n"
    )
    command = [sys.executable, "-c", script, server.url, call["call_id"]]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as application,
        ThreadPoolExecutor(1) as pool,
    ):
        body = {"expression": "len(order)"}
        template = "/api/holds/{hold_id}/evaluate"
        asked = pool.submit(recorder.ask, "POST", template, body, hold_id=call["hold_id"])
        assert application.stdout is not None
        request_id = application.stdout.readline().strip()
        answer = {"request_id": request_id, "result": {"text": "2", "type": "int"}}
        recorder.ask("POST", "/api/poll/{call_id}/answer", answer, call_id=call["call_id"])
        asked.result()


def _ask_about_agents(recorder: Recorder, folder: Path) -> None:
    ask, at = recorder.ask, "/sessions/{session_id}"
    with _running_agent(folder) as agent:
        ask("POST", "/api/agents", {"directory": str(agent.home.path)})
        session = {"session_id": agent.id}
        rule = {"action": "add", "on": "tool", "name": "double"}
        ask("POST", f"{at}/command", {"type": "breakpoint", "data": rule}, **session)
        agent.ask("big")
        path = f"/sessions/{agent.id}/events?types=tool_result&wait=20"
        large = recorder.server.get(path)["events"][0]["data"]["result"]["$cid"]
        content = recorder.server.get(f"/sessions/{agent.id}/contents/{large}")
        recorder.examples["GET /sessions/{session_id}/contents/{cid}"] = {
            "answer": json.dumps(content[:20] + "…", ensure_ascii=False)
        }
        agent.send("turn 1")
        recorder.server.get(f"/sessions/{agent.id}/status?wait=20")
        ask("GET", f"{at}/state", **session)
        ask("POST", "/tools/agent_control", {"command": "status", **session})
        recorder.server.post(f"/sessions/{agent.id}/continue")
        agent.read_reply()
    _ask_about_recordings(recorder, folder)


def _ask_about_recordings(recorder: Recorder, folder: Path) -> None:
    """A run that is over, looked at, forked, replayed and compared with its fork."""
    ask, at = recorder.ask, "/sessions/{session_id}"
    with _running_agent(folder) as agent:
        recorder.server.post("/api/agents", {"directory": str(agent.home.path)})
        agent.ask("turn 1")
        agent.ask("close")
    session = {"session_id": agent.id}
    recorder.server.get(f"/sessions/{agent.id}/events?types=session_end&wait=20")
    ask("GET", f"{at}/conversation", **session)
    ask("GET", f"{at}/messages", query="iteration=1", **session)
    fork = ask("POST", f"{at}/fork", {"at": 1, "system": "Be brief."}, **session)
    ask("POST", f"{at}/replay", {"mode": "full"}, **session)
    recorder.server.get(f"/sessions/{fork['session_id']}/events?types=session_end&wait=20")
    query = f"left={agent.id}&right={fork['session_id']}"
    ask("GET", "/api/agents/compare", query=query)


@contextlib.contextmanager
def _running_agent(folder: Path) -> Iterator[AgentProcess]:
    """An agent in a directory of its own, which the server is told of."""
    agent = AgentProcess(folder / "data", str(folder / "agents"))
    try:
        yield agent
    finally:
        agent.close()


def _ask_about_events(recorder: Recorder) -> None:
    recorder.ask("GET", "/api/events", query="types=paused&limit=1")
    session_id = recorder.server.post("/sessions", {"name": "shop"})["session_id"]
    with recorder.listen("/api/stream", f"session={session_id}", "changes"):
        recorder.server.patch(f"/sessions/{session_id}", {"timeout_minutes": 30})
    recorder.server.delete(f"/sessions/{session_id}")


def _ask_about_the_server(recorder: Recorder) -> None:
    ask = recorder.ask
    ask("GET", "/health")
    ask("GET", "/info")
    _ask_for_a_proof(recorder)
    ask("GET", "/config")
    ask("PATCH", "/config", {"evaluate_timeout": 5})
    ask("POST", "/shutdown")


def _ask_for_a_proof(recorder: Recorder) -> None:
    announcement = json.loads((recorder.server.data_dir / "server.json").read_text())
    host, _, port = recorder.server.url.removeprefix("http://").partition(":")
    nonce = "5e1f0c7a"
    proof = proofs.prove_client(announcement["secret"], (host, int(port)), nonce)
    recorder.ask("GET", "/proof", query=f"nonce={nonce}&proof={proof}")


# -- fixed values ---------------------------------------------------------------------------------

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?")
_NUMBERS = {
    "pid": 4321,
    "server_pid": 4000,
    "port": 5678,
    "dap_port": 5679,
    "mcp_port": 5680,
    "listening": 5678,
    "lane": 42,
    "uptime_seconds": 12.5,
    "expires_in_seconds": 3599.9,
    "duration_ms": 1.5,
    "durationMs": 1.5,
    "held_ms": 1.5,
    "timestamp": 1769173800.0,
    "create_time": 1769173800.0,
    "completed_at": 1769173800.1,
    "base": 1769173800.0,
    "earliest": 0.0,
    "latest": 1.5,
    "epoch": 1769173800000000000,
}
_TEXTS = {"user": "ann", "python": "3.12.1", "python_version": "3.12.1", "debugpy": "1.8.22"}
_TEXTS |= {"run": "5b0e91d74ac2f638"}
_IDS = (
    (re.compile(r"sess_[0-9a-f]{15}"), "sess_9f3c2a7b41d0e{:02x}"),
    (re.compile(r"calls_[0-9a-f]{15}"), "calls_8d21b6c05f7a9{:02x}"),
    (re.compile(r"eval_[0-9a-f]{15}"), "eval_b07e64d9315fc{:02x}"),
    (re.compile(r"hold_[0-9a-f]{15}"), "hold_c4a90d5e72b16{:02x}"),
    (re.compile(r"cbp_[0-9a-f]{15}"), "cbp_a65f0b83c9d27{:02x}"),
    (re.compile(r"\bbp_[0-9a-f]{15}"), "bp_e1837cd5a06b4{:02x}"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:5678"),
    (re.compile(r"0x[0-9a-f]{8,16}"), "0x7f81c400a{:03x}"),
    (re.compile(r"cap_[0-9a-f]{6,}"), "cap_3f2a1{:x}"),
    (re.compile(r"trc_\d{8}_\d{6}_[0-9a-f]{6}"), "trc_20260123_131000_5b7e{:02x}"),
    (re.compile(r"[0-9a-f]{16}(?=\.ticket)"), "4dae31cbf6775d{:02x}"),
    (re.compile(r"cmd_[0-9a-f]{12}"), "cmd_{:012x}"),
    (re.compile(r"debug_\d{8}_\d{6}_\w+"), "debug_20260123_131000_abc{}"),
    (re.compile(r"\d{10}\.\d{6}-\d{12}"), "1769173800.000000-{:03}482913507"),
    (re.compile(r"\b[0-9a-f]{8}-(?=\d+$|\d+-\d+)"), "5d8f3a2{}-"),
)


class _Normaliser:
    """Replaces what another run would have otherwise; the same id stays the same."""

    def __init__(self, folder: Path) -> None:
        root = str(Path(__file__).parents[1])
        self._paths = (
            *((str(folder), "/code"), (sys.executable, "/usr/bin/python3")),
            *((root, "/holdfast"), (platform.python_version(), "3.12.1")),
        )
        self._ids: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def normalise(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {self._text(key): self.normalise(item, key) for key, item in value.items()}
        if isinstance(value, list):
            # The `lane` of a timeline is a list of places, the same in every run.
            items = [self.normalise(item, "" if name == "lane" else name) for item in value]
            if len(items) > _MAX_ITEMS and all(isinstance(item, str) for item in items):
                return [*items[:_MAX_ITEMS], "…"]
            return items
        if isinstance(value, str):
            is_path = value.startswith("/")
            return _TEXTS[name] if name in _TEXTS and not is_path else self._text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and name in _NUMBERS:
            return _NUMBERS[name]
        return value

    def _text(self, text: str) -> str:
        for path, short in self._paths:
            text = text.replace(path, short)
        text = re.sub(r"/\S*/(tests/programs|debugpy|lib)/", r"/…/\1/", text)
        text = _ISO.sub("2026-01-23T13:10:00.000000Z", text)
        for pattern, form in _IDS:
            text = pattern.sub(functools.partial(self._number, form), text)
        return text

    def _number(self, form: str, match: re.Match[str]) -> str:
        found = match[0]
        if found not in self._ids:
            self._counts[form] = self._counts.get(form, 0) + 1
            self._ids[found] = form.format(self._counts[form])
        return self._ids[found]
