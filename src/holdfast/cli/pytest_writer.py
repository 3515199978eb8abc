"""Writes recorded calls as a pytest file that people can read."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.client.replay import generated_test_helpers, source_expressions
from holdfast.client.replay.replay_messages import Expression, TestParts

_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_RESERVED = {"pytest", "result", "asyncio", "built", "restored", "state", "os"}


@dataclass(frozen=True)
class TestedCall:
    """A call and its test, or the reason to skip it."""

    call: Mapping[str, Any]
    cwd: str
    function: str | None
    test: TestParts
    connects: bool
    """Whether importing the program turns debugging on."""
    skip: str | None


@dataclass
class _File:
    """The imports and names of the file."""

    names: dict[tuple[str, str], str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=lambda: set(_RESERVED))
    modules: set[str] = field(default_factory=set)

    def name(self, module: str, qualname: str) -> str:
        """The name of an object in the file. It is imported under that name."""
        first, dot, rest = qualname.partition(".")
        if module == "builtins":
            return qualname
        if (module, first) not in self.names:
            name = f"_{first}" if first.lower().startswith("test") else first
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.names[module, first] = name
        return f"{self.names[module, first]}{dot}{rest}"


def write(tests: list[TestedCall]) -> str:
    """The text of the file."""
    file = _File()
    for tested in tests:
        _reserve_names(file, tested.test)
    used: set[str] = set()
    text = "\n\n\n".join(_write_test(file, test, _choose_name(test, used)) for test in tests)
    helpers = [
        _remove_annotations(inspect.getsource(getattr(generated_test_helpers, name)).rstrip())
        for name in ("built", "restored", "state")
        if re.search(rf"\b{name}\(", text)
    ]
    if any("def restored" in helper for helper in helpers):
        file.modules |= {"base64", "io", "pickle"}
    if "asyncio.run(" in text:
        file.modules.add("asyncio")
    head = _write_head(file, text, any(test.connects for test in tests))
    return "\n\n\n".join([head, text, *helpers]) + "\n"


def _remove_annotations(source: str) -> str:
    """Annotations would need imports of their own."""
    return (
        source.replace(": tuple[int, ...] = ()", "=()")
        .replace(": Any = None", "=None")
        .replace(": Any", "")
        .replace(": str", "")
        .replace(") -> Any", ")")
    )


def _reserve_names(file: _File, node: Expression) -> None:
    """Choose the names of imports first, so that no variable takes one."""
    if isinstance(node, list) and len(node) == 3 and node[0] == "name":
        file.name(node[1], node[2])
    elif isinstance(node, (list, dict)):
        for part in node.values() if isinstance(node, dict) else node:
            _reserve_names(file, part)


def _write_head(file: _File, text: str, connects: bool) -> str:
    lines = ['"""Recorded calls as tests, written by `holdfast calls test`."""']
    mark = ""
    if connects:
        # Importing the program turns debugging on. A test must not wait for a server.
        lines += ["", "import os", "", 'os.environ["HOLDFAST_CALLS"] = "off"']
        mark = "  # noqa: E402"
    plain = sorted(file.modules)
    by_module: dict[str, list[str]] = {}
    for (module, first), name in file.names.items():
        by_module.setdefault(module, []).append(first if name == first else f"{first} as {name}")
    standard = {name for name in by_module if name.partition(".")[0] in sys.stdlib_module_names}
    first_block = [f"import {name}{mark}" for name in plain]
    first_block += [_write_import(name, by_module[name], mark) for name in sorted(standard)]
    own = [_write_import(name, by_module[name], mark) for name in sorted(set(by_module) - standard)]
    pytest_line = [f"import pytest{mark}"] if re.search(r"\bpytest\.", text) else []
    for block in (first_block, pytest_line, own):
        if block:
            lines += ["", *block]
    return "\n".join(lines)


def _write_import(module: str, names: list[str], mark: str) -> str:
    line = f"from {module} import {', '.join(sorted(names))}"
    if len(line) <= source_expressions.WIDTH or mark:
        return line + mark
    inside = "".join(f"    {name},\n" for name in sorted(names))
    return f"from {module} import (\n{inside})"


def _choose_name(tested: TestedCall, used: set[str]) -> str:
    called = tested.function or tested.call["qualname"] or tested.call["method_name"]
    parts = [part for part in called.split(".") if part.isidentifier()]
    if len(parts) > 1 and not parts[-2][:1].isupper():
        parts = parts[-1:]
    words = "_".join(part.strip("_") for part in parts[-2:]) or "call"
    name = "test_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower()
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name}_{number}"
    used.add(free)
    return free


def _format_place(tested: TestedCall) -> str:
    """The nearest frame of the program itself, rather than one of an event loop."""
    frames = (tested.call.get("call_site") or {}).get("stack_trace") or []
    home = os.path.join(tested.cwd, "")
    own = [frame for frame in frames if str(frame["filename"]).startswith(home)]
    place = next(iter(own or frames), None)
    return f", made at {os.path.basename(place['filename'])}:{place['lineno']}" if place else ""


def _write_test(file: _File, tested: TestedCall, name: str) -> str:
    place = _format_place(tested)
    lines = [f"def {name}():", f'    """Call {tested.call["call_id"]}{place}."""']
    if tested.skip is not None:
        reason = source_expressions.quote(tested.skip)
        mark = source_expressions.format_lines(
            ["group", "@pytest.mark.skip", "(", [f"reason={reason}"], ")"], file.name, "", "", 0
        )
        return "\n".join([mark, *lines])
    return "\n".join([*lines, *_TestBody(file, tested.test).write()])


class _TestBody:
    """Writes the statements of one test."""

    def __init__(self, file: _File, test: TestParts) -> None:
        self._file = file
        self._test = test
        self._taken = set(file.taken)
        self._lines: list[str] = []
        self._later: list[tuple[str, Expression]] = []
        """Variables that are checked after the call, and what they must be then."""

    def write(self) -> list[str]:
        call = self._build_call()
        if "raises" in self._test:
            self._write_raises(call)
        else:
            self._write_result_check(call, self._test["result"])
        for name, claim in self._later:
            self._write_check(name, claim)
        return self._lines

    def _choose_variable(self, wanted: str) -> str:
        name = wanted if wanted.isidentifier() else "value"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _write_line(self, before: str, node: Expression, after: str = "", indent: int = 4) -> None:
        text = source_expressions.format_lines(node, self._file.name, before, after, indent)
        self._lines.append(" " * indent + text)

    def _build_argument(self, wanted: str, node: Expression, after: Expression) -> Expression:
        """The expression itself if it is short and not checked later, else a variable's name."""
        if not after and len(source_expressions.format_line(node, self._file.name)) <= 40:
            return node
        name = self._choose_variable(wanted)
        self._write_line(f"{name} = ", node)
        if after:
            self._later.append((name, after))
        return name

    # -- the call ---------------------------------------------------------------------------

    def _build_call(self) -> Expression:
        test = self._test
        target = None
        if "target" in test:
            after = test.get("target_after")
            is_simple = test["form"] not in ("operator", "reflected", "itself")
            if after or not is_simple or not _is_display(test["target"]):
                target = self._choose_variable(test["target_name"])
                self._write_line(f"{target} = ", test["target"])
                if after:
                    self._later.append((target, after))
            else:
                target = self._build_argument(test["target_name"], test["target"], None)
        items: list[Expression] = []
        values: list[Expression] = []
        for argument in test["arguments"]:
            name = argument["name"]
            value = self._build_argument(name, argument["value"], argument["after"])
            values.append(value)
            items.append(["pair", name, "=", value] if argument["keyword"] else value)
        call = self._build_form(target, items, values)
        return ["group", "asyncio.run", "(", [call], ")"] if test.get("awaited") else call

    def _build_form(
        self, target: Expression, items: list[Expression], values: list[Expression]
    ) -> Expression:
        test = self._test
        match test["form"]:
            case "call":
                return ["group", test["function"], "(", items, ")"]
            case "itself":
                return ["group", target, "(", items, ")"]
            case "operator":
                return ["pair", target, f" {test['symbol']} ", values[0]]
            case "reflected":
                return ["pair", values[0], f" {test['symbol']} ", target]
            case "builtin":
                both = [target, *items][:: -1 if test.get("reflected") else 1]
                return ["group", test["builtin"], "(", both, ")"]
            case "index":
                return ["group", target, "[", values[:1], "]"]
            case "contains":
                return ["pair", values[0], " in ", target]
        return ["group", ["pair", target, ".", test["method"]], "(", items, ")"]

    # -- the checks -------------------------------------------------------------------------

    def _write_raises(self, call: Expression) -> None:
        test = self._test
        message = test["message"]
        items: list[Expression] = [test["raises"]]
        if message:
            items.append(["pair", "match", "=", write_pattern(message)])
        self._write_line(
            "with ", ["group", "pytest.raises", "(", items, ")"], ":" if message else " as caught:"
        )
        self._write_line("", call, "", 8)
        if not message:
            self._lines.append('    assert str(caught.value) == ""')

    def _write_result_check(self, call: Expression, claim: Expression) -> None:
        if claim[0] in ("equals", "is") and call[0] == "group" and not self._later:
            sign = "is" if claim[0] == "is" else "=="
            whole = f"assert {self._format_flat(call)} {sign} {self._format_flat(claim[1])}"
            if 4 + len(whole) <= source_expressions.WIDTH:
                self._lines.append(f"    {whole}")
                return
        self._write_line("result = ", call)
        self._write_check("result", claim)

    def _format_flat(self, node: Expression) -> str:
        return source_expressions.format_line(node, self._file.name)

    def _write_check(self, name: str, claim: Expression) -> None:
        match claim[0]:
            case "is":
                self._write_line(f"assert {name} is ", claim[1])
            case "equals":
                self._write_line(f"assert {name} == ", claim[1])
            case "has":
                self._write_line(f"assert type({name}) is ", claim[1])
                self._write_line(f"assert vars({name}) == ", claim[2])
            case _:
                self._write_line(
                    f"assert state({name}) == ", ["group", "state", "(", [claim[1]], ")"]
                )


def _is_display(node: Expression) -> bool:
    return isinstance(node, list) and node[0] == "group" and node[1] == ""


def write_pattern(message: str) -> str:
    """The source of a regular expression for exactly this message."""
    escaped = _SPECIAL.sub(r"\\\g<0>", message)
    written = source_expressions.quote(f"^{escaped}$")
    if escaped == message:
        return written
    if "\n" in escaped or not escaped.isprintable() or ('"' in escaped and "'" in escaped):
        return written
    quote = "'" if '"' in escaped else '"'
    return f"r{quote}^{escaped}${quote}"
