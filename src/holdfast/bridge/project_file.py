"""Reads a project's `holdfast.toml`: the rules of its agents, and the prices of their models.

The nearest one counts, from the working directory upwards. A rule may protect something: a mistake
in the file is an error, and nothing of it is ignored.
"""

from __future__ import annotations

import importlib
import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

from holdfast.core.agent_rules import AgentRule, parse_rule
from holdfast.errors import InvalidAgentRule, InvalidInput, InvalidProjectFile

FILE_NAME = "holdfast.toml"

_RULE_TABLE, _PRICE_TABLE = "[[agent.rule]]", "[agent.prices]"
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=""")


@dataclass(frozen=True)
class Price:
    """What a million tokens cost."""

    input: float
    output: float
    cached: float | None = None
    """Of input tokens that the provider had in its cache; as other input, if it is not given."""


@dataclass(frozen=True)
class ProjectFile:
    """What a project says about its agents; nothing, if it has no file."""

    path: Path | None = None
    rules: tuple[AgentRule, ...] = ()
    """In the order in which they count."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By the name of a model, or a glob."""

    def find_price(self, model: str | None) -> Price | None:
        return find_price(self.prices, model)


def find_price(prices: Mapping[str, Price], model: str | None) -> Price | None:
    """That of the name itself, else of the first glob that fits."""
    if model is None:
        return None
    if model in prices:
        return prices[model]
    return next((price for name, price in prices.items() if fnmatchcase(model, name)), None)


def find_project_file(directory: str | os.PathLike[str] | None = None) -> Path | None:
    """The nearest `holdfast.toml`, in `directory` (the working directory) or above it."""
    try:
        start = Path.cwd() if directory is None else Path(directory).absolute()
    except OSError:
        return None  # the working directory is gone
    candidates = (folder / FILE_NAME for folder in (start, *start.parents))
    return next((path for path in candidates if os.path.lexists(path)), None)


def read_nearest(directory: str | os.PathLike[str] | None = None) -> ProjectFile:
    """The nearest file, read; InvalidProjectFile says what is wrong with it, and where."""
    path = find_project_file(directory)
    return ProjectFile() if path is None else read_project_file(path)


def read_project_file(path: Path) -> ProjectFile:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidProjectFile(
            f"{path} cannot be read: {problem}",
            hint="Make it readable, or move it away if its rules are not to count.",
            file=str(path),
        ) from None
    return _Reader(path, text).read()


def parse_prices(data: Any) -> dict[str, Price]:
    """Prices as a file or a program gives them: a model's name or a glob = `[input, output]`."""
    if not isinstance(data, Mapping):
        raise InvalidInput("prices map models to [input, output]", field="prices")
    return {str(model): _parse_price(str(model), value) for model, value in data.items()}


def _parse_price(model: str, value: Any) -> Price:
    is_price = isinstance(value, (list, tuple)) and len(value) in (2, 3)
    if not is_price or not all(map(_is_price, value)):
        raise InvalidInput(
            f"a price is [input, output] per million tokens, such as [1.25, 10.0], or [input, "
            f"output, cached input], not {value!r:.100}",
            field=model,
        )
    return Price(*map(float, value))


def _is_price(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


class _Reader:
    """Reads one file. Errors name the line as far as it can be found."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._text = text

    def read(self) -> ProjectFile:
        agent = self._parse().get("agent", {})
        if not isinstance(agent, dict):
            self._fail("agent", f"it is a table: {_RULE_TABLE} or {_PRICE_TABLE}")
        self._check_keys(agent, ("rule", "prices"), "agent")
        return ProjectFile(
            self._path, self._read_rules(agent.get("rule", [])), self._read_prices(agent)
        )

    def _parse(self) -> dict[str, Any]:
        try:
            data = _toml().loads(self._text)
        except (ValueError, RecursionError) as problem:  # TOMLDecodeError is a ValueError
            found = re.search(r"at line (\d+)", str(problem))
            line = int(found[1]) if found else None
            self._fail(None, f"it is not TOML: {problem}", line=line)
        self._check_keys(data, ("agent",), None)
        return data  # type: ignore[no-any-return]

    def _read_rules(self, data: Any) -> tuple[AgentRule, ...]:
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            self._fail("agent.rule", f"rules are tables, each begun by {_RULE_TABLE}")
        rules = []
        for number, fields in enumerate(data, 1):
            line = self._find_line(_RULE_TABLE, number)
            source = str(self._path) if line is None else f"{self._path}:{line}"
            try:
                rules.append(parse_rule(fields, f"rule-{number}", source))
            except InvalidAgentRule as problem:
                key = str(problem.details["field"])
                self._fail(
                    f"agent.rule {number}, {key}",
                    problem.message,
                    line=self._find_line(_RULE_TABLE, number, key) or line,
                    possible=problem.details.get("possible"),
                )
        return tuple(rules)

    def _read_prices(self, agent: dict[str, Any]) -> dict[str, Price]:
        try:
            return parse_prices(agent.get("prices", {}))
        except InvalidInput as problem:
            key = str(problem.details["field"])
            line = self._find_line(_PRICE_TABLE, 1, key)
            self._fail(f"agent.prices, {key}", problem.message, line=line)

    def _check_keys(self, table: dict[str, Any], known: tuple[str, ...], name: str | None) -> None:
        for key in table:
            if key not in known:
                whole = key if name is None else f"{name}.{key}"
                self._fail(
                    whole,
                    f"there is no such key; possible are: {', '.join(known)}",
                    line=self._find_any(whole, key),
                    possible=list(known),
                )

    def _find_line(self, table: str, number: int, key: str | None = None) -> int | None:
        """The line of the `number`th table of that name, or of a key in it."""
        count, is_inside = 0, False
        for line, text in enumerate(self._lines, 1):
            header = _HEADER.match(text)
            if header is not None:
                closing = "]" * len(header[1])
                is_inside = f"{header[1]}{header[2]}{closing}".replace(" ", "") == table
                count += is_inside
                is_inside = is_inside and count == number
                if is_inside and key is None:
                    return line
            elif is_inside and _key_in(text) == key:
                return line
        return None

    def _find_any(self, table: str, key: str) -> int | None:
        """The line where a table of that name begins, or a key of that name."""
        for line, text in enumerate(self._lines, 1):
            header = _HEADER.match(text)
            if header is not None and f"{header[2]}.".startswith(f"{table}."):
                return line
            if header is None and _key_in(text) == key:
                return line
        return None

    def _fail(
        self, key: str | None, why: str, line: int | None = None, possible: Any = None
    ) -> NoReturn:
        place = str(self._path) if line is None else f"{self._path}, line {line}"
        details = {"file": str(self._path), "line": line, "key": key, "possible": possible}
        raise InvalidProjectFile(
            f"{place}: {why}" if key is None else f"{place}: {key}: {why}",
            **{name: value for name, value in details.items() if value},
        )


def _key_in(text: str) -> str | None:
    found = _KEY.match(text)
    return None if found is None else next(part for part in found.groups() if part is not None)


def _toml() -> Any:
    return importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
