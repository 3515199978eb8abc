"""Every special method of Python's data model, of an object and of its proxy.

The names are those of the language reference (chapter "Data model") and of the protocols of the
standard library that use special names, for Python 3.10 to 3.14. Each has operations that use it.
On the proxy they give the same result, or an exception of the same type with the same message, as
on the object. What is called is recorded under its name, unless the table says why not. On an
object that has no special methods all operations end alike, too.
"""

from __future__ import annotations

import abc
import asyncio
import contextlib
import copy
import dataclasses
import enum
import functools
import inspect
import math
import operator
import os
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from application import Application
from holdfast import DebugProxy, with_debug

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "matmul": operator.matmul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "divmod": divmod,
    "pow": operator.pow,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "xor": operator.xor,
    "or": operator.or_,
}
INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, f"__i{name}__") for name in BINARY if name != "divmod"
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_NAMES = (
    # Basic customisation
    """__new__ __init__ __del__ __repr__ __str__ __bytes__ __format__ __hash__ __bool__
    __lt__ __le__ __eq__ __ne__ __gt__ __ge__"""
    # Attributes and descriptors
    """ __getattr__ __getattribute__ __setattr__ __delattr__ __dir__ __get__ __set__ __delete__
    __set_name__ __slots__ __dict__ __weakref__ __class__ __doc__ __module__ __name__ __qualname__
    __annotations__ __type_params__"""
    # Classes
    """ __init_subclass__ __mro_entries__ __prepare__ __instancecheck__ __subclasscheck__
    __subclasshook__ __class_getitem__ __subclasses__ __mro__ __bases__ __abstractmethods__"""
    # Calls and containers
    """ __call__ __len__ __length_hint__ __getitem__ __setitem__ __delitem__ __missing__ __iter__
    __next__ __reversed__ __contains__"""
    # Numbers
    """ __neg__ __pos__ __abs__ __invert__ __complex__ __int__ __float__ __index__ __round__
    __trunc__ __floor__ __ceil__"""
    # Context managers, patterns, buffers, coroutines
    """ __enter__ __exit__ __match_args__ __buffer__ __release_buffer__ __await__ __aiter__
    __anext__ __aenter__ __aexit__"""
    # Protocols of the standard library
    """ __copy__ __deepcopy__ __replace__ __reduce__ __reduce_ex__ __getstate__ __setstate__
    __getnewargs__ __getnewargs_ex__ __fspath__ __sizeof__ __dataclass_fields__ __post_init__
    __wrapped__ __self__ __func__ __code__ __defaults__ __kwdefaults__ __globals__ __closure__
    __signature__ __text_signature__"""
)
SPECIAL_NAMES = {
    *_NAMES.split(),
    *(f"__{name}__" for name in BINARY),
    *(f"__r{name}__" for name in BINARY),
    *(f"__i{name}__" for name in INPLACE),
}


class Everything:
    """Has every special method that an object can be asked for."""

    __match_args__ = ("number",)
    number: int

    def __init__(self, number: int = 5) -> None:
        self.number = number
        self.log: list[Any] = []

    def __repr__(self) -> str:
        return f"Everything({self.number})"

    def __str__(self) -> str:
        return f"everything {self.number}"

    def __bytes__(self) -> bytes:
        return b"everything"

    def __format__(self, spec: str) -> str:
        return f"everything as {spec!r}"

    def __bool__(self) -> bool:
        return self.number > 5

    def __hash__(self) -> int:
        return 1234

    def __eq__(self, other: object) -> Any:
        return other == self.number if isinstance(other, int) else NotImplemented

    def __getattr__(self, name: str) -> str:
        if name.startswith("_") or name == "absent":
            raise AttributeError(f"there is no {name}")
        return f"the attribute {name}"

    def __dir__(self) -> list[str]:
        return ["one", "two"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return ("called", args, kwargs)

    def __len__(self) -> int:
        return self.number

    def __length_hint__(self) -> int:
        return self.number + 1

    def __getitem__(self, key: Any) -> Any:
        if key == "absent":
            raise KeyError(key)
        return ("item", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.log.append(("set", key, value))

    def __delitem__(self, key: Any) -> None:
        self.log.append(("deleted", key))

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.number))

    def __reversed__(self) -> Iterator[int]:
        return iter(range(self.number, 0, -1))

    def __contains__(self, item: Any) -> bool:
        return bool(item == self.number)

    def __neg__(self) -> int:
        return -self.number

    def __pos__(self) -> Everything:
        return self

    def __abs__(self) -> int:
        return abs(self.number)

    def __invert__(self) -> int:
        return ~self.number

    def __complex__(self) -> complex:
        return complex(self.number)

    def __int__(self) -> int:
        return self.number

    def __float__(self) -> float:
        return float(self.number)

    def __index__(self) -> int:
        return self.number

    def __round__(self, digits: int | None = None) -> Any:
        return ("rounded", digits)

    def __trunc__(self) -> int:
        return self.number

    def __floor__(self) -> int:
        return self.number - 1

    def __ceil__(self) -> int:
        return self.number + 1

    def __enter__(self) -> Everything:
        self.log.append("entered")
        return self

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> bool:
        self.log.append(kind)
        return kind is KeyError

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return ("awaited", self.number)

    def __aiter__(self) -> Steps:
        return Steps()

    async def __aenter__(self) -> Everything:
        return self

    async def __aexit__(self, kind: Any, problem: Any, trace: Any) -> bool:
        return kind is KeyError

    def __fspath__(self) -> str:
        return os.devnull

    def __sizeof__(self) -> int:
        return 4321

    def __getstate__(self) -> dict[str, Any]:
        return {"number": self.number, "log": list(self.log)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, log=[*state["log"], "restored"])

    def __copy__(self) -> Everything:
        return Everything(self.number + 1)

    def __deepcopy__(self, memo: Any) -> Everything:
        return Everything(self.number + 2)

    def __replace__(self, **changes: Any) -> Everything:
        return Everything(changes["number"])


def _add_operators(cls: Any) -> None:
    for name in (*BINARY, *(f"r{name}" for name in BINARY), *COMPARISONS):

        def operate(self: Any, other: Any, name: str = name) -> Any:
            return NotImplemented if other == "strange" else (name, self.number, other)

        setattr(cls, f"__{name}__", operate)
    for name in INPLACE:

        def change(self: Any, other: Any, name: str = name) -> Any:
            if other == "strange":
                return NotImplemented
            self.log.append((name, other))
            return self

        setattr(cls, f"__i{name}__", change)


_add_operators(Everything)


class Nothing:
    """Has no special methods but those of every object."""


class Steps:
    """An iterator, and an asynchronous one."""

    def __init__(self) -> None:
        self.at = 0

    def _step(self) -> int:
        self.at += 1
        if self.at > 2:
            raise StopIteration("over")
        return self.at

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> int:
        return self._step()

    def __aiter__(self) -> Steps:
        return self

    async def __anext__(self) -> int:
        try:
            return self._step()
        except StopIteration:
            raise StopAsyncIteration from None


class Sequence:
    """Is iterable by `__getitem__` and `__len__` alone."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        if index >= 3:
            raise IndexError(index)
        return index * 10


class Defaults(dict[str, int]):
    def __missing__(self, key: str) -> int:
        return len(key)


class Field:
    """A descriptor."""

    name: str | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return ("got", self.name) if instance is not None else self

    def __set__(self, instance: Any, value: Any) -> None:
        if value == "wrong":
            raise ValueError("a wrong value")
        instance.log.append(value)

    def __delete__(self, instance: Any) -> None:
        instance.log.append("deleted")


class Meta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return bool(instance == 5)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return subclass is int

    def __len__(cls) -> int:
        return 7


class Checked(metaclass=Meta):
    """A class whose metaclass decides what belongs to it."""


class Base(abc.ABC):  # noqa: B024 - it has a hook instead of abstract methods
    """A documented class."""

    registered: ClassVar[list[str]] = []

    def __init_subclass__(cls, **options: Any) -> None:
        cls.registered.append(f"{cls.__name__} {options}")

    def __class_getitem__(cls, item: Any) -> Any:
        return ("class item", item)

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return True if other is Nothing else NotImplemented


class Stands:
    """Stands for a class among the bases of another."""

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (Nothing,)


class Arguments:
    """Is restored from the arguments of `__new__`."""

    def __new__(cls, first: int, *, second: int = 0) -> Arguments:
        self = super().__new__(cls)
        self.both = (first, second)  # type: ignore[attr-defined]
        return self

    def __getnewargs_ex__(self) -> Any:
        return (self.both[:1], {"second": self.both[1]})  # type: ignore[attr-defined]


class FewArguments(Arguments):
    def __getnewargs__(self) -> Any:
        return (self.both[0],)  # type: ignore[attr-defined]


class Reduced:
    def __reduce__(self) -> Any:
        return complex, (1, 2)


class Slotted:
    __slots__ = ("__weakref__", "only")
    only: int


class Watchful:
    """Answers for every attribute itself."""

    def __getattribute__(self, name: str) -> Any:
        return name if name.startswith("any") else super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "sealed":
            raise AttributeError("it is sealed")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} stays")


class Buffer:
    """Bytes that are written in Python."""

    def __init__(self) -> None:
        self.data = bytearray(b"bytes")
        self.released = 0

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self.data)

    def __release_buffer__(self, view: memoryview) -> None:
        self.released += 1


class PathLike:
    def __fspath__(self) -> str:
        return os.devnull


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: int = 0
    total: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        self.total = self.x + self.y


class Colour(enum.Enum):
    RED = 1


def function(a: int, *, b: str = "x") -> Any:
    """A documented function."""
    return (a, b)


@functools.wraps(function)
def decorated(*args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


class Method:
    def method(self, a: int = 1) -> int:
        """A documented method."""
        return a


async def await_it(thing: Any) -> Any:
    return await thing


async def iterate(thing: Any) -> list[Any]:
    return [item async for item in thing]


async def enter(thing: Any, problem: BaseException | None = None) -> Any:
    async with thing as entered:
        if problem is not None:
            raise problem
        return entered is thing
    return "swallowed"


def enter_and_raise(thing: Any, problem: BaseException) -> str:
    with thing:
        raise problem
    return "swallowed"


def match(subject: Any) -> Any:
    match subject:
        case Everything(number):
            return ("everything", number)
        case Point(x, y):
            return ("point", x, y)
        case [first, *_]:
            return ("sequence", first)
        case {"a": found}:
            return ("mapping", found)
        case Nothing():
            return "nothing"
    return "no match"


def unpack(thing: Any) -> Any:
    first, *rest = thing
    return (first, rest)


def set_item(thing: Any) -> Any:
    thing["k"] = 1
    return thing.log


def delete_item(thing: Any) -> Any:
    del thing["k"]
    return thing.log


def change_attribute(thing: Any) -> Any:
    thing.extra = 3
    found = thing.extra
    del thing.extra
    return (found, "extra" in vars(thing))


def use_as_descriptor(thing: Any) -> Any:
    class Owner:
        def __init__(self) -> None:
            self.log: list[Any] = []

        field = thing

    owner: Any = Owner()
    owner.field = 1
    found = owner.field
    del owner.field
    return (found, owner.log)


def set_wrong_value(thing: Any) -> Any:
    class Owner:
        field = thing

    Owner().field = "wrong"


def use_as_method(thing: Any) -> Any:
    class Owner:
        method = thing

    return Owner().method


def inherit(thing: Any) -> Any:
    class Further(thing):  # type: ignore[misc]
        pass

    return [cls.__name__ for cls in Further.__mro__]


def inherit_with_option(thing: Any) -> Any:
    class Further(thing, option=1):  # type: ignore[misc,call-arg]
        pass

    return thing.registered[-1]


def pickled(thing: Any) -> Any:
    return vars_of(pickle.loads(pickle.dumps(thing)))


def vars_of(thing: Any) -> Any:
    return (type(thing).__name__, vars(thing) if hasattr(thing, "__dict__") else thing)


def replaced(thing: Any) -> Any:
    replace: Any = copy.replace  # type: ignore[attr-defined]
    return vars_of(replace(thing, number=9))


def release_buffer(thing: Any) -> Any:
    with memoryview(thing) as view:
        found = bytes(view)
    return (found, thing.released)


def refer_weakly(thing: Any) -> Any:
    return weakref.ref(thing)() is thing


class Delegate:
    """An operand whose other side is asked."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


@dataclasses.dataclass
class Case:
    """An operation on an object that uses a special name."""

    name: str
    work: Callable[[Any], Any]
    make: Callable[[], Any] = Everything
    recorded: tuple[str, ...] | None = None  # None: under its own name
    why: str = ""  # it is not recorded, if it is not
    since: tuple[int, int] = (3, 10)
    of_nothing: bool = True  # whether it is also tried on an object without special methods

    def __str__(self) -> str:
        return self.name


NOT_A_CALL = "it is not a call on an object: it makes, finds or describes one"
OF_CLASS = "it is a call of the class, made when the class or another one is made"
STATE = "copies and pickles are made of the target itself, without the proxy"
COMPARED = "equality of proxies is decided by `configure_debug(eq=…)`"

CASES: list[Case] = [
    # -- basic customisation
    Case("__new__", lambda p: p(3, second=4).both, lambda: Arguments, ("Arguments",)),
    Case("__init__", lambda p: p(7).number, lambda: Everything, ("Everything",)),
    Case("__init__", lambda p: p.__init__(8) or p.number, recorded=(), why=NOT_A_CALL),
    Case("__del__", lambda p: hasattr(p, "__del__"), recorded=(), why=NOT_A_CALL),
    Case("__repr__", repr),
    Case("__repr__", lambda p: f"{p!r}"),
    Case("__repr__", lambda p: "%r" % p, of_nothing=False),  # noqa: UP031
    Case("__str__", str),
    Case("__str__", lambda p: "%s" % p, of_nothing=False),  # noqa: UP031
    Case("__bytes__", bytes),
    Case("__format__", lambda p: f"{p:>9}"),
    Case("__format__", lambda p: format(p)),
    Case("__format__", lambda p: "{:x}".format(p)),  # noqa: UP032
    Case("__hash__", hash, recorded=(), why=COMPARED, of_nothing=False),
    Case("__hash__", hash, list, (), why=COMPARED, of_nothing=False),
    Case("__hash__", lambda p: {p: 1}[p], recorded=(), why=COMPARED),
    Case("__bool__", bool),
    Case("__bool__", lambda p: "yes" if p else "no"),
    Case("__bool__", lambda p: not p, lambda: Everything(6)),
    Case("__eq__", lambda p: p == p, recorded=(), why=COMPARED),
    Case("__eq__", lambda p: p == "other", recorded=(), why=COMPARED),
    Case("__ne__", lambda p: p != p, recorded=(), why=COMPARED),
    Case("__ne__", lambda p: p != "other", recorded=(), why=COMPARED),
    *[
        Case(f"__{name}__", functools.partial(lambda f, p: f(p, 2), compare))
        for name, compare in COMPARISONS.items()
    ],
    *[
        Case(f"__{name}__", functools.partial(lambda f, p: f(p, "strange"), compare))
        for name, compare in COMPARISONS.items()
    ],
    Case("__lt__", lambda p: sorted([p, p]), lambda: Point(1)),
    Case("__lt__", lambda p: p > 3, recorded=("__gt__",)),
    Case("__gt__", lambda p: max(p, 1), recorded=("__lt__",)),
    # -- attributes
    Case("__getattr__", lambda p: p.anything, recorded=(), why=NOT_A_CALL),
    Case("__getattr__", lambda p: p.absent, recorded=(), why=NOT_A_CALL),
    Case("__getattr__", lambda p: getattr(p, "absent", "default"), recorded=(), why=NOT_A_CALL),
    Case("__getattr__", lambda p: hasattr(p, "absent"), recorded=(), why=NOT_A_CALL),
    Case("__getattribute__", lambda p: (p.anything, p.none), Watchful, (), NOT_A_CALL),
    Case("__getattribute__", lambda p: p.anything, Watchful, (), NOT_A_CALL),
    Case("__setattr__", change_attribute, recorded=(), why=NOT_A_CALL),
    Case("__setattr__", lambda p: setattr(p, "sealed", 1), Watchful, (), NOT_A_CALL),
    Case("__delattr__", lambda p: delattr(p, "x"), Watchful, (), NOT_A_CALL),
    Case("__delattr__", lambda p: delattr(p, "absent"), recorded=(), why=NOT_A_CALL),
    Case("__dir__", dir, recorded=(), why=NOT_A_CALL),
    Case("__dict__", vars, recorded=(), why=NOT_A_CALL),
    Case("__dict__", vars, Slotted, (), NOT_A_CALL),
    Case("__slots__", lambda p: setattr(p, "other", 1), Slotted, (), NOT_A_CALL),
    Case("__slots__", lambda p: p.only, Slotted, (), NOT_A_CALL),
    Case("__slots__", lambda p: p.__slots__, Slotted, (), NOT_A_CALL),
    Case("__weakref__", refer_weakly, recorded=(), why=NOT_A_CALL),
    Case("__class__", lambda p: p.__class__, recorded=(), why=NOT_A_CALL),
    Case("__class__", lambda p: isinstance(p, Everything), recorded=(), why=NOT_A_CALL),
    Case("__class__", lambda p: isinstance(p, (int, Nothing)), recorded=(), why=NOT_A_CALL),
    Case("__doc__", lambda p: p.__doc__, recorded=(), why=NOT_A_CALL),
    Case("__doc__", lambda p: (p.__doc__, inspect.getdoc(p)), lambda: function, (), NOT_A_CALL),
    Case("__module__", lambda p: p.__module__, recorded=(), why=NOT_A_CALL),
    Case("__name__", lambda p: p.__name__, lambda: function, (), NOT_A_CALL),
    Case("__name__", lambda p: p.__name__, recorded=(), why=NOT_A_CALL),
    Case("__qualname__", lambda p: p.__qualname__, lambda: Base, (), NOT_A_CALL),
    Case("__annotations__", lambda p: p.__annotations__, lambda: function, (), NOT_A_CALL),
    Case("__annotations__", lambda p: p.__annotations__, recorded=(), why=NOT_A_CALL),
    Case(
        "__type_params__",
        lambda p: p.__type_params__,
        lambda: function,
        *((), NOT_A_CALL, (3, 12)),
    ),
    # -- descriptors
    Case("__get__", use_as_descriptor, Field, (), NOT_A_CALL),
    Case("__get__", lambda p: use_as_method(p)(2), lambda: Method.method, ("method",)),
    Case(
        "__get__",
        lambda p: p.__get__(None, int),
        lambda: function,
        (),
        NOT_A_CALL,
        of_nothing=False,
    ),
    Case("__set__", set_wrong_value, Field, (), NOT_A_CALL, of_nothing=False),
    Case("__delete__", use_as_descriptor, Field, (), NOT_A_CALL),
    Case("__set_name__", use_as_descriptor, Field, (), NOT_A_CALL),
    # -- classes
    Case("__init_subclass__", inherit_with_option, lambda: Base, (), OF_CLASS),
    Case("__mro_entries__", inherit, Stands, (), OF_CLASS),
    Case("__mro_entries__", inherit, lambda: Nothing, (), OF_CLASS),
    Case("__prepare__", lambda p: p("Made", (), {}).__name__, lambda: Meta, ("Meta",)),
    Case("__instancecheck__", lambda p: isinstance(5, p), lambda: Checked, (), NOT_A_CALL),
    Case("__instancecheck__", lambda p: isinstance(6, p), lambda: Checked, (), NOT_A_CALL),
    Case("__subclasscheck__", lambda p: issubclass(int, p), lambda: Checked, (), NOT_A_CALL),
    Case("__subclasscheck__", lambda p: issubclass(str, p), lambda: Checked, (), NOT_A_CALL),
    Case("__subclasscheck__", lambda p: issubclass(p, object), lambda: Base, (), NOT_A_CALL),
    Case("__subclasshook__", lambda p: issubclass(Nothing, p), lambda: Base, (), NOT_A_CALL),
    Case("__class_getitem__", lambda p: p[int], lambda: Base, (), OF_CLASS),
    Case("__class_getitem__", lambda p: p[int], lambda: list, (), OF_CLASS),
    Case("__class_getitem__", lambda p: p[int], lambda: Nothing, (), OF_CLASS),
    Case("__subclasses__", lambda p: p.__subclasses__(), lambda: Colour, (), NOT_A_CALL),
    Case("__mro__", lambda p: len(p.__mro__), lambda: Base, (), NOT_A_CALL),
    Case("__bases__", lambda p: p.__bases__, lambda: Base, (), NOT_A_CALL),
    Case("__abstractmethods__", lambda p: p.__abstractmethods__, lambda: Base, (), NOT_A_CALL),
    Case("__abstractmethods__", inspect.isabstract, lambda: Base, (), NOT_A_CALL),
    Case("__len__", len, lambda: Checked),
    # -- calls
    Case("__call__", lambda p: p(1, b=2)),
    Case("__call__", lambda p: p(1, b="y"), lambda: function, ("function",)),
    Case("__call__", lambda p: p(), lambda: function, ("function",)),
    Case("__call__", callable, recorded=(), why=NOT_A_CALL),
    Case("__call__", lambda p: list(map(p, [1, 2])), recorded=("__call__", "__call__")),
    # -- containers
    Case("__len__", len),
    Case("__len__", len, lambda: Everything(-1)),
    Case("__length_hint__", operator.length_hint, Steps, (), NOT_A_CALL),
    Case("__length_hint__", lambda p: p.__length_hint__(), of_nothing=False),
    Case("__getitem__", lambda p: p["k"]),
    Case("__getitem__", lambda p: p[1:2, ...]),
    Case("__getitem__", lambda p: p["absent"]),
    Case("__getitem__", list, Sequence, ("__len__", *["__getitem__"] * 4)),
    Case("__getitem__", lambda p: 20 in p, Sequence, ("__getitem__",) * 3),
    Case("__getitem__", unpack, Sequence, ("__getitem__", "__len__", *["__getitem__"] * 3)),
    Case("__setitem__", set_item),
    Case("__delitem__", delete_item),
    Case("__missing__", lambda p: p["four"], Defaults, ("__getitem__",)),
    Case("__missing__", lambda p: p.__missing__("abc"), Defaults),
    Case("__iter__", lambda p: [*p], recorded=("__iter__", "__len__")),
    Case("__iter__", lambda p: [item for item in p]),  # noqa: C416
    Case("__iter__", unpack),
    Case("__iter__", lambda p: dict.fromkeys(p)),
    Case("__iter__", lambda p: function(*p), recorded=("__iter__", "__len__")),
    Case("__iter__", lambda p: [item for item in p], Steps, ("__iter__", *["__next__"] * 3)),  # noqa: C416
    Case("__next__", next, Steps),
    Case("__next__", lambda p: [next(p), next(p), next(p, "end")], Steps, ("__next__",) * 3),
    Case("__next__", lambda p: [next(p), next(p), next(p)], Steps, ("__next__",) * 3),
    Case("__reversed__", lambda p: list(reversed(p))),
    Case(
        "__reversed__",
        lambda p: list(reversed(p)),
        Sequence,
        ("__len__", "__len__", *["__getitem__"] * 3),
    ),
    Case("__contains__", lambda p: 5 in p),
    Case("__contains__", lambda p: 6 not in p),
    Case("__contains__", lambda p: 2 in p, lambda: [1, 2]),
    # -- numbers
    *[
        Case(f"__{name}__", functools.partial(lambda f, p: f(p, 2), operate))
        for name, operate in BINARY.items()
    ],
    *[
        Case(f"__r{name}__", functools.partial(lambda f, p: f(2, p), operate))
        for name, operate in BINARY.items()
    ],
    *[
        Case(f"__{name}__", functools.partial(lambda f, p: f(p, "strange"), operate))
        for name, operate in BINARY.items()
    ],
    *[
        Case(f"__i{name}__", functools.partial(lambda f, p: (f(p, 2), p.log), operate))
        for name, operate in INPLACE.items()
    ],
    *[
        Case(f"__i{name}__", functools.partial(lambda f, p: f(p, "strange"), operate))
        for name, operate in INPLACE.items()
    ],
    Case("__pow__", lambda p: pow(p, 2, 7), lambda: 5),
    Case("__pow__", lambda p: pow(p, 2, 7)),
    Case("__mod__", lambda p: p % 3, lambda: "%03d"),
    Case("__add__", lambda p: p + [2], lambda: [1]),  # noqa: RUF005
    Case("__add__", lambda p: [2] + p, lambda: [1], ("__radd__",)),  # noqa: RUF005
    Case("__radd__", lambda p: sum([p, p]), lambda: 5, ("__radd__",) * 2),
    Case("__or__", lambda p: p | {"b": 2}, lambda: {"a": 1}),
    Case("__ror__", lambda p: {"b": 2} | p, lambda: {"a": 1}),
    Case("__or__", lambda p: p | int, lambda: Base),
    Case("__ror__", lambda p: int | p, lambda: Base),
    Case("__neg__", operator.neg),
    Case("__pos__", operator.pos),
    Case("__abs__", abs),
    Case("__invert__", operator.invert),
    Case("__complex__", complex),
    Case("__int__", int),
    Case("__float__", float),
    Case("__index__", operator.index),
    Case("__index__", hex),
    Case("__index__", lambda p: "abcdefgh"[p]),
    Case("__index__", lambda p: range(p), lambda: 3),
    Case("__round__", round),
    Case("__round__", lambda p: round(p, 2)),
    Case("__trunc__", math.trunc),
    Case("__floor__", math.floor),
    Case("__ceil__", math.ceil),
    # -- context managers and patterns
    Case("__enter__", lambda p: contextlib.ExitStack().enter_context(p), of_nothing=False),
    Case(
        "__enter__", lambda p: enter_and_raise(p, KeyError(1)), recorded=("__enter__", "__exit__")
    ),
    Case("__exit__", lambda p: enter_and_raise(p, OSError(1)), recorded=("__enter__", "__exit__")),
    Case("__match_args__", match, recorded=(), why=NOT_A_CALL),
    Case("__match_args__", match, lambda: Point(1, 2), (), NOT_A_CALL),
    Case("__match_args__", lambda p: p.__match_args__, recorded=(), why=NOT_A_CALL),
    Case("__getitem__", match, lambda: [1, 2], ("__len__", "__getitem__")),
    Case("__getitem__", match, lambda: {"a": 1}, ("__len__", "get")),
    # -- buffers
    Case("__buffer__", bytes, lambda: bytearray(b"abc"), ("__bytes__",)),
    Case("__buffer__", memoryview, lambda: bytearray(b"abc"), (), NOT_A_CALL, (3, 12)),
    Case("__buffer__", bytes, Buffer, ("__bytes__",), "", (3, 12)),
    Case("__release_buffer__", release_buffer, Buffer, (), NOT_A_CALL, (3, 12)),
    # -- coroutines
    Case("__await__", lambda p: asyncio.run(await_it(p))),
    Case("__aiter__", lambda p: asyncio.run(iterate(p))),
    Case("__anext__", lambda p: asyncio.run(iterate(p)), Steps, ("__aiter__", *["__anext__"] * 3)),
    Case("__anext__", lambda p: asyncio.run(await_it(anext(p))), Steps),
    Case("__aenter__", lambda p: asyncio.run(enter(p)), recorded=("__aenter__", "__aexit__")),
    Case(
        "__aexit__",
        lambda p: asyncio.run(enter(p, KeyError(1))),
        recorded=("__aenter__", "__aexit__"),
    ),
    Case(
        "__aexit__",
        lambda p: asyncio.run(enter(p, OSError(1))),
        recorded=("__aenter__", "__aexit__"),
    ),
    # -- copies and pickles
    Case("__copy__", lambda p: vars_of(copy.copy(p)), recorded=(), why=STATE),
    Case("__deepcopy__", lambda p: vars_of(copy.deepcopy(p)), recorded=(), why=STATE),
    Case("__replace__", replaced, recorded=(), why=STATE, since=(3, 13)),
    Case("__replace__", lambda p: dataclasses.replace(p, x=5), lambda: Point(1), (), STATE),
    Case("__getstate__", pickled, recorded=(), why=STATE),
    Case("__setstate__", pickled, recorded=(), why=STATE),
    Case("__getstate__", lambda p: p.__getstate__(), recorded=(), why=STATE, since=(3, 11)),
    Case("__reduce__", pickled, Reduced, (), STATE),
    Case("__reduce_ex__", pickled, lambda: Point(1), (), STATE),
    Case("__getnewargs__", pickled, lambda: FewArguments(1, second=2), (), STATE),
    Case("__getnewargs_ex__", pickled, lambda: Arguments(1, second=2), (), STATE),
    # -- other protocols of the standard library
    Case("__fspath__", os.fspath),
    Case("__fspath__", os.path.exists, PathLike),
    Case("__fspath__", lambda p: os.path.join("folder", p), PathLike),
    Case("__fspath__", lambda p: isinstance(p, os.PathLike), PathLike, (), NOT_A_CALL),
    Case("__sizeof__", lambda p: p.__sizeof__(), recorded=(), why=NOT_A_CALL, of_nothing=False),
    Case("__dataclass_fields__", dataclasses.asdict, lambda: Point(1), (), NOT_A_CALL),
    Case("__dataclass_fields__", dataclasses.is_dataclass, recorded=(), why=NOT_A_CALL),
    Case("__post_init__", lambda p: p(1, 2).total, lambda: Point, ("Point",)),
    Case(
        "__wrapped__",
        lambda p: p.__wrapped__,
        lambda: decorated,
        (),
        NOT_A_CALL,
    ),
    Case("__wrapped__", inspect.unwrap, lambda: function, (), NOT_A_CALL, of_nothing=False),
    Case("__self__", lambda p: p.__self__.number, lambda: Everything(3).__len__, (), NOT_A_CALL),
    Case("__func__", lambda p: p.__func__, lambda: Method().method, (), NOT_A_CALL),
    *[
        Case(name, operator.attrgetter(name), lambda: function, (), NOT_A_CALL)
        for name in ("__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__")
    ],
    Case("__signature__", inspect.signature, lambda: function, (), NOT_A_CALL),
    Case("__signature__", inspect.signature, recorded=(), why=NOT_A_CALL),
    Case("__signature__", inspect.signature, lambda: Base, (), NOT_A_CALL),
    Case("__signature__", lambda p: inspect.signature(p.method), Method, (), NOT_A_CALL),
    Case("__text_signature__", inspect.signature, lambda: len, (), NOT_A_CALL),
    Case("__text_signature__", lambda p: inspect.signature(p.append), list, (), NOT_A_CALL),
]
HERE = [case for case in CASES if case.since <= sys.version_info]
IDS = [f"{case.name}-{number}" for number, case in enumerate(HERE)]


def outcome(work: Callable[[Any], Any], subject: Any) -> Any:
    """What the operation comes to: a result, or an exception with its message."""
    try:
        return _describe(work(subject), subject)
    except Exception as problem:
        return (type(problem), str(problem))


def _describe(result: Any, subject: Any) -> Any:
    if result is subject:
        return "itself"
    if type(result) in (tuple, list):
        return [type(result), *(_describe(item, subject) for item in result)]
    assert not issubclass(type(result), DebugProxy), "a proxy is no result"
    return (type(result), repr(result).partition(" object at ")[0].partition(" at 0x")[0])


def test_every_special_name_is_tried() -> None:
    assert {case.name for case in CASES} == SPECIAL_NAMES


def test_what_is_not_recorded_has_its_reason() -> None:
    for case in CASES:
        assert (case.recorded == ()) == bool(case.why), case


def wrap(value: Any) -> Any:
    return with_debug(value, name="text") if isinstance(value, str) else with_debug(value)


def expected_names(case: Case) -> list[str]:
    return [case.name] if case.recorded is None else list(case.recorded)


@pytest.mark.parametrize("case", HERE, ids=IDS)
def test_a_proxy_does_what_its_object_does(app: Application, case: Case) -> None:
    expected = outcome(case.work, case.make())
    assert outcome(case.work, wrap(case.make())) == expected
    assert app.list_names() == expected_names(case)


def test_leased_calls_do_the_same(app: Application) -> None:
    app.restart(mode="leased")
    different, names = [], []
    for case in HERE:
        expected = outcome(case.work, case.make())
        found = outcome(case.work, wrap(case.make()))
        if found != expected:
            different.append((case.name, found, expected))
        names += expected_names(case)
    with_debug("OFF")
    assert different == []
    assert list_all_names(app) == names


def list_all_names(app: Application) -> list[str]:
    found: list[Any] = []
    before = ""
    while True:
        path = f"/api/calls?session={app.session_id}&limit=500{before}"
        calls = app.server.get(path)["calls"]
        if not calls:
            return [call["method_name"] for call in reversed(found)]
        found += calls
        before = f"&before={calls[-1]['call_id']}"


def test_an_object_without_special_methods_fails_alike(app: Application) -> None:
    different = []
    for case in HERE:
        if case.make is Everything and case.of_nothing:
            expected = outcome(case.work, Nothing())
            found = outcome(case.work, wrap(Nothing()))
            if found != expected:
                different.append((case.name, found, expected))
    assert different == []
