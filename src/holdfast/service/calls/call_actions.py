"""What somebody decided about a call, checked and made ready for the application."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast import errors
from holdfast.model.call import Item
from holdfast.service.calls.content_cache import Contents
from holdfast.wire import call_requests as wire

Json = dict[str, Any]
ACTIONS = ("continue", "skip", "raise", "modify", "replace")


@dataclass(frozen=True)
class Prepared:
    """`told` goes to the application, bytes included; `kept` is what the record says of it."""

    told: Json
    kept: Json


class Decider:
    """Turns deciders' words into actions. A mistake raises before anything has changed."""

    def __init__(self, contents: Contents, limit: Callable[[], int]) -> None:
        self._contents = contents
        self._limit = limit

    def prepared(
        self, action: str, options: Mapping[str, Any], replacements: Callable[[str], None]
    ) -> Prepared:
        """`replacements` raises when a function cannot stand in for the one that is called."""
        match action:
            case "continue":
                return Prepared({"action": action}, {"action": action})
            case "skip":
                return self._skip(options)
            case "raise":
                return self._raise(options)
            case "modify":
                return self._modify(options)
            case "replace":
                name = options.get("function_name")
                if not isinstance(name, str) or not name:
                    raise _missing("function_name", "replace")
                replacements(name)
                return Prepared(*[{"action": action, "function_name": name}] * 2)
            case _:
                raise errors.InvalidDecision(
                    f"no action {action!r}",
                    hint=f"The actions are: {', '.join(ACTIONS)}.",
                    field="action",
                )

    def _skip(self, options: Mapping[str, Any]) -> Prepared:
        item = self._flat(options, "fake_result")
        if item is None:
            raise _missing("fake_result", "skip")
        cid, data = self._kept(item)
        told = {"action": "skip", **_flat_json("fake_result", cid, data)}
        return Prepared(told, {"action": "skip", "fake_result_cid": cid})

    def _raise(self, options: Mapping[str, Any]) -> Prepared:
        item = self._flat(options, "exception")
        kind, message = options.get("exception_type"), options.get("exception_message", "")
        named: Json = {"action": "raise"}
        if kind is not None:
            if not isinstance(kind, str) or not kind.replace(".", "").isidentifier():
                raise errors.InvalidDecision(
                    f"exception_type: {kind!r} names no class",
                    hint="A builtin such as ValueError, or a dotted path such as app.errors.Late.",
                    field="exception_type",
                )
            named["exception_type"] = kind
        if not isinstance(message, str):
            raise errors.InvalidDecision(
                "exception_message: text is expected", field="exception_message"
            )
        named["exception_message"] = message
        if item is None:
            if kind is None:
                raise _missing("exception_type", "raise")
            return Prepared(named, named)
        cid, data = self._kept(item)
        return Prepared(
            {**named, **_flat_json("exception", cid, data)}, {**named, "exception_cid": cid}
        )

    def _modify(self, options: Mapping[str, Any]) -> Prepared:
        args, kwargs = options.get("modified_args"), options.get("modified_kwargs")
        if args is None and kwargs is None:
            raise _missing("modified_args or modified_kwargs", "modify")
        if args is not None and not isinstance(args, list):
            raise errors.InvalidDecision("modified_args: a list is expected", field="modified_args")
        if kwargs is not None and not isinstance(kwargs, dict):
            raise errors.InvalidDecision(
                "modified_kwargs: an object is expected", field="modified_kwargs"
            )
        limit = self._limit()
        new_args = [
            None if each is None else wire.value_of(each, f"modified_args.{at}", limit)
            for at, each in enumerate(args or [])
        ]
        new_kwargs = {
            name: wire.value_of(each, f"modified_kwargs.{name}", limit)
            for name, each in (kwargs or {}).items()
        }
        return self._modified(new_args, new_kwargs)

    def _modified(self, args: list[Item | None], kwargs: dict[str, Item]) -> Prepared:
        given = [item for item in (*args, *kwargs.values()) if item is not None]
        bytes_of = dict(self._kept(item) for item in given)

        def shown(data_of: Callable[[str], bytes | None]) -> Json:
            def show(item: Item | None) -> Json | None:
                return None if item is None else wire.item_json(item.cid, data_of(item.cid))

            return {
                "action": "modify",
                "modified_args": [show(item) for item in args],
                "modified_kwargs": {name: show(item) for name, item in kwargs.items()},
            }

        return Prepared(shown(bytes_of.get), shown(lambda _cid: None))

    def _flat(self, options: Mapping[str, Any], name: str) -> Item | None:
        """`fake_result`, or the seed's `fake_result_cid` and `fake_result_data`."""
        limit = self._limit()
        if name in options:
            return wire.value_of(options[name], name, limit)
        cid = options.get(f"{name}_cid")
        data = options.get(f"{name}_data")
        if cid is None and data is not None:
            return wire.item_with_data(data, name, limit)
        if cid is None:
            return None
        given = {"cid": cid} if data is None else {"cid": cid, "data": data}
        return wire.item_of(given, name, limit)

    def _kept(self, item: Item) -> tuple[str, bytes]:
        """The value is in the store from now on: its id, and the bytes for the application."""
        if item.data is None:
            return item.cid, self._contents.required(item.cid)
        self._contents.take([item])
        return item.cid, item.data


def _flat_json(name: str, cid: str, data: bytes) -> Json:
    item = wire.item_json(cid, data)
    return {f"{name}_cid": item["cid"], f"{name}_data": item["data"]}


def _missing(field: str, action: str) -> errors.InvalidDecision:
    return errors.InvalidDecision(f"{field}: {action} needs it", field=field)
