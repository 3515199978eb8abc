"""Messages of the common providers, in the shape of OpenTelemetry's GenAI conventions."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.recording.genai_messages import shape_answer, shape_message, split_system

CALL = {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"key": 1}}


@pytest.mark.parametrize(
    ("message", "role", "parts"),
    [
        ({"role": "user", "content": "hi"}, "user", [{"type": "text", "content": "hi"}]),
        ({"type": "human", "content": "hi"}, "user", [{"type": "text", "content": "hi"}]),
        ("hi", "user", [{"type": "text", "content": "hi"}]),
        (  # OpenAI
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "function": {"name": "look", "arguments": '{"key": 1}'}}
                ],
            },
            "assistant",
            [CALL],
        ),
        (
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            "tool",
            [{"type": "tool_call_response", "response": "found", "id": "c1"}],
        ),
        (  # Anthropic
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"key": 1}},
                ],
            },
            "assistant",
            [{"type": "text", "content": "I look."}, CALL],
        ),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "found"}],
            },
            "user",
            [{"type": "tool_call_response", "id": "c1", "response": "found"}],
        ),
        (  # pydantic-ai
            {
                "role": "assistant",
                "parts": [
                    {"part_kind": "text", "content": "I look."},
                    {
                        "part_kind": "tool-call",
                        "tool_name": "look",
                        "args": '{"key": 1}',
                        "tool_call_id": "c1",
                    },
                ],
            },
            "assistant",
            [{"type": "text", "content": "I look."}, CALL],
        ),
        (
            {"role": "user", "content": [{"type": "image", "source": {"kind": "url"}}]},
            "user",
            [{"type": "image", "source": {"kind": "url"}}],
        ),
    ],
)
def test_messages_of_every_provider_have_one_shape(
    message: Any, role: str, parts: list[Any]
) -> None:
    assert shape_message(message) == {"role": role, "parts": parts}


def test_instructions_of_the_system_stand_apart() -> None:
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
    instructions, others = split_system(messages)
    assert instructions == [{"type": "text", "content": "be brief"}]
    assert [message["role"] for message in others] == ["user"]


def test_an_answer_has_the_arguments_of_its_calls_if_they_are_known() -> None:
    calls = [{"id": "c1", "name": "look"}]
    outcome = {"content": "I look.", "toolCalls": calls, "stopReason": "tool_use"}
    bare = shape_answer(outcome)
    assert bare["parts"][1] == {"type": "tool_call", "id": "c1", "name": "look"}
    assert bare["finish_reason"] == "tool_use"
    message = {"tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]}
    for response in (message, {"choices": [{"message": message}]}):
        whole = shape_answer({**outcome, "response": response})
        assert whole["parts"][1]["arguments"] == {}
