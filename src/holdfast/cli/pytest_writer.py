"""Recorded calls as a pytest file, written for those who will read it."""

from __future__ import annotations

import inspect
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Any

from holdfast.client.replay import generated_test_helpers, source_expressions
from holdfast.client.replay.replay_messages import Expression as Node

Json = dict[str, Any]
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_KEPT = {"pytest", "result", "asyncio", "built", "restored", "state", "os"}


@dataclass(frozen=True)
class Recorded:
    """One call, what its first replay said, and why it is not to be a test, if it is not."""

    call: Json
    session: Json
    replayed: Json
    skip: str | None


@dataclass
class _File:
    """What the tests of one file need at its top and its bottom."""

    names: dict[tuple[str, str], str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=lambda: set(_KEPT))
    modules: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)

    def naming(self, module: str, qualname: str) -> str:
        """What something is called in the file, once it is imported."""
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


def text_of(tests: list[Recorded]) -> str:
    file = _File()
    for each in tests:
        if each.skip is None:
            _reserve(file, each.replayed["test"])
    bodies = []
    used: set[str] = set()
    for each in tests:
        bodies.append(_test(file, each, _test_name(each, used)))
    text = "\n\n\n".join(bodies)
    helping = [
        inspect.getsource(getattr(generated_test_helpers, name)).rstrip()
        for name in ("built", "restored", "state")
        if re.search(rf"\b{name}\(", text)
    ]
    helping = [_bare(each) for each in helping]
    if any("def restored" in each for each in helping):
        file.modules |= {"base64", "io", "pickle"}
    if "asyncio.run(" in text:
        file.modules.add("asyncio")
    connects = any(each.replayed.get("connects") for each in tests)
    head = _head(file, text, connects)
    return "\n\n\n".join([head, text, *helping]) + "\n"


def _bare(source: str) -> str:
    """Without annotations, which would need imports of their own."""
    return (
        source.replace(": tuple[int, ...] = ()", "=()")
        .replace(": Any = None", "=None")
        .replace(": Any", "")
        .replace(": str", "")
        .replace(") -> Any", ")")
    )


def _reserve(file: _File, test: Json) -> None:
    """Names of imports come first, so that no variable takes one."""

    def look(node: Node) -> None:
        if isinstance(node, list):
            if len(node) == 3 and node[0] == "name":
                file.naming(node[1], node[2])
            else:
                for each in node:
                    look(each)
        elif isinstance(node, dict):
            for each in node.values():
                look(each)

    look(test)


def _head(file: _File, text: str, connects: bool) -> str:
    lines = ['"""Recorded calls as tests, written by `holdfast calls test`."""']
    mark = ""
    if connects:
        # The program turns debugging on as it is imported; a test must not wait for a server.
        lines += ["", "import os", "", 'os.environ["HOLDFAST_CALLS"] = "off"']
        mark = "  # noqa: E402"
    plain = sorted(file.modules)
    by_module: dict[str, list[str]] = {}
    for (module, first), name in file.names.items():
        shown = first if name == first else f"{first} as {name}"
        by_module.setdefault(module, []).append(shown)
    standard = {name for name in by_module if name.partition(".")[0] in sys.stdlib_module_names}
    first_block = [f"import {name}{mark}" for name in plain]
    first_block += [_from(name, by_module[name], mark) for name in sorted(standard)]
    own = [_from(name, by_module[name], mark) for name in sorted(set(by_module) - standard)]
    pytest_line = [f"import pytest{mark}"] if re.search(r"\bpytest\.", text) else []
    for block in (first_block, pytest_line, own):
        if block:
            lines += ["", *block]
    return "\n".join(lines)


def _from(module: str, names: list[str], mark: str) -> str:
    line = f"from {module} import {', '.join(sorted(names))}"
    if len(line) <= source_expressions.WIDTH or mark:
        return line + mark
    inside = "".join(f"    {name},\n" for name in sorted(names))
    return f"from {module} import (\n{inside})"


def _test_name(each: Recorded, used: set[str]) -> str:
    called = each.replayed.get("function") or each.call["qualname"] or each.call["method_name"]
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


def _where(each: Recorded) -> str:
    """The place in the program; an event loop may be nearer, and says nothing."""
    frames = (each.call.get("call_site") or {}).get("stack_trace") or []
    home = os.path.join(each.session["cwd"], "")
    own = [frame for frame in frames if str(frame["filename"]).startswith(home)]
    place = next(iter(own or frames), None)
    return f", made at {os.path.basename(place['filename'])}:{place['lineno']}" if place else ""


def _test(file: _File, each: Recorded, name: str) -> str:
    lines = [f"def {name}():", f'    """Call {each.call["call_id"]}{_where(each)}."""']
    if each.skip is not None:
        reason = source_expressions.quote(each.skip)
        mark = source_expressions.format_lines(
            ["group", "@pytest.mark.skip", "(", [f"reason={reason}"], ")"], file.naming, "", "", 0
        )
        return "\n".join([mark, *lines])
    return "\n".join([*lines, *_Body(file, each.replayed["test"]).lines()])


class _Body:
    """The statements of one test."""

    def __init__(self, file: _File, test: Json) -> None:
        self._file = file
        self._test = test
        self._taken = set(file.taken)
        self._lines: list[str] = []
        self._later: list[tuple[str, Node]] = []

    def lines(self) -> list[str]:
        call = self._call()
        test = self._test
        if "raises" in test:
            self._raises(call)
        else:
            self._claims_result(call, test["result"])
        for name, claim in self._later:
            self._claim(name, claim)
        return self._lines

    def _variable(self, wanted: str) -> str:
        name = wanted if wanted.isidentifier() else "value"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _say(self, before: str, node: Node, after: str = "", indent: int = 4) -> None:
        text = source_expressions.format_lines(node, self._file.naming, before, after, indent)
        self._lines.append(" " * indent + text)

    def _given(self, wanted: str, node: Node, after: Node) -> Node:
        """The expression itself if it is short and not looked at again, else a variable's name."""
        if not after and len(source_expressions.format_line(node, self._file.naming)) <= 40:
            return node
        name = self._variable(wanted)
        self._say(f"{name} = ", node)
        if after:
            self._later.append((name, after))
        return name

    # -- the call ---------------------------------------------------------------------------

    def _call(self) -> Node:
        test = self._test
        target = None
        if "target" in test:
            after = test.get("target_after")
            simple = test["form"] not in ("operator", "reflected", "itself")
            if after or not simple or not _is_display(test["target"]):
                target = self._variable(test["target_name"])
                self._say(f"{target} = ", test["target"])
                if after:
                    self._later.append((target, after))
            else:
                target = self._given(test["target_name"], test["target"], None)
        items: list[Node] = []
        values: list[Node] = []
        for each in test["arguments"]:
            value = self._given(each["name"], each["value"], each["after"])
            values.append(value)
            items.append(["pair", each["name"], "=", value] if each["keyword"] else value)
        made = self._form(target, items, values)
        return ["group", "asyncio.run", "(", [made], ")"] if self._test.get("awaited") else made

    def _form(self, target: Node, items: list[Node], values: list[Node]) -> Node:
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
                both = [target, *items]
                return [
                    "group",
                    test["builtin"],
                    "(",
                    both[::-1] if test.get("reflected") else both,
                    ")",
                ]
            case "index":
                return ["group", target, "[", values[:1], "]"]
            case "contains":
                return ["pair", values[0], " in ", target]
        return ["group", ["pair", target, ".", test["method"]], "(", items, ")"]

    # -- what it has to come to -------------------------------------------------------------

    def _raises(self, call: Node) -> None:
        test = self._test
        message = test["message"]
        items: list[Node] = [test["raises"]]
        if message:
            items.append(["pair", "match", "=", pattern(message)])
        self._say(
            "with ", ["group", "pytest.raises", "(", items, ")"], ":" if message else " as caught:"
        )
        self._say("", call, "", 8)
        if not message:
            self._lines.append('    assert str(caught.value) == ""')

    def _claims_result(self, call: Node, claim: Node) -> None:
        if claim[0] in ("equals", "is") and call[0] == "group" and not self._later:
            sign = "is" if claim[0] == "is" else "=="
            whole = f"assert {self._flat(call)} {sign} {self._flat(claim[1])}"
            if 4 + len(whole) <= source_expressions.WIDTH:
                self._lines.append(f"    {whole}")
                return
        self._say("result = ", call)
        self._claim("result", claim)

    def _flat(self, node: Node) -> str:
        return source_expressions.format_line(node, self._file.naming)

    def _claim(self, name: str, claim: Node) -> None:
        match claim[0]:
            case "is":
                self._say(f"assert {name} is ", claim[1])
            case "equals":
                self._say(f"assert {name} == ", claim[1])
            case "has":
                self._say(f"assert type({name}) is ", claim[1])
                self._say(f"assert vars({name}) == ", claim[2])
            case _:
                self._say(f"assert state({name}) == ", ["group", "state", "(", [claim[1]], ")"])


def _is_display(node: Node) -> bool:
    return isinstance(node, list) and node[0] == "group" and node[1] == ""


def pattern(message: str) -> str:
    """A regular expression for exactly this message."""
    escaped = _SPECIAL.sub(r"\\\g<0>", message)
    written = source_expressions.quote(f"^{escaped}$")
    if escaped == message:
        return written
    if "\n" in escaped or not escaped.isprintable() or ('"' in escaped and "'" in escaped):
        return written
    quote = "'" if '"' in escaped else '"'
    return f"r{quote}^{escaped}${quote}"
