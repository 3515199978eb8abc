"""The full-screen view of an agent: what happens, what is held, what was said, and the keys."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from rich.syntax import Syntax
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, RichLog, Static, TextArea

from holdfast.cli.agents import command_parser
from holdfast.cli.agents.event_lines import format_event, shorten
from holdfast.cli.agents.session_view import SessionView, format_message
from holdfast.recording import command_sender, liveness
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

Json = dict[str, Any]
Check = Callable[[str], object]

_LOOK = 0.05
_MOST_EVENTS = 5_000
_MOST_MESSAGES = 200
_QUIET = ("state_snapshot",)
"""Said twice a second while something is held: shown to those who ask for it."""
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


class PromptDialog(ModalScreen[str | None]):
    """One question: a line, or some JSON. It stays until the answer can be understood."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "cancel"),
        Binding("ctrl+s", "submit", "send", priority=True),
    ]

    def __init__(self, title: str, hint: str, text: str, check: Check, is_long: bool) -> None:
        super().__init__()
        self._title, self._hint, self._text = title, hint, text
        self._check, self._is_long = check, is_long

    def compose(self) -> ComposeResult:
        with Vertical(id="ask") as box:
            box.border_title = self._title
            yield Label(self._hint, id="hint", markup=False)
            if self._is_long:
                yield TextArea(self._text, id="answer", soft_wrap=True, show_line_numbers=False)
            else:
                yield Input(self._text, id="answer", select_on_focus=False)
            yield Label("", id="problem", markup=False)
            sends = "ctrl+s" if self._is_long else "enter"
            yield Label(f"{sends} sends, esc does not", id="how", markup=False)

    def on_mount(self) -> None:
        self.query_one("#answer").focus()

    def on_input_submitted(self) -> None:
        self.action_submit()

    def action_submit(self) -> None:
        asked = self.query_one("#answer")
        text = asked.text if isinstance(asked, TextArea) else getattr(asked, "value", "")
        try:
            self._check(text)
        except ValueError as problem:
            self.query_one("#problem", Label).update(str(problem))
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
    #body { height: 1fr; }
    #events { width: 3fr; border: round $primary; padding: 0 1; }
    #side { width: 2fr; }
    #held { height: auto; max-height: 60%; border: round $primary; padding: 0 1; }
    #held.held { border: round $warning; }
    #messages { height: 1fr; border: round $primary; padding: 0 1; }
    #keys { height: auto; padding: 0 1; background: $panel; }
    PromptDialog { align: center middle; }
    #ask { width: 80%; max-width: 100; height: auto; max-height: 80%;
           border: round $accent; padding: 0 1; background: $surface; }
    #ask TextArea { height: auto; min-height: 5; max-height: 20; }
    #problem { color: $error; height: auto; width: 100%; }
    #hint { width: 100%; height: auto; }
    #how { color: $text-muted; }
    """

    def __init__(self, home: SessionDirectory) -> None:
        super().__init__()
        self._home = home
        self._tail = Tail(home.events)
        self.seen = SessionView(home)
        self._events: deque[Json] = deque(maxlen=_MOST_EVENTS)
        self._filter: list[str] = []
        self._chosen: str | None = None
        self._sent: dict[str, str] = {}
        self._is_gone = False
        self._shown: tuple[Any, ...] = ()
        self._top, self._bar, self._call = Static(id="top"), Static(id="keys"), Static(id="call")
        self._held = VerticalScroll(self._call, id="held")
        self._stream = RichLog(id="events", max_lines=_MOST_EVENTS, wrap=False, highlight=False)
        self._said = RichLog(id="messages", wrap=True, min_width=10, highlight=False)

    # -- what is shown ---------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield self._top
        with Horizontal(id="body"):
            yield self._stream
            with Vertical(id="side"):
                yield self._held
                yield self._said
        yield self._bar

    def on_mount(self) -> None:
        self.title = f"holdfast {self._home.id}"
        self._stream.border_title, self._said.border_title = "events", "messages"
        self._stream.focus()
        self._look()
        self.set_interval(_LOOK, self._look)

    def _look(self) -> None:
        """Whatever is new."""
        if not self._bar.is_attached:  # it is being closed
            return
        is_alive = liveness.is_alive(self._home)
        new = [
            event
            for _, line in self._tail.all()
            if (event := agent_lines.parse_event(line)) is not None
        ]
        for event in new:
            self.seen.take(event)
            self._answered(event)
        self._events.extend(new)
        for event in new[-_MOST_EVENTS:]:
            if self._is_wanted(event):
                self._stream.write(format_event(event))
        if new or self._is_gone == is_alive:
            self._is_gone = not is_alive
            self._draw()

    def _is_wanted(self, event: Json) -> bool:
        kind = str(event["type"])
        if not self._filter:
            return kind not in _QUIET
        text = agent_lines.encode_json(event)
        return any(fnmatchcase(kind, each) or each in text for each in self._filter)

    @property
    def stop(self) -> Json | None:
        """The held call that the keys are for."""
        if self._chosen not in self.seen.held:
            self._chosen = next(iter(self.seen.held), None)
        return None if self._chosen is None else self.seen.held[self._chosen]

    def _draw(self) -> None:
        stop = self.stop
        is_over = self._is_gone or self.seen.is_over
        self._top.set_class(stop is not None and not is_over, "held")
        self._top.set_class(is_over, "over")
        self._top.update(self._state(stop, is_over))
        self._draw_held(stop)
        self._draw_messages()
        self._bar.update(self._keys(is_over))

    def _state(self, stop: Json | None, is_over: bool) -> Text:
        said = "● running"
        if is_over:
            said = "■ ended" if self.seen.is_over else "■ gone: it did not end in order"
        elif stop is not None:
            said = f"‖ held before {stop.get('at')} {stop.get('name') or ''}".rstrip()
            if stop.get("at") == "error":
                said = f"‖ held at an error of {stop.get('name')}"
        parts = [said, self.seen.name, self.seen.model, f"iteration {self.seen.iteration}"]
        if self.seen.tokens:
            parts.append(f"{self.seen.tokens:,} tokens")
        if self.seen.breakpoints:
            parts.append(f"{len(self.seen.breakpoints)} breakpoints")
        said = "  ·  ".join(each for each in [*parts, self._home.id] if each)
        return Text(said, style="bold", no_wrap=True, overflow="ellipsis")

    def _draw_held(self, stop: Json | None) -> None:
        panel, call = self._held, self._call
        panel.set_class(stop is not None, "held")
        if stop is None:
            panel.border_title, panel.border_subtitle = "held", ""
            running = ", ".join(f"{name} ({each})" for each, name in self.seen.running.items())
            call.update(Text(f"nothing; {running} runs" if running else "nothing", style="dim"))
            return
        many = len(self.seen.held)
        which = (
            f" {list(self.seen.held).index(str(stop['stop'])) + 1} of {many}" if many > 1 else ""
        )
        named = f"{stop.get('at')} {stop.get('name') or ''}".rstrip()
        panel.border_title = f"held{which}: {named}"
        panel.border_subtitle = f"{stop.get('stop')}, {self._why(stop)}"
        shown = stop.get("error") if stop.get("at") == "error" else self.seen.body(stop["input"])
        text = json.dumps(shown, indent=2, ensure_ascii=False, default=str)
        call.update(Syntax(text, "json", word_wrap=True, background_color="default"))

    @staticmethod
    def _why(stop: Json) -> str:
        point = stop.get("breakpoint")
        return f"breakpoint {point.get('id')}" if isinstance(point, dict) else str(stop["reason"])

    def _draw_messages(self) -> None:
        messages = self.seen.messages
        log = self._said
        shown = (self.seen.lane, len(messages), self.seen.iteration, messages[-1:])
        if shown == self._shown:
            return
        self._shown = shown
        log.border_title = f"messages ({len(messages)})"
        log.clear()
        if len(messages) > _MOST_MESSAGES:
            log.write(Text(f"… {len(messages) - _MOST_MESSAGES} earlier ones", style="dim"))
        for each in messages[-_MOST_MESSAGES:]:
            who, said = format_message(each)
            line = Text(f"{who or '?'}: ", style=_ROLES.get(who, "bold yellow"))
            log.write(line.append(said if len(said) < 2000 else f"{said[:2000]}…", style="default"))

    def on_resize(self) -> None:
        if self._bar.is_attached:
            self._draw()

    def _keys(self, is_over: bool) -> Text:
        """Every key and its name, never apart; those that do nothing now are dim."""
        line, width = Text(), 0
        for key, name, action, _ in _KEYS:
            can = bool(self.check_action(action, ())) and (not is_over or action in _ALWAYS)
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
            return len(self.seen.held) > 1
        if action == "cancel":
            return bool(self._cancellable())
        if action == "clear":
            return bool(self.seen.breakpoints)
        if needed is None:
            return True
        return stop is not None and needed in stop.get("allows", [])

    # -- what is sent ----------------------------------------------------------------------------

    def _send(self, kind: str, data: Json) -> None:
        try:
            self._sent[command_sender.send_command(self._home, kind, data)] = kind
        except OSError as problem:
            self.notify(f"{kind} cannot be written: {problem}", severity="error", markup=False)

    def _answered(self, event: Json) -> None:
        data = event["data"]
        kind = self._sent.get(str(data.get("commandId")))
        if kind is None:
            return
        if event["type"] == "error":
            self.notify(shorten(data.get("message")), severity="error", markup=False)
        elif event["type"] == "command_executed":
            note = f": {data['note']}" if data.get("note") else ""
            self.notify(f"{kind} {data.get('status')}{note}", timeout=2, markup=False)

    def _decide(self, stop: Json, **data: Any) -> None:
        self._send("resume", {"stop": stop["stop"], "by": command_parser.BY, **data})

    def _ask(
        self,
        title: str,
        hint: str,
        text: str,
        check: Check,
        then: Callable[[str], None],
        is_long: bool = False,
    ) -> None:
        def answered(answer: str | None) -> None:
            if answer is not None:
                then(answer)

        self.push_screen(PromptDialog(title, hint, text, check, is_long), answered)

    def action_go_on(self) -> None:
        if self.stop is not None:
            self._decide(self.stop, action="continue")

    def action_step(self) -> None:
        stop = self.stop
        self._send(
            "step", {"by": command_parser.BY} | ({} if stop is None else {"stop": stop["stop"]})
        )

    def action_pause(self) -> None:
        self._send("pause", {})

    def action_edit(self) -> None:
        stop = self.stop
        if stop is None:
            return
        before = self.seen.input_of(stop)
        self._ask(
            f"edit the input of {stop.get('name')}",
            "It runs with this instead. What you leave out stays as it is.",
            json.dumps(before, indent=2, ensure_ascii=False, default=str),
            lambda text: command_parser.parse_command(f"edit {text}"),
            lambda text: self._decide(stop, action="modify", input=_changed(before, text)),
            is_long=True,
        )

    def action_fake(self) -> None:
        stop = self.stop
        if stop is None:
            return
        self._ask(
            f"the result of {stop.get('name')}",
            "JSON: it does not run, and this is what it gave.",
            '""',
            lambda text: command_parser.parse_json(text, "the result"),
            lambda text: self._decide(stop, action="skip", result=json.loads(text)),
            is_long=True,
        )

    def action_throw(self) -> None:
        stop = self.stop
        if stop is None:
            return
        self._ask(
            f"raise instead of {stop.get('name')}",
            "The name of an exception, and what it says.",
            "RuntimeError: ",
            command_parser.parse_exception,
            lambda text: self._decide(stop, **command_parser.parse_exception(text)),
        )

    def _cancellable(self) -> dict[str, str]:
        """Tools by their ids, the held one first."""
        stop = self.stop
        held = {str(stop["toolId"]): str(stop.get("name"))} if stop and stop.get("toolId") else {}
        return {**held, **self.seen.running}

    def action_cancel(self) -> None:
        tools = self._cancellable()
        if len(tools) == 1:
            self._send("cancel_tool", {"toolId": next(iter(tools)), "by": command_parser.BY})
            return
        self._ask(
            "cancel a tool",
            ", ".join(f"{tool_id} ({name})" for tool_id, name in tools.items()),
            next(iter(tools), ""),
            lambda text: command_parser.parse_command(f"cancel {text}"),
            lambda text: self._send(
                "cancel_tool", {"toolId": text.strip(), "by": command_parser.BY}
            ),
        )

    def action_inject(self) -> None:
        self._ask(
            "inject a message",
            "user, assistant or system, and the text.",
            "user: ",
            command_parser.parse_message,
            lambda text: self._send("inject_message", command_parser.parse_message(text)),
        )

    def action_set(self) -> None:
        self._ask(
            "set a variable",
            "KEY = JSON",
            "",
            command_parser.parse_variable,
            lambda text: self._send("set_variable", command_parser.parse_variable(text)),
        )

    def action_break(self) -> None:
        self._ask(
            "break",
            "tool NAME, model [NAME], iteration N, pattern REGEX, error [NAME], tokens N, "
            "condition X",
            "tool ",
            command_parser.parse_breakpoint,
            lambda text: self._send(
                "breakpoint", {"action": "add", **command_parser.parse_breakpoint(text)}
            ),
        )

    def action_clear(self) -> None:
        points = [f"{each}: {_point(point)}" for each, point in self.seen.breakpoints.items()]
        self._ask(
            "clear a breakpoint",
            "\n".join([*points, "ID, or all"]),
            next(reversed(self.seen.breakpoints), ""),
            lambda text: command_parser.parse_command(f"clear {text}"),
            lambda text: self._send(*command_parser.parse_command(f"clear {text}")),
        )

    def action_next(self) -> None:
        stops = list(self.seen.held)
        if stops and self._chosen in stops:
            self._chosen = stops[(stops.index(self._chosen) + 1) % len(stops)]
        self._draw()

    def action_filter(self) -> None:
        self._ask(
            "filter",
            "Types (tool_*, paused) or words, with commas; nothing shows all.",
            ",".join(self._filter),
            lambda text: None,
            self._filtered,
        )

    def _filtered(self, text: str) -> None:
        self._filter = [each.strip() for each in text.split(",") if each.strip()]
        log = self._stream
        log.border_title = f"events: {', '.join(self._filter)}" if self._filter else "events"
        log.clear()
        for event in self._events:
            if self._is_wanted(event):
                log.write(format_event(event))

    async def action_quit(self) -> None:
        held = ", ".join(self.seen.held)
        if held and not self._is_gone:
            self.exit(f"{held} is still held: `holdfast agent resume` lets it go on.")
        else:
            self.exit("")


_ACTIONS = frozenset(action for _, _, action, _ in _KEYS)
_ALWAYS = ("filter", "quit")


def _changed(before: Any, text: str) -> Json:
    """Only what was edited: a secret is shown as redacted, and must not be sent back so."""
    after: Json = json.loads(text)
    if not isinstance(before, dict):
        return after
    return {
        name: each for name, each in after.items() if name not in before or before[name] != each
    }


def _point(point: Json) -> str:
    main = next((point[n] for n in ("name", "count", "regex", "condition") if point.get(n)), "")
    return f"{point.get('on')} {main}".rstrip()
