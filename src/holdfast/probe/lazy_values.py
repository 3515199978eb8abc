"""Values that are not there yet, known without evaluating them.

Pickling a database query runs it; so may its `repr`. What a type does is told by general signs: an
iterator is used up by reading it, a class that pretends to be another stands for something that may
not exist yet, and methods that would change their object are found by `self_changes`. A short table
names the types of libraries that show none of these signs. It costs nothing while a library is not
loaded. `mark_lazy` adds to it.
"""

from __future__ import annotations

import io
import sys
import types

from . import introspection, self_changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

_MAX_TYPES = 10_000
_REDUCERS = ("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs_ex__", "__getnewargs__")
_RENDERERS = ("__repr__", "__str__", "__format__")

# Used up by reading them, or part of one process.
ONE_SHOT: Dict[type, str] = {
    types.GeneratorType: "generator",
    types.CoroutineType: "coroutine",
    types.AsyncGeneratorType: "async_generator",
    types.TracebackType: "traceback",
    types.FrameType: "frame",
}

_EMPTY: Dict[str, int] = {}
_PLAIN: Tuple[Any, ...] = (
    *([], (), "", "\xfc", b"", bytearray(), range(0), range(1 << 70), set()),
    *(_EMPTY, _EMPTY.values(), _EMPTY.items()),
)
# Iterators of what is in memory: pickle copies them with their place in it.
_IN_MEMORY: Tuple[Any, ...] = (
    *(type(iter(plain)) for plain in _PLAIN),
    *(type(reversed(plain)) for plain in _PLAIN if hasattr(plain, "__reversed__")),
    *(io.StringIO, io.BytesIO),
)


class Laziness:
    """How the values of a type are lazy: by a word, and when they no longer are."""

    __slots__ = ("contents", "is_loaded", "kind", "pickles", "shown")

    def __init__(
        self,
        kind: str,
        is_loaded: Optional[Callable[[Any], bool]] = None,
        shown: Tuple[str, ...] = (),
        pickles: bool = False,
        contents: str = "",
    ) -> None:
        self.kind = kind
        self.is_loaded = is_loaded  # whether a value has been evaluated already
        self.shown = shown  # attributes that say what it is
        self.pickles = pickles  # as it is; only its repr evaluates
        self.contents = contents  # the attribute that has what it was evaluated to


def _is_fetched(query: Any) -> bool:
    """A query set of Django's whose rows are there, and what is to be fetched along with them."""
    members = introspection.instance_dict(query) or {}
    is_prefetched = not members.get("_prefetch_related_lookups") or members.get("_prefetch_done")
    return members.get("_result_cache") is not None and bool(is_prefetched)


def _is_set_up(lazy: Any) -> bool:
    members = introspection.instance_dict(lazy) or {}
    module = sys.modules.get("django.utils.functional")
    return "_wrapped" in members and members["_wrapped"] is not getattr(module, "empty", None)


# What shows no sign, or is known better than by its signs: module and class, also for subclasses.
_KNOWN: Dict[Tuple[str, str], Laziness] = {
    ("django.db.models.query", "QuerySet"): Laziness(
        "lazy", _is_fetched, ("model",), contents="_result_cache"
    ),
    ("django.db.models.query", "RawQuerySet"): Laziness("lazy", shown=("raw_query", "model")),
    ("django.utils.functional", "LazyObject"): Laziness("lazy", _is_set_up, contents="_wrapped"),
    ("django.utils.functional", "Promise"): Laziness("lazy", shown=("_args",), pickles=True),
    ("sqlalchemy.orm.query", "Query"): Laziness("lazy"),
    ("sqlalchemy.engine.result", "ResultInternal"): Laziness("iterator"),
    ("sqlalchemy.ext.asyncio.result", "AsyncCommon"): Laziness("iterator"),
    ("dask.base", "DaskMethodsMixin"): Laziness(
        "lazy", shown=("_key", "_Array__name", "name"), pickles=True
    ),
}

_marked: List[type] = []
_found: Dict[int, Tuple[type, Optional[Laziness]]] = {}  # the types are kept, with their ids
_pickled: Dict[int, Tuple[type, self_changes.Study]] = {}
_shown: Dict[int, Tuple[type, self_changes.Study]] = {}


def mark_lazy(*classes: type) -> None:
    """Never evaluate values of these types, and of their subclasses, in order to record them."""
    for cls in classes:
        if not issubclass(type(cls), type):
            raise TypeError("mark_lazy takes classes, not %r" % (cls,))
    _marked.extend(classes)
    _found.clear()


def find_laziness(cls: type) -> Optional[Laziness]:
    """How values of this type are lazy; None if nothing says that they are."""
    known = _found.get(id(cls))  # by id: hashing a class runs its metaclass
    if known is None:
        if len(_found) >= _MAX_TYPES:
            _found.clear()
        known = _found[id(cls)] = (cls, _look_for_laziness(cls))
    return known[1]


def lazy_kind(value: Any) -> Optional[str]:
    """In what way the value is not there yet; None if it is."""
    laziness = find_laziness(type(value))
    if laziness is None or (laziness.is_loaded is not None and laziness.is_loaded(value)):
        return None
    return laziness.kind


def _look_for_laziness(cls: type) -> Optional[Laziness]:
    if cls in ONE_SHOT:
        return Laziness(ONE_SHOT[cls])
    bases = introspection.mro_of(cls)
    if any(base is marked for base in bases for marked in _marked):
        return Laziness("lazy")
    for base in bases:
        known = _KNOWN.get((_module_of(base), introspection.type_name(base)))
        if known is not None:
            return known
    if _is_native_iterator(cls):
        return Laziness("iterator")
    if introspection.find_in_mro(cls, "__class__")[0] is not object and not _is_ours(cls):
        return Laziness("proxy")
    return None


def _module_of(cls: type) -> str:
    module = introspection.own_attribute(cls, "__module__")
    return module if type(module) is str else ""


def _is_native_iterator(cls: type) -> bool:
    """An iterator, a cursor or a file written in C. One in Python is stored by its attributes."""
    writer, step = introspection.find_in_mro(cls, "__next__")
    if writer is None or step is None or type(step) is types.FunctionType:
        return False
    return not any(issubclass(cls, plain) for plain in _IN_MEMORY)


def _is_ours(cls: type) -> bool:
    return introspection.find_in_mro(cls, "_holdfast_target")[0] is not None


# -- pickling --------------------------------------------------------------------------------------


def study_pickling(cls: type) -> self_changes.Study:
    """What pickling a value of this type would do to it."""
    known = _pickled.get(id(cls))
    if known is None:
        if len(_pickled) >= _MAX_TYPES:
            _pickled.clear()
        known = _pickled[id(cls)] = (cls, self_changes.study(cls, _REDUCERS, False))
    return known[1]


# -- showing ---------------------------------------------------------------------------------------


def study_showing(cls: type) -> self_changes.Study:
    """What the repr of a value of this type would do to it."""
    known = _shown.get(id(cls))
    if known is None:
        if len(_shown) >= _MAX_TYPES:
            _shown.clear()
        known = _shown[id(cls)] = (cls, self_changes.study(cls, _RENDERERS, True))
    return known[1]


# Functions that ask a database: their name, and the end of their file's.
_EVALUATORS = {
    "execute_sql": "/db/models/sql/compiler.py",
    "_fire_loader_callables": "/sqlalchemy/orm/attributes.py",
    "_execute_context": "/sqlalchemy/engine/base.py",
}


def show_unevaluated(value: Any) -> Optional[str]:
    """The value's own repr; None if it would evaluate or change something."""
    study = study_showing(type(value))
    if study.reads_uncomputed(value):
        return None
    try:
        text: str = self_changes.call_unchanged(lambda: repr(value), study.watched, _enter)
    except self_changes.WouldChange:
        return None
    return text


def _enter(frame: Any) -> Any:
    """Stop a function that evaluates something; what to watch in any other."""
    code = frame.f_code
    end = _EVALUATORS.get(code.co_name)
    if end is not None and code.co_filename.replace("\\", "/").endswith(end):
        raise self_changes.WouldChange
    if not code.co_argcount:
        return None
    members = frame.f_locals
    own = members.get(code.co_varnames[0])
    if code.co_name == "__get__":
        is_for_object = code.co_argcount > 1 and members.get(code.co_varnames[1]) is not None
        if is_for_object and self_changes.is_computed(own, with_fields=False):
            raise self_changes.WouldChange
        return None
    if lazy_kind(own) in ("lazy", "proxy"):
        raise self_changes.WouldChange
    if code.co_name not in _RENDERERS:
        return None
    study = study_showing(type(own))
    if study.reads_uncomputed(own):
        raise self_changes.WouldChange
    return study.watched


def read_contents(value: Any) -> Tuple[bool, Any]:
    """Whether it is known where a lazy value keeps what it was evaluated to, and that."""
    laziness = find_laziness(type(value))
    if laziness is None or not laziness.contents:
        return False, None
    return introspection.read_attribute(value, laziness.contents)


def shown_fields(value: Any) -> List[Tuple[str, Any]]:
    """The attributes that say what a lazy value is."""
    laziness = find_laziness(type(value))
    fields = []
    for name in laziness.shown if laziness is not None else ():
        is_set, item = introspection.read_attribute(value, name)
        if is_set:
            fields.append((name.rpartition("_")[2], item))
    return fields
