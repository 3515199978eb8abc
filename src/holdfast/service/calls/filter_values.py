"""A call's values as the filter language sees them, without loading any of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from holdfast.core.filters import (
    NOTHING,
    Arguments,
    Call,
    Facts,
    LazyValue,
    ParameterValues,
    Unknown,
)
from holdfast.core.signatures import Argument, bind, parameters_of, read_default
from holdfast.errors import ContentDamaged
from holdfast.model.call import CallRecord, Parameter, Preview
from holdfast.service.calls.content_cache import ContentCache
from holdfast.wire import plain_values


class ValueNotAtHand(Exception):
    """An expression needs a value that must be read from the store first."""

    def __init__(self, cid: str, *, needs_data: bool) -> None:
        super().__init__(cid)
        self.cid = cid
        self.needs_data = needs_data


class FilterValues:
    """Builds the values of calls from what is in memory; `load` reads the rest from the store.

    Expressions are evaluated without waiting: one that comes to a value that is not at hand raises
    `ValueNotAtHand`, and is evaluated again when that is loaded. So only what it needs is read.
    """

    def __init__(self, contents: ContentCache) -> None:
        self._contents = contents
        self._previews: dict[str, Preview] = {}
        self._data: dict[str, bytes | None] = {}  # of one call only, because values may be large
        self._data_of = 0

    async def load(self, *missing: ValueNotAtHand) -> None:
        cids = [value.cid for value in missing if not value.needs_data]
        self._previews.update({cid: {} for cid in cids})
        self._previews.update(await self._contents.previews(cids))
        for value in missing:
            if value.needs_data:
                self._data[value.cid] = None
                with contextlib.suppress(ContentDamaged):  # as good as missing
                    self._data[value.cid] = await self._contents.data(value.cid)

    def build(self, record: CallRecord) -> Call:
        """Each value is read only when the expression uses it."""
        if record.number != self._data_of:
            self._data, self._data_of = {}, record.number
        known: dict[str, LazyValue] = {}

        def get_lazy_value(cid: str, name: str) -> LazyValue:
            if cid not in known:
                known[cid] = self._build_lazy_value(cid, name)
            return known[cid]

        exception = None
        if record.exception_type is not None:
            exception = Facts(type=record.exception_type, message=record.exception_message or "")

        def bind_parameters() -> dict[str, Any]:
            return _bind_parameters(record, get_lazy_value)

        def describe_missing(name: str) -> Any:
            return _describe_missing(record, name, get_lazy_value)

        return {
            "args": Arguments(
                [get_lazy_value(cid, f"args[{at}]") for at, cid in enumerate(record.args)]
            ),
            "kwargs": Arguments(
                {
                    name: get_lazy_value(cid, f"kwargs[{name!r}]")
                    for name, cid in record.kwargs.items()
                }
            ),
            "function": record.function.name,
            "alias": record.function.alias,
            "call_type": record.call_type,
            "status": record.status.value,
            "result": NOTHING if record.result is None else get_lazy_value(record.result, "result"),
            "exception": exception,
            "duration": NOTHING if record.duration_ns is None else record.duration_ns / 1e9,
            "thread": (record.thread or {}).get("name"),
            "task": record.task,
            "params": ParameterValues(bind_parameters, describe_missing),
        }

    def _build_lazy_value(self, cid: str, name: str) -> LazyValue:
        """The value in its preview, or else the plain value in its bytes."""

        def length() -> int | None:
            return self._preview(cid).get("length")

        def note(what: str, known_length: int | None, fields: plain_values.Fields) -> Unknown:
            why = f"{name} is or holds {what}, which is not plain data"
            if fields is None:
                return Unknown(known_length, why)

            def get_attributes() -> dict[str, Any]:
                loads = fields()
                return {name: LazyValue(load, lambda: None) for name, load in loads.items()}

            return Unknown(known_length, why, get_attributes)

        def load_value() -> Any:
            preview = self._preview(cid)
            if "json" in preview:
                return preview["json"]
            if cid not in self._data:
                raise ValueNotAtHand(cid, needs_data=True)
            data = self._data[cid]
            if data is None:
                return Unknown(preview.get("length"), f"{name} is not stored")
            return plain_values.read_plain(data, note)

        return LazyValue(load_value, length)

    def _preview(self, cid: str) -> Preview:
        preview = self._previews.get(cid)
        if preview is None:
            preview = self._contents.known_preview(cid)
            if preview is None:
                raise ValueNotAtHand(cid, needs_data=False)
        return preview


# -- parameters ----------------------------------------------------------------------------------

GetValue = Callable[[str, str], LazyValue]
"""The value of a content id, by the name that messages have for it."""


def _bind_parameters(record: CallRecord, get_value: GetValue) -> dict[str, Any]:
    """The values of a call by parameter; without a signature, only the keyword arguments."""
    parameters = parameters_of(record.function)
    if parameters is None:
        return {name: get_value(cid, name) for name, cid in record.kwargs.items()}
    bound = bind(parameters, record.args, record.kwargs)
    if bound.problem is not None:
        # Maybe a decorator shows another signature than it has, so that no position is certain.
        function = record.function.qualname or record.function.name
        why = f"the arguments do not fit the signature of {function}: {bound.problem}"
        unknown = {parameter.name: Unknown(why=why) for parameter in parameters}
        return {**unknown, **{name: get_value(cid, name) for name, cid in record.kwargs.items()}}
    return {name: _read_argument(argument, get_value) for name, argument in bound.arguments.items()}


def _read_argument(argument: Argument[str], get_value: GetValue) -> Any:
    name = argument.parameter.name
    if argument.value is not None:
        return get_value(argument.value, name)
    if isinstance(argument.values, dict):
        return Arguments(
            {key: get_value(cid, f"{name}[{key!r}]") for key, cid in argument.values.items()}
        )
    if argument.values is not None:
        return Arguments(
            [get_value(cid, f"{name}[{at}]") for at, cid in enumerate(argument.values)]
        )
    return _read_default(argument.parameter)


def _read_default(parameter: Parameter) -> Any:
    if parameter.default is None:
        return NOTHING
    is_known, value = read_default(parameter.default)
    if is_known:
        return value
    kind = parameter.default.get("type", "?")
    why = f"the default of {parameter.name} is a value of type {kind}, which is not plain data"
    return Unknown(parameter.default.get("length"), why)


def _describe_missing(record: CallRecord, name: str, get_value: GetValue) -> Any:
    """The value of a name that is no parameter: what was passed by it, or why it has none."""
    if name in record.kwargs:
        return get_value(record.kwargs[name], name)
    function = record.function.qualname or record.function.name
    parameters = parameters_of(record.function)
    if parameters is None:
        return Unknown(
            why=f"the parameters of {function} are not known, so {name} cannot be told; "
            "use args[…] or kwargs.get(…)"
        )
    return NOTHING  # the function has no such parameter, or it was not passed
