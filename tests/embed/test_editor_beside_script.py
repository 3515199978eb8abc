"""An editor on the adapter's port: it shares the session with the script that drives it."""

from __future__ import annotations

import queue

from editor import connect, opened
from embed_adapters import SECONDS, ask, line_of
from harness import Program
from holdfast.embed import AdapterThread, BreakpointEvent, LineBreakpointSpec

LOOP, IDLE = Program("loop.py"), Program("idle.py")
ADD, CALL = LOOP.line("add"), LOOP.line("call")


def test_an_editor_launches_and_the_script_takes_over(adapter: AdapterThread) -> None:
    heard: queue.Queue[BreakpointEvent] = queue.Queue()
    adapter.breakpoints.on_breakpoint(heard.put)
    waiting = adapter.wait_for_stop()
    with opened(adapter.get_port_future().result(SECONDS)) as editor:
        (said,) = editor.launch(LOOP, [ADD])
        assert said["verified"] is True
        assert line_of(waiting.result(SECONDS)) == ADD
        event = heard.get(timeout=SECONDS)
        assert (event["reason"], event["breakpoint"]["line"]) == ("new", ADD)
        assert event["breakpoint"]["set_by"] == ["editor:1"]
        editor.wait_stop("breakpoint")

        adapter.breakpoints.set_source(LOOP.path, [LineBreakpointSpec(CALL)]).result(SECONDS)
        assert editor.wait_event("breakpoint", reason="new")["breakpoint"]["line"] == CALL
        adapter.breakpoints.set_source(LOOP.path, []).result(SECONDS)
        editor.wait_event("breakpoint", reason="removed")
        points = adapter.breakpoints.list_all().result(SECONDS)
        assert [point["line"] for point in points] == [ADD]  # the editor's own stays

        adapter.step().result(SECONDS)
        editor.wait_stop("step")
        adapter.breakpoints.clear_all().result(SECONDS)
        assert adapter.continue_(wait=True).result(SECONDS)["status"] == "terminated"
        editor.wait_event("terminated")


def test_an_editor_joins_what_the_script_debugs_and_leaves_it_running(
    http_adapter: AdapterThread,
) -> None:
    point = LineBreakpointSpec(IDLE.line("nap"))
    http_adapter.breakpoints.set_source(IDLE.path, [point]).result(SECONDS)
    http_adapter.launch(IDLE.path, wait=True).result(SECONDS)
    port = ask(http_adapter, "GET", "/dap")["port"]
    assert port == http_adapter.get_port_future().result(SECONDS)
    with opened(port) as editor:
        editor.attach()
        editor.wait_stop()
        editor.disconnect()
    assert http_adapter.status().result(SECONDS)["status"] == "paused"


def test_an_editor_is_told_when_the_adapter_stops() -> None:
    adapter = AdapterThread()
    with adapter:
        editor = connect(adapter.get_port_future().result(SECONDS))
        editor.launch(IDLE)
    editor.wait_event("terminated")
    editor.wait_closed()
    editor.close()
