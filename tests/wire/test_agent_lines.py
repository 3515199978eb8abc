"""The lines of an agent session: the JSON of events, and the keys of calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.wire import agent_lines
from holdfast.wire.agent_lines import RawJson


@pytest.mark.parametrize("model", [None, "", "gpt", 'a "quoted" \u00e9 name'])
@pytest.mark.parametrize("settings", [{}, {"b": 1, "a": ["\u00e9", None, 0.5]}])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_key_of_a_request_is_the_one_that_recordings_have(
    model: str | None, settings: dict[str, Any], count: int
) -> None:
    digests = [agent_lines.loose_key({"content": number}) for number in range(count)]
    made = agent_lines.request_key(model, agent_lines.encode_json(settings), digests)
    assert made == agent_lines.exact_key(model, settings, digests)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"text": 'a "b" \n \u00e9'},
        {"no": False, "yes": True, "none": None, "whole": 3, "part": 0.25, "more": [1, {"a": 2}]},
    ],
)
def test_the_fields_of_an_event_are_json(fields: dict[str, Any]) -> None:
    assert json.loads(agent_lines.encode_fields(fields)) == fields


def test_what_is_encoded_already_goes_into_an_event_as_it_is() -> None:
    assert agent_lines.encode_fields({"a": 1, "b": RawJson("[1, 2]")}) == '{"a":1,"b":[1, 2]}'
