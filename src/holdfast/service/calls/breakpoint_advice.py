"""What whoever sets a call breakpoint should know: what it matches, and what it probably misses."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.core import call_matcher
from holdfast.core.call_matcher import ArmedBreakpoint
from holdfast.core.signatures import parameters_of
from holdfast.model.call import Function, Parameter
from holdfast.wire.unknown_names import describe_known

_MAX_SUGGESTIONS = 3
_CUTOFF = 0.6


@dataclass
class Advice:
    """`matches` counts functions that were registered or called. `warnings` are sentences."""

    matches: int
    suggestions: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def advise(armed: ArmedBreakpoint, functions: Sequence[Function]) -> Advice:
    matching = [function for function in functions if armed.concerns(function)]
    advice = Advice(len(matching))
    if not matching:
        _advise_on_pattern(armed, functions, advice)
    elif armed.condition is not None:
        _advise_on_condition(armed, matching, advice)
    return advice


def _advise_on_pattern(
    armed: ArmedBreakpoint, functions: Sequence[Function], advice: Advice
) -> None:
    wanted = armed.point.function
    if not functions:
        advice.warnings.append(
            "No function was registered or called so far. The breakpoint is in force."
        )
        return
    if wanted is None:
        advice.warnings.append(
            "Nothing that was registered or called matches so far. The breakpoint is in force."
        )
        return
    advice.suggestions = suggest_functions(wanted, functions)
    names = " or ".join(advice.suggestions)
    meant = f" Did you mean {names}?" if names else ""
    advice.warnings.append(
        f"No function that was registered or called matches {wanted!r} so far.{meant} "
        "The breakpoint is set, and holds such a function once it comes."
    )


def suggest_functions(wanted: str, functions: Iterable[Function]) -> list[str]:
    """The functions that a pattern which matches none of them probably means, the nearest first."""
    scores: dict[str, float] = {}
    bare = wanted.translate({ord(sign): None for sign in "*?[]"}).lower()
    matcher = difflib.SequenceMatcher(b=bare)
    for function in functions:
        label = function.qualname or function.name
        for name in {*call_matcher.list_names(function), function.alias or function.name}:
            matcher.set_seq1(name.lower())
            if matcher.real_quick_ratio() >= _CUTOFF and matcher.quick_ratio() >= _CUTOFF:
                scores[label] = max(scores.get(label, 0.0), matcher.ratio())
    near = [label for label, score in scores.items() if score >= _CUTOFF]
    return sorted(near, key=lambda label: -scores[label])[:_MAX_SUGGESTIONS]


def _advise_on_condition(
    armed: ArmedBreakpoint, matching: Sequence[Function], advice: Advice
) -> None:
    condition = armed.condition
    found = [parameters_of(function) for function in matching]
    known = [parameters for parameters in found if parameters is not None]
    if condition is None or len(known) < len(found):
        return  # a function without a signature may have any parameter
    names = {parameter.name: parameter for parameters in known for parameter in parameters}
    takes_any_name = any(_takes_any_name(parameters) for parameters in known)
    for name in condition.parameters:
        if name not in names and not takes_any_name:
            advice.warnings.append(
                f"No function that matches has a parameter {name!r}: "
                f"{describe_known(name, list(names))}."
            )
    for name in condition.own_names:
        parameter = names.get(name)
        if parameter is not None and not parameter.kind.startswith("var_"):
            advice.warnings.append(
                f"{name} is not the parameter of that name here, which is params[{name!r}]."
            )


def _takes_any_name(parameters: Iterable[Parameter]) -> bool:
    return any(parameter.kind == "var_keyword" for parameter in parameters)
