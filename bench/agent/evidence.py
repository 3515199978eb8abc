"""The rule that says when the cause of a bug is in evidence. It is the same for every contender.

All that was answered since the program last moved is one observation: some servers give the place
and the variables in one answer, others in two. An observation is evidence if it shows

- the faulty line: as `file:line`, as `line N` beside the file's name, as its number and text, or
  because the program stands at most two lines below it (the agent has the source at hand),
- and with it the faulty value, under the name of its variable.

Whether the agent would understand it is another matter, and left out for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bench.agent.buggy_programs import Case, Value

_NAME_START, _VALUE_END = r"(?<![\w.\"'])", r"(?!\w|\.\d)"
_NUMBER_TO_TEXT = r"(?:[^\w\n]|content){1,40}"
"""What servers write between the number of a line and its text."""
_OTHERS = r"(?:(?! = |\":)[^\n]){0,80} \(also (?:[^\n()]{0,80}, )?"
"""A value, and the beginning of those that the same statement left in other rounds."""
_NEAR = 2
"""So many lines below the faulty one still show it."""


def is_complete(case: Case, observation: str) -> bool:
    """Whether this observation shows the faulty line and the faulty value."""
    text = _decode(observation)
    if not shows_line(case, text):
        return False
    values = _drop_source(case, text)
    wanted = case.program.also
    return any(shows_value(values, value) for value in case.program.values) and (
        wanted is None or shows_value(values, wanted)
    )


def shows_line(case: Case, text: str) -> bool:
    number, file = case.faulty_line, re.escape(case.path.name)
    if re.search(rf"{file}:{number}\b", text) or _find_numbered(case, number).search(text):
        return True
    if not re.search(file, text):
        return False
    return bool(re.search(rf"\bline\W{{1,3}}{number}\b", text)) or _stands_near(case, text)


def _stands_near(case: Case, text: str) -> bool:
    """Whether the program stands a little below the faulty line, or logged its state there."""
    below = "|".join(str(case.faulty_line + distance) for distance in range(1, _NEAR + 1))
    forms = (
        rf"paused at \S*:(?:{below})\b",
        rf"\bline=(?:{below})\tcol=",
        rf'"(?:frame|location)": ?{{[^}}]*"line": ?(?:{below})\b',
        rf'"output": ?"line (?:{below}): ',
    )
    return any(re.search(form, text) for form in forms)


def shows_value(text: str, value: Value) -> bool:
    name, shown = re.escape(value.name), re.escape(value.text) + _VALUE_END
    forms = (
        rf"{_NAME_START}{name}(?:: [\w\[\], ]+)? ?= ?{shown}",  # total = 3
        rf"{_NAME_START}{name}:? [^\n|]{{0,80}}?(?:→|->) {shown}",  # total 2 → 3
        rf"{_NAME_START}{name} = {_OTHERS}{shown}",  # total = 3 (also 1, 2)
        rf'"{name}": ?"{_OTHERS}{shown}',
        rf"{_NAME_START}{name} \+ {shown}",  # a list that grew: parts + ['x']
        rf'name="{name}"[^>\n]*>{shown}',  # <variable name="total" type="int">3
        rf'"name": ?"{name}", ?"value": ?"{shown}',
        rf'"{name}": ?"{shown}"',
    )
    return any(re.search(form, text) for form in forms) or value.text in _list_cells(
        text, value.name
    )


def _decode(text: str) -> str:
    """Undo the escapes of JSON strings inside text, which some servers answer with."""
    return text.replace('\\"', '"').replace("\\n", "\n").replace("&lt;", "<").replace("&gt;", ">")


def _find_numbered(case: Case, number: int) -> re.Pattern[str]:
    source = re.escape(_decode(case.lines[number - 1].strip()))
    return re.compile(rf"\b{number}\b{_NUMBER_TO_TEXT}{source}")


def _drop_source(case: Case, text: str) -> str:
    """Without the source: `limit = 3` as a line of the program is not a value that was seen."""
    for number, line in enumerate(case.lines, 1):
        if line.strip():
            text = _find_numbered(case, number).sub(str(number), text)
            text = re.sub(rf"lineContent\W+{re.escape(_decode(line.strip()))}", "", text)
    return text


def _list_cells(text: str, name: str) -> Iterator[str]:
    """The values in this column of tables such as `at | total`."""
    columns: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        if cells[0] == "at":
            columns = cells
        elif name in columns and len(cells) == len(columns):
            yield cells[columns.index(name)]
