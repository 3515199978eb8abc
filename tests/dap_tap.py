"""A tap between an editor and the debug adapter, which checks every message in both directions."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

from dap_schema import check_message
from holdfast.wire import dap


class Tap:
    """Listens at `port`, and passes all that comes on to another one, and back."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.counts = {"editor": 0, "adapter": 0}
        self.problems: list[str] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                editor, _ = self._listener.accept()
                adapter = socket.create_connection(("127.0.0.1", self._target))
                for one, other, who in (
                    (editor, adapter, "editor"),
                    (adapter, editor, "adapter"),
                ):
                    threading.Thread(target=self._pass, args=(one, other, who), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, who: str) -> None:
        framer = dap.Framer()
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                for message in framer.feed(data):
                    self.counts[who] += 1
                    try:
                        check_message(message)
                    except AssertionError as problem:
                        self.problems.append(f"{who}: {problem}")
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.close()


@contextlib.contextmanager
def tapped(target: int) -> Iterator[Tap]:
    tap = Tap(target)
    try:
        yield tap
    finally:
        tap.close()
    assert not tap.problems, tap.problems
