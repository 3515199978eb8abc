"""A small editor: a client of the debug adapter that checks every message in both directions."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

from dap_schema import check_message
from harness import Program
from holdfast.wire import dap

Message = dict[str, Any]
_SECONDS = 60.0


class Refusal(Exception):
    """A request that was answered with an error."""

    def __init__(self, answer: Message) -> None:
        super().__init__(answer["message"])
        self.answer = answer
        self.error = answer["body"]["error"]


class Editor:
    """`send` and `receive` are one end of a connection: of a socket, or of a process's pipes."""

    def __init__(
        self,
        send: Callable[[bytes], object],
        receive: Callable[[], bytes],
        close: Callable[[], None],
        *,
        is_checked: bool = True,
    ) -> None:
        self._send, self._receive, self._close = send, receive, close
        self._is_checked = is_checked
        self._seq = 0
        self._changed = threading.Condition()
        self.messages: list[Message] = []
        self.problem: BaseException | None = None
        self.is_closed = False
        self._taken: set[int] = set()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # -- the wire ---------------------------------------------------------------------------

    def _read(self) -> None:
        framer = dap.Framer()
        try:
            while data := self._receive():
                for message in framer.feed(data):
                    if self._is_checked:
                        check_message(message)
                    with self._changed:
                        self.messages.append(message)
                        self._changed.notify_all()
        except OSError:
            pass
        except BaseException as problem:
            self.problem = problem
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def post(self, command: str, **arguments: Any) -> int:
        """Send a request and do not wait for its answer; its number."""
        self._seq += 1
        message: Message = {"seq": self._seq, "type": "request", "command": command}
        if arguments or command in ("launch", "attach", "modules"):
            message["arguments"] = arguments
        if self._is_checked:
            check_message(message)
        self._send(dap.encode(message))
        return self._seq

    def send_raw(self, data: bytes) -> None:
        self._send(data)

    def wait_for(self, fits: Callable[[Message], bool], what: str) -> Message:
        """The first message that fits, of those that have come or will."""

        def find() -> Message | None:
            return next((message for message in self.messages if fits(message)), None)

        with self._changed:
            found = self._changed.wait_for(lambda: find() or self.is_closed, _SECONDS)
            if self.problem is not None:
                raise self.problem
            message = find()
        assert message is not None, f"{what} never came (closed: {found}): {self.messages[-5:]}"
        return message

    def answer(self, number: int) -> Any:
        """The body of the answer to a request."""
        message = self.wait_for(
            lambda each: each["type"] == "response" and each["request_seq"] == number,
            f"the answer to {number}",
        )
        if not message["success"]:
            raise Refusal(message)
        return message.get("body")

    def ask(self, command: str, **arguments: Any) -> Any:
        return self.answer(self.post(command, **arguments))

    def wait_event(self, name: str, **fields: Any) -> Any:
        """The body of the next event of this name (with these fields) that was not taken yet."""

        def fits(message: Message) -> bool:
            body = message.get("body") or {}
            return (
                message["type"] == "event"
                and message["event"] == name
                and message["seq"] not in self._taken
                and all(body.get(key) == value for key, value in fields.items())
            )

        message = self.wait_for(fits, f"the event {name} {fields}")
        self._taken.add(message["seq"])
        return message.get("body")

    def events(self, name: str) -> list[Any]:
        return [
            message.get("body")
            for message in self.messages
            if message["type"] == "event" and message["event"] == name
        ]

    def output(self, category: str = "stdout") -> str:
        return "".join(
            body["output"] for body in self.events("output") if body["category"] == category
        )

    def wait_output(self, text: str, category: str = "stdout") -> None:
        self.wait_for(lambda _message: text in self.output(category), f"the output {text!r}")

    def wait_closed(self) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.is_closed, _SECONDS)
        if self.problem is not None:
            raise self.problem

    def close(self) -> None:
        self._close()
        self._reader.join(_SECONDS)
        if self.problem is not None:
            raise self.problem

    # -- what nearly every test does --------------------------------------------------------

    def initialize(self, **more: Any) -> Any:
        return self.ask(
            "initialize",
            **{
                "clientID": "tests",
                "adapterID": "holdfast",
                "pathFormat": "path",
                "linesStartAt1": True,
                "columnsStartAt1": True,
                "supportsVariablePaging": True,
                "supportsInvalidatedEvent": True,
                **more,
            },
        )

    def configure(
        self,
        lines: dict[str, list[Any]] | None = None,
        filters: list[str] | None = None,
    ) -> list[Any]:
        """Send breakpoints and the end of the configuration; what was said of the breakpoints."""
        self.wait_event("initialized")
        said = []
        for path, wanted in (lines or {}).items():
            points = [point if isinstance(point, dict) else {"line": point} for point in wanted]
            said += self.set_lines(path, points)
        self.ask("setExceptionBreakpoints", filters=filters or [])
        self.ask("configurationDone")
        return said

    def set_lines(self, path: str, points: list[Any]) -> Any:
        points = [point if isinstance(point, dict) else {"line": point} for point in points]
        return self.ask("setBreakpoints", source={"path": path}, breakpoints=points)["breakpoints"]

    def launch(
        self,
        program: Program | str,
        lines: list[Any] | None = None,
        filters: list[str] | None = None,
        **options: Any,
    ) -> list[Any]:
        """Initialize, launch, set breakpoints in the program, and start it."""
        path = program.path if isinstance(program, Program) else program
        self.initialize()
        options = {"justMyCode": False, "console": "internalConsole", **options}
        self.ask("launch", program=path, **options)
        return self.configure({path: lines} if lines else None, filters)

    def attach(self, **options: Any) -> None:
        self.initialize()
        self.ask("attach", **options)
        self.configure()

    def wait_stop(self, reason: str | None = None) -> Any:
        stop = self.wait_event("stopped")
        assert reason is None or stop["reason"] == reason, stop
        return stop

    def stack(self, thread: int, **page: Any) -> list[Any]:
        frames: list[Any] = self.ask("stackTrace", threadId=thread, **page)["stackFrames"]
        return frames

    def locals(self, thread: int) -> dict[str, Any]:
        frame = self.stack(thread)[0]["id"]
        scope = self.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        return {each["name"]: each for each in self.variables(scope)}

    def variables(self, reference: int, **page: Any) -> list[Any]:
        shown: list[Any] = self.ask("variables", variablesReference=reference, **page)["variables"]
        return shown

    def disconnect(self, **options: Any) -> None:
        self.ask("disconnect", **options)
        self.wait_closed()


def connect(port: int, *, is_checked: bool = True) -> Editor:
    link = socket.create_connection(("127.0.0.1", port), timeout=_SECONDS)
    link.settimeout(None)

    def close() -> None:
        with contextlib.suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)
        link.close()

    return Editor(link.sendall, lambda: link.recv(65536), close, is_checked=is_checked)


def converse(process: subprocess.Popen[bytes]) -> Editor:
    """An editor that has started the adapter itself, and talks to it over its pipes."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None

    def send(data: bytes) -> None:
        stdin.write(data)
        stdin.flush()

    def close() -> None:
        with contextlib.suppress(OSError):
            stdin.close()

    return Editor(send, lambda: stdout.read1(65536), close)  # type: ignore[attr-defined]


@contextlib.contextmanager
def opened(port: int) -> Iterator[Editor]:
    editor = connect(port)
    try:
        yield editor
    finally:
        editor.close()
