"""What numpy asks of an array-like operand, answered for a proxy's target.

`np.sin(proxy)` and `ndarray + proxy` come to the proxy through these two; the function is then
called as if there had been no proxy, neither among its operands nor in the lists they are in.
"""

from __future__ import annotations

from typing import Any

from holdfast.client.proxy_base import ProxyBase, is_proxy, target_of

_DEEPEST = 10


def unwrapped(value: Any, depth: int = 0) -> Any:
    """The same with targets for proxies; what has none in it is left as it is."""
    if is_proxy(value):
        return target_of(value)
    cls = type(value)
    if depth > _DEEPEST or cls not in (list, tuple, dict):
        return value
    if cls is dict:
        named = {name: unwrapped(each, depth + 1) for name, each in value.items()}
        return named if any(named[name] is not value[name] for name in value) else value
    found = [unwrapped(each, depth + 1) for each in value]
    if all(map(lambda one, other: one is other, found, value)):
        return value
    return cls(found)


def ufunc(function: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """`__array_ufunc__` without the operand that it is asked of."""
    return getattr(function, method)(*inputs, **options)


def function(function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`__array_function__`, likewise."""
    return function(*args, **kwargs)


def real_types(types: Any, target: Any) -> Any:
    return tuple(type(target) if issubclass(each, ProxyBase) else each for each in types)
