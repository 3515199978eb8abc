"""The files of an agent session: nothing torn, nothing lost, nobody in anybody's way."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from holdfast.model.agent_commands import Command
from holdfast.recording import command_sender, liveness, retention, session_index, wakeup_fifo
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.recording.event_writer import EventWriter
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines as wire


@pytest.fixture
def agents(tmp_path: Path) -> AgentsDirectory:
    return AgentsDirectory(tmp_path / "agents")


@pytest.fixture
def home(agents: AgentsDirectory) -> SessionDirectory:
    return agents.create_session()


def journal(home: SessionDirectory) -> EventWriter:
    return EventWriter(home.events, home.id, home.agents.server_bell)


# -- where things are ----------------------------------------------------------------------------


def test_every_session_has_a_directory_of_its_own(agents: AgentsDirectory) -> None:
    homes = [agents.create_session(0.0) for _ in range(50)]
    assert len({home.id for home in homes}) == 50
    assert all(home.id.startswith("debug_") and home.path.is_dir() for home in homes)
    assert stat.S_IMODE(homes[0].path.stat().st_mode) == 0o700
    assert stat.S_IMODE(agents.root.stat().st_mode) == 0o700


def test_current_is_the_latest_and_never_missing(agents: AgentsDirectory) -> None:
    homes = [agents.create_session() for _ in range(2)]
    agents.set_current(homes[0])
    done = threading.Event()
    missed: list[str] = []

    def look() -> None:
        while not done.is_set():
            found = agents.current_session()
            if found is None or found.id not in {home.id for home in homes}:
                missed.append(str(found))

    looking = threading.Thread(target=look)
    looking.start()
    for number in range(300):
        agents.set_current(homes[number % 2])
    done.set()
    looking.join()
    assert missed == []
    assert agents.current.resolve() == homes[1].path.resolve()


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "x" * 200])
def test_an_id_cannot_lead_out_of_the_directory(agents: AgentsDirectory, name: str) -> None:
    with pytest.raises(ValueError, match="not the id"):
        agents.home(name)


# -- events --------------------------------------------------------------------------------------


def test_events_are_numbered_lines_of_json(home: SessionDirectory) -> None:
    written = journal(home)
    assert [written.append("error", f'{{"n":{number}}}') for number in range(3)] == [1, 2, 3]
    written.close()

    events = [json.loads(line) for line in home.events.read_text().splitlines()]
    assert [(event["seq"], event["type"], event["data"]) for event in events] == [
        (number + 1, "error", {"n": number}) for number in range(3)
    ]
    assert stat.S_IMODE(home.events.stat().st_mode) == 0o600
    assert wire.parse_timestamp(events[0]["timestamp"]) == pytest.approx(time.time(), abs=60)


@pytest.mark.parametrize("torn", [b'{"seq":9,"type":"err', b"{", b"\xff\xfe", b"x" * 200_000])
def test_a_half_line_at_the_end_is_put_aside_when_it_is_reopened(
    home: SessionDirectory, torn: bytes
) -> None:
    first = journal(home)
    first.append("error", "{}")
    first.append("error", json.dumps({"long": "y" * 100_000}))
    first.close()
    with open(home.events, "ab") as file:
        file.write(torn)

    again = journal(home)
    assert again.last_seq == 2
    assert again.append("error", "{}") == 3
    again.close()
    events = [wire.parse_event(line) for _, line in Tail(home.events).lines()]
    assert [event["seq"] for event in events if event] == [1, 2, 3]
    assert Path(f"{home.events}.torn").read_bytes() == torn + b"\n"


def test_events_that_cannot_be_written_are_counted_and_the_next_one_says_so(
    home: SessionDirectory,
) -> None:
    written = journal(home)
    written.append("error", "{}")
    handle, written._handle = written._handle, os.open(os.devnull, os.O_RDONLY)
    assert written.append("error", "{}") is None
    assert written.append("error", "{}") is None
    os.close(written._handle)
    written._handle = handle

    assert written.append("error", "{}") == 3
    events = [wire.parse_event(line) for _, line in Tail(home.events).lines()]
    assert [(event["type"], event["data"]) for event in events if event] == [
        *(("error", {}), ("events_lost", {"count": 2}), ("error", {}))
    ]


def test_a_full_disk_leaves_no_half_line(home: SessionDirectory) -> None:
    """What a full disk does, the limit on a file's size does as well."""
    program = """
import resource, signal, sys
from pathlib import Path
from holdfast.recording.event_writer import EventWriter
from holdfast.recording.directories import SessionDirectory
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
home = SessionDirectory(Path(sys.argv[1]))
journal = EventWriter(home.events, home.id, home.agents.server_bell)
written = [journal.append("error", '{"text":"%s"}' % ("x" * 100)) for _ in range(10)]
print(written.count(None), journal.lost)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(home.path)], capture_output=True, text=True, check=True
    )
    lines = home.events.read_bytes().splitlines(keepends=True)
    assert all(wire.parse_event(line) is not None and line.endswith(b"\n") for line in lines)
    assert done.stdout.split() == [str(10 - len(lines))] * 2


# -- reading -------------------------------------------------------------------------------------


def test_a_reader_gets_whole_lines_and_each_once(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    tail = Tail(path)
    assert tail.lines() == []
    with open(path, "ab", buffering=0) as file:
        file.write(b"one\ntw")
        assert tail.lines() == [(0, b"one")]
        assert tail.lines() == []
        file.write(b"o\n\nthree\n")
        assert tail.lines() == [(4, b"two"), (8, b""), (9, b"three")]
    assert not tail.has_more()


def test_a_line_may_be_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x" * (20 << 20) + b"\nshort\n")
    tail = Tail(path)
    assert [(place, len(line)) for place, line in tail.lines()] == [(0, 20 << 20)]
    assert tail.lines() == [((20 << 20) + 1, b"short")]


def test_a_line_that_is_too_long_is_skipped_and_named(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    tail = Tail(path, most=10, max_line=25)
    with open(path, "ab", buffering=0) as file:
        file.write(b"one\n" + b"x" * 24)
        assert tail.lines() == [(0, b"one")]
        assert tail.lines() == []
        file.write(b"x" * 20)
        assert tail.lines() == []
        assert tail.too_long == [4]
        assert tail.offset == 4 + 44  # nothing of it is read again
        assert not tail.has_more()
        file.write(b"x\n" + b"y" * 25 + b"\nthree\n")
        assert list(tail.all()) == [(50, b"y" * 25), (76, b"three")]
    assert tail.too_long == [4]
    path.write_bytes(b"new\n")
    assert tail.lines() == [(0, b"new")]


def test_a_file_without_an_end_of_line_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    with open(path, "wb") as file:
        file.truncate(300 << 20)
    tracemalloc.start()
    try:
        assert list(Tail(path).all()) == []
        assert tracemalloc.get_traced_memory()[1] < 128 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["fifo", "device", "link", "directory"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    home = AgentsDirectory(tmp_path).create_session()
    for path in (home.events, home.commands, home.about, home.lock, home.agents.index):
        match kind:
            case "fifo":
                os.mkfifo(path)
            case "device":
                path.symlink_to("/dev/zero")
            case "link":
                (tmp_path / path.name).with_suffix(".real").write_bytes(b"{}\n")
                path.symlink_to((tmp_path / path.name).with_suffix(".real"))
            case _:
                path.mkdir()
    assert Tail(home.events).lines() == []
    assert home.read_metadata() == {}
    assert session_index.list_active(home.agents) == []
    assert not liveness.is_alive(home)
    with pytest.raises(OSError, match=r".*"):
        command_sender.send_command(home, "pause", {})
    with pytest.raises(OSError, match=r".*"):
        EventWriter(home.events, home.id, home.agents.server_bell)
    with pytest.raises(OSError, match=r".*"):
        liveness.acquire(home.lock)


def test_neither_an_event_nor_a_command_is_longer_than_readers_take(
    home: SessionDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MAX_LINE_BYTES", 300)
    with pytest.raises(OSError, match="too long"):
        command_sender.send_command(home, "inject_message", {"content": "x" * 300})
    writer = EventWriter(home.events, home.id, home.agents.server_bell)
    assert writer.append("error", wire.encode_json({"message": "x" * 300})) is None
    assert writer.append("error", "{}") == 2
    writer.close()
    events = [wire.parse_event(line) for _, line in Tail(home.events).all()]
    assert [event and event["type"] for event in events] == ["events_lost", "error"]


def test_events_that_come_together_are_one_write_all_or_none(
    home: SessionDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, told, sizes, room = journal(home), list[tuple[int, str]](), list[int](), [60, 10_000]
    writer.listen(lambda seq, kind, moment, data: told.append((seq, kind)))
    write = os.write

    def write_a_part(handle: int, data: bytes) -> int:
        sizes.append(len(data))
        return write(handle, data[: room[0]])

    pair = (("tool_result", "{}"), ("tool_call_end", '{"a":1}'))
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write_a_part)
        assert writer.append_all(pair) is None
        assert writer.lost == 2
        assert home.events.read_bytes() == b""
        del room[0]
        assert writer.append_all(pair) == 3
    assert len(sizes) == 2
    writer.close()
    events = [json.loads(line) for line in home.events.read_text().splitlines()]
    kinds = ["events_lost", "tool_result", "tool_call_end"]
    assert [(event["seq"], event["type"]) for event in events] == list(enumerate(kinds, 1)) == told
    assert [event["data"] for event in events] == [{"count": 2}, {}, {"a": 1}]


def test_numbers_go_on_after_a_line_that_is_too_long(
    home: SessionDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = wire.encode_event(41, "error", 1.0, home.id, "{}")
    home.events.write_bytes(line + b"x" * 1_000_000 + b"\n" + b"half" * 100_000)
    monkeypatch.setattr(wire, "MAX_LINE_BYTES", 200_000)
    writer = EventWriter(home.events, home.id, home.agents.server_bell)
    writer.close()
    assert writer.last_seq == 41


def test_a_file_that_was_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(path)
    assert len(tail.lines()) == 2
    (tmp_path / "new").write_bytes(b"three\n")
    (tmp_path / "new").rename(path)
    assert tail.lines() == [(0, b"three")]


def test_several_writers_of_commands_lose_nothing(home: SessionDirectory) -> None:
    program = """
import sys
from pathlib import Path
from holdfast.recording import command_sender
from holdfast.recording.directories import SessionDirectory
for number in range(200):
    home, data = SessionDirectory(Path(sys.argv[1])), {"content": "x" * 500}
    command_sender.send_command(home, "inject_message", data, f"{sys.argv[2]}-{number}")
"""
    command = [sys.executable, "-c", program, str(home.path)]
    writers = [subprocess.Popen([*command, str(number)]) for number in range(4)]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    tail, found = Tail(home.commands), []
    while lines := tail.lines():
        for place, line in lines:
            found += [
                each.id for each in wire.parse_commands(line, place) if isinstance(each, Command)
            ]
    assert len(set(found)) == len(found) == 800


def test_two_commands_on_one_line_are_two_commands() -> None:
    line = b'{"type":"pause","id":"a"}{"type":"resume"} nonsense'
    pause, resume, wrong = wire.parse_commands(line, 7)
    assert (pause.id, pause.type) == ("a", "pause")  # type: ignore[union-attr]
    assert resume.type == "resume"  # type: ignore[union-attr]
    assert resume.id.startswith("line-7-")  # type: ignore[union-attr]
    assert isinstance(wrong, wire.BadCommand)


# -- bodies --------------------------------------------------------------------------------------


def test_a_body_is_stored_once_and_is_what_it_was(home: SessionDirectory) -> None:
    contents = ContentFiles(home.contents)
    cid = contents.put(b"body")
    assert contents.put(b"body") == cid
    assert ContentFiles(home.contents).get(cid) == b"body"
    (home.contents / cid).write_bytes(b"other")
    with pytest.raises(KeyError):
        contents.get(cid)
    with pytest.raises(KeyError):
        contents.get("../session.json")


# -- who runs ------------------------------------------------------------------------------------

HOLDER = """
import os, sys
from pathlib import Path
from holdfast.recording import liveness, session_index
from holdfast.recording.directories import AgentsDirectory
agents = AgentsDirectory(Path(sys.argv[1]))
home = agents.create_session()
assert liveness.acquire(home.lock)
session_index.register(home, {"name": "held", "pid": os.getpid(), "startTime": "now", "cwd": "/"})
print(home.id, flush=True)
sys.stdin.read()
"""


def holder(
    agents: AgentsDirectory, program: str = HOLDER
) -> tuple[subprocess.Popen[str], SessionDirectory]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(agents.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, agents.home(process.stdout.readline().strip())


def wait_for_end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_an_agent_lives_as_long_as_it_holds_its_lock(agents: AgentsDirectory) -> None:
    process, home = holder(agents)
    assert liveness.is_alive(home)
    assert [each["id"] for each in session_index.list_active(agents)] == [home.id]
    wait_for_end(process)
    assert not liveness.is_alive(home)
    assert session_index.list_active(agents) == []


FORKING = """
import os, sys
from pathlib import Path
from holdfast.recording import liveness
from holdfast.recording.directories import AgentsDirectory
home = AgentsDirectory(Path(sys.argv[1])).create_session()
assert liveness.acquire(home.lock)
assert not liveness.acquire(home.lock), "nobody gets it twice"
if os.fork() == 0:
    os.read(0, 1)  # it outlives its parent
    print("the child ends", flush=True)
    os._exit(0)
assert liveness.is_alive(home)
print(home.id, flush=True)
sys.stdin.read()
"""


def test_a_forked_child_does_not_keep_it_alive(agents: AgentsDirectory) -> None:
    process, home = holder(agents, FORKING)
    assert liveness.is_alive(home)
    process.kill()
    process.wait()
    assert not liveness.is_alive(home)
    said, _ = process.communicate()  # which ends its input
    assert said == "the child ends\n"


def test_a_new_session_removes_dead_ones_from_the_index(agents: AgentsDirectory) -> None:
    process, gone = holder(agents)
    wait_for_end(process)
    assert gone.id in agents.index.read_text()
    process, home = holder(agents)
    assert [each["id"] for each in json.loads(agents.index.read_text())["sessions"]] == [home.id]
    assert gone.path.is_dir(), "its recording stays"
    wait_for_end(process)


def test_the_index_survives_many_starts_at_once(agents: AgentsDirectory) -> None:
    agents.create()
    several = [holder(agents) for _ in range(2)]
    homes = [agents.create_session() for _ in range(16)]

    def register(home: SessionDirectory) -> None:
        assert liveness.acquire(home.lock)
        for _ in range(5):
            session_index.register(home, {"name": home.id})

    threads = [threading.Thread(target=register, args=(home,)) for home in homes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = {home.id for home in homes} | {home.id for _, home in several}
    assert {each["id"] for each in session_index.list_active(agents)} == wanted
    session_index.unregister(homes[0])
    assert {each["id"] for each in session_index.list_active(agents)} == wanted - {homes[0].id}
    for process, _ in several:
        wait_for_end(process)
    for home in homes:
        liveness.release(home.lock)


@pytest.mark.parametrize("garbage", [b"", b"{", b"[]", b'{"sessions": 5}', b"\xff"])
def test_an_index_that_is_garbage_is_put_aside_and_made_anew(
    agents: AgentsDirectory, garbage: bytes
) -> None:
    process, home = holder(agents)
    agents.index.write_bytes(garbage)
    assert [each["id"] for each in session_index.list_active(agents)] == [home.id]
    other = agents.create_session()
    assert liveness.acquire(other.lock)
    session_index.register(other, {"name": "other"})
    assert {each["id"] for each in session_index.list_active(agents)} == {home.id, other.id}
    assert (agents.root / "index.json.corrupt").read_bytes() == garbage
    liveness.release(other.lock)
    wait_for_end(process)


def test_recordings_are_kept_for_a_while_and_no_running_one_goes(agents: AgentsDirectory) -> None:
    homes = [agents.create_session() for _ in range(5)]
    for number, home in enumerate(homes):
        home.events.write_text("")
        os.utime(home.events, (time.time() - number * 86400,) * 2)
    assert liveness.acquire(homes[4].lock)

    gone = retention.prune(agents, keep=3, days=1.5)
    assert sorted(gone) == sorted(home.id for home in homes[2:4])
    assert homes[4].path.is_dir()
    liveness.release(homes[4].lock)


# -- waking --------------------------------------------------------------------------------------


def test_a_fifo_wakes_its_reader_and_needs_none(tmp_path: Path) -> None:
    path = tmp_path / "bell"
    wakeup_fifo.ring(path)
    handle = wakeup_fifo.open_fifo(path)
    assert handle is not None
    wakeup_fifo.ring(path)
    wakeup_fifo.wait(handle, 600.0)  # no test waits for that long
    os.close(handle)


def test_a_full_wakeup_fifo_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "bell"
    handle = wakeup_fifo.open_fifo(path)
    rope = wakeup_fifo.Ringer(path)
    for _ in range(200_000):
        rope.ring()
    rope.close()
    assert handle is not None
    os.close(handle)


def test_an_answer_is_waited_for_as_long_as_the_agent_lives(agents: AgentsDirectory) -> None:
    process, home = holder(agents)
    tail = command_sender.tail_from_end(home)
    command = command_sender.send_command(home, "pause", {})
    written = journal(home)
    written.append("command_executed", json.dumps({"commandId": command, "status": "accepted"}))
    found = command_sender.collect_answers(tail, home, command, 60, lambda _event: True)
    assert [event["data"]["status"] for event in found] == ["accepted"]
    wait_for_end(process)
    assert command_sender.collect_answers(tail, home, "unknown", 60, lambda _event: True) == []
