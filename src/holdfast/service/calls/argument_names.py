"""Arguments that a decision changes by name, for applications that do not check decisions.

Such an application passes `modified_kwargs` as keyword arguments. An argument that the call has by
position is therefore changed by position.
"""

from __future__ import annotations

import dataclasses

import msgspec
from msgspec import UNSET

from holdfast import errors
from holdfast.core.signatures import bind, parameters_of
from holdfast.model.call import CallRecord, Parameters
from holdfast.service.calls.call_actions import CallAction
from holdfast.wire.call_answers import SentValue
from holdfast.wire.unknown_names import describe_known


def resolve_names(record: CallRecord, action: CallAction) -> CallAction:
    """The action with its names turned into positions where the call has them so."""
    parameters, named = parameters_of(record.function), action.instruction.modified_kwargs
    if parameters is None or named is UNSET or not named:
        return action
    if bind(parameters, record.args, record.kwargs).problem is not None:
        return action  # the signature does not describe this call
    given = action.instruction.modified_args
    args: list[SentValue | None] = [] if given is UNSET else list(given)
    kwargs: dict[str, SentValue] = {}
    for name, value in named.items():
        place = _find_place(record, parameters, name)
        if place is None:
            kwargs[name] = value
        else:
            args += [None] * (place + 1 - len(args))
            args[place] = value
    instruction = msgspec.structs.replace(
        action.instruction, modified_args=args, modified_kwargs=kwargs
    )
    return dataclasses.replace(action, instruction=instruction)


def _find_place(record: CallRecord, parameters: Parameters, name: str) -> int | None:
    """The position of an argument; None for one that goes by name."""
    known = {parameter.name: parameter for parameter in parameters}
    takes_any_name = any(parameter.kind == "var_keyword" for parameter in parameters)
    parameter = known.get(name)
    if parameter is None and not takes_any_name:
        raise errors.InvalidDecision(
            f"modified_kwargs.{name}: {record.function.name} has no parameter {name!r}; "
            f"{describe_known(name, list(known))}",
            field=f"modified_kwargs.{name}",
            choices=list(known),
        )
    if parameter is None or not parameter.kind.startswith("positional"):
        return None
    place = parameters.index(parameter)
    if place < len(record.args) or parameter.kind == "positional_only":
        if place > len(record.args):
            raise errors.InvalidDecision(
                f"modified_kwargs.{name}: it goes by position, and those before it are not given",
                hint="Give them all with `modified_args`.",
                field=f"modified_kwargs.{name}",
            )
        return place
    return None
