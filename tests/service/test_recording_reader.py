"""Conversations that are kept: read on, and never half."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from holdfast.recording.conversation import Conversation
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.placed_data import PlacedData
from holdfast.service.agents.reading_threads import Reading, ReadingGivenUp
from holdfast.service.agents.recording_reader import _KeptConversation


class LimitedReading(Reading):
    """Given up after so many events."""

    def __init__(self, limit: int) -> None:
        super().__init__(threading.Event())
        self._left = limit

    @property
    def is_given_up(self) -> bool:
        self._left -= 1
        return self._left < 0


ENDLESS = 1_000_000


def write_events(home: SessionDirectory, first: int, calls: int) -> None:
    with home.events.open("a") as file:
        for number in range(first, first + calls):
            messages = [{"role": "user", "content": f"{number} " + "x" * 5000}]
            data = {"iteration": number, "model": "m", "messages": messages}
            file.write(json.dumps({"seq": number, "type": "api_request", "data": data}) + "\n")


def read_texts(conversation: Conversation) -> list[Any]:
    models = [turn.model for turn in conversation.turns if turn.model is not None]
    return [
        model.read_data()["messages"][0]["content"].split()[0]
        for model in models
        if model.call is not None
    ]


@pytest.fixture
def home(tmp_path: Path) -> SessionDirectory:
    return SessionDirectory(tmp_path)


def test_a_reading_that_was_given_up_is_gone_on_with(home: SessionDirectory) -> None:
    write_events(home, 1, 10)
    kept = _KeptConversation(home)
    with pytest.raises(ReadingGivenUp):
        kept.read_on(LimitedReading(4))
    assert kept.read_on(LimitedReading(6)).last_seq == 10  # no more than the rest is read
    write_events(home, 11, 2)
    conversation = kept.read_on(LimitedReading(2))
    assert read_texts(conversation) == [str(number) for number in range(1, 13)]


def test_large_bodies_stay_in_the_file(home: SessionDirectory) -> None:
    write_events(home, 1, 1)
    kept = _KeptConversation(home)
    [turn] = kept.read_on(LimitedReading(ENDLESS)).turns
    assert isinstance(turn.began["data"], PlacedData)
    assert "messages" not in turn.began["data"]
    assert kept.size < 2000
    assert read_texts(kept.read_on(LimitedReading(ENDLESS))) == ["1"]


def test_a_file_that_was_changed_gives_only_what_is_known(home: SessionDirectory) -> None:
    write_events(home, 1, 1)
    [turn] = _KeptConversation(home).read_on(LimitedReading(ENDLESS)).turns
    assert turn.model is not None
    for text in (home.events.read_text().replace('"iteration": 1', '"iteration": 2'), "", "{"):
        home.events.write_text(text)
        assert turn.model.read_data() == {"iteration": 1, "model": "m"}
    home.events.unlink()
    assert turn.model.read_data() == {"iteration": 1, "model": "m"}


def test_after_an_unexpected_error_it_is_read_anew(
    home: SessionDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_events(home, 1, 5)
    kept = _KeptConversation(home)
    with monkeypatch.context() as patch:
        patch.setattr(PlacedData, "shed", lambda _data: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            kept.read_on(LimitedReading(ENDLESS))
    assert len(kept.read_on(LimitedReading(ENDLESS)).turns) == 5
