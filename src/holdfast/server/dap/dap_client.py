"""One editor: its requests and their answers, and what it has been told so far."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections import deque
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from holdfast import errors
from holdfast.model.launch import Start
from holdfast.server.dap.dap_arguments import InitializeArguments
from holdfast.server.dap.dap_errors import build_error
from holdfast.server.dap.dap_numbers import Numbers
from holdfast.server.dap.dap_request_table import REQUESTS
from holdfast.server.dap.dap_requests import CAUSE, Order, RequestKind
from holdfast.server.dap.dap_values import ValueNames
from holdfast.service.session import Session
from holdfast.wire import dap

if TYPE_CHECKING:
    from holdfast.server.dap.dap_editors import Editors
    from holdfast.server.dap.dap_events import EventTeller

log = logging.getLogger(__name__)
_MAX_WAITING = 500
_MAX_HELD_EVENTS = 1000


class MessageSink(Protocol):
    """Where the messages to an editor go."""

    def send(self, message: dap.Message) -> None: ...
    def close(self) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Request:
    seq: int
    command: str
    arguments: object
    kind: RequestKind | None


class EditorClient:
    """Its requests are handled in the order in which they came, unless their kind says otherwise.

    `door_session` is the session of the door that it came through; None: of the lobby.
    """

    def __init__(self, editors: Editors, sink: MessageSink, door_session: Session | None) -> None:
        self.editors = editors
        self.door_session = door_session
        self.number = editors.take_number()
        self.owner = f"editor:{self.number}"
        """Who it is for the registry of breakpoints, and in decisions."""
        self.about: InitializeArguments | None = None
        self.session: Session | None = None
        self.start: Start | None = None
        """What is to be started once it has configured everything."""
        self.has_created = False
        """Whether the session was opened for it."""
        self.has_started = False
        """Whether it started the program, or attached to it."""
        self.is_configured = False
        self.is_leaving = False
        self.runs_only = False
        """Its breakpoints do not count, because it wants to run the program without debugging."""
        self.teller: EventTeller | None = None
        self.names = ValueNames()
        self.sources = Numbers[str]("source")
        self.places = Numbers[tuple[str, int]]("line to jump to")
        self._sink = sink
        self._seq = 0
        self._waiting: deque[_Request] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._held: list[dap.Message] | None = None
        self._is_slow = False
        self._omitted = 0

    @property
    def title(self) -> str:
        """What people are told who it is."""
        name = self.about.name if self.about else "unknown"
        return f"editor {self.number} ({name})"

    @property
    def joined(self) -> Session:
        if self.session is None:
            raise errors.EditorNotReady("no session has been joined yet")
        return self.session

    # -- messages come ----------------------------------------------------------------------

    def receive(self, message: dap.Message) -> None:
        if message.get("type") == "response":
            return  # to a request of ours, all of which are only offers
        seq, command = message.get("seq"), message.get("command")
        number = seq if isinstance(seq, int) else 0
        name = command if isinstance(command, str) else ""
        is_request = message.get("type") == "request" and number == seq
        kind = REQUESTS.get(name) if is_request else None
        request = _Request(number, name, message.get("arguments"), kind)
        if kind is not None and kind.order is Order.AT_ONCE:
            self.run(self._answer(request))
            return
        self._waiting.append(request)
        if len(self._waiting) > _MAX_WAITING:
            self._sink.pause_reading()
        if self._worker is None:
            self._worker = self.run(self._work())

    async def _work(self) -> None:
        while self._waiting:
            request = self._waiting.popleft()
            if len(self._waiting) == _MAX_WAITING // 2:
                self._sink.resume_reading()
            if request.kind is not None and request.kind.order is Order.BESIDE:
                self.run(self._answer(request))
            else:
                with self._holding_events():
                    await self._answer(request)
        self._worker = None

    @contextlib.contextmanager
    def _holding_events(self) -> Iterator[None]:
        """Send the events that a request causes after its answer."""
        self._held = []
        try:
            yield
        finally:
            self._release_events()

    def _release_events(self) -> None:
        held, self._held = self._held or [], None
        for message in held:
            self._send(message)

    async def _answer(self, request: _Request) -> None:
        CAUSE.set(self)
        try:
            body = await self._handle(request)
        except errors.HoldfastError as problem:
            self._refuse(request, problem)
        except Exception as problem:  # an unexpected error must not end the connection
            reference = secrets.token_hex(4)
            log.error("%s: %s", reference, request.command, exc_info=problem)
            failure = errors.HoldfastError(f"{request.command} failed ({reference})")
            self._refuse(request, failure)
        else:
            answer: dap.Message = {"success": True}
            if body is not None:
                answer["body"] = body
            self._respond(request, answer)
        if self.is_leaving and request.command == "disconnect":
            self._sink.close()

    async def _handle(self, request: _Request) -> dap.Body | None:
        kind = request.kind
        if kind is None:
            raise errors.UnsupportedRequest(
                f"{request.command or 'this message'} is not supported", command=request.command
            )
        if self.about is None and request.command != "initialize":
            raise errors.EditorNotReady("the first request has to be initialize")
        if kind.needs_session:
            self.joined.touch()
        return await kind.handle(self, kind.parse(request.arguments))

    # -- messages go ------------------------------------------------------------------------

    def _respond(self, request: _Request, answer: dap.Message) -> None:
        head = {"type": "response", "request_seq": request.seq, "command": request.command}
        self._send({**head, **answer})

    def _refuse(self, request: _Request, problem: errors.HoldfastError) -> None:
        is_shown = request.command in ("launch", "attach", "restart")
        error = build_error(problem, is_shown=is_shown)
        answer = {"success": False, "message": problem.message, "body": {"error": error}}
        self._respond(request, answer)

    def send_event(self, name: str, body: dap.Body | None = None) -> None:
        message: dap.Message = {"type": "event", "event": name}
        if body is not None:
            message["body"] = body
        if self._held is None:
            self._send(message)
            return
        self._held.append(message)
        if len(self._held) > _MAX_HELD_EVENTS:
            held, self._held = self._held, []
            for message in held:
                self._send(message)

    def send_output(self, category: str, text: str, **more: Any) -> None:
        """Show a text. While the editor does not read, only its size is kept."""
        if self._is_slow:
            self._omitted += len(text)
            return
        self.send_event("output", {"category": category, "output": text, **more})

    def send_request(self, command: str, arguments: dap.Body) -> None:
        """Offer the editor to do something."""
        self._send({"type": "request", "command": command, "arguments": arguments})

    def _send(self, message: dap.Message) -> None:
        self._seq += 1
        self._sink.send({"seq": self._seq, **message})

    def on_slow(self, is_slow: bool) -> None:
        self._is_slow = is_slow
        if not is_slow and self._omitted:
            omitted, self._omitted = self._omitted, 0
            self.send_output("console", f"({omitted} characters of output are left out here)\n")

    # -- tasks and the end ------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def on_lost(self) -> None:
        """The connection is gone, with or without a good-bye."""
        self._waiting.clear()  # what is being handled goes on
        self.editors.on_lost(self)

    def shut_down(self) -> None:
        """The server stops."""
        if self.teller is not None:
            self.teller.tell_end()
        self._sink.close()

    def close(self) -> None:
        self._sink.close()

    # -- what the editor counts from --------------------------------------------------------

    def to_line(self, line: int) -> int:
        """A line of ours, as the editor counts."""
        return line if self._get_about().lines_start_at1 else line - 1

    def from_line(self, line: int) -> int:
        return line if self._get_about().lines_start_at1 else line + 1

    def from_column(self, column: int) -> int:
        return column if self._get_about().columns_start_at1 else column + 1

    @property
    def first_column(self) -> int:
        return 1 if self._get_about().columns_start_at1 else 0

    def _get_about(self) -> InitializeArguments:
        assert self.about is not None
        return self.about

    @property
    def has_paging(self) -> bool:
        return self._get_about().supports_variable_paging
