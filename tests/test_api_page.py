"""docs/api.md says what the server does now."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from schemas import mistakes

ROOT = Path(__file__).parents[1]
COMMAND = "run `python docs/generate_api.py`"


@pytest.fixture(scope="module")
def generator() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "generate_api.py"))


def test_the_page_of_the_interface_is_up_to_date(generator: dict[str, Any]) -> None:
    expected = generator["render_page"](generator["build_document"](), generator["load_examples"]())
    assert generator["PAGE"].read_text(encoding="utf-8") == expected, COMMAND


def test_every_route_has_an_example_that_is_as_its_types_say(generator: dict[str, Any]) -> None:
    document, examples = generator["build_document"](), generator["load_examples"]()
    components = document["components"]["schemas"]
    problems: list[str] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = f"{method.upper()} {path}"
            example = examples[name]
            [status] = [status for status in operation["responses"] if status != "default"]
            content = operation["responses"][status]["content"]
            if "application/json" in content:
                schema = content["application/json"]["schema"]
                problems += mistakes(example["answer"], schema, components, name)
            if "request" in example:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                problems += mistakes(example["request"], schema, components, f"{name} request")
    assert problems == []


@pytest.mark.slow
def test_the_examples_are_what_a_server_answers_now(generator: dict[str, Any]) -> None:
    """The same fields, whatever their values."""
    capture = runpy.run_path(str(ROOT / "docs" / "api_examples.py"))["capture_examples"]
    examples = generator["load_examples"]()
    captured = capture()
    assert {name: fields(example) for name, example in captured.items()} == {
        name: fields(example) for name, example in examples.items()
    }, "run `python docs/generate_api.py --capture`"


def fields(value: Any) -> Any:
    """The names of fields, without their values."""
    if isinstance(value, dict):
        return {name: fields(item) for name, item in value.items()}
    if isinstance(value, list):
        return [fields(item) for item in value[:1]]
    return None
