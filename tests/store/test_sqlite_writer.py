"""The writer thread and its queue, on a real SQLite connection that misbehaves on purpose."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator

import pytest

from holdfast.store import StoreProblem
from holdfast.store.sqlite.write_queue import EventRow, WriteQueue
from holdfast.store.sqlite.writer_thread import WriterThread
from holdfast.store.store_warnings import StoreWarnings


@pytest.fixture
def connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE notes (text UNIQUE)")
    return connection


@pytest.fixture
def writer(connection: sqlite3.Connection) -> Iterator[WriterThread]:
    writer = WriterThread(connection, StoreWarnings())
    yield writer
    writer.close()


def note(connection: sqlite3.Connection, text: str) -> None:
    connection.execute("INSERT INTO notes VALUES (?)", (text,))


def create_events(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE events (session_id, seq, at, type, body)")


def notes(writer: WriterThread) -> list[str]:
    found: list[str] = []
    query = "SELECT text FROM notes ORDER BY text"
    writer.submit(lambda c: found.extend(text for (text,) in c.execute(query))).result()
    return found


def lose_the_transaction(connection: sqlite3.Connection) -> None:
    """What SQLite does by itself on some errors of the disk."""
    connection.execute("ROLLBACK")
    raise sqlite3.OperationalError("disk I/O error")


def test_a_lost_transaction_takes_no_neighbour_with_it(writer: WriterThread) -> None:
    before = writer.submit(lambda c: note(c, "before"))
    lost = writer.submit(lose_the_transaction)
    after = writer.submit(lambda c: note(c, "after"))
    before.result()
    with pytest.raises(StoreProblem, match="disk I/O error") as caught:
        lost.result()
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    after.result()
    assert notes(writer) == ["after", "before"]


def test_an_operation_that_fails_half_way_leaves_nothing(writer: WriterThread) -> None:
    def twice(connection: sqlite3.Connection) -> None:
        note(connection, "twice")
        note(connection, "twice")

    with pytest.raises(StoreProblem, match="UNIQUE"):
        writer.submit(twice).result()
    assert notes(writer) == []


def test_any_error_reaches_its_future_and_the_thread_goes_on(writer: WriterThread) -> None:
    with pytest.raises(StoreProblem, match="division"):
        writer.submit(lambda c: note(c, str(1 // 0))).result()
    writer.submit(lambda c: note(c, "still here")).result()
    assert notes(writer) == ["still here"]


def test_a_transaction_left_open_does_not_stop_the_next(writer: WriterThread) -> None:
    def meddle(connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")
        connection.execute("BEGIN")
        connection.execute("SAVEPOINT other")

    with pytest.raises(StoreProblem):
        writer.submit(meddle).result()
    writer.submit(lambda c: note(c, "next")).result()
    assert notes(writer) == ["next"]


def test_events_of_a_deleted_session_are_not_tried_again(writer: WriterThread) -> None:
    # There is no events table yet: these fail and are kept.
    writer.append(EventRow("s1", 1, 0.0, "output", "{}"))
    writer.append(EventRow("s2", 1, 0.0, "output", "{}"))
    with pytest.raises(StoreProblem, match="no such table"):
        writer.flush()
    writer.submit(lambda c: None, forgets="s1").result()
    assert writer.queue.list_pending("s1") == []

    writer.submit(create_events).result()
    writer.flush()
    found: list[tuple[str, int]] = []
    query = "SELECT session_id, seq FROM events"
    writer.submit(lambda c: found.extend(c.execute(query))).result()
    assert found == [("s2", 1)]
    assert writer.queue.list_pending("s2") == []
    assert writer.queue.dropped == 0


def test_kept_events_are_tried_again_without_being_asked(writer: WriterThread) -> None:
    writer.append(EventRow("s1", 1, 0.0, "output", "{}"))
    with pytest.raises(StoreProblem):
        writer.flush()
    writer.submit(create_events).result()
    with writer.queue._changed:
        assert writer.queue._changed.wait_for(lambda: not writer.queue._pending, timeout=60)


# -- the queue -----------------------------------------------------------------------------------


def row(seq: int, body: str = "{}") -> EventRow:
    return EventRow("s1", seq, 0.0, "output", body)


def test_appending_waits_for_room_in_a_full_queue() -> None:
    queue = WriteQueue(max_events=3)
    appender = threading.Thread(target=lambda: [queue.put_event(row(n)) for n in range(50)])
    appender.start()
    taken: list[EventRow] = []
    while len(taken) < 50:
        for item in queue.take(1) or ():
            assert isinstance(item, EventRow)
            assert len(queue.list_pending("s1")) <= 3
            taken.append(item)
            queue.settle([item])
    appender.join()
    assert [item.seq for item in taken] == list(range(50))
    assert queue.list_pending("s1") == []


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
    assert queue.list_pending("s1") == [row(1)]
    assert queue.last_pending_seq("s1") == 1
