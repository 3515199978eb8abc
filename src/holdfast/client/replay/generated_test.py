"""What a test of a recorded call has to say, as expressions; the command makes a file of it."""

from __future__ import annotations

import builtins
import keyword
import re
import types
from typing import Any

from holdfast.client.definitions import is_importable
from holdfast.client.replay import generated_test_helpers, recorded_call, source_expressions
from holdfast.client.replay.source_expressions import Node, NotSource
from holdfast.client.replay.value_restorer import CannotReplay, Restorer

Json = dict[str, Any]
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


class Test:
    __test__ = False

    def __init__(
        self,
        call: Json,
        restorer: Restorer,
        given: recorded_call.Values,
        way: recorded_call.Way,
        recorded: recorded_call.Recorded,
    ) -> None:
        self._call = call
        self._restorer = restorer
        self._given = given
        self._way = way
        self._recorded = recorded

    def written(self) -> Json:
        """The pieces of the test, or `{"skip": reason}`."""
        try:
            return self._written()
        except (NotSource, CannotReplay) as why:
            return {"skip": str(why)}

    def _written(self) -> Json:
        call, after = self._call, self._recorded.after
        changed = call.get("changed") or {}
        arguments = []
        names = recorded_call.parameter_names(call)
        for at, (item, value) in enumerate(zip(call["args"], self._given.args, strict=True)):
            left = (changed.get("args") or {}).get(str(at))
            arguments.append(
                {
                    "name": names[at] if at < len(names) else f"argument_{at + 1}",
                    "keyword": False,
                    "value": self._source(value, item["cid"]),
                    "after": left and self._claims(after.args[at], left["cid"]),
                }
            )
        for name, item in call["kwargs"].items():
            left = (changed.get("kwargs") or {}).get(name)
            arguments.append(
                {
                    "name": name,
                    "keyword": True,
                    "value": self._source(self._given.kwargs[name], item["cid"]),
                    "after": left and self._claims(after.kwargs[name], left["cid"]),
                }
            )
        return {
            "arguments": arguments,
            **self._called(changed.get("target")),
            **self._ending(),
        }

    def _source(self, value: Any, cid: str | None) -> Node:
        node = source_expressions.of(value, self._restorer, cid)
        if len(str(node)) > _MAX_BYTES:
            raise NotSource("its values are too large for a test")
        return node

    def _claims(self, value: Any, cid: str | None) -> Node:
        """How a test says that something has this value: `[kind, expression]`."""
        if value is None or isinstance(value, bool):
            return ["is", repr(value)]
        node = self._source(value, cid)
        again = source_expressions.evaluated(node, self._restorer)
        if _holds(value, again):
            return ["equals", node]
        if _is_built(node) and _holds(vars(value), vars(again)):
            return ["has", node[3][0], source_expressions.attributes(value)]
        if _holds(generated_test_helpers.state(value), generated_test_helpers.state(again)):
            return ["state", node]
        raise NotSource(f"a {type(value).__name__} cannot be compared")

    # -- what is called ---------------------------------------------------------------------

    def _called(self, changed: Json | None) -> Json:
        """The expression of the call, in which `{}` stands for the arguments; and the target."""
        way, target = self._way, self._way.target
        name = way.name
        if way.kind == "itself" and isinstance(target, types.MethodType):
            name, target = target.__func__.__name__, target.__self__
        elif way.kind == "itself" and _by_name(target):
            return {"form": "call", "function": _name(target)}
        elif isinstance(target, types.ModuleType):
            return {"form": "call", "function": ["name", target.__name__, name]}
        if isinstance(target, type):
            node = _name(target)
            if way.kind == "operator":
                raise NotSource("an operator of a class")
            return {"form": "call", "function": [*node[:2], f"{node[2]}.{name}"]}
        return {**self._on_object(target, changed), **_form(way, name, target)}

    def _on_object(self, target: Any, changed: Json | None) -> Json:
        whole = isinstance(self._way.target, types.MethodType)
        cid = None if whole else self._call["target_cid"]
        after = self._recorded.after.target
        left = None
        if changed is not None:
            after = after.__self__ if whole else after
            left = self._claims(after, None if whole else changed["cid"])
        return {
            "target": self._source(target, cid),
            "target_name": _variable(type(target).__name__),
            "target_after": left,
        }

    # -- how it ends ------------------------------------------------------------------------

    def _ending(self) -> Json:
        call = self._call
        if call["status"] == "success":
            assert self._recorded.outcome is not None
            return {"result": self._claims(self._recorded.outcome.value, call["result_cid"])}
        module, _, name = call["exception_type"].rpartition(".")
        node: Node = name
        if module or not hasattr(builtins, name):
            if self._recorded.outcome is None or self._recorded.outcome.error is None:
                raise NotSource(f"the exception {call['exception_type']} cannot be imported")
            node = _name(type(self._recorded.outcome.error))
        return {"raises": node, "message": call["exception_message"] or ""}


def _form(way: recorded_call.Way, name: str, target: Any) -> Json:
    if way.kind == "itself" and target is way.target:
        return {"form": "itself"}
    bare = name[2:-2] if way._is_special() else ""
    if way.kind == "operator":
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


def _by_name(target: Any) -> bool:
    return isinstance(target, (type, types.FunctionType, types.BuiltinFunctionType))


def _name(thing: Any) -> Node:
    if not is_importable(thing):
        raise NotSource(f"{recorded_call.describe(thing)} cannot be imported")
    return ["name", thing.__module__, thing.__qualname__]


def _variable(name: str) -> str:
    found = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return "target" if hasattr(builtins, found) or keyword.iskeyword(found) else found


def _is_built(node: Node) -> bool:
    return isinstance(node, list) and node[0] == "group" and node[1] == "built"


def _holds(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except Exception:  # an array's == is no answer
        return False
