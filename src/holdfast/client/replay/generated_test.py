"""Describes a test of a recorded call, as expressions; the command makes a file of it."""

from __future__ import annotations

import builtins
import keyword
import re
import types
from typing import Any

from holdfast.client.definitions import is_importable
from holdfast.client.replay import generated_test_helpers, recorded_call, source_expressions
from holdfast.client.replay.replay_messages import (
    ArgumentParts,
    CallRecord,
    Expression,
    StoredValue,
    TestParts,
)
from holdfast.client.replay.source_expressions import NotSource
from holdfast.client.replay.value_restorer import CannotReplay, Restorer

_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "matmul": "@",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "lshift": "<<",
    "rshift": ">>",
    "and": "&",
    "xor": "^",
    "or": "|",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "pow": "**",
}
_BUILTINS = (
    "len",
    "str",
    "repr",
    "bool",
    "int",
    "float",
    "abs",
    "hash",
    "bytes",
    "round",
    "complex",
)
_MAX_BYTES = 1 << 20


class GeneratedTest:
    def __init__(
        self,
        call: CallRecord,
        restorer: Restorer,
        values: recorded_call.CallValues,
        form: recorded_call.CallForm,
        recorded: recorded_call.RecordedOutcome,
    ) -> None:
        self._call = call
        self._restorer = restorer
        self._values = values
        self._form = form
        self._recorded = recorded

    def build(self) -> TestParts:
        """The parts of the test, or `{"skip": reason}`."""
        try:
            return self._build()
        except (NotSource, CannotReplay) as why:
            return {"skip": str(why)}

    def _build(self) -> TestParts:
        call, values, after = self._call, self._values, self._recorded.after
        changed = call.get("changed") or {}
        names = recorded_call.parameter_names(call)
        names += [f"argument_{at + 1}" for at in range(len(names), len(call["args"]))]
        changed_args, changed_kwargs = changed.get("args") or {}, changed.get("kwargs") or {}
        arguments = [
            self._build_argument(
                *(names[at], False, item, value, changed_args.get(str(at)), after.args[at])
            )
            for at, (item, value) in enumerate(zip(call["args"], values.args, strict=True))
        ]
        arguments += [
            self._build_argument(
                *(name, True, item, values.kwargs[name]),
                *(changed_kwargs.get(name), after.kwargs[name]),
            )
            for name, item in call["kwargs"].items()
        ]
        return {
            "arguments": arguments,
            **self._build_call(changed.get("target")),
            **self._build_ending(),
        }

    def _build_argument(
        self,
        name: str,
        is_keyword: bool,
        item: StoredValue,
        value: Any,
        changed: StoredValue | None,
        after: Any,
    ) -> ArgumentParts:
        return {
            "name": name,
            "keyword": is_keyword,
            "value": self._build_expression(value, item["cid"]),
            "after": changed and self._build_claim(after, changed["cid"]),
        }

    def _build_expression(self, value: Any, cid: str | None) -> Expression:
        node = source_expressions.build_expression(value, self._restorer, cid)
        if len(str(node)) > _MAX_BYTES:
            raise NotSource("its values are too large for a test")
        return node

    def _build_claim(self, value: Any, cid: str | None) -> Expression:
        """The assertion that something has this value: `[kind, expression]`."""
        if value is None or isinstance(value, bool):
            return ["is", repr(value)]
        node = self._build_expression(value, cid)
        again = source_expressions.evaluate(node, self._restorer)
        if _is_equal(value, again):
            return ["equals", node]
        if _is_built(node) and _is_equal(vars(value), vars(again)):
            return ["has", node[3][0], source_expressions.build_attributes(value)]
        if _is_equal(generated_test_helpers.state(value), generated_test_helpers.state(again)):
            return ["state", node]
        raise NotSource(f"a {type(value).__name__} cannot be compared")

    # -- the call ---------------------------------------------------------------------

    def _build_call(self, changed: StoredValue | None) -> TestParts:
        """The expression of the call, in which `{}` stands for the arguments; and the target."""
        form, target = self._form, self._form.target
        name = form.name
        if form.kind == "itself" and isinstance(target, types.MethodType):
            name, target = target.__func__.__name__, target.__self__
        elif form.kind == "itself" and _has_name(target):
            return {"form": "call", "function": _build_name(target)}
        elif isinstance(target, types.ModuleType):
            return {"form": "call", "function": ["name", target.__name__, name]}
        if isinstance(target, type):
            node = _build_name(target)
            if form.kind == "operator":
                raise NotSource("an operator of a class")
            return {"form": "call", "function": [*node[:2], f"{node[2]}.{name}"]}
        return {**self._build_target(target, changed), **_build_form(form, name, target)}

    def _build_target(self, target: Any, changed: StoredValue | None) -> TestParts:
        is_method = isinstance(self._form.target, types.MethodType)
        cid = None if is_method else self._call["target_cid"]
        after = self._recorded.after.target
        left = None
        if changed is not None:
            after = after.__self__ if is_method else after
            left = self._build_claim(after, None if is_method else changed["cid"])
        return {
            "target": self._build_expression(target, cid),
            "target_name": _variable_name(type(target).__name__),
            "target_after": left,
        }

    # -- the outcome ------------------------------------------------------------------------

    def _build_ending(self) -> TestParts:
        call = self._call
        if call["status"] == "success":
            assert self._recorded.outcome is not None
            return {"result": self._build_claim(self._recorded.outcome.value, call["result_cid"])}
        module, _, name = call["exception_type"].rpartition(".")
        node: Expression = name
        if module or not hasattr(builtins, name):
            if self._recorded.outcome is None or self._recorded.outcome.error is None:
                raise NotSource(f"the exception {call['exception_type']} cannot be imported")
            node = _build_name(type(self._recorded.outcome.error))
        return {"raises": node, "message": call["exception_message"] or ""}


def _build_form(form: recorded_call.CallForm, name: str, target: Any) -> TestParts:
    if form.kind == "itself" and target is form.target:
        return {"form": "itself"}
    bare = name[2:-2] if form.is_special() else ""
    if form.kind == "operator":
        if bare in _SYMBOLS:
            return {"form": "operator", "symbol": _SYMBOLS[bare]}
        if bare[:1] == "r" and bare[1:] in _SYMBOLS:
            return {"form": "reflected", "symbol": _SYMBOLS[bare[1:]]}
        if bare in ("divmod", "rdivmod"):
            return {"form": "builtin", "builtin": "divmod", "reflected": bare[0] == "r"}
        return {"form": "builtin", "builtin": ["name", "operator", bare]}
    if bare in _BUILTINS:
        return {"form": "builtin", "builtin": bare}
    if bare == "getitem":
        return {"form": "index"}
    if bare == "contains":
        return {"form": "contains"}
    return {"form": "method", "method": name}


def _has_name(target: Any) -> bool:
    return isinstance(target, (type, types.FunctionType, types.BuiltinFunctionType))


def _build_name(thing: Any) -> Expression:
    if not is_importable(thing):
        raise NotSource(f"{recorded_call.describe(thing)} cannot be imported")
    return ["name", thing.__module__, thing.__qualname__]


def _variable_name(name: str) -> str:
    variable = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return "target" if hasattr(builtins, variable) or keyword.iskeyword(variable) else variable


def _is_built(node: Expression) -> bool:
    return isinstance(node, list) and node[0] == "group" and node[1] == "built"


def _is_equal(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except Exception:  # the application's own ==; that of an array has no truth value
        return False
