"""numpy's questions to an array-like operand, answered for a proxy's target.

`np.sin(proxy)` and `ndarray + proxy` come to the proxy through these two protocols. The function is
then called without proxies, neither among its operands nor in the lists that they are in.
"""

from __future__ import annotations

from typing import Any

from holdfast.client.hidden_frames import call_from_caller, hide_module
from holdfast.client.proxy_base import ProxyBase, is_proxy, target_of

_MAX_DEPTH = 10


def unwrap(value: Any, depth: int = 0) -> Any:
    """The same with targets for proxies; the value itself if there are none in it."""
    if is_proxy(value):
        return target_of(value)
    cls = type(value)
    if depth > _MAX_DEPTH or cls not in (list, tuple, dict):
        return value
    if cls is dict:
        named = {name: unwrap(item, depth + 1) for name, item in value.items()}
        return named if any(named[name] is not value[name] for name in value) else value
    items = [unwrap(item, depth + 1) for item in value]
    if all(map(lambda one, other: one is other, items, value)):
        return value
    return cls(items)


def call_ufunc(function: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """`__array_ufunc__` without the operand that it is a method of."""
    return call_from_caller(getattr(function, method), *inputs, **options)


def call_function(function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`__array_function__` without the operand that it is a method of."""
    return function(*args, **kwargs)


def real_types(types: Any, target: Any) -> Any:
    return tuple(type(target) if issubclass(cls, ProxyBase) else cls for cls in types)


hide_module(__name__)
