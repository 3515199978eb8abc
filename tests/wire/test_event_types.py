"""The tables of events and the code that sends them agree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import holdfast
from event_checks import find_mistakes, load_components
from holdfast.model import agent_events
from holdfast.server.json_schema import SchemaBuilder
from holdfast.wire.event_types import (
    CALL_EVENTS,
    EVENT_GROUPS,
    PROGRAM_EVENTS,
    Fields,
)

SOURCE = Path(holdfast.__file__).parent
PROGRAMS, CALLS = SOURCE / "service" / "programs", SOURCE / "service" / "calls"
Json = dict[str, Any]
Table = Mapping[str, Fields]
both = pytest.mark.parametrize(
    ("folder", "table"),
    [(PROGRAMS, PROGRAM_EVENTS), (CALLS, CALL_EVENTS)],
    ids=["programs", "calls"],
)


@dataclass(frozen=True)
class Sent:
    """A place in the code that sends an event."""

    event: str
    fields: frozenset[str]
    has_more: bool  # fields that are not written out there
    place: str


# -- programs and calls ---------------------------------------------------------------------------


def find_sent(folder: Path) -> list[Sent]:
    """Every event that the code in a folder sends."""
    return [sent for file in sorted(folder.rglob("*.py")) for sent in find_sent_by(file)]


def find_sent_by(file: Path) -> Iterator[Sent]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for call in calls_of(function, "event"):
            place = f"{file.name}:{call.lineno}"
            fields = frozenset(keyword.arg for keyword in call.keywords if keyword.arg)
            has_more = any(keyword.arg is None for keyword in call.keywords)
            for name in names_of(call.args[0], function, tree, place):
                yield Sent(name, fields, has_more, place)


def calls_of(tree: ast.AST, method: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == method
        ):
            yield node


def names_of(
    given: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef, tree: ast.AST, place: str
) -> list[str]:
    """The name that is written there, or those that callers of the function give it."""
    if isinstance(given, ast.Constant):
        return [str(given.value)]
    parameters = [argument.arg for argument in function.args.args]
    assert isinstance(given, ast.Name), f"{place}: which event is it?"
    assert given.id in parameters, f"{place}: which event is it?"
    at = parameters.index(given.id) - 1  # without self
    names = [call.args[at] for call in calls_of(tree, function.name)]
    assert names, f"{place}: nobody calls {function.name}"
    return [name for each in names for name in names_of(each, function, tree, place)]


@both
def test_every_event_that_is_sent_is_in_the_table_and_the_other_way_round(
    folder: Path, table: Table
) -> None:
    assert {sent.event for sent in find_sent(folder)} == set(table)


@both
def test_every_field_that_is_sent_is_in_the_table(folder: Path, table: Table) -> None:
    unknown = [
        (sent.place, sent.event, field)
        for sent in find_sent(folder)
        for field in sent.fields - set(list_fields(table[sent.event]))
    ]
    assert unknown == []


@both
def test_every_field_in_the_table_is_sent(folder: Path, table: Table) -> None:
    everything = find_sent(folder)
    unsent = []
    for event, type_ in table.items():
        places = [sent for sent in everything if sent.event == event]
        fields = {field for sent in places for field in sent.fields}
        # What such a place sends is seen only by the tests that drive a server.
        if not any(sent.has_more for sent in places):
            unsent += [(event, field) for field in list_fields(type_) if field not in fields]
    assert unsent == []


def test_only_these_folders_send_events() -> None:
    elsewhere = [
        f"{file.name}:{call.lineno}"
        for file in SOURCE.rglob("*.py")
        if not any(file.is_relative_to(folder) for folder in (PROGRAMS, CALLS))
        if "event(" in (text := file.read_text(encoding="utf-8"))
        for call in calls_of(ast.parse(text), "event")
        if call.args and isinstance(call.args[0], ast.Constant)
    ]
    assert elsewhere == []


def list_fields(type_: Fields) -> list[str]:
    """The fields of the type itself."""
    return list(SchemaBuilder().describe(type_)["properties"])


# -- agents ---------------------------------------------------------------------------------------


def test_every_event_of_an_agent_is_written_somewhere() -> None:
    """`mypy` checks the fields of each against its type."""
    constants = {
        name: value
        for name, value in vars(agent_events).items()
        if isinstance(value, agent_events.EventType)
    }
    assert set(constants.values()) == set(agent_events.EVENTS)
    trees = [ast.parse(file.read_text("utf-8")) for file in (SOURCE / "bridge").rglob("*.py")]
    writer = ast.parse((SOURCE / "recording" / "event_writer.py").read_text("utf-8"))
    written = {
        node.id
        for part in [writer, *(call for tree in trees for call in find_writes(tree))]
        for node in ast.walk(part)
        if isinstance(node, ast.Name)
    }
    assert set(constants) - written == set()


def find_writes(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that write an event."""
    for method in ("emit", "_emit", "record", "append_all"):
        yield from calls_of(tree, method)


# -- descriptions ---------------------------------------------------------------------------------


def test_every_type_says_when_it_is_sent_and_what_its_fields_mean() -> None:
    silent = [
        (group.prefix, event)
        for group in EVENT_GROUPS
        for event, fields in group.types.items()
        if not vars(fields).get("__doc__")  # one of `dict` would be inherited
    ]
    for name, schema in load_components().items():
        data = schema.get("properties", {}).get("data", {})
        silent += [
            (name, field)
            for field, described in data.get("properties", {}).items()
            if name.endswith("Event") and len(described.get("description", "")) < 5
        ]
    assert silent == []


# -- the check itself can fail --------------------------------------------------------------------

HEAD = {"seq": 1, "timestamp": "2026-01-23T13:10:00.000000Z"}
SAVED = {**HEAD, "session_id": "sess_1", "event": "saved", "type": "saved"}
LOST = {**HEAD, "session_id": "debug_1", "event": "events_lost", "type": "events_lost"}


@pytest.mark.parametrize(
    ("event", "mistake"),
    [
        ({**SAVED, "event": "sold", "type": "sold"}, "sold.event: 'sold' is not known"),
        ({**SAVED, "where": "here"}, "saved.where: no such field"),
        ({**SAVED, "session_id": "calls_1"}, "saved.event: 'saved' is not known"),
        ({**SAVED, "seq": "1"}, "saved.seq: '1' is no integer"),
        ({**LOST, "data": {}}, "events_lost.data.count: it is missing"),
        ({**LOST, "data": {"count": 1, "why": ""}}, "events_lost.data.why: no such field"),
    ],
)
def test_an_event_that_is_not_as_described_is_found(event: Json, mistake: str) -> None:
    assert find_mistakes(event) == [mistake]


@pytest.mark.parametrize(
    "event",
    [
        SAVED,
        {**LOST, "data": {"count": 1}},
        {**LOST, "event": "error", "type": "error", "data": {"message": "", "context": "", "a": 1}},
    ],
)
def test_an_event_that_is_as_described_is_right(event: Json) -> None:
    assert find_mistakes(event) == []
