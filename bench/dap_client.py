"""A small blocking DAP client over the stdin and stdout of an adapter."""

from __future__ import annotations

import subprocess
import threading
from typing import Any

import orjson

Message = dict[str, Any]
_MAX_SECONDS = 120


class DapClient:
    """Sends requests, and reads answers and events in the order in which they arrive."""

    def __init__(self, argv: list[str]) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        self._seq = 0
        # A read has no timeout. Killing an adapter that does not answer ends the read.
        self._watchdog = threading.Timer(_MAX_SECONDS, self.process.kill)
        self._watchdog.start()
        self._unread: list[Message] = []

    def send(self, command: str, arguments: Message | None = None) -> int:
        self._seq += 1
        message: Message = {"seq": self._seq, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        body = orjson.dumps(message)
        self._stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._stdin.flush()
        return self._seq

    def request(self, command: str, arguments: Message | None = None) -> Message:
        return self.read_answer(self.send(command, arguments))

    def read_answer(self, number: int) -> Message:
        """Return the body of the answer to the request with this number."""
        while True:
            message = self._receive()
            if message["type"] == "response" and message["request_seq"] == number:
                if not message["success"]:
                    raise RuntimeError(f"{message['command']}: {message.get('message')}")
                body: Message = message.get("body") or {}
                return body
            self._unread.append(message)

    def read_event(self, name: str) -> Message:
        """Return the next event of this name, which may have arrived during a request."""
        unread, self._unread = self._unread, []
        for message in unread:
            if message.get("event") == name:
                return message.get("body") or {}
        while True:
            message = self._receive()
            if message.get("event") == name:
                return message.get("body") or {}

    def _receive(self) -> Message:
        length = 0
        while line := self._stdout.readline().strip():
            length = int(line.split(b":")[1])
        if not length:
            raise EOFError("the adapter ended")
        message: Message = orjson.loads(self._stdout.read(length))
        return message

    def close(self) -> None:
        self._watchdog.cancel()
        self._stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._stdout.close()
