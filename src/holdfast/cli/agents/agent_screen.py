"""The full-screen view of an agent: events, the held call, messages, and the keys."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from rich.syntax import Syntax
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.message_pump import MessagePump
from textual.screen import ModalScreen
from textual.widgets import Input, Label, RichLog, Static, TextArea

from holdfast import timings
from holdfast.cli.agents import command_parser
from holdfast.cli.agents.event_lines import EventFormatter, format_point, shorten
from holdfast.model.agent_events import MAIN, EventData, RecordedEvent
from holdfast.recording import command_sender, liveness
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recording_state import RecordedStop, RecordingState, read_events
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines
from holdfast.wire.message_text import format_message

Check = Callable[[str], object]

_POLL_SECONDS = 0.05
_MAX_EVENTS = 5_000
_MAX_MESSAGES = 200
_NARROW = 100
"""Below this width the events stand above the held call, not beside it."""
_HIDDEN_TYPES = ("state_snapshot",)
"""Written twice a second while something is held: shown only through the filter."""
_ROLES = {"user": "bold cyan", "assistant": "bold green", "system": "bold yellow"}

# The key, what it is called, what it does, and the decision that a held call must allow for it.
_KEYS = (
    ("c", "continue", "go_on", "continue"),
    ("s", "step", "step", None),
    ("p", "pause", "pause", None),
    ("e", "edit input", "edit", "modify"),
    ("r", "fake result", "fake", "skip"),
    ("x", "raise", "throw", "raise"),
    ("k", "cancel tool", "cancel", None),
    ("i", "inject", "inject", None),
    ("v", "set variable", "set", None),
    ("b", "break", "break", None),
    ("d", "clear break", "clear", None),
    ("n", "next held", "next", None),
    ("f", "filter", "filter", None),
    ("q", "quit", "quit", None),
)


class PromptInput(Input):
    """A line that is sent with enter."""

    async def action_submit(self) -> None:
        # At once, and not by a message: the next key is for whatever comes then.
        if isinstance(self.screen, PromptDialog):
            self.screen.action_submit()


class PromptDialog(ModalScreen[str | None]):
    """One question: a line, or some JSON. It stays until the answer can be understood."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel"),
        Binding("ctrl+s", "submit", "send"),
    ]

    def __init__(self, title: str, hint: str, text: str, check: Check, is_long: bool) -> None:
        super().__init__()
        self._title, self._hint, self._text = title, hint, text
        self._check, self._is_long = check, is_long

    def compose(self) -> ComposeResult:
        with Vertical(id="ask") as box:
            box.border_title = self._title
            sends = "ctrl+s" if self._is_long else "enter"
            box.border_subtitle = f"{sends} sends, esc does not"
            yield Label(self._hint, id="hint", markup=False)
            yield Label("", id="problem", markup=False)
            if self._is_long:
                yield TextArea(self._text, id="answer", soft_wrap=True, show_line_numbers=False)
            else:
                yield PromptInput(self._text, id="answer", select_on_focus=False)

    def on_mount(self) -> None:
        # Not `focus()`, which takes effect later: the next key may be here already.
        self.set_focus(self.query_one("#answer"))

    def action_submit(self) -> None:
        asked = self.query_one("#answer")
        text = asked.text if isinstance(asked, TextArea) else getattr(asked, "value", "")
        try:
            self._check(text)
        except ValueError as problem:
            label = self.query_one("#problem", Label)
            label.update(str(problem))
            label.display = True
            return
        self.dismiss(text)


class AgentScreen(App[str]):
    """Reads the events and appends commands: it needs the agent's files, and no server."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, action, name, show=False) for key, name, action, _ in _KEYS
    ]
    CSS = """
    #top { height: 1; padding: 0 1; background: $primary-background; }
    #top.held { background: $warning-darken-2; }
    #top.over { background: $error-darken-2; }
    #body { height: 1fr; layout: horizontal; }
    #events { width: 3fr; border: round $primary; padding: 0 1; overflow-x: hidden; }
    #side { width: 2fr; }
    #held { height: auto; max-height: 60%; border: round $primary; padding: 0 1; }
    #held.held { border: round $warning; }
    #messages { height: 1fr; border: round $primary; padding: 0 1; overflow-x: hidden; }
    .narrow #body { layout: vertical; }
    .narrow #events { width: 100%; height: 2fr; }
    .narrow #side { width: 100%; height: 3fr; layout: horizontal; }
    .narrow #held { width: 1fr; height: 100%; max-height: 100%; }
    .narrow #messages { width: 1fr; height: 100%; }
    .narrow #ask { width: 96%; max-height: 96%; }
    #keys { height: auto; padding: 0 1; background: $panel; }
    PromptDialog { align: center middle; }
    #ask { width: 80%; max-width: 100; height: auto; max-height: 80%;
           border: round $accent; padding: 0 1; background: $surface; }
    #ask TextArea { height: auto; min-height: 5; max-height: 60vh; }
    #problem { color: $error; height: auto; width: 100%; display: none; }
    #hint { width: 100%; height: auto; max-height: 20vh; }
    """

    def __init__(self, home: SessionDirectory) -> None:
        super().__init__()
        self._home = home
        self._tail = Tail(home.events)
        self._recorded = RecordingState(ContentFiles(home.contents))
        self._events: deque[RecordedEvent] = deque(maxlen=_MAX_EVENTS)
        self._filter: list[str] = []
        self._chosen: str | None = None
        self._sent: dict[str, str] = {}
        self._is_gone = False
        self._drawn: tuple[Any, ...] = ()
        self._formatter = EventFormatter(self._recorded.read_body)
        self._typed: asyncio.Queue[events.Key | events.Paste] = asyncio.Queue()
        self._top, self._bar, self._call = Static(id="top"), Static(id="keys"), Static(id="call")
        self._held = VerticalScroll(self._call, id="held")
        self._stream = RichLog(id="events", max_lines=_MAX_EVENTS, wrap=True, highlight=False)
        self._conversation = RichLog(id="messages", wrap=True, min_width=10, highlight=False)

    # -- what is shown ---------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self._top
        with Container(id="body"):
            yield self._stream
            with Container(id="side"):
                yield self._held
                yield self._conversation
        yield self._bar

    def on_mount(self) -> None:
        self.title = f"holdfast {self._home.id}"
        self._stream.border_title, self._conversation.border_title = "events", "messages"
        self._stream.focus()
        self.run_worker(self._handle_keys())
        self._poll()
        self.set_interval(_POLL_SECONDS, self._poll)

    # -- keys ------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        """Keys are handled one by one. Textual passes them on, and would run the action of one
        before the text of those that came earlier is where it belongs."""
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            self._typed.put_nowait(event)
            return
        await super().on_event(event)

    async def _handle_keys(self) -> None:
        while True:
            event = await self._typed.get()
            target = self.screen.focused or self.screen
            await super().on_event(event)
            # It goes to the screen, to the widget that has the focus, and from there up to us.
            for pump in (self.screen, target, *target.ancestors, self):
                await _wait_until_idle(pump)

    # -- what is drawn ---------------------------------------------------------------------------

    def _poll(self) -> None:
        """Read and show what is new."""
        if not self._bar.is_attached:  # it is being closed
            return
        is_alive = liveness.is_alive(self._home)
        new = list(read_events(self._tail))
        for event in new:
            self._recorded.take(event)
            self._notify_answer(event)
        self._events.extend(new)
        for event in new[-_MAX_EVENTS:]:
            self._write_event(event)
        if new or self._is_gone == is_alive:
            self._is_gone = not is_alive
            self._draw()

    def _write_event(self, event: RecordedEvent) -> None:
        width = self._stream.scrollable_content_region.width
        line = self._formatter.format(event, width or self.size.width)
        if self._is_wanted(event):
            self._stream.write(line)

    def _rewrite_events(self) -> None:
        self._formatter = EventFormatter(self._recorded.read_body)
        self._stream.clear()
        for event in self._events:
            self._write_event(event)

    def _is_wanted(self, event: RecordedEvent) -> bool:
        kind = str(event["type"])
        if not self._filter:
            return kind not in _HIDDEN_TYPES
        text = agent_lines.encode_json(event)
        return any(fnmatchcase(kind, word) or word in text for word in self._filter)

    @property
    def stop(self) -> RecordedStop | None:
        """The held call that the keys are for."""
        stops = self._recorded.stops
        if self._chosen not in stops:
            self._chosen = next(iter(stops), None)
        return None if self._chosen is None else stops[self._chosen]

    def _draw(self) -> None:
        stop = self.stop
        is_over = self._is_gone or self._recorded.is_over
        self._top.set_class(stop is not None and not is_over, "held")
        self._top.set_class(is_over, "over")
        self._top.update(self._format_state(stop, is_over))
        self._draw_held(stop)
        self._draw_messages()
        self._bar.update(self._keys(is_over))

    def _format_state(self, stop: RecordedStop | None, is_over: bool) -> Text:
        state, phase = self._recorded, "● running"
        if is_over:
            phase = "■ ended" if state.is_over else "■ gone: it did not end in order"
        elif stop is not None:
            phase = f"‖ held before {stop.title}"
            if stop.data.get("at") == "error":
                phase = f"‖ held at an error of {stop.data.get('name')}"
        name = state.name or self._home.id
        parts = [phase, name, state.model, f"iteration {state.last_iteration}"]
        if state.counts.tokens:
            parts.append(f"{state.counts.tokens:,} tokens")
        if state.breakpoints:
            count = len(state.breakpoints)
            parts.append(f"{count} breakpoint{'s' * (count > 1)}")
        text = ""
        for part in filter(None, [*parts, self._home.id]):
            longer = f"{text}  ·  {part}" if text else part
            if text and len(longer) > self.size.width - 2:
                break
            text = longer
        return Text(text, style="bold", no_wrap=True, overflow="ellipsis")

    def _draw_held(self, stop: RecordedStop | None) -> None:
        panel, call, stops = self._held, self._call, self._recorded.stops
        panel.set_class(stop is not None, "held")
        if stop is None:
            panel.border_title, panel.border_subtitle = "held", ""
            tools = self._recorded.tools.items()
            running = ", ".join(f"{tool.name} ({tool_id})" for tool_id, tool in tools)
            call.update(Text(f"nothing; {running} runs" if running else "nothing", style="dim"))
            return
        which = f" {list(stops).index(stop.id) + 1} of {len(stops)}" if len(stops) > 1 else ""
        of = "" if stop.lane == MAIN else f" of {stop.lane}"
        panel.border_title = f"held{which}: {stop.title}{of}"
        tool = f", {stop.data['toolId']}" if stop.data.get("toolId") else ""
        panel.border_subtitle = f"{stop.id}{tool}, {_format_reason(stop.data)}"
        is_error = stop.data.get("at") == "error"
        value = stop.data.get("error") if is_error else self._recorded.read_body(stop.data["input"])
        text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
        call.update(Syntax(text, "json", word_wrap=True, background_color="default"))

    def _draw_messages(self) -> None:
        state, log = self._recorded, self._conversation
        lane = state.lane if self.stop is None else self.stop.lane
        messages = state.lanes[lane].messages if lane in state.lanes else []
        width = log.scrollable_content_region.width
        drawn = (lane, len(messages), state.last_iteration, messages[-1:], width)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        of = "" if lane == MAIN else f" of {lane}"
        log.border_title = f"messages{of} ({len(messages)})"
        log.clear()
        if len(messages) > _MAX_MESSAGES:
            log.write(Text(f"… {len(messages) - _MAX_MESSAGES} earlier ones", style="dim"))
        for message in messages[-_MAX_MESSAGES:]:
            author, text = format_message(message)
            line = Text(f"{author or '?'}: ", style=_ROLES.get(author, "bold yellow"))
            log.write(line.append(text if len(text) < 2000 else f"{text[:2000]}…", style="default"))

    def on_resize(self) -> None:
        self.screen_stack[0].set_class(self.size.width < _NARROW, "narrow")
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        """Once the panes have their sizes."""
        if self._bar.is_attached:
            self._rewrite_events()
            self._draw()

    def _keys(self, is_over: bool) -> Text:
        """Every key and its name, never apart; those that do nothing now are dim."""
        line, width = Text(), 0
        for key, name, action, _ in _KEYS:
            can = bool(self.check_action(action, ())) and (not is_over or action in _ALWAYS_ACTIVE)
            width += len(key) + len(name) + 3
            if width > self.size.width:
                line.append("\n")
                width = len(key) + len(name) + 3
            line.append(key, style="bold reverse" if can else "dim")
            line.append(f" {name}  ", style="" if can else "dim")
        return line

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A key that the held call does not allow does nothing."""
        if len(self.screen_stack) > 1 and action in _ACTIONS:
            return False
        needed = {action: needs for _, _, action, needs in _KEYS}.get(action)
        stop = self.stop
        if action == "next":
            return len(self._recorded.stops) > 1
        if action == "cancel":
            return bool(self._list_cancellable())
        if action == "clear":
            return bool(self._recorded.breakpoints)
        if needed is None:
            return True
        return stop is not None and needed in stop.data.get("allows", [])

    # -- what is sent ----------------------------------------------------------------------------

    def _send(self, kind: str, data: EventData) -> None:
        try:
            self._sent[command_sender.send_command(self._home, kind, data)] = kind
        except OSError as problem:
            self.notify(f"{kind} cannot be written: {problem}", severity="error", markup=False)

    def _notify_answer(self, event: RecordedEvent) -> None:
        data = event["data"]
        kind = self._sent.get(str(data.get("commandId")))
        if kind is None:
            return
        if event["type"] == "error":
            self.notify(shorten(data.get("message")), severity="error", markup=False)
        elif event["type"] == "command_executed":
            note = f": {data['note']}" if data.get("note") else ""
            self.notify(f"{kind} {data.get('status')}{note}", timeout=2, markup=False)

    def _decide(self, stop: RecordedStop, **data: Any) -> None:
        self._send("resume", {"stop": stop.id, "by": command_parser.BY, **data})

    async def _ask(
        self,
        title: str,
        hint: str,
        text: str,
        check: Check,
        then: Callable[[str], None],
        is_long: bool = False,
    ) -> None:
        def take_answer(answer: str | None) -> None:
            if answer is not None:
                then(answer)

        dialog = PromptDialog(title, hint, text, check, is_long)
        dialog.set_class(self.size.width < _NARROW, "narrow")
        await self.push_screen(dialog, take_answer)  # until it is there for the next key

    def action_go_on(self) -> None:
        if self.stop is not None:
            self._decide(self.stop, action="continue")

    def action_step(self) -> None:
        stop = self.stop
        self._send("step", {"by": command_parser.BY} | ({} if stop is None else {"stop": stop.id}))

    def action_pause(self) -> None:
        self._send("pause", {})

    async def action_edit(self) -> None:
        stop = self.stop
        if stop is None:
            return
        before = self._recorded.editable_input(stop)
        await self._ask(
            f"edit the input of {stop.data.get('name')}",
            "It runs with this instead. What you leave out stays as it is.",
            json.dumps(before, indent=2, ensure_ascii=False, default=str),
            lambda text: command_parser.parse_command(f"edit {text}"),
            lambda text: self._decide(stop, action="modify", input=_select_changes(before, text)),
            is_long=True,
        )

    async def action_fake(self) -> None:
        stop = self.stop
        if stop is None:
            return
        await self._ask(
            f"the result of {stop.data.get('name')}",
            "JSON: it does not run, and this is what it gave.",
            '""',
            lambda text: command_parser.parse_json(text, "the result"),
            lambda text: self._decide(stop, action="skip", result=json.loads(text)),
            is_long=True,
        )

    async def action_throw(self) -> None:
        stop = self.stop
        if stop is None:
            return
        await self._ask(
            f"raise instead of {stop.data.get('name')}",
            "The name of an exception, and what it says.",
            "RuntimeError: ",
            command_parser.parse_exception,
            lambda text: self._decide(stop, **command_parser.parse_exception(text)),
        )

    def _list_cancellable(self) -> dict[str, str]:
        """Tools by their ids, the held one first."""
        stop = self.stop
        tools = {tool_id: call.name for tool_id, call in self._recorded.tools.items()}
        if stop is None or not stop.data.get("toolId"):
            return tools
        return {str(stop.data["toolId"]): str(stop.data.get("name")), **tools}

    async def action_cancel(self) -> None:
        tools = self._list_cancellable()
        if len(tools) == 1:
            self._send("cancel_tool", {"toolId": next(iter(tools)), "by": command_parser.BY})
            return
        await self._ask(
            "cancel a tool",
            ", ".join(f"{tool_id} ({name})" for tool_id, name in tools.items()),
            next(iter(tools), ""),
            lambda text: command_parser.parse_command(f"cancel {text}"),
            lambda text: self._send(
                "cancel_tool", {"toolId": text.strip(), "by": command_parser.BY}
            ),
        )

    async def action_inject(self) -> None:
        await self._ask(
            "inject a message",
            "user, assistant or system, and the text.",
            "user: ",
            command_parser.parse_message,
            lambda text: self._send("inject_message", command_parser.parse_message(text)),
        )

    async def action_set(self) -> None:
        await self._ask(
            "set a variable",
            "KEY = JSON",
            "",
            command_parser.parse_variable,
            lambda text: self._send("set_variable", command_parser.parse_variable(text)),
        )

    async def action_break(self) -> None:
        await self._ask(
            "break",
            "tool NAME, model [NAME], iteration N, pattern REGEX, error [NAME], tokens N, "
            "condition X",
            "tool ",
            command_parser.parse_breakpoint,
            lambda text: self._send(
                "breakpoint", {"action": "add", **command_parser.parse_breakpoint(text)}
            ),
        )

    async def action_clear(self) -> None:
        breakpoints = self._recorded.breakpoints
        points = [f"{name}: {format_point(point)}" for name, point in breakpoints.items()]
        await self._ask(
            "clear a breakpoint",
            "\n".join([*points, "ID, or all"]),
            next(reversed(breakpoints), ""),
            lambda text: command_parser.parse_command(f"clear {text}"),
            lambda text: self._send(*command_parser.parse_command(f"clear {text}")),
        )

    def action_next(self) -> None:
        stops = list(self._recorded.stops)
        if stops and self._chosen in stops:
            self._chosen = stops[(stops.index(self._chosen) + 1) % len(stops)]
        self._draw()

    async def action_filter(self) -> None:
        await self._ask(
            "filter",
            "Types (tool_*, paused) or words, with commas; nothing shows all.",
            ",".join(self._filter),
            lambda text: None,
            self._set_filter,
        )

    def _set_filter(self, text: str) -> None:
        self._filter = [word.strip() for word in text.split(",") if word.strip()]
        shown = f"events: {', '.join(self._filter)}" if self._filter else "events"
        self._stream.border_title = shown
        self._rewrite_events()

    async def action_quit(self) -> None:
        held = ", ".join(self._recorded.stops)
        if held and not self._is_gone:
            self.exit(f"{held} is still held: `holdfast agent resume` lets it go on.")
        else:
            self.exit("")


_ACTIONS = frozenset(action for _, _, action, _ in _KEYS)
_ALWAYS_ACTIVE = ("filter", "quit")


def _select_changes(before: Any, text: str) -> EventData:
    """Only what was edited: a secret is shown as redacted, and must not be sent back so."""
    after: EventData = json.loads(text)
    if not isinstance(before, dict):
        return after
    return {
        name: value for name, value in after.items() if name not in before or before[name] != value
    }


def _format_reason(stop: EventData) -> str:
    point = stop.get("breakpoint")
    return f"breakpoint {point.get('id')}" if isinstance(point, dict) else str(stop["reason"])


async def _wait_until_idle(pump: MessagePump) -> None:
    """Wait until it has handled what it was sent so far."""
    done = asyncio.Event()
    if pump.is_running and pump.call_later(done.set):
        # One that is closed meanwhile handles nothing any more.
        await asyncio.wait([asyncio.ensure_future(done.wait())], timeout=timings.TIMINGS.screen_key)
