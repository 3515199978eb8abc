"""Batches of calls: what is written is read, and everything else is refused."""

from __future__ import annotations

import hashlib
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidInput
from holdfast.wire import batches

SITE = json.dumps({"name": "add", "call_type": "proxy", "frames": []}).encode()


def call(
    *values: bytes | str,
    args: int = 0,
    flags: int = batches.HAS_TARGET | batches.HAS_OUTCOME,
    more: Any = None,
    site: int = 1,
    number: int = 1_768_298_400_123_456_100,
) -> bytes:
    """A call; bytes are values with their bytes, text is a content id."""
    sizes = [batches.CID_LENGTH if isinstance(each, str) else len(each) for each in values]
    data = b"".join(bytes.fromhex(each) if isinstance(each, str) else each for each in values)
    if more is not None:
        flags |= batches.HAS_MORE
        data += json.dumps(more).encode()
    body = batches.BODY.pack(flags, len(values), args) + batches.lengths(len(values)).pack(*sizes)
    size = batches.CALL.size + len(body) + len(data)
    return batches.CALL.pack(size, site, number, 1500, 0) + body + data


def batch(*calls: bytes, sites: dict[int, bytes] | None = None) -> bytes:
    known = {1: SITE} if sites is None else sites
    head = batches.head(0x1A2B3C4D, 7, len(known), 1, len(calls))
    written = [batches.site(number, text) for number, text in known.items()]
    return b"".join([head, *written, batches.content(b"large", b"{}"), *calls])


TARGET, ONE, TWO = (pickle.dumps(each) for each in ("target", 1, 2))
LARGE = hashlib.sha256(b"large").hexdigest()
WHOLE = batch(
    call(TARGET, ONE, TWO, args=1),
    call(TARGET, ONE, LARGE, TWO, args=1, more={"k": ["b"], "ta": "Task-1"}),
    call(TARGET, ONE, TWO, LARGE, args=1, more={"ch": [["args", "0"]]}),
)


def cid(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_what_is_written_is_read() -> None:
    found = batches.read(WHOLE)

    assert (found.session, found.sequence, found.sites) == (0x1A2B3C4D, 7, {1: SITE})
    assert found.contents == [(b"large", b"{}")]
    assert found.needed == {bytes.fromhex(LARGE)}
    assert [len(each.keys) for each in found.calls] == [3, 4, 4]
    assert {each.duration for each in found.calls} == {1500}


def test_a_body_tells_its_values_by_their_places() -> None:
    plain, named, changing = (batches.body_of(each.body) for each in batches.read(WHOLE).calls)

    assert (plain.target, plain.args, plain.outcome) == (cid(TARGET), (cid(ONE),), cid(TWO))
    assert plain.inline == {cid(each): each for each in (TARGET, ONE, TWO)}
    assert (named.kwargs, named.more["ta"]) == ({"b": LARGE}, "Task-1")
    assert LARGE not in named.inline
    assert changing.changed == {"args": {"0": LARGE}}


def test_keys_are_those_of_content_ids() -> None:
    found = batches.read(WHOLE).calls[1]

    expected = [
        int.from_bytes(bytes.fromhex(each)[:8], "big", signed=True)
        for each in (cid(TARGET), cid(ONE), LARGE, cid(TWO))
    ]
    assert found.keys == expected


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
        batches.read(wrong)


@given(st.integers(0, len(WHOLE) - 1))
def test_one_that_breaks_off_is_refused(end: int) -> None:
    with pytest.raises(InvalidInput):
        batches.read(WHOLE[:end])


@given(st.binary(max_size=300))
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        batches.read(data)


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=8))
def test_damage_is_refused_or_gives_calls_that_can_be_shown(at: int, damage: bytes) -> None:
    try:
        found = batches.read(WHOLE[:at] + damage + WHOLE[at + len(damage) :])
    except InvalidInput:
        return
    for each in found.calls:
        batches.body_of(each.body)
