"""A small blocking DAP client over a process's stdin and stdout, as lean as DAP allows."""

from __future__ import annotations

import subprocess
import threading
from typing import Any

import orjson

Message = dict[str, Any]
_SECONDS_OF_A_LIFE = 120


class Dap:
    """Requests out; answers and events in the order in which they come."""

    def __init__(self, argv: list[str]) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to, self._from = self.process.stdin, self.process.stdout
        self._number = 0
        # Reading waits for ever; an adapter that falls silent is ended, which ends the reading.
        self._patience = threading.Timer(_SECONDS_OF_A_LIFE, self.process.kill)
        self._patience.start()
        self._early: list[Message] = []

    def send(self, command: str, arguments: Message | None = None) -> int:
        self._number += 1
        message: Message = {"seq": self._number, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        body = orjson.dumps(message)
        self._to.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._to.flush()
        return self._number

    def request(self, command: str, arguments: Message | None = None) -> Message:
        return self.answer(self.send(command, arguments))

    def answer(self, number: int) -> Message:
        """The body of the answer to the request with this number."""
        while True:
            message = self._receive()
            if message["type"] == "response" and message["request_seq"] == number:
                if not message["success"]:
                    raise RuntimeError(f"{message['command']}: {message.get('message')}")
                body: Message = message.get("body") or {}
                return body
            self._early.append(message)

    def event(self, name: str) -> Message:
        """The next event of this name: one that came during a request, or a new one."""
        early, self._early = self._early, []
        for message in early:
            if message.get("event") == name:
                return message.get("body") or {}
        while True:
            message = self._receive()
            if message.get("event") == name:
                return message.get("body") or {}

    def _receive(self) -> Message:
        length = 0
        while line := self._from.readline().strip():
            length = int(line.split(b":")[1])
        if not length:
            raise EOFError("the adapter ended")
        message: Message = orjson.loads(self._from.read(length))
        return message

    def close(self) -> None:
        self._patience.cancel()
        self._to.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._from.close()
