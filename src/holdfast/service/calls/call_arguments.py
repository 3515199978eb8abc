"""The arguments of a call by parameter, and what a decision changed about the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from holdfast.core.signatures import Argument, bind, parameters_of, read_default
from holdfast.model.call import CallRecord, Function, Preview
from holdfast.wire.call_answers import ChangedArgument, DecidedCall, HeldArgument, Value
from holdfast.wire.described import none_to_unset

Previews = Mapping[str, Preview]


def name_values(record: CallRecord, args: Sequence[Value]) -> None:
    """Give the positional arguments that are for a parameter of their own its name."""
    for argument in bind(parameters_of(record.function) or (), args, {}).arguments.values():
        if argument.value is not None:
            argument.value.name = argument.parameter.name


def list_arguments(
    function: Function | None, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> list[HeldArgument]:
    """The arguments in the order of the signature, with the defaults of those not passed."""
    parameters = None if function is None else parameters_of(function)
    bound = None if parameters is None else bind(parameters, args, kwargs)
    if bound is None or bound.problem is not None:
        named = [(f"args[{at}]", value) for at, value in enumerate(args)]
        return [
            _build_held(name, value.text, is_passed=True, literal=value.literal)
            for name, value in (*named, *kwargs.items())
        ]
    return [_describe_argument(argument) for argument in bound.arguments.values()]


def _describe_argument(argument: Argument[Value]) -> HeldArgument:
    parameter, stars = argument.parameter, ""
    literal: str | UnsetType = UNSET
    if argument.value is not None:
        text, literal = argument.value.text, argument.value.literal
    elif isinstance(argument.values, dict):
        parts = [f"{name!r}: {value.text}" for name, value in argument.values.items()]
        text, stars = "{" + ", ".join(parts) + "}", "**"
    elif argument.values is not None:
        text, stars = "(" + ", ".join(value.text for value in argument.values) + ")", "*"
    elif parameter.default is None:
        text = "<missing>"
    else:
        text = str(parameter.default.get("text"))
        is_known, value = read_default(parameter.default)
        literal = repr(value) if is_known else UNSET
    name = f"{stars}{parameter.name}"
    return _build_held(name, text, is_passed=argument.is_passed, literal=literal)


def _build_held(name: str, text: str, *, is_passed: bool, literal: str | UnsetType) -> HeldArgument:
    is_editable = literal is not UNSET
    return HeldArgument(
        name=name, text=text, is_passed=is_passed, editable=is_editable, literal=literal
    )


# -- decisions -----------------------------------------------------------------------------------


def list_decided_cids(decision: Mapping[str, Any]) -> Iterator[str]:
    """The values that a decision gave a call as arguments."""
    for item in (
        *(decision.get("modified_args") or ()),
        *(decision.get("modified_kwargs") or {}).values(),
        *(decision.get("exception_args") or ()),
        *(decision.get("exception_kwargs") or {}).values(),
    ):
        if item is not None:
            yield item["cid"]


def build_decided(record: CallRecord, previews: Previews) -> DecidedCall:
    """What a decision did to a call."""
    decision: Mapping[str, Any] = record.decision or {}
    action = str(decision.get("action"))
    decided = DecidedCall(
        action=action,
        text="",
        by=decision.get("by", UNSET),
        when=decision.get("when", UNSET),
        note=decision.get("note", UNSET),
    )
    what = ""
    match action:
        case "modify":
            decided.arguments = _list_changes(record, decision, previews)
            what = ", ".join(map(_describe_change, decided.arguments))
        case "skip" if decision.get("fake_result_cid"):
            decided.result = _value(decision["fake_result_cid"], previews)
            what = f"returned {decided.result.text}"
        case "raise":
            decided.exception = _describe_exception(decision, previews)
            what = f"raised {decided.exception}"
        case "replace":
            decided.function = none_to_unset(decision.get("function_name"))
            what = f"called {decided.function}"
    by = f", decided by {decided.by}" if decided.by else ""
    decided.text = f"{action}: {what}{by}" if what else f"{action}{by}"
    return decided


def _list_changes(
    record: CallRecord, decision: Mapping[str, Any], previews: Previews
) -> list[ChangedArgument]:
    bound = bind(parameters_of(record.function) or (), record.args, record.kwargs).arguments
    positional = [
        argument.parameter.name
        for argument in bound.values()
        if argument.parameter.kind.startswith("positional")
    ]

    def build(name: str, before: str | None, after: str) -> ChangedArgument:
        return ChangedArgument(
            name=name,
            after=_value(after, previews),
            before=UNSET if before is None else _value(before, previews),
        )

    changes = []
    for at, item in enumerate(decision.get("modified_args") or ()):
        if item is not None:
            name = positional[at] if at < len(positional) else f"args[{at}]"
            before = record.args[at] if at < len(record.args) else None
            changes.append(build(name, before, item["cid"]))
    for name, item in (decision.get("modified_kwargs") or {}).items():
        known = bound.get(name)
        before = record.kwargs.get(name) if known is None else known.value
        changes.append(build(name, before, item["cid"]))
    return changes


def _describe_change(change: ChangedArgument) -> str:
    before = "not passed" if change.before is UNSET else change.before.text
    return f"{change.name}: {before} → {change.after.text}"


def _describe_exception(decision: Mapping[str, Any], previews: Previews) -> str:
    cid = decision.get("exception_cid")
    if cid is not None:
        return _value(cid, previews).text
    name = str(decision.get("exception_type"))
    parts = [_value(item["cid"], previews).text for item in decision.get("exception_args") or ()]
    for key, item in (decision.get("exception_kwargs") or {}).items():
        parts.append(f"{key}={_value(item['cid'], previews).text}")
    if parts:
        return f"{name}({', '.join(parts)})"
    message = decision.get("exception_message")
    return f"{name}: {message}" if message else name


def _value(cid: str, previews: Previews) -> Value:
    return Value.of(cid, previews.get(cid))
