"""Runs the requests of docs/run.md, and compares the answers with the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness import Server
from tool_user import ToolUser

PAGE = (Path(__file__).parents[1] / "docs" / "run.md").read_text(encoding="utf-8")
BLOCKS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
EXAMPLES = list(zip(BLOCKS[::2], BLOCKS[1::2], strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page")
    for text, name in re.findall(r"```python\n(# (?P<name>\w+\.py)\n.*?)```", PAGE, re.DOTALL):
        (made / name).write_text(text)
    return made


def check(shown: Any, actual: Any) -> None:
    """That an answer has what the page shows of it."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            assert name in actual, (name, actual)
            if name == "locals":
                assert value == {key: actual[name].get(key) for key in value}
            else:
                check(value, actual[name])
    else:
        assert shown == actual


@pytest.mark.parametrize(("request_", "answer"), EXAMPLES)
def test_an_example_is_answered_as_the_page_says(
    server: Server, folder: Path, request_: Any, answer: Any
) -> None:
    user = ToolUser(server, cwd=str(folder))
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    try:
        check(answer, user.call("debug_run", **request_, env=env))
    finally:
        user.stop_all()
