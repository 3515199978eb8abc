from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.wire.dap import Framer, FramingError, Message, encode

HELLO: Message = {"seq": 1, "type": "request", "command": "initialize"}

# Lone surrogates and integers of any size included: both pass through pydevd.
TEXTS = st.text(st.characters(exclude_categories=()))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.dictionaries(TEXTS, VALUES, max_size=4)


def frame(body: bytes, header: bytes = b"Content-Length: %d\r\n\r\n") -> bytes:
    return header % len(body) + body


def test_a_message_is_framed_by_its_length_in_bytes() -> None:
    assert encode({"a": "é"}) == b'Content-Length: 10\r\n\r\n{"a":"\xc3\xa9"}'


def test_a_message_comes_back_as_it_was_sent() -> None:
    assert Framer().feed(encode(HELLO)) == [HELLO]


def test_a_message_may_come_byte_by_byte() -> None:
    framer = Framer()
    stream = encode(HELLO) + encode({"seq": 2})
    answers = [framer.feed(stream[at : at + 1]) for at in range(len(stream))]
    assert [message for answer in answers for message in answer] == [HELLO, {"seq": 2}]
    assert answers[len(encode(HELLO)) - 1] == [HELLO]


@settings(deadline=None)
@given(st.lists(MESSAGES, max_size=5), st.lists(st.integers(0, 60), max_size=30))
def test_any_messages_in_any_pieces_come_back(messages: list[Message], sizes: list[int]) -> None:
    stream = b"".join(encode(message) for message in messages)
    framer, received = Framer(), []
    for size in sizes:
        received += framer.feed(stream[:size])
        stream = stream[size:]
    received += framer.feed(stream)
    assert received == messages


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length :  %d \r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nX-Other: 1\r\n\r\n",
    ],
)
def test_headers_are_read_in_any_case_and_others_are_passed_over(header: bytes) -> None:
    assert Framer().feed(frame(b'{"seq":1}', header)) == [{"seq": 1}]


@pytest.mark.parametrize(
    "stream",
    [
        b"Traceback (most recent call last)\r\n",
        b"\r\n",
        b"Content-Type: x\r\n\r\n",
        b"Content-Length: ten\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: \r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"x" * 10_000,
        b"X-Other: 1\r\n" * 2000,
        frame(b""),
        frame(b"not json"),
        frame(b"[1]"),
        frame(b"null"),
        frame(b'{"a":'),
        frame(b'{"a": "\xff"}'),
        frame(b"[" * 100_000),
        frame(b'{"a":' * 100_000),
    ],
)
def test_a_stream_that_is_not_dap_is_refused(stream: bytes) -> None:
    with pytest.raises(FramingError):
        Framer().feed(stream)


def test_garbage_after_whole_messages_does_not_lose_them() -> None:
    with pytest.raises(FramingError) as caught:
        Framer().feed(encode(HELLO) + b"Fatal Python error\r\n")
    assert caught.value.messages == (HELLO,)


def test_a_body_over_the_limit_is_refused_before_it_is_read() -> None:
    framer = Framer(max_size=9)
    assert framer.feed(frame(b'{"seq":1}')) == [{"seq": 1}]
    with pytest.raises(FramingError, match="limit is 9"):
        framer.feed(b"Content-Length: 10\r\n\r\n")


def test_lone_surrogates_pass_as_pydevd_writes_them() -> None:
    body = json.dumps({"value": "\ud800", "n": float("inf")}).encode()
    assert Framer().feed(frame(body)) == [{"value": "\ud800", "n": float("inf")}]


def test_what_orjson_cannot_write_is_written_all_the_same() -> None:
    message = {"path": "caf\udce9.py", "big": 2**70}
    assert json.loads(encode(message).partition(b"\r\n\r\n")[2]) == message


def test_what_is_not_json_is_not_sent() -> None:
    with pytest.raises(TypeError):
        encode({"a": object()})


def test_a_large_body_in_small_pieces_takes_linear_time() -> None:
    message = {"text": "x" * 16_000_000}
    stream = memoryview(encode(message))
    framer, received = Framer(), []
    started = time.process_time()
    for at in range(0, len(stream), 512):
        received += framer.feed(bytes(stream[at : at + 512]))
    assert received == [message]
    # Copying the rest for every piece would move 250 GB; linear work takes a fraction of a second.
    assert time.process_time() - started < 5


def test_many_small_messages_at_once_take_linear_time() -> None:
    started = time.process_time()
    assert len(Framer().feed(encode(HELLO) * 100_000)) == 100_000
    assert time.process_time() - started < 5
