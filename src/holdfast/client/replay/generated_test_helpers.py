"""What a generated test may need; the source of these goes into its file."""

from __future__ import annotations

import base64
import io
import pickle
from typing import Any


def built(cls: Any, /, **attributes: Any) -> Any:
    """An object of this class with these attributes; nothing of its own is run."""
    made = object.__new__(cls)
    made.__dict__.update(attributes)
    return made


def restored(data: str, known: Any = None) -> Any:
    """The recorded value: its pickle, in base64. `known` is what the pickle refers to by id."""

    class Loader(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            if (module, name) == ("holdfast.client.references", "stored"):
                return known.__getitem__
            return super().find_class(module, name)

    return Loader(io.BytesIO(base64.b64decode(data))).load()


def state(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """The value as data that == compares: an object is its class and its attributes."""
    if id(value) in inside:
        return "..."
    inside = (*inside, id(value))
    cls: Any = type(value)
    if cls is float and repr(value) == "nan":
        return "nan"
    if cls is dict:
        return {key: state(each, inside) for key, each in value.items()}
    if cls in (list, tuple):
        return cls, [state(each, inside) for each in value]
    if cls.__eq__ is not object.__eq__ or isinstance(value, type):
        return value
    held = {"args": value.args} if isinstance(value, BaseException) else {}
    names = [name for base in cls.__mro__ for name in getattr(base, "__slots__", ())]
    held.update((name, getattr(value, name)) for name in names if hasattr(value, name))
    held.update(getattr(value, "__dict__", {}))
    return cls, state(held, inside)
