"""DAP framing: `Content-Length: N`, an empty line, N bytes of JSON.

Bytes in, whole messages out; a message may come in any number of pieces.
"""

from __future__ import annotations

import json
from typing import Any, TypedDict

import orjson

Message = dict[str, Any]
Body = dict[str, Any]
"""The body of an event or a response, or the arguments of a request."""


class Response(TypedDict, total=False):
    """The answer to a request. `message` says why it was refused."""

    request_seq: int
    success: bool
    message: str
    body: Body


MAX_BODY = 256 * 1024 * 1024
_MAX_HEADER = 8 * 1024
_END_OF_LINE = b"\r\n"


class FramingError(ValueError):
    """The stream is not DAP (any more). `messages` are the whole ones that came before."""

    messages: tuple[Message, ...] = ()


def encode(message: Message) -> bytes:
    body = _dump(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Framer:
    """Cuts one stream into messages. After a FramingError the stream is lost: feed it no more.

    A strict one takes no other fields in a header than those of the protocol. What a web page makes
    a browser send begins with others.
    """

    def __init__(self, max_size: int = MAX_BODY, *, is_strict: bool = False) -> None:
        self._max_size = max_size
        self._is_strict = is_strict
        self._buffer = bytearray()
        self._at = 0  # where the part being read begins
        self._seen = 0  # up to where it was searched for the end of a line
        self._header_size = 0
        self._length: int | None = None  # what the header says so far
        self._in_body = False

    def feed(self, data: bytes) -> list[Message]:
        self._buffer += data
        messages: list[Message] = []
        try:
            while self._advance(messages):
                pass
        except FramingError as error:
            error.messages = tuple(messages)
            raise
        # Once a feed, not once a message, and cheap: a bytearray gives up its front in place.
        del self._buffer[: self._at]
        self._seen = max(self._seen - self._at, 0)
        self._at = 0
        return messages

    def _advance(self, messages: list[Message]) -> bool:
        """Read one header line or one body; False when more bytes are needed."""
        if not self._in_body:
            return self._read_line()
        body = self._take_body()
        if body is None:
            return False
        messages.append(body)
        return True

    def _read_line(self) -> bool:
        # One byte back: the line may have been cut between its CR and its LF.
        end = self._buffer.find(_END_OF_LINE, max(self._at, self._seen - 1))
        self._seen = len(self._buffer) if end < 0 else end
        if self._header_size + self._seen - self._at > _MAX_HEADER:
            raise FramingError(f"a header of more than {_MAX_HEADER} bytes")
        if end < 0:
            return False
        line = bytes(self._buffer[self._at : end])
        self._at = end + len(_END_OF_LINE)
        self._header_size += len(line)
        if line:
            self._read_field(line)
        else:
            self._end_header()
        return True

    def _read_field(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if not colon:
            raise FramingError(f"not a header line: {line[:80]!r}")
        field = name.strip().lower()
        if field != b"content-length":
            if self._is_strict and field != b"content-type":
                raise FramingError(f"not a field of the protocol: {line[:80]!r}")
            return
        digits = value.strip()
        # The bound on digits keeps `int` quick, and far above any length we take.
        if not digits.isdigit() or len(digits) > 20:
            raise FramingError(f"not a length: {line[:80]!r}")
        self._length = int(digits)

    def _end_header(self) -> None:
        if self._length is None:
            raise FramingError("a header without Content-Length")
        if self._length > self._max_size:
            raise FramingError(f"a body of {self._length} bytes; the limit is {self._max_size}")
        self._in_body = True

    def _take_body(self) -> Message | None:
        assert self._length is not None
        end = self._at + self._length
        if len(self._buffer) < end:
            return None
        with memoryview(self._buffer) as whole, whole[self._at : end] as body:
            message = _load(body)
        self._at = self._seen = end
        self._header_size, self._length, self._in_body = 0, None, False
        return message


def _dump(message: Message) -> bytes:
    try:
        return orjson.dumps(message)
    except TypeError:
        # Lone surrogates (file names that are not UTF-8) and integers past 64 bits.
        return json.dumps(message, separators=(",", ":")).encode("ascii")


def _load(body: memoryview) -> Message:
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        message = _load_leniently(bytes(body))
    if not isinstance(message, dict):
        raise FramingError(f"a body that is no JSON object: {bytes(body[:80])!r}")
    return message


def _load_leniently(body: bytes) -> Any:
    """pydevd writes with `json`: lone surrogates as escapes, and NaN. orjson refuses both."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise FramingError(f"a body that is not JSON: {problem}: {body[:80]!r}") from None
