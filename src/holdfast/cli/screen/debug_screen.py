"""The app of `holdfast debug`: follows one session, and carries out what the keys ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.widgets import Input, Static

from holdfast.cli.screen.console_pane import ConsoleInput, ConsolePane
from holdfast.cli.screen.debug_state import WAITING, DebugState
from holdfast.cli.screen.frame_view import FrameView
from holdfast.cli.screen.key_table import KEYS, list_help
from holdfast.cli.screen.list_panes import BreakpointPane, StackPane, ThreadPane
from holdfast.cli.screen.output_pane import OutputPane, ProgramInput
from holdfast.cli.screen.plain_text import show_controls
from holdfast.cli.screen.request_threads import RequestThreads
from holdfast.cli.screen.screen_dialogs import HelpDialog, LeaveDialog, LineDialog
from holdfast.cli.screen.session_actions import SessionActions
from holdfast.cli.screen.session_client import SessionClient
from holdfast.cli.screen.source_pane import SourcePane
from holdfast.cli.screen.status_line import describe_event, describe_state
from holdfast.cli.screen.value_tree import ValueTree, WatchTree
from holdfast.client.exceptions import DebugError
from holdfast.client.http_client import ApiError

Action = Callable[[], Awaitable[None]]
_WIDE = 130
"""From this width on the console and the output stand side by side."""
_MAX_ACTIONS = 20
_OUTPUT_PAUSE = 0.03
_IDLE_PAUSE = 0.2
_GONE = 404


@dataclass(frozen=True)
class Leaving:
    """How a person left the screen."""

    ends: bool
    """Whether the program is to be ended."""
    problem: str = ""
    """Why it could not stay open."""


class DebugScreen(App[Leaving]):
    """Shows one session, and lets a person steer it beside its other clients."""

    BINDINGS: ClassVar[list[BindingType]] = [key.to_binding() for key in KEYS]
    CSS = """
    #top { height: 1; padding: 0 1; background: $primary-background; color: $text; }
    #top.paused { background: $warning-darken-2; }
    #top.over { background: $error-darken-2; }
    #body { height: 1fr; }
    #main { width: 2fr; }
    #source { height: 1fr; }
    #lower { height: 30%; min-height: 6; max-height: 16; }
    #console, #output { width: 1fr; }
    #side { width: 1fr; min-width: 28; max-width: 70; }
    #variables { height: 3fr; }
    #watches { height: auto; max-height: 30%; }
    #stack { height: 2fr; max-height: 40%; }
    #threads, #breakpoints { height: auto; max-height: 20%; min-height: 3; }
    #source, #lines, #variables, #watches, ListPane, RichLog { scrollbar-size: 1 1; }
    #watches, ListPane { overflow-x: hidden; }
    #keys { height: 1; padding: 0 1; background: $panel; }
    """

    def __init__(self, client: SessionClient, *, is_joined: bool) -> None:
        super().__init__()
        self._client, self._is_joined = client, is_joined
        self._requests = RequestThreads()
        self._view = FrameView(client, self._requests)
        self._do = SessionActions(client, self._requests, self._warn)
        self._last_search = ""
        self._actions: asyncio.Queue[Action] = asyncio.Queue(_MAX_ACTIONS)
        self._refresh_lock = asyncio.Lock()
        self._note = ""
        self._shown_lower = "console"
        self._shown_top = Text()
        self._top, self._bar = Static(id="top"), Static(id="keys")
        self._source = self._view.panes.source
        self._console, self._output = ConsolePane(), OutputPane()
        self._breakpoint_pane = BreakpointPane("breakpoints")

    # -- the widgets -----------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self._top
        with Horizontal(id="body"):
            with Vertical(id="main"):
                yield self._source
                with Horizontal(id="lower"):
                    yield self._console
                    yield self._output
            with Vertical(id="side"):
                yield self._view.panes.variables
                yield self._view.panes.watches
                yield self._view.panes.stack
                yield self._view.panes.threads
                yield self._breakpoint_pane
        yield self._bar

    def on_mount(self) -> None:
        self.title = f"holdfast debug {self._client.session_id}"
        for pane in (self._view.panes.watches, self._view.panes.threads, self._breakpoint_pane):
            pane.display = False
        self._source.focus()
        self._show_lower("console")
        self._bar.update(_format_keys())
        self.theme_changed_signal.subscribe(self, lambda _: self._source.colour_again())
        self._start(self._follow_events())
        self._start(self._follow_output())
        self._start(self._carry_out())

    def on_unmount(self) -> None:
        self._requests.close()

    def on_resize(self, event: Resize) -> None:
        self._show_lower(self._shown_lower)

    def _show_lower(self, name: str) -> None:
        self._shown_lower = name
        is_wide = self.size.width >= _WIDE
        self._console.display = is_wide or name == "console"
        self._output.display = is_wide or name == "output"

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self.run_worker(self._leave_if_lost(work), exit_on_error=True)

    async def _leave_if_lost(self, work: Coroutine[Any, Any, None]) -> None:
        """Without the session or its server there is nothing to show."""
        try:
            await work
        except ApiError as problem:
            self.exit(Leaving(False, f"the session is gone: {problem}"), return_code=1)
        except DebugError as problem:
            self.exit(Leaving(False, f"the server is gone: {problem}"), return_code=1)

    # -- following the session -------------------------------------------------------------------

    async def _follow_events(self) -> None:
        start = await self._requests.call(self._client.read_start)
        since = start.last_event
        await self._refresh_state()
        if start.script is not None and not self._source.file.path:
            await self._view.open_if_there(start.script)
        while True:
            events, since = await self._client.wait_for_events(since)
            for event in events:
                self._note_event(event)
            if events:
                await self._refresh_state()

    def _note_event(self, event: Any) -> None:
        if event["event"] == "launching":
            self._view.forget_sources()
        by = event.get("by")
        if by == self._client.name:
            self._note = ""
            return
        text = describe_event(event)
        if text is None:
            return
        if event["event"] == "continued":
            self._note = show_controls(text)
        elif by != "rest":  # that may be this screen
            self.notify(show_controls(text), markup=False)

    async def _follow_output(self) -> None:
        cursor = "0"
        while True:
            page = await self._client.wait_for_output(cursor)
            cursor = page.cursor
            if page.entries:
                self._output.view.write(page)
            # A program that writes without end must not keep the screen from its keys, and of one
            # that has ended the server answers at once.
            await asyncio.sleep(_OUTPUT_PAUSE if page.entries else _IDLE_PAUSE)

    async def _refresh_state(self) -> None:
        async with self._refresh_lock:
            state = await self._requests.call(self._client.read_state)
            await self._apply(state)

    async def _apply(self, state: DebugState) -> None:
        last, self._do.state = self._do.state, state
        self._top.set_class(state.is_paused, "paused")
        self._top.set_class(state.is_over, "over")
        top = self._format_top()
        if top != self._shown_top:  # to lay it out again takes a while
            self._shown_top = top
            self._top.update(top)
        self._breakpoint_pane.show(state.breakpoints)
        self._output.show_waiting(state.status == WAITING, state.prompt)
        self._follow_input(last)
        for warning in set(state.warnings) - set(last.warnings):
            self._warn(warning)
        await self._view.show(state)
        if self._do.has_reached_cursor:
            self._enqueue(self._do.end_cursor_run)

    def _format_top(self) -> Text:
        text = Text(describe_state(self._do.state), style="bold", no_wrap=True, overflow="ellipsis")
        if self._note:
            text.append(f"  ·  {self._note}")
        return text

    def _follow_input(self, last: DebugState) -> None:
        """The keys go where the program waits for them, and come back."""
        is_typing = isinstance(self.focused, Input) and bool(self.focused.value)
        is_waiting, was_waiting = self._do.state.status == WAITING, last.status == WAITING
        if is_waiting and not was_waiting:
            self._show_lower("output")
            if not is_typing and len(self.screen_stack) == 1:
                self._output.input.focus()
        has_input_focus = isinstance(self.focused, ProgramInput) and not is_typing
        if was_waiting and not is_waiting and has_input_focus:
            self._source.focus()
        if self._do.state.is_over and not last.is_over and not self._console.has_focus_within:
            self._show_lower("output")  # its last words

    # -- carrying out ----------------------------------------------------------------------------

    def _enqueue(self, action: Action) -> None:
        """Actions are carried out one after the other, as the keys came."""
        try:
            self._actions.put_nowait(action)
        except asyncio.QueueFull:
            self.bell()

    async def _carry_out(self) -> None:
        while True:
            action = await self._actions.get()
            try:
                await action()
            except ApiError as problem:
                if problem.status == _GONE and not await self._is_session_there():
                    raise
                self._complain(str(problem), problem.hint)
            await self._refresh_state()

    async def _is_session_there(self) -> bool:
        try:
            await self._requests.call(self._client.read_start)
        except ApiError:
            return False
        return True

    def _complain(self, message: str, hint: str = "") -> None:
        self.notify(_clean(f"{message}\n{hint}"), severity="error", markup=False)

    def _warn(self, message: str) -> None:
        self.notify(_clean(message), severity="warning", markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are for the dialog, while one is open."""
        names = {key.action.partition("(")[0] for key in KEYS}
        return action not in names or len(self.screen_stack) == 1

    # -- running ---------------------------------------------------------------------------------

    def action_run(self, action: str) -> None:
        self._enqueue(lambda: self._do.run(action, self._view.thread_id))

    def action_run_to_cursor(self) -> None:
        file, line = self._source.file.path, self._source.cursor
        self._enqueue(lambda: self._do.run_to(file, line, self._view.thread_id))

    def action_pause(self) -> None:
        self._enqueue(self._do.pause)

    def action_restart(self) -> None:
        self._output.view.note("── run again ──")
        self._enqueue(self._do.restart)

    # -- breakpoints and watches -----------------------------------------------------------------

    def action_toggle_breakpoint(self) -> None:
        self._toggle_breakpoint(self._source.cursor)

    def on_source_pane_gutter_clicked(self, event: SourcePane.GutterClicked) -> None:
        self._toggle_breakpoint(event.line)

    def _toggle_breakpoint(self, line: int) -> None:
        file = self._source.file.path
        self._enqueue(lambda: self._do.toggle_breakpoint(file, line))

    async def action_set_condition(self) -> None:
        file, line = self._source.file.path, self._source.cursor
        points = self._do.find_breakpoints(file, line)
        await self._ask(
            f"breakpoint at line {line}",
            "It stops where this is true; empty: always.",
            points[0].condition if points else "",
            lambda text: self._do.set_condition(file, line, text.strip()),
        )

    def on_breakpoint_pane_removal_wanted(self, event: BreakpointPane.RemovalWanted) -> None:
        self._enqueue(lambda: self._do.remove_breakpoint(event.point))

    def on_breakpoint_pane_switch_wanted(self, event: BreakpointPane.SwitchWanted) -> None:
        self._enqueue(lambda: self._do.switch_breakpoint(event.point))

    def on_breakpoint_pane_chosen(self, event: BreakpointPane.Chosen) -> None:
        point = event.point
        if point.file:
            self._enqueue(lambda: self._view.open(point.file, point.line))

    async def action_add_watch(self) -> None:
        hint = "An expression: its value is shown at every stop."
        await self._ask("watch", hint, "", self._do.add_watch)

    def on_watch_tree_removal_wanted(self, event: WatchTree.RemovalWanted) -> None:
        self._enqueue(lambda: self._do.remove_watch(event.watch_id))

    # -- looking around --------------------------------------------------------------------------

    def action_move_frame(self, step: int) -> None:
        async def move() -> None:  # the refresh after every action shows it
            self._view.move(step)

        self._enqueue(move)

    def on_stack_pane_frame_chosen(self, event: StackPane.FrameChosen) -> None:
        async def choose() -> None:
            self._view.choose_frame(event.index)

        self._enqueue(choose)

    def on_stack_pane_more_wanted(self, event: StackPane.MoreWanted) -> None:
        self._enqueue(self._view.read_whole_stack)

    def on_thread_pane_thread_chosen(self, event: ThreadPane.ThreadChosen) -> None:
        self._enqueue(lambda: self._view.choose_thread(event.thread.id))

    def on_value_tree_children_wanted(self, event: ValueTree.ChildrenWanted) -> None:
        self._start(self._view.unfold(event))

    def action_show_current(self) -> None:
        async def show() -> None:
            self._view.return_to_frame()

        self._enqueue(show)

    async def action_search(self) -> None:
        async def search(text: str) -> None:
            self._last_search = text or self._last_search
            if self._last_search and not self._source.find(self._last_search):
                self.notify("It is not in this file.", severity="warning", timeout=2)

        await self._ask("search", "A text in this file.", "", search)

    async def action_open_file(self) -> None:
        async def open_file(text: str) -> None:
            if text.strip():
                await self._view.open(text.strip(), 1)

        await self._ask("open", "The path of a file.", "", open_file)

    # -- the console and the output --------------------------------------------------------------

    def action_focus_source(self) -> None:
        self._source.focus()

    def action_focus_console(self) -> None:
        self._show_lower("console")
        self._console.input.focus()

    def action_focus_output(self) -> None:
        self._show_lower("output")
        self._output.input.focus()

    def on_console_pane_entered(self, event: ConsolePane.Entered) -> None:
        self._enqueue(lambda: self._evaluate(event.text))

    async def _evaluate(self, text: str) -> None:
        try:
            value = await self._requests.call(self._client.evaluate, text, self._view.frame_id)
        except ApiError as problem:
            self._console.show_problem(str(problem), problem.hint)
        else:
            self._console.show_result(value)

    def on_console_input_completion_wanted(self, event: ConsoleInput.CompletionWanted) -> None:
        async def complete() -> None:
            found = await self._requests.call(
                self._client.complete, event.text, self._view.frame_id
            )
            self._console.show_completions(event.text, found)

        self._enqueue(complete)

    def on_output_pane_given(self, event: OutputPane.Given) -> None:
        self._enqueue(lambda: self._give_input(event.text))

    def on_program_input_closed(self, event: ProgramInput.Closed) -> None:
        self._enqueue(lambda: self._give_input("", closes=True))

    async def _give_input(self, text: str, *, closes: bool = False) -> None:
        await self._do.give_input(text, closes=closes)
        self._output.view.echo(text)

    # -- dialogs and the end ---------------------------------------------------------------------

    async def _ask(
        self, title: str, hint: str, text: str, then: Callable[[str], Awaitable[None]]
    ) -> None:
        def take(answer: str | None) -> None:
            if answer is not None:
                self._enqueue(lambda: then(answer))

        await self.push_screen(LineDialog(title, hint, text), take)

    async def action_help(self) -> None:
        await self.push_screen(HelpDialog(list_help()))

    async def action_quit(self) -> None:
        """Leave at once if the program is over; otherwise ask what becomes of it."""
        if self._do.state.is_over:
            self.exit(Leaving(ends=not self._is_joined))
            return

        def take(answer: str | None) -> None:
            if answer is not None:
                self.exit(Leaving(ends=answer == "end"))

        await self.push_screen(LeaveDialog(is_joined=self._is_joined), take)


def _clean(text: str) -> str:
    return "\n".join(show_controls(line) for line in text.splitlines() if line)


def _format_keys() -> Text:
    line = Text(no_wrap=True, overflow="ellipsis")
    for key in KEYS:
        if key.label:
            line.append(key.short, style="bold reverse")
            line.append(f" {key.label} ")
    return line
