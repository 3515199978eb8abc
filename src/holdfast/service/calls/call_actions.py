"""Turns a decision about a call into the instruction that its application gets."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from holdfast import errors
from holdfast.core import decision_check
from holdfast.model.call import Item, When
from holdfast.model.decision import Moment
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.settings import Settings
from holdfast.wire import call_items
from holdfast.wire.call_answers import CallInstruction, SentValue

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallAction:
    """The instruction with its bytes, and the summary that is recorded of it."""

    instruction: CallInstruction
    summary: Json


class ActionBuilder:
    """Builds actions out of decisions in JSON. A mistake raises before anything has changed."""

    def __init__(self, contents: ContentCache, settings: Callable[[], Settings]) -> None:
        self._contents = contents
        self._settings = settings

    async def build(
        self,
        when: When,
        action: str,
        options: Mapping[str, Any],
        check_replacement: Callable[[str], None],
    ) -> CallAction:
        """`check_replacement` raises when a function cannot replace the one that is called."""
        fields = decision_check.check_fields(Moment(when.value), action, options)
        match action:
            case "skip":
                return await self._skip(fields)
            case "raise":
                return await self._raise(fields)
            case "modify":
                return await self._modify(fields)
            case "replace":
                name = fields["function_name"]
                check_replacement(name)
                return CallAction(
                    CallInstruction(action=action, function_name=name),
                    {"action": action, "function_name": name},
                )
            case _:
                return CallAction(CallInstruction(action=action), {"action": action})

    async def _skip(self, fields: Json) -> CallAction:
        cid, data = await self._store(self._parse_value(fields, "fake_result"))
        return CallAction(
            CallInstruction(action="skip", fake_result_cid=cid, fake_result_data=_base64(data)),
            {"action": "skip", "fake_result_cid": cid},
        )

    async def _raise(self, fields: Json) -> CallAction:
        instruction = CallInstruction(
            action="raise", exception_message=fields.get("exception_message", "")
        )
        if "exception_type" in fields:
            instruction.exception_type = _check_class_name(fields["exception_type"])
        data = None
        if fields.keys() & {"exception", "exception_cid", "exception_data"}:
            item = self._parse_value(fields, "exception")
            instruction.exception_cid, data = await self._store(item)
        summary: Json = msgspec.to_builtins(instruction)
        if fields.keys() & {"exception_args", "exception_kwargs"}:
            if "exception_type" not in fields:
                raise errors.InvalidDecision(
                    "exception_type: the arguments of a constructor need its class",
                    field="exception_type",
                )
            args = [
                call_items.parse_value(value, f"exception_args.{at}", self._limit)
                for at, value in enumerate(fields.get("exception_args", ()))
            ]
            kwargs = {
                name: call_items.parse_value(value, f"exception_kwargs.{name}", self._limit)
                for name, value in fields.get("exception_kwargs", {}).items()
            }
            send = await self._store_all([*args, *kwargs.values()])
            instruction.exception_args = [send(item) for item in args]
            instruction.exception_kwargs = {name: send(item) for name, item in kwargs.items()}
            summary["exception_args"] = [{"cid": item.cid} for item in args]
            summary["exception_kwargs"] = {n: {"cid": item.cid} for n, item in kwargs.items()}
        if data is not None:
            instruction.exception_data = _base64(data)
        return CallAction(instruction, summary)

    async def _modify(self, fields: Json) -> CallAction:
        limit = self._limit
        args = [
            None if value is None else call_items.parse_value(value, f"modified_args.{at}", limit)
            for at, value in enumerate(fields.get("modified_args", ()))
        ]
        kwargs = {
            name: call_items.parse_value(value, f"modified_kwargs.{name}", limit)
            for name, value in fields.get("modified_kwargs", {}).items()
        }
        items = [item for item in (*args, *kwargs.values()) if item is not None]
        send = await self._store_all(items)
        return CallAction(
            CallInstruction(
                action="modify",
                modified_args=[None if item is None else send(item) for item in args],
                modified_kwargs={name: send(item) for name, item in kwargs.items()},
            ),
            {
                "action": "modify",
                "modified_args": [None if item is None else {"cid": item.cid} for item in args],
                "modified_kwargs": {name: {"cid": item.cid} for name, item in kwargs.items()},
            },
        )

    @property
    def _limit(self) -> int:
        return self._settings().call_max_value_bytes

    async def _store_all(self, items: Sequence[Item]) -> Callable[[Item], SentValue]:
        """Store values. Return how each of them is sent."""
        data_by_cid = dict([await self._store(item) for item in items])
        return lambda item: SentValue(item.cid, _base64(data_by_cid[item.cid]))

    def _parse_value(self, fields: Json, name: str) -> Item:
        """The value of `name`, or of `name_cid` and `name_data`, as the first clients sent it."""
        limit = self._limit
        if name in fields:
            return call_items.parse_value(fields[name], name, limit)
        cid, data = fields.get(f"{name}_cid"), fields.get(f"{name}_data")
        if cid is None:
            return call_items.parse_data(data, name, limit)
        return call_items.parse_item({"cid": cid, "data": data}, name, limit)

    async def _store(self, item: Item) -> tuple[str, bytes]:
        """Store the value. Return its id and its bytes."""
        if item.data is None:
            return item.cid, await self._contents.require_data(item.cid)
        await self._contents.take([item])
        return item.cid, item.data


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _check_class_name(name: str) -> str:
    if not name.replace(".", "").isidentifier():
        raise errors.InvalidDecision(
            f"exception_type: {name!r} names no class",
            hint="A builtin such as ValueError, or a dotted path such as app.errors.Late.",
            field="exception_type",
        )
    return name
