"""Operators of a proxy's target, as functions of the target and the other operand.

`proxy + 2.5` has to be `target + 2.5`, not `type(target).__add__(target, 2.5)`: only the whole
operator asks the other operand when the first does not know what to do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from holdfast.client.hidden_frames import call_from_caller, hide_module

Binary = Callable[..., Any]

_ARITHMETIC: dict[str, Binary] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "matmul": operator.matmul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "divmod": divmod,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "xor": operator.xor,
    "or": operator.or_,
}
_INPLACE: dict[str, Binary] = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "matmul": operator.imatmul,
    "truediv": operator.itruediv,
    "floordiv": operator.ifloordiv,
    "mod": operator.imod,
    "pow": operator.ipow,
    "lshift": operator.ilshift,
    "rshift": operator.irshift,
    "and": operator.iand,
    "xor": operator.ixor,
    "or": operator.ior,
}
_COMPARISONS: dict[str, Binary] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _swap_operands(function: Binary) -> Binary:
    return lambda mine, other, *more: call_from_caller(function, other, mine, *more)


hide_module(__name__)  # before the first of them is made


BINARY: dict[str, Binary] = {
    **{f"__{name}__": function for name, function in {**_ARITHMETIC, **_COMPARISONS}.items()},
    **{f"__r{name}__": _swap_operands(function) for name, function in _ARITHMETIC.items()},
    "__pow__": pow,  # it takes a third operand
    "__rpow__": _swap_operands(pow),
}
INPLACE: dict[str, Binary] = {f"__i{name}__": function for name, function in _INPLACE.items()}
