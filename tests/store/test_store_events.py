"""Events: written without waiting, and still seen at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.model.records import EventRecord
from holdfast.store import Store, open_store
from holdfast.store.sqlite.write_queue import EventRow, WriteQueue


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path)
    yield store
    store.close()


def seqs(events: list[EventRecord]) -> list[int]:
    return [event.seq for event in events]


def row(seq: int, body: str = "{}") -> EventRow:
    return EventRow("s1", seq, 0.0, "output", body)


def test_an_event_is_read_back_as_it_was_written(store: Store) -> None:
    store.append_event("s1", 1, 12.5, "output", {"text": "hé\n"})
    expected = [EventRecord("s1", 1, 12.5, "output", {"text": "hé\n"})]
    assert store.events("s1") == expected
    store.flush()
    assert store.events("s1") == expected


def test_every_event_is_seen_right_after_it_is_appended(store: Store) -> None:
    for seq in range(1, 3001):
        store.append_event("s1", seq, 0.0, "output", {"n": seq})
        assert store.last_seq("s1") == seq
        assert seqs(store.events("s1", after=seq - 2)) == [seq - 1, seq][-min(seq, 2) :]
    assert seqs(store.events("s1", limit=5000)) == list(range(1, 3001))


def test_a_later_change_to_the_body_does_not_change_the_event(store: Store) -> None:
    body = {"n": 1}
    store.append_event("s1", 1, 0.0, "output", body)
    body["n"] = 2
    assert store.events("s1")[0].body == {"n": 1}


def test_events_can_be_paged_and_chosen_by_type(store: Store) -> None:
    for seq in range(1, 11):
        store.append_event("s1", seq, 0.0, "output" if seq % 2 else "hold", {})
    for _ in ("pending", "stored"):
        assert seqs(store.events("s1", after=3, limit=4)) == [4, 5, 6, 7]
        assert seqs(store.events("s1", after=3, types={"hold"})) == [4, 6, 8, 10]
        assert seqs(store.events("s1", limit=2, types=["hold", "output"])) == [1, 2]
        assert store.events("s1", types=[]) == []
        assert store.events("s1", limit=0) == []
        assert store.events("s1", after=10) == []
        assert store.events("s2") == []
        store.flush()


def test_a_seq_taken_twice_keeps_the_first_and_counts_the_second(store: Store) -> None:
    store.append_event("s1", 1, 0.0, "output", {"n": "first"})
    store.append_event("s1", 1, 0.0, "output", {"n": "second"})
    store.append_event("s1", 2, 0.0, "output", {"n": "third"})
    store.flush()
    assert [event.body["n"] for event in store.events("s1")] == ["first", "third"]
    assert store.dropped_events == 1
    assert [warning["code"] for warning in store.warnings] == ["STORE_EVENT_REFUSED"]


def test_an_event_that_is_not_json_is_counted_and_told(store: Store) -> None:
    store.append_event("s1", 1, 0.0, "output", {"x": object()})
    assert store.dropped_events == 1
    assert store.warnings[0]["details"] == {"session_id": "s1", "seq": 1, "type": "output"}


def test_events_appended_before_closing_are_there_after_reopening(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for seq in range(1, 5001):
        store.append_event("s1", seq, 0.0, "output", {})
    store.close()
    store = open_store(tmp_path)
    assert store.last_seq("s1") == 5000
    assert len(store.events("s1", limit=10_000)) == 5000
    store.close()


def test_many_readers_see_whole_prefixes_while_events_are_written(store: Store) -> None:
    done = threading.Event()

    def read() -> int:
        rounds, seen = 0, 0
        while not done.is_set() or rounds == 0:
            rounds += 1
            found = seqs(store.events("s1", limit=100_000))
            assert found == list(range(1, len(found) + 1))
            assert len(found) >= seen
            seen = len(found)
        return rounds

    with ThreadPoolExecutor(6) as pool:
        readers = [pool.submit(read) for _ in range(6)]
        for seq in range(1, 2001):
            store.append_event("s1", seq, 0.0, "output", {})
        done.set()
        assert all(reader.result() > 0 for reader in readers)
    assert len(store.events("s1", limit=100_000)) == 2000


def test_writers_on_many_threads_lose_nothing(store: Store) -> None:
    def write(name: str) -> None:
        for seq in range(1, 301):
            store.append_event(name, seq, 0.0, "output", {})
        store.put_setting(name, True).result()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))
    assert store.settings() == dict.fromkeys("abcd", True)
    assert [store.last_seq(name) for name in "abcd"] == [300] * 4


def test_appending_waits_for_room_in_a_full_queue() -> None:
    queue = WriteQueue(max_events=3)
    appender = threading.Thread(target=lambda: [queue.put_event(row(n)) for n in range(50)])
    appender.start()
    taken: list[EventRow] = []
    while len(taken) < 50:
        for item in queue.take(1) or ():
            assert isinstance(item, EventRow)
            assert len(queue.pending("s1")) <= 3
            taken.append(item)
            queue.settle([item])
    appender.join()
    assert [item.seq for item in taken] == list(range(50))
    assert queue.pending("s1") == []


def test_a_queue_is_also_full_by_size() -> None:
    queue = WriteQueue(max_bytes=10)
    queue.put_event(row(1, "x" * 20))
    blocked = threading.Thread(target=queue.put_event, args=(row(2),))
    blocked.start()
    first = queue.take(10)
    assert first == [row(1, "x" * 20)]
    queue.settle([item for item in first if isinstance(item, EventRow)])
    blocked.join()
    assert queue.take(10) == [row(2)]


def test_closing_a_full_queue_lets_the_waiting_go() -> None:
    queue = WriteQueue(max_events=1)
    queue.put_event(row(1))
    answers: list[bool] = []
    blocked = threading.Thread(target=lambda: answers.append(queue.put_event(row(2))))
    blocked.start()
    queue.close()
    blocked.join()
    assert answers == [False]


def test_taken_events_are_pending_until_settled() -> None:
    queue = WriteQueue()
    queue.put_event(row(1))
    queue.take(10)
    assert queue.pending("s1") == [row(1)]
    assert queue.last_pending_seq("s1") == 1
