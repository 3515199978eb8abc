"""Batches of calls: what is written is read, and everything else is refused."""

from __future__ import annotations

import hashlib
import json
import pickle
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidInput
from holdfast.model.call_batch import CallOutline, plain_value_bytes
from holdfast.wire import batch_format
from holdfast.wire.batch_parser import parse_batch

SITE = json.dumps({"name": "add", "call_type": "proxy", "frames": []}).encode()


def call(
    *values: bytes | str,
    args: int = 0,
    flags: int = batch_format.HAS_TARGET | batch_format.HAS_OUTCOME,
    more: Any = None,
    site: int = 1,
    number: int = 1_768_298_400_123_456_100,
) -> bytes:
    """A call; bytes are values with their bytes, text is a content id."""
    sizes = [batch_format.CID_LENGTH if isinstance(each, str) else len(each) for each in values]
    data = b"".join(bytes.fromhex(each) if isinstance(each, str) else each for each in values)
    if more is not None:
        flags |= batch_format.HAS_MORE
        data += json.dumps(more).encode()
    body = batch_format.BODY.pack(flags, len(values), args) + batch_format.build_lengths(
        len(values)
    ).pack(*sizes)
    size = batch_format.CALL.size + len(body) + len(data)
    return batch_format.CALL.pack(size, site, number, 1500, 0) + body + data


def batch(*calls: bytes, sites: dict[int, bytes] | None = None) -> bytes:
    known = {1: SITE} if sites is None else sites
    head = batch_format.encode_head(0x1A2B3C4D, 7, len(known), 1, len(calls))
    written = [batch_format.encode_site(number, text) for number, text in known.items()]
    return b"".join([head, *written, batch_format.encode_content(b"large", b"{}"), *calls])


TARGET, ONE, TWO = (pickle.dumps(each) for each in ("target", 1, 2))
LARGE = hashlib.sha256(b"large").hexdigest()
WHOLE = batch(
    call(TARGET, ONE, TWO, args=1),
    call(TARGET, ONE, LARGE, TWO, args=1, more={"k": ["b"], "ta": "Task-1"}),
    call(TARGET, ONE, TWO, LARGE, args=1, more={"ch": [["args", "0"]]}),
)


def plain_batch(
    *calls: tuple[Any, ...],
    sizes: list[int] | None = None,
    site: int = 1,
    place: int = 0,
    number: int = 1_768_298_400_123_456_100,
    text: bytes | None = None,
) -> bytes:
    """Plain calls, each its arguments and its result."""
    args, results = [each[:-1] for each in calls], [each[-1] for each in calls]
    count = len(calls)
    values = batch_format.encode_values(args, results)
    return b"".join(
        [
            batch_format.encode_head(0x1A2B3C4D, 7, 1, 0, 0, 1, count),
            batch_format.encode_site(1, SITE),
            batch_format.encode_target(len(TARGET), TARGET),
            batch_format.encode_column("q", [number + each for each in range(count)]),
            batch_format.encode_column("q", [1500] * count),
            batch_format.encode_column("q", [0] * count),
            batch_format.encode_column("I", [site] * count),
            batch_format.encode_column("I", [place] * count),
            batch_format.encode_column("I", sizes or [len(each) for each in args]),
            values if text is None else batch_format.LENGTH.pack(len(text)) + text,
        ]
    )


def test_what_is_written_is_read() -> None:
    batch = parse_batch(WHOLE)

    assert (batch.session_id, batch.sequence, batch.sites) == ("calls_1a2b3c4d", 7, {1: SITE})
    assert batch.contents == [(b"large", b"{}")]
    assert batch.needed == {LARGE}
    assert [len(call.values) for call in batch.calls] == [3, 4, 4]
    assert {call.duration_ns for call in batch.calls} == {1500}
    assert len(batch) == 3


def test_an_outline_says_which_value_is_which() -> None:
    usual, named, changing = parse_batch(WHOLE).calls

    assert usual.outline == CallOutline(argument_count=1)
    assert usual.values == (TARGET, ONE, TWO)
    assert named.outline == CallOutline(argument_count=1, keywords=("b",), task="Task-1")
    assert named.values == (TARGET, ONE, LARGE, TWO)
    assert changing.outline == CallOutline(argument_count=1, changed=(("args", "0"),))
    assert changing.values == (TARGET, ONE, TWO, LARGE)


# What pickle tells apart, and JSON, or a dict, could take for the same.
plain_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 3),
    st.floats(allow_nan=False) | st.just(float("nan")),  # JSON has no payloads of NaNs
    st.sampled_from([0.0, -0.0, 1.0, float("inf"), 10**40, -(10**19), "\ud800", "],[", "NaN"]),
    st.text(max_size=20),
)


@given(st.lists(st.lists(plain_values, min_size=1, max_size=5).map(tuple), min_size=1))
def test_plain_values_come_through_unchanged(calls: list[tuple[Any, ...]]) -> None:
    plain = parse_batch(plain_batch(*calls)).plain

    arguments = iter(plain.arguments)
    for given_call, count, result in zip(calls, plain.argument_counts, plain.results, strict=True):
        values = [*islice(arguments, count), result]
        assert list(map(plain_value_bytes, values)) == list(map(plain_value_bytes, given_call))
    assert list(arguments) == []
    assert plain.target_values == [TARGET]


@pytest.mark.parametrize(
    "wrong",
    [
        plain_batch((1, 2), site=2),
        plain_batch((1, 2), place=1),
        plain_batch((1, 2), number=0),
        plain_batch((1, 2), sizes=[2]),
        plain_batch((1, 2), text=b"[[1],[2,3]]"),
        plain_batch((1, 2), text=b"[[1]]"),
        plain_batch((1, 2), text=b"{}"),
        plain_batch((1, 2), text=b"[[[1]],[2]]"),
        plain_batch((1, 2), text=b'[[{"a": 1}],[2]]'),
        plain_batch((1, 2), text=b"[[1],[2]"),
        plain_batch((1, 2), text=b"[" * 100_000),
        plain_batch((1, 2))[:-1],
        plain_batch((1, 2)) + b"x",
    ],
)
def test_plain_calls_that_are_none_are_refused(wrong: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_batch(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"HFB0" + WHOLE[4:],
        WHOLE + b"x",
        batch(call(TARGET, ONE, site=2)),
        batch(call(TARGET, ONE, number=-1)),
        batch(call(TARGET, ONE, args=5)),
        batch(call(TARGET, ONE, TWO)),
        batch(call(TARGET, ONE, flags=0x80)),
        batch(call(TARGET, ONE, TWO, args=1, more=[])),
        batch(call(TARGET, ONE, TWO, args=1, more={"k": ["b"]})),
        batch(call(TARGET, ONE, TWO, TWO, args=1, more={"k": [5]})),
        batch(call(TARGET, ONE, TWO, TWO, args=1, more={"ch": [["args"]]})),
        batch(call(TARGET, ONE, TWO, args=1, more={"ta": 5})),
    ],
)  # fmt: skip
def test_what_is_no_batch_is_refused(wrong: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_batch(wrong)


@given(st.integers(0, len(WHOLE) - 1))
def test_one_that_breaks_off_is_refused(end: int) -> None:
    with pytest.raises(InvalidInput):
        parse_batch(WHOLE[:end])


@given(st.binary(max_size=300))
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_batch(data)


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=8))
def test_damage_is_refused_or_gives_calls_whose_values_have_places(at: int, damage: bytes) -> None:
    try:
        batch = parse_batch(WHOLE[:at] + damage + WHOLE[at + len(damage) :])
    except InvalidInput:
        return
    for _site, _number, _duration, _parent, _raised, outline, values in batch.calls:
        named = len(outline.keywords) + len(outline.changed)
        places = outline.has_target + outline.argument_count + named + outline.has_outcome
        assert len(values) == places
