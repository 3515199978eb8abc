"""Messages of the common providers and frameworks, as people read them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.wire.message_text import format_answer, format_message, format_result

CALL = {"id": "c1", "function": {"name": "read", "arguments": '{"path": "Grüße.txt"}'}}
SAID = 'read({"path": "Grüße.txt"})'


@pytest.mark.parametrize(
    ("message", "author", "text"),
    [
        ({"role": "user", "content": "hello"}, "user", "hello"),
        # chat messages
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "assistant", f"→ {SAID}"),
        (
            {"role": "assistant", "content": "I read it.", "tool_calls": [CALL]},
            "assistant",
            f"I read it.\n→ {SAID}",
        ),
        ({"role": "tool", "tool_call_id": "c1", "content": "text"}, "tool", "text"),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]},
            "user",
            "a\n[image url]",
        ),
        # the blocks of Anthropic
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "I read it."},
                    {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "Grüße.txt"}},
                ],
            },
            "assistant",
            f"(hm)\nI read it.\n→ {SAID}",
        ),
        (
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t",
                        "content": [{"type": "text", "text": "done"}],
                    }
                ],
            },
            "tool",
            "← done",
        ),
        # the items of OpenAI's responses
        (
            {
                "type": "function_call",
                "call_id": "c",
                "name": "read",
                "arguments": '{"path": "Grüße.txt"}',
            },
            "assistant",
            f"→ {SAID}",
        ),
        ({"type": "function_call_output", "call_id": "c", "output": "text"}, "tool", "text"),
        (
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "done", "annotations": []}],
            },
            "assistant",
            "done",
        ),
        (
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
            "assistant",
            "(hm)",
        ),
        ({"type": "reasoning", "id": "r", "summary": []}, "assistant", "(reasoning)"),
        # the parts of pydantic-ai
        (
            {
                "role": "assistant",
                "parts": [
                    {"part_kind": "text", "content": "I read it."},
                    {
                        "part_kind": "tool-call",
                        "tool_name": "read",
                        "args": {"path": "Grüße.txt"},
                        "tool_call_id": "p",
                    },
                ],
            },
            "assistant",
            f"I read it.\n→ {SAID}",
        ),
        (
            {
                "role": "user",
                "parts": [
                    {"part_kind": "tool-return", "tool_name": "read", "content": {"lines": 3}},
                    {"part_kind": "retry-prompt", "tool_name": "read", "content": "once more"},
                ],
            },
            "tool",
            '← read: {"lines": 3}\nonce more',
        ),
        # what nobody knows
        ({"odd": True}, "", '{"odd": true}'),
        (["a", 3], "", "a\n3"),
    ],
)
def test_a_message_is_readable(message: Any, author: str, text: str) -> None:
    assert format_message(message) == (author, text)


def test_the_text_of_an_answer_is_without_the_tools_that_it_asks_for() -> None:
    blocks = [{"type": "text", "text": "go"}, {"type": "tool_use", "name": "read", "input": {}}]
    assert format_answer(blocks) == "go"
    assert format_answer([blocks[1]]) == format_answer(None) == ""


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"kind": "tool-return", "return_value": "done", "metadata": None}, "done"),
        ({"part_kind": "tool-return", "tool_name": "x", "content": "done"}, "done"),
        ({"content": [{"type": "text", "text": "done"}], "isError": False}, "done"),
        ([{"type": "text", "text": "done"}], "done"),
        ({"content": [1], "more": 2}, {"content": [1], "more": 2}),
        ([], []),
        (7, 7),
    ],
)
def test_the_result_of_a_tool_is_shown_without_what_a_framework_puts_around_it(
    result: Any, shown: Any
) -> None:
    assert format_result(result) == shown
