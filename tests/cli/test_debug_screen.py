"""`holdfast debug`: the screen under Textual's pilot, with a real server and real programs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input
from textual.widgets.tree import TreeNode

from harness import Program, Server, Session
from holdfast.cli.debug_command import leave_session
from holdfast.cli.screen.debug_screen import DebugScreen, Leaving
from holdfast.cli.screen.debug_state import Value, ValuePage
from holdfast.cli.screen.key_table import KEYS, list_help
from holdfast.cli.screen.list_panes import StackPane
from holdfast.cli.screen.output_pane import OutputLog
from holdfast.cli.screen.plain_text import show_controls
from holdfast.cli.screen.screen_dialogs import HelpDialog, LeaveDialog, LineDialog
from holdfast.cli.screen.session_client import SessionClient
from holdfast.cli.screen.source_pane import SourcePane
from holdfast.cli.screen.value_tree import Entry, ValueTree
from holdfast.client.http_client import ApiError, HttpClient
from polling import wait_until_async
from settled_screens import run_settled

DOCS = Path(__file__).parents[2] / "docs"
LOOP = Program("loop.py")
Watched = Pilot[Leaving]
Steps = Callable[[Watched], Awaitable[None]]


# -- driving the screen ----------------------------------------------------------------------------


class ObservedScreen(DebugScreen):
    """The screen, and what it has said in notifications that go away."""

    def __init__(self, client: SessionClient, *, is_joined: bool) -> None:
        super().__init__(client, is_joined=is_joined)
        self.said: list[str] = []

    def notify(self, message: str, **options: Any) -> None:
        self.said.append(message)
        super().notify(message, **options)


def run_screen(
    session: Session,
    steps: Steps,
    *,
    size: tuple[int, int] = (132, 32),
    is_joined: bool = False,
    client: type[SessionClient] = SessionClient,
) -> ObservedScreen:
    app = ObservedScreen(connect(session, client), is_joined=is_joined)

    async def watched() -> None:
        async with run_settled(app, size) as pilot:
            await steps(pilot)

    asyncio.run(watched())
    return app


def connect(session: Session, client: type[SessionClient] = SessionClient) -> SessionClient:
    return client(HttpClient(session.server.url), session.id)


def launch(program: Program, *args: str, **more: Any) -> dict[str, Any]:
    """The settings of a session whose program stands at its first line."""
    options = {"script": program.path, "args": list(args), "stop_on_entry": True, **more}
    return {"launch": options, "exception_filters": ["uncaught"]}


async def wait_for(pilot: Watched, so: Callable[[], object]) -> None:
    async def pause(_: float) -> None:  # a look at the whole screen takes a while itself
        await pilot.pause(0.02)

    await wait_until_async(so, lambda: read_screen(pilot), pause)
    await pilot.pause()


async def wait_for_text(pilot: Watched, *texts: str) -> None:
    await wait_for(pilot, lambda: all(text in read_screen(pilot) for text in texts))


def read_screen(pilot: Watched) -> str:
    """What a person would read."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def read_top(pilot: Watched) -> str:
    return read_screen(pilot).splitlines()[0]


async def wait_for_stop(pilot: Watched, line: int, function: str = "") -> None:
    """At a line, with the frame that is there."""
    marked = f"{line}▶"
    await wait_for(
        pilot, lambda: f":{line}  {function}" in read_top(pilot) and marked in read_screen(pilot)
    )


async def answer(pilot: Watched, key: str, text: str) -> None:
    """Press a key, and answer what it asks."""
    await pilot.press(key)
    await wait_for(pilot, lambda: isinstance(pilot.app.screen, LineDialog))
    line = pilot.app.screen.query_one("#line", Input)
    line.value = text
    await pilot.press("enter")
    await wait_for(pilot, lambda: not isinstance(pilot.app.screen, LineDialog))


async def enter(pilot: Watched, text: str) -> None:
    """Evaluate something in the console."""
    await pilot.press("exclamation_mark")
    pilot.app.query_one("#expression", Input).value = text
    await pilot.press("enter", "escape")


def go_to(pilot: Watched, line: int) -> None:
    pilot.app.query_one(SourcePane).move_to(line)


def read_values(pilot: Watched, which: str = "variables") -> dict[str, str]:
    return read_children(pilot.app.query_one(f"#{which}", ValueTree).root)


def read_children(node: TreeNode[Entry]) -> dict[str, str]:
    return {
        child.data.value.name: child.data.value.text
        for child in node.children
        if child.data is not None
    }


# -- stepping and looking --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (140, 44)])
def test_it_shows_where_the_program_stands(server: Server, size: tuple[int, int]) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1, "<module>")
        text = read_screen(pilot)
        assert "‖ entry" in text
        assert "def add(total, number):" in text
        for part in ("variables", "stack", "console", "<module>  loop.py:1", "q quit"):
            assert part in text

    with server.session(**launch(LOOP)) as session:
        run_screen(session, steps, size=size)


def test_a_breakpoint_is_set_with_a_key_and_the_program_runs_to_it(server: Server) -> None:
    line = LOOP.line("add")

    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        go_to(pilot, line)
        await pilot.press("b", "c")
        await wait_for_stop(pilot, line, "add")
        await wait_for(pilot, lambda: f"● {line}▶" in read_screen(pilot).replace("  ", " "))
        await wait_for_text(pilot, f"● loop.py:{line}", "×1")
        await wait_for(pilot, lambda: read_values(pilot).get("number") == "0")
        await pilot.press("b")
        await wait_for(pilot, lambda: "breakpoints" not in read_screen(pilot))

    with server.session(**launch(LOOP)) as session:
        run_screen(session, steps)
        assert session.get("/breakpoints")["breakpoints"] == []


def test_keys_that_come_quickly_are_carried_out_in_order(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        await pilot.press("n", "f10", "n", "s")
        await wait_for_stop(pilot, LOOP.line("start") - 7, "main")

    with server.session(**launch(LOOP)) as session:
        run_screen(session, steps)


def test_a_step_shows_what_changed(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        await pilot.press("c")
        await wait_for(pilot, lambda: read_values(pilot).get("number") == "1")
        await pilot.press("n", "n")
        shown = {"total": "1", "number": "2"}  # after the second step
        await wait_for(pilot, lambda: shown.items() <= read_values(pilot).items())
        tree = pilot.app.query_one("#variables", ValueTree)
        marked = {
            node.data.value.name
            for node in tree.root.children
            if node.data and "reverse" in str(getattr(node.label, "spans", ""))
        }
        assert "number" in marked
        assert "globals" not in marked

    with stopped_in_loop(server) as session:
        run_screen(session, steps)


def stopped_in_loop(server: Server) -> Any:
    place = {"file": LOOP.path, "line": LOOP.line("call")}
    options = {"script": LOOP.path}
    return server.session(launch=options, breakpoints=[place], wait=60)


def test_into_and_out_of_a_function(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"), "main")
        await pilot.press("s")
        await wait_for_stop(pilot, LOOP.line("add"), "add")
        await wait_for_text(pilot, "add  loop.py", "main  loop.py", "<module>  loop.py")
        await pilot.press("r")
        await wait_for_stop(pilot, LOOP.line("call"), "main")

    with stopped_in_loop(server) as session:
        run_screen(session, steps)


def test_up_the_stack_are_the_variables_of_the_caller(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        await pilot.press("s")
        await wait_for_stop(pilot, LOOP.line("add"))
        await wait_for(pilot, lambda: set(read_values(pilot)) == {"total", "number", "globals"})
        await pilot.press("u")
        await wait_for_text(pilot, f"{LOOP.line('call')}▷")
        await enter(pilot, "number + 100")
        await wait_for_text(pilot, ">>> number + 100", "\n100".strip())
        await pilot.press("u")
        await wait_for_text(pilot, f"{LOOP.line('start')}▷")
        await pilot.press("d", "d")
        await wait_for_text(pilot, f"{LOOP.line('add')}▶")

    with stopped_in_loop(server) as session:
        run_screen(session, steps)


def test_it_runs_to_the_cursor_and_leaves_no_breakpoint(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        go_to(pilot, LOOP.line("print"))
        await pilot.press("t")
        await wait_for_stop(pilot, LOOP.line("print"), "main")
        await wait_for(pilot, lambda: not session.get("/breakpoints")["breakpoints"])

    with server.session(**launch(LOOP)) as session:
        run_screen(session, steps)


def test_a_breakpoint_has_a_condition(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        go_to(pilot, LOOP.line("add"))
        await answer(pilot, "B", "number == 7")
        await wait_for_text(pilot, "if number == 7", "◆")
        await pilot.press("c")
        await wait_for(pilot, lambda: read_values(pilot).get("number") == "7")

    with server.session(**launch(LOOP)) as session:
        run_screen(session, steps)


def test_a_click_in_the_gutter_toggles_a_breakpoint(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        await pilot.click("#source", offset=(2, LOOP.line("add")))
        await wait_for_text(pilot, f"● loop.py:{LOOP.line('add')}")
        await pilot.click("#source", offset=(2, LOOP.line("add")))
        await wait_for(pilot, lambda: "● loop.py" not in read_screen(pilot))

    with server.session(**launch(LOOP)) as session:
        run_screen(session, steps)


def test_a_breakpoint_that_cannot_stop_says_why(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        go_to(pilot, 3)
        await pilot.press("b")
        await wait_for_text(pilot, "○ loop.py:3")

    with server.session(**launch(LOOP)) as session:
        assert run_screen(session, steps).said


# -- values ----------------------------------------------------------------------------------------

VALUES = """\
class Part:
    def __init__(self):
        self.size = 3

rows = [[1, 2], {"a": Part()}]
nasty = "\\x1b[31mred [bold]no markup[/bold] \\u202e"
print(nasty)
rows[0].append(5)
rows = list(range(250))
done = True
"""


@pytest.fixture
def values(tmp_path: Path) -> Program:
    path = tmp_path / "values.py"
    path.write_text(VALUES)
    return Program(path.name, tmp_path)


def test_values_unfold_and_stay_unfolded(server: Server, values: Program) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        go_to(pilot, 8)
        await pilot.press("t")
        await wait_for_stop(pilot, 8)
        tree = pilot.app.query_one("#variables", ValueTree)
        await wait_for(pilot, lambda: unfold(tree, "rows"))
        await wait_for_text(pilot, "[0] = [1, 2]")
        await wait_for(pilot, lambda: unfold(tree, "rows", "[0]"))
        await wait_for_text(pilot, "[1] = 2")
        await pilot.press("n")
        await wait_for_text(pilot, "9▶", "[2] = 5")
        await pilot.press("n")
        await wait_for_text(pilot, "10▶")
        await wait_for(pilot, lambda: show_more(tree))
        assert len(list_items(tree)) == 201

    def unfold(tree: ValueTree, *names: str) -> bool:
        """Whether it is unfolded. Values that were read again meanwhile are other nodes."""
        node = tree.root
        for name in names:
            named = [each for each in node.children if each.data and each.data.value.name == name]
            if not named:
                return False
            (node,) = named
            if not node.is_expanded:
                node.expand()
        return bool(node.children)

    def show_more(tree: ValueTree) -> bool:
        items = list_items(tree)
        if items[-1:] == ["… 150 more"]:
            last = tree.root.children[0].children[-1]
            if not last.is_expanded:
                last.expand()
        return items[-1:] == ["… 50 more"]

    def list_items(tree: ValueTree) -> list[str]:
        rows = tree.root.children[0]
        return [node.data.value.name for node in rows.children if node.data is not None]

    with server.session(**launch(values)) as session:
        run_screen(session, steps)


def test_what_an_expression_changes_inside_an_unfolded_value_is_shown(
    server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "counts.py"
    path.write_text("counter = 1\ndef work():\n    done = True\nwork()\n")

    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        go_to(pilot, 3)
        await pilot.press("t")
        await wait_for_stop(pilot, 3, "work")
        tree = pilot.app.query_one("#variables", ValueTree)
        await wait_for(pilot, lambda: "globals" in read_values(pilot))
        scope = tree.root.children[-1]
        scope.expand()
        await wait_for(pilot, lambda: read_children(scope).get("counter") == "1")
        await enter(pilot, "globals().update(counter=99)")
        await wait_for(pilot, lambda: read_children(scope).get("counter") == "99")
        await enter(pilot, "globals().pop('counter')")
        await wait_for(pilot, lambda: "counter" not in read_children(scope))
        assert "work" in read_children(scope)

    with server.session(**launch(Program(path.name, tmp_path))) as session:
        run_screen(session, steps)


def test_values_that_cannot_be_read_say_why(server: Server) -> None:
    class BusyClient(SessionClient):
        def read_scopes(self, *_given: Any) -> Any:
            raise ApiError(504, {"error": {"message": "the debugger is busy"}})

    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        await wait_for(pilot, lambda: read_values(pilot) == {"not read": "the debugger is busy"})

    with server.session(**launch(LOOP)) as session:
        run_screen(session, steps, client=BusyClient)


def test_children_of_a_value_that_is_shown_no_more_are_left_out() -> None:
    class Pane(App[None]):
        def compose(self) -> Iterator[ValueTree]:
            yield ValueTree("variables")

    async def steps() -> None:
        app = Pane()
        async with run_settled(app, (80, 24)):
            tree = app.query_one(ValueTree)
            rows = Entry(("rows",), Value("rows", "[1, 2]", "list", reference=1))
            tree.show([rows], "frame", 1)
            tree.show_children(tree.root.children[0], ValuePage((Value("[0]", "1"),), total=2))
            rest = tree.root.children[0].children[-1]
            tree.show([rows], "frame", 2)
            tree.show_children(rest, ValuePage((Value("[1]", "2"),), total=2, start=1))
            assert [list(node.children) for node in tree.root.children] == [[]]

    asyncio.run(steps())


def test_what_a_program_writes_is_no_markup_and_no_command(server: Server, values: Program) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        await pilot.press("c")
        await wait_for_text(pilot, "␛[31mred [bold]no markup[/bold] \\u202e")

    with server.session(**launch(values)) as session:
        run_screen(session, steps)


def test_control_characters_are_visible() -> None:
    assert show_controls("a\tb\x00\x7f\x9b\ud800") == "a   b␀␡\\x9b\ufffd"


def test_output_that_comes_in_pieces_is_whole_lines() -> None:
    log = OutputLog()
    log.write("stdout", "name")
    log.write("stdout", "? ")
    log.write("stderr", "warned\n")
    log.write("stdout", "10 %\r20 %\r")
    log.write("stdout", "30 %\nend\r\n")
    assert list(log.lines) == [
        ("stdout", "name? "),
        ("stderr", "warned"),
        ("stdout", "30 %"),
        ("stdout", "end\r"),
    ]


def test_watches_have_their_values_at_every_stop(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        await answer(pilot, "w", "number * 10")
        await answer(pilot, "w", "missing")
        await wait_for(pilot, lambda: read_values(pilot, "watches").get("number * 10") == "0")
        await wait_for(pilot, lambda: "missing" in read_values(pilot, "watches").get("missing", ""))
        await pilot.press("c")
        await wait_for(pilot, lambda: read_values(pilot, "watches").get("number * 10") == "10")
        pilot.app.query_one("#watches").focus()
        await pilot.press("delete")
        await wait_for(pilot, lambda: set(read_values(pilot, "watches")) == {"missing"})

    with stopped_in_loop(server) as session:
        run_screen(session, steps)


def test_the_console_evaluates_assigns_and_completes(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        await enter(pilot, "total = 4321")
        await wait_for(pilot, lambda: read_values(pilot).get("total") == "4321")
        await enter(pilot, "1 / 0")
        await wait_for_text(pilot, "ZeroDivisionError")
        await pilot.press("exclamation_mark", "t", "o", "t", "tab")
        line = pilot.app.query_one("#expression", Input)
        await wait_for(pilot, lambda: line.value == "total")
        await pilot.press("enter")
        await wait_for_text(pilot, ">>> total", "4321")
        await pilot.press("up", "up")
        assert line.value == "1 / 0"

    with stopped_in_loop(server) as session:
        run_screen(session, steps)


def test_an_expression_that_needs_a_stop_is_explained(server: Server) -> None:
    idle = Program("idle.py")

    async def steps(pilot: Watched) -> None:
        await wait_for_text(pilot, "● running", "idle.py", "import")
        await enter(pilot, "1 + 1")
        await wait_for_text(pilot, ">>> 1 + 1")
        await wait_for(pilot, lambda: "running" in read_screen(pilot).split(">>> 1 + 1")[1])
        await pilot.press("p")
        await wait_for_text(pilot, "‖ pause")

    with server.session(launch={"script": idle.path}) as session:
        run_screen(session, steps)


# -- input, threads, ends --------------------------------------------------------------------------


def test_a_program_that_asks_gets_its_answer(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        await pilot.press("c")
        await wait_for_text(pilot, "● waits for input: name?")
        await wait_for(pilot, lambda: getattr(pilot.app.focused, "id", "") == "program-input")
        await pilot.press("a", "n", "n", "enter")
        await wait_for_text(pilot, "hello ann", "■ ended with exit code 0")

    with server.session(**launch(Program("input_prompt.py"))) as session:
        run_screen(session, steps, size=(80, 24))


def test_another_thread_is_looked_at(server: Server) -> None:
    program = Program("two_threads.py")
    place = {"file": program.path, "line": program.line("worker")}

    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, program.line("worker"), "work")
        await wait_for_text(pilot, "threads", "MainThread", "worker")
        pilot.app.query_one("#threads").focus()
        await pilot.press("home", "enter")
        await wait_for_text(pilot, "main  two_threads.py")

    options = {"script": program.path, "args": ["thread"]}
    with server.session(launch=options, breakpoints=[place], wait=60) as session:
        run_screen(session, steps)


def test_a_crash_is_a_stop_and_then_an_end_and_it_runs_again(server: Server) -> None:
    program = Program("exit_ways.py")

    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        await pilot.press("c")
        await wait_for_text(pilot, "‖ ZeroDivisionError", f"{program.line('raise')}▶")
        await pilot.press("c")
        await wait_for_text(pilot, "■ ended with exit code 1", "ZeroDivisionError")
        await pilot.press("n")
        await pilot.press("R")
        await wait_for_stop(pilot, 1, "<module>")

    with server.session(**launch(program, "raise")) as session:
        app = run_screen(session, steps, size=(200, 44))
    assert "It has ended. R runs it again." in app.said


# -- others ----------------------------------------------------------------------------------------


def test_a_session_that_another_client_steers_is_followed(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        await asyncio.to_thread(session.post, "/step-into", {"by": "mcp"})
        await wait_for_stop(pilot, LOOP.line("add"), "add")
        await wait_for_text(pilot, "mcp stepped into")
        await pilot.press("n")
        await wait_for_stop(pilot, LOOP.line("return"), "add")
        await wait_for(pilot, lambda: "mcp" not in read_top(pilot))
        place = {"file": LOOP.path, "line": LOOP.line("print")}
        await asyncio.to_thread(session.post, "/breakpoints", place)
        await wait_for_text(pilot, f"● loop.py:{LOOP.line('print')}")

    with stopped_in_loop(server) as session:
        run_screen(session, steps, is_joined=True)


def test_a_decision_that_came_second_is_not_made_twice(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        hold = session.get("/status")["hold_id"]
        client = connect(session)
        await asyncio.to_thread(client.decide, hold, "step-into")
        await asyncio.to_thread(decide_again, client, hold)
        await wait_for_stop(pilot, LOOP.line("add"))

    def decide_again(client: SessionClient, hold: str) -> None:
        with pytest.raises(Exception, match="decided"):
            client.decide(hold, "continue")

    with stopped_in_loop(server) as session:
        run_screen(session, steps, is_joined=True)


def test_a_session_that_is_gone_closes_the_screen(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        await asyncio.to_thread(session.delete)
        await wait_for(pilot, lambda: pilot.app.return_value)

    with stopped_in_loop(server) as session:
        app = run_screen(session, steps, is_joined=True)
    assert app.return_value is not None
    assert "gone" in app.return_value.problem


@pytest.mark.slow
def test_a_server_that_is_gone_closes_the_screen(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")

    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        server.process.kill()
        await asyncio.to_thread(server.process.wait, 60)
        await wait_for(pilot, lambda: pilot.app.return_value)

    try:
        with stopped_in_loop(server) as session:
            app = run_screen(session, steps)
    finally:
        server.close()
    assert app.return_value is not None
    assert "the server is gone" in app.return_value.problem


def test_a_deep_stack_is_read_when_it_is_asked_for(server: Server, tmp_path: Path) -> None:
    deep = tmp_path / "deep.py"
    deep.write_text("def f(n):\n    if n:\n        return f(n - 1)\n    return 0\n\n\nf(150)\n")
    place = {"file": str(deep), "line": 4}

    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 4, "f")
        stack = pilot.app.query_one("#stack", StackPane)
        assert stack.option_count < 100
        stack.focus()
        await pilot.press("end", "enter")
        await wait_for(pilot, lambda: stack.option_count == 152)
        await pilot.press("end", "enter")
        await wait_for_text(pilot, "7▷")

    with server.session(launch={"script": str(deep)}, breakpoints=[place], wait=60) as session:
        run_screen(session, steps)


# -- leaving ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("is_joined", "key", "ends"),
    [(False, "enter", True), (True, "enter", False), (False, "l", False), (True, "e", True)],
)
def test_quitting_asks_what_becomes_of_the_program(
    server: Server, is_joined: bool, key: str, ends: bool
) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, LOOP.line("call"))
        await pilot.press("q")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, LeaveDialog))
        await pilot.press("escape")
        await wait_for(pilot, lambda: not isinstance(pilot.app.screen, LeaveDialog))
        await pilot.press("q")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, LeaveDialog))
        await pilot.press(key)
        await wait_for(pilot, lambda: pilot.app.return_value)

    with stopped_in_loop(server) as session:
        app = run_screen(session, steps, is_joined=is_joined)
        assert app.return_value == Leaving(ends)
        leave_session(connect(session), app.return_value, is_joined=is_joined)
        known = [one["session_id"] for one in server.get("/sessions")["sessions"]]
        # What was started here goes; what was joined stays, and has ended if a person said so.
        assert (session.id in known) == (is_joined or not ends)
        if session.id in known:
            assert session.get("/status")["status"] == ("terminated" if ends else "paused")


def test_the_help_lists_every_key(server: Server) -> None:
    async def steps(pilot: Watched) -> None:
        await wait_for_stop(pilot, 1)
        await pilot.press("question_mark")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, HelpDialog))
        await wait_for_text(pilot, *(meaning for _, meaning in list_help()))
        await pilot.press("escape", "slash")
        await wait_for(pilot, lambda: isinstance(pilot.app.screen, LineDialog))
        await pilot.press("t", "o", "t", "a", "l", " ", "=", " ", "0", "enter")
        await wait_for_text(pilot, "10›")

    with server.session(**launch(LOOP)) as session:
        run_screen(session, steps)
    assert len({key.action for key in KEYS}) == len(KEYS)


def test_the_page_has_every_key_and_the_picture_is_of_this_screen() -> None:
    page = (DOCS / "debug-screen.md").read_text(encoding="utf-8")
    assert [row for row in list_help() if f"| {row[0]} | {row[1]} |" not in page] == []
    svg = (DOCS / "pictures" / "debug-screen.svg").read_text(encoding="utf-8")
    words = " ".join(re.sub(r"<[^>]+>", " ", svg).replace("&#160;", " ").split())
    shown = [f"{key.short} {key.label}" for key in KEYS if key.label]
    assert [text for text in shown if text not in words] == []
