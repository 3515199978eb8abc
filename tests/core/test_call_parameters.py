"""An input that somebody decides has to fit the call that is held."""

from __future__ import annotations

import pytest

from holdfast.core.call_parameters import CallParameters, read_schema
from holdfast.errors import InvalidDecision

WRITE = CallParameters(("path", "text"), ("path",))


def test_known_names_fit_and_so_do_those_that_the_agent_gave_itself() -> None:
    WRITE.check("write", ["path"], {"text": "x"})
    WRITE.check("write", ["path", "args"], {"args": [1]})
    WRITE.check("write", [], {"path": "a", "text": "x"})
    CallParameters((), takes_more=True).check("any", [], {"x": 1})


def test_another_name_is_refused_with_what_fits() -> None:
    with pytest.raises(InvalidDecision) as raised:
        WRITE.check("write", ["path"], {"pth": "x"})
    assert raised.value.message == (
        "input: write has no parameter 'pth' (did you mean 'path'?). "
        "write takes path, text (optional)."
    )
    assert raised.value.details == {"field": "input", "possible": ["path", "text"]}
    with pytest.raises(InvalidDecision, match="takes nothing"):
        CallParameters(()).check("now", [], {"zone": "x"})


def test_what_is_needed_has_to_be_there() -> None:
    with pytest.raises(InvalidDecision, match="write needs 'path'"):
        WRITE.check("write", [], {"text": "x"})


def test_a_json_schema_says_what_a_tool_takes() -> None:
    properties = {"to": {"type": "string"}, "text": {"type": "string"}}
    schema = {"properties": properties, "required": ["to"], "additionalProperties": False}
    assert read_schema(schema) == CallParameters(("to", "text"), ("to",))
    assert read_schema({"properties": None}) is None
    assert read_schema(None) is None
