"""Forks that change the conversation where they begin: by themselves, or held for somebody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_loops import SessionFiles
from background import run_in_thread
from holdfast.bridge import Bridge, ModelCall
from replayable_agent import CountingLoop, build_writes, format_edits, open_bridge, read_data

PATIENCE = 60.0
EDITED = [{"role": "user", "content": "something else"}]


def record_loop(directory: Path, count: int = 3) -> CountingLoop:
    with open_bridge(directory) as dbg:
        loop = CountingLoop(dbg, [build_writes(str(number)) for number in range(count)])
        loop()
    return loop


def rerun(loop: CountingLoop, of: str, **environment: str) -> CountingLoop:
    with open_bridge(loop.home.agents.root, REPLAY=of, **environment) as dbg:
        again = CountingLoop(dbg, loop.turns)
        again()
    return again


def test_a_fork_goes_on_with_other_messages(tmp_path: Path) -> None:
    loop = record_loop(tmp_path)
    again = rerun(loop, loop.home.id, FORK_AT="2", FORK_EDITS=format_edits(messages=EDITED))
    # The list of the loop itself has them: the model sees no earlier turn, and begins anew.
    assert again.messages[0] == EDITED[0]
    assert again.messages[1]["content"] == "turn 0"
    assert again.done == [("write", "0"), ("write", "1"), ("write", "2")]
    [edited] = read_data(again.home, "conversation_edited")
    assert edited == {"before": {"iteration": 3}, "messages": EDITED}
    [started] = read_data(again.home, "session_start")
    assert (started["parent"], started["edited"]) == (loop.home.id, True)
    assert again.home.read_metadata()["edited"] is True


def test_an_edited_fork_is_replayed_as_it_was(tmp_path: Path) -> None:
    loop = record_loop(tmp_path)
    edits = format_edits(messages=[*EDITED, {"role": "user", "content": "x" * 100_000}])
    again = rerun(loop, loop.home.id, FORK_AT="1", FORK_EDITS=edits)
    replayed = rerun(again, again.home.id)
    assert (replayed.asked, replayed.done) == (0, [])
    assert replayed.messages == again.messages
    assert read_data(replayed.home, "replay_diverged") == []


def test_messages_that_were_not_touched_stay_what_they_are(tmp_path: Path) -> None:
    loop = record_loop(tmp_path)
    with open_bridge(tmp_path, REPLAY=loop.home.id, FORK_AT="1") as dbg:
        assert dbg.tape is not None
        assert dbg.tape.fork_edits is not None
        dbg.tape.fork_edits.messages = [*loop.messages[:3], EDITED[0]]
        again = CountingLoop(dbg, loop.turns)
        first = again.messages[0]
        again()
    assert again.messages[0] is first
    assert again.messages[3] == EDITED[0]


# -- system prompts -------------------------------------------------------------------------------


class Prompted:
    """Three model calls, whose system prompt is given in one of several ways."""

    def __init__(self, dbg: Bridge) -> None:
        self.dbg = dbg
        self.seen: list[Any] = []

    def by_argument(self) -> None:
        @self.dbg.model
        def ask(messages: list[Any], system: str = "be brief") -> str:
            self.seen.append(system)
            return "yes"

        self._loop(lambda messages: ask(messages, system="be brief"))

    def by_default(self) -> None:
        @self.dbg.model
        def ask(messages: list[Any], instructions: str = "be brief") -> str:
            self.seen.append(instructions)
            return "yes"

        self._loop(ask)

    def by_message(self) -> None:
        @self.dbg.model
        def ask(messages: list[Any]) -> str:
            self.seen.append(messages[0]["content"])
            return "yes"

        self._loop(ask, [{"role": "developer", "content": "be brief"}])

    def by_a_message_of_each_request(self) -> None:
        @self.dbg.model
        def ask(messages: list[Any]) -> str:
            self.seen.append(messages[0]["content"])
            return "yes"

        self._loop(lambda messages: ask([{"role": "system", "content": "be brief"}, *messages]))

    def by_nothing(self) -> None:
        @self.dbg.model
        def ask(messages: list[Any], system: str | None = None) -> str:
            self.seen.append(system)
            return "yes"

        self._loop(ask)

    def _loop(self, ask: Callable[[list[Any]], str], first: Any = ()) -> None:
        self.messages: list[Any] = [*first, {"role": "user", "content": "go"}]
        with self.dbg.run(messages=self.messages):
            for _ in range(3):
                self.messages.append({"role": "assistant", "content": ask(self.messages)})


WAYS = ("by_argument", "by_default", "by_message", "by_a_message_of_each_request", "by_nothing")


@pytest.mark.parametrize("way", WAYS)
def test_another_system_prompt_stays_in_every_later_call(tmp_path: Path, way: str) -> None:
    with open_bridge(tmp_path) as dbg:
        getattr(Prompted(dbg), way)()
    edits = format_edits(system="be thorough")
    with open_bridge(tmp_path, REPLAY=dbg.id, FORK_AT="1", FORK_EDITS=edits) as fork:
        changed = Prompted(fork)
        getattr(changed, way)()
    assert changed.seen == ["be thorough", "be thorough"]
    with open_bridge(tmp_path, REPLAY=fork.id) as again:
        replayed = Prompted(again)
        getattr(replayed, way)()
    assert (replayed.seen, replayed.messages) == ([], changed.messages)


def test_messages_of_a_request_that_is_built_from_the_loops_own_change_those(
    tmp_path: Path,
) -> None:
    with open_bridge(tmp_path) as dbg:
        Prompted(dbg).by_a_message_of_each_request()
    wanted = [{"role": "system", "content": "be kind"}, *EDITED]
    edits = format_edits(messages=wanted)
    with open_bridge(tmp_path, REPLAY=dbg.id, FORK_AT="1", FORK_EDITS=edits) as fork:
        changed = Prompted(fork)
        changed.by_a_message_of_each_request()
    assert changed.seen == ["be kind", "be kind"]
    assert changed.messages[0] == EDITED[0]


# -- held -----------------------------------------------------------------------------------------


def test_a_fork_that_is_held_can_be_edited_by_a_decision(tmp_path: Path) -> None:
    with open_bridge(tmp_path) as dbg:
        Prompted(dbg).by_argument()
    edits = format_edits(hold=True, messages=EDITED)
    with open_bridge(tmp_path, REPLAY=dbg.id, FORK_AT="1", FORK_EDITS=edits) as fork:
        assert fork.home is not None
        files = SessionFiles(fork.home)
        changed = Prompted(fork)
        running = run_in_thread(changed.by_argument)
        stop = files.wait_for_stop()
        assert (stop["reason"], stop["at"], stop["iteration"]) == ("fork", "model", 2)
        assert (stop["system"], stop["messageCount"]) == ("be brief", 1)
        assert changed.seen == []
        shown = files.ask("inspect", what="messages")["data"]["messages"]
        assert shown["recent"] == [{"role": "user", "preview": "something else"}]

        more = [*EDITED, {"role": "user", "content": "and more"}]
        files.resume(action="modify", messages=more, system="be thorough")
        running.result(PATIENCE)
        assert changed.seen == ["be thorough", "be thorough"]
        assert changed.messages[:2] == more
        assert len(files.data_of("paused")) == 1
        assert fork.home.read_metadata()["edited"] is True
    with open_bridge(tmp_path, REPLAY=fork.id) as again:
        replayed = Prompted(again)
        replayed.by_argument()
    assert (replayed.seen, replayed.messages) == ([], changed.messages)


def test_a_held_fork_that_just_goes_on_is_not_edited(tmp_path: Path) -> None:
    loop = record_loop(tmp_path)
    edits = format_edits(hold=True)
    with open_bridge(tmp_path, REPLAY=loop.home.id, FORK_AT="1", FORK_EDITS=edits) as dbg:
        again = CountingLoop(dbg, loop.turns)
        files = SessionFiles(again.home)
        running = run_in_thread(again)
        files.wait_for_stop()
        files.resume()
        running.result(PATIENCE)
        assert again.messages == loop.messages
        assert "edited" not in again.home.read_metadata()


def test_a_call_whose_messages_cannot_be_edited_does_not_run_unedited(tmp_path: Path) -> None:
    def ask(dbg: Bridge) -> Any:
        call = ModelCall([{"role": "user", "content": "go"}], allows=("continue", "raise"))
        return dbg.call_model(call, lambda _: "yes")

    with open_bridge(tmp_path) as dbg:
        ask(dbg)
    edits = format_edits(system="be thorough")
    with (
        open_bridge(tmp_path, REPLAY=dbg.id, FORK_AT="0", FORK_EDITS=edits) as fork,
        pytest.raises(ValueError, match="cannot be edited"),
    ):
        ask(fork)


def test_a_fork_whose_changes_are_gone_does_not_run(tmp_path: Path) -> None:
    loop, gone = record_loop(tmp_path), str(tmp_path / "gone.json")
    with (
        pytest.raises(ValueError, match="what this fork changes cannot be read"),
        open_bridge(tmp_path, REPLAY=loop.home.id, FORK_AT="1", FORK_EDITS_FILE=gone),
    ):
        pass
