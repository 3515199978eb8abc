"""The text of one value: bounded in length and time, whatever the value does.

Containers are read here rather than by their own repr, which is as long as they are and runs the
repr of every item. The author of the `__repr__` decides how a value is rendered: builtin ones are
imitated, generated ones (dataclasses, named tuples, models) are rebuilt field by field, and the
program's own run through `bounded_calls`.
"""

from __future__ import annotations

import array
import collections
import itertools
import types

from . import bounded_calls, generated_reprs, introspection, lazy_values, numpy_pandas

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, Optional, Set, Tuple

    Renderer = Callable[["Preview", Any, int], str]


class Limits:
    """How much of a value is shown."""

    __slots__ = (
        "head",
        "max_bytes",
        "max_depth",
        "max_items",
        "max_nested",
        "max_preview",
        "max_string",
    )

    def __init__(
        self,
        max_string: int = 1000,
        max_bytes: int = 4096,
        max_preview: int = 400,
        max_nested: int = 120,
        max_items: int = 20,
        max_depth: int = 3,
        head: int = 5,
    ) -> None:
        self.max_string = max_string  # characters of a string or of an object's own repr
        self.max_bytes = max_bytes  # bytes given as base64
        self.max_preview = max_preview  # characters of a container, in all
        self.max_nested = max_nested  # characters of one thing inside a container
        self.max_items = max_items  # a container with more shows only its head
        self.max_depth = max_depth
        self.head = head


DEFAULT_LIMITS = Limits()


def limit_characters(max_chars: Optional[int]) -> Limits:
    """Limits by which a value is shown in about so many characters; None: the usual ones."""
    if max_chars is None:
        return DEFAULT_LIMITS
    usual = DEFAULT_LIMITS
    limits = Limits(
        max_string=max_chars,
        max_bytes=max(1, max_chars * 3 // 4),  # which is so many characters of base64
        max_preview=max_chars,
        max_nested=min(max_chars, usual.max_nested),
    )
    if max_chars > usual.max_string:  # whoever wants more wants to see all of it
        limits.max_nested = max_chars
        limits.max_items = limits.head = max_chars
        limits.max_depth = _MAX_DEPTH
    return limits


_LABEL_LIMITS = Limits(max_string=80, max_preview=80, max_nested=40)
_MAX_DEPTH = 10
_MAX_BITS = 3320  # about a thousand digits


class Preview:
    """One text being built: how much room remains, and whether something was left out."""

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        budget: Optional[bounded_calls.Budget] = None,
        evaluates: bool = True,
    ) -> None:
        self.limits = limits
        self.budget = bounded_calls.Budget() if budget is None else budget
        self.evaluates = evaluates  # whether a repr may evaluate a lazy value, or load a part
        self.is_truncated = False
        self.error: Optional[str] = None
        self.remaining = limits.max_preview
        self._open: Set[int] = set()

    def text(self, value: Any, depth: int = 0) -> str:
        if not self.evaluates and lazy_values.find_laziness(type(value)) is not None:
            text = _render_lazy(self, value, depth)
        else:
            text = _find_renderer(type(value))(self, value, depth)
        return introspection.escape_surrogates(text) if depth == 0 else text

    def leaf(self, text: str, depth: int) -> str:
        """A finished text, truncated to what fits here."""
        allowed = self.limits.max_nested if depth else self.limits.max_string
        if str.__len__(text) > allowed:
            self.is_truncated = True
            text = str.__getitem__(text, slice(0, allowed)) + "..."
        self.remaining -= str.__len__(text)
        return str.__str__(text)

    def nest(
        self, value: Any, depth: int, brackets: Tuple[str, str], render: Callable[[], str]
    ) -> str:
        """`render()` between brackets, unless it is too deep or inside itself already."""
        before, after = brackets
        if id(value) in self._open:
            return before + "..." + after
        if depth >= self.limits.max_depth:
            self.is_truncated = True
            return before + "..." + after
        self._open.add(id(value))
        try:
            return before + render() + after
        finally:
            self._open.discard(id(value))

    def join(self, total: int, texts: Iterable[Callable[[], str]], noun: str = "item") -> str:
        """The first of `total` texts, and their number if some are left out."""
        rendered = []
        for text in texts:
            if not self.has_room():
                break
            rendered.append(text())
            self.remaining -= 2
        if len(rendered) < total:
            self.is_truncated = True
            rendered.append("... (%d %s%s)" % (total, noun, "" if total == 1 else "s"))
        return ", ".join(rendered)

    def has_room(self) -> bool:
        return self.remaining > 0

    def shown_count(self, total: int) -> int:
        return total if total <= self.limits.max_items else self.limits.head

    def elements(self, items: Iterable[Any], total: int, depth: int) -> str:
        return self.join(total, (_lazy_text(self, item, depth + 1) for item in items))

    def entries(self, entries: Iterable[Tuple[Any, Any]], total: int, depth: int) -> str:
        return self.join(
            total, (_lazy_text(self, item, depth + 1, key, ": ") for key, item in entries)
        )

    def fields(self, value: Any, name: str, fields: generated_reprs.Fields, depth: int) -> str:
        """`Order(id=3, total=9.5)`."""
        texts = (_lazy_field(self, field, depth + 1) for field in fields)
        return self.nest(value, depth, (name + "(", ")"), lambda: self.join(len(fields), texts))

    def own_repr(self, value: Any, depth: int) -> str:
        """The value's own repr, in bounded time, or the reason why there is none."""
        cls = type(value)
        name = introspection.type_name(cls)
        if bounded_calls.is_slow(cls):
            return self.placeholder("<%s object: repr took too long>" % name)
        show = repr if self.evaluates else lazy_values.show_unevaluated
        try:
            text = self.budget.call(lambda: show(value), cls)
            if text is None:
                return _render_plain_object(self, value, depth)
            return self.leaf(text, depth)
        except bounded_calls.CallTimedOut as late:
            bounded_calls.note_late(cls, late.seconds)
            return self.placeholder("<%s object: repr took too long>" % name)
        except bounded_calls.BudgetSpent:
            return self.placeholder("<%s object: repr skipped, no time was left>" % name)
        except bounded_calls.CallFailed as failure:
            if depth == 0:
                self.error = introspection.escape_surrogates(failure.error)
            text = "<%s object at %#x: repr raised %s>" % (name, id(value), failure.error)
            return self.leaf(text, depth)

    def placeholder(self, text: str) -> str:
        self.is_truncated = True
        self.remaining -= len(text)
        return text


def _lazy_text(
    preview: Preview, value: Any, depth: int, key: Any = None, sign: str = ""
) -> Callable[[], str]:
    if not sign:
        return lambda: preview.text(value, depth)
    return lambda: preview.text(key, depth) + sign + preview.text(value, depth)


def _lazy_field(preview: Preview, field: generated_reprs.Field, depth: int) -> Callable[[], str]:
    name, is_set, value = field
    if not is_set:
        return lambda: preview.leaf(name + "=<unset>", depth)
    return lambda: preview.leaf(name, depth) + "=" + preview.text(value, depth)


# -- one renderer for each kind of value ---------------------------------------------------------


def _render_native(preview: Preview, value: Any, depth: int) -> str:
    """A repr written in C, short, and free of the program's code."""
    return preview.leaf(repr(value), depth)


def _render_number(preview: Preview, value: Any, depth: int) -> str:
    base = float if issubclass(type(value), float) else complex
    return preview.leaf(base.__repr__(value), depth)


def _render_int(preview: Preview, value: Any, depth: int) -> str:
    bits = int.bit_length(value)
    if bits <= _MAX_BITS:
        try:
            return preview.leaf(int.__repr__(value), depth)
        except ValueError:  # sys.set_int_max_str_digits
            pass
    return preview.placeholder("<int with %d bits>" % bits)


def _render_string(preview: Preview, value: Any, depth: int) -> str:
    base = str if issubclass(type(value), str) else bytes
    allowed = preview.limits.max_nested if depth else preview.limits.max_string
    text = base.__repr__(base.__getitem__(value, slice(0, allowed)))
    if base.__len__(value) > allowed:
        preview.is_truncated = True
        text = text[:-1] + "..." + text[-1]
    preview.remaining -= len(text)
    return text


def _render_bytearray(preview: Preview, value: Any, depth: int) -> str:
    head = bytes(bytearray.__getitem__(value, slice(0, preview.limits.max_nested + 1)))
    return "bytearray(%s)" % _render_string(preview, head, depth + 1)


def _render_memoryview(preview: Preview, value: Any, depth: int) -> str:
    try:
        return preview.leaf("<memoryview of %d bytes>" % value.nbytes, depth)
    except ValueError:
        return "<released memoryview>"


def _render_sequence(preview: Preview, value: Any, depth: int) -> str:
    total = introspection.length(value) or 0
    brackets = _sequence_brackets(value, total)
    items = introspection.slice_sequence(value, 0, preview.shown_count(total))
    if not total:
        return brackets[0] + brackets[1]
    return preview.nest(value, depth, brackets, lambda: preview.elements(items, total, depth))


def _sequence_brackets(value: Any, total: int) -> Tuple[str, str]:
    cls = type(value)
    if issubclass(cls, list):
        return "[", "]"
    if issubclass(cls, tuple):
        return "(", ",)" if total == 1 else ")"
    name = introspection.type_name(cls)
    if issubclass(cls, collections.deque):
        room = collections.deque.__dict__["maxlen"].__get__(value)
        return name + "([", "])" if room is None else "], maxlen=%d)" % room
    if issubclass(cls, array.array):
        code = array.array.__dict__["typecode"].__get__(value)
        return "%s('%s', [" % (name, code), "])"
    if issubclass(cls, (set, frozenset)):
        if not total:
            return name + "(", ")"
        return ("{", "}") if cls is set else (name + "({", "})")
    return name + "([", "])"


def _render_dict(preview: Preview, value: Any, depth: int) -> str:
    total = dict.__len__(value)
    brackets = _dict_brackets(value)
    entries = introspection.slice_items(value, 0, preview.shown_count(total))
    if not total:
        return brackets[0] + brackets[1]
    return preview.nest(value, depth, brackets, lambda: preview.entries(entries, total, depth))


def _dict_brackets(value: Any) -> Tuple[str, str]:
    cls = type(value)
    if introspection.find_in_mro(cls, "__repr__")[0] is dict:
        return "{", "}"
    name = introspection.type_name(cls)
    if issubclass(cls, collections.defaultdict):
        factory = collections.defaultdict.__dict__["default_factory"].__get__(value)
        return "%s(%s, {" % (name, _factory_name(factory)), "})"
    return name + "({", "})"


def _factory_name(factory: Any) -> str:
    if issubclass(type(factory), type):
        return introspection.type_name(factory)
    if type(factory) is types.FunctionType:
        return factory.__qualname__.rpartition("<locals>.")[2]
    return "None" if factory is None else "..."


def _render_range(preview: Preview, value: Any, depth: int) -> str:
    ends = [value.start, value.stop] + ([value.step] if value.step != 1 else [])
    return "range(%s)" % ", ".join([_render_int(preview, end, depth + 1) for end in ends])


def _render_method(preview: Preview, value: Any, depth: int) -> str:
    """Its own repr would run the repr of the object it is bound to."""
    function, bound = value.__func__, value.__self__
    name = function.__qualname__ if type(function) is types.FunctionType else "?"
    owner = "<%s object>" % introspection.type_name(type(bound))
    if issubclass(type(bound), type):
        owner = "<class '%s'>" % introspection.type_name(bound)
    return preview.leaf("<bound method %s of %s>" % (name, owner), depth)


def _render_module(preview: Preview, value: Any, depth: int) -> str:
    members = vars(types.ModuleType)["__dict__"].__get__(value) or {}
    name, file = members.get("__name__"), members.get("__file__")
    title = "<module %r" % name if type(name) is str else "<module"
    return preview.leaf(title + (" from %r>" % file if type(file) is str else ">"), depth)


def _render_class(preview: Preview, value: Any, depth: int) -> str:
    module = introspection.own_attribute(value, "__module__")
    name = introspection.type_name(value)
    if type(module) is str and module != "builtins":
        name = module + "." + name
    return preview.leaf("<class '%s'>" % name, depth)


def _render_exception(preview: Preview, value: Any, depth: int) -> str:
    args = introspection.exception_args(value)
    brackets = introspection.type_name(type(value)) + "(", ")"
    some = itertools.islice(args, preview.shown_count(len(args)))
    return preview.nest(value, depth, brackets, lambda: preview.elements(some, len(args), depth))


def _render_enum(preview: Preview, value: Any, depth: int) -> str:
    members = introspection.instance_dict(value) or {}
    name = members.get("_name_")
    if type(name) is not str:
        return preview.own_repr(value, depth)
    owner = introspection.type_name(type(value))
    return "<%s.%s: %s>" % (owner, name, preview.text(members.get("_value_"), depth + 1))


def _render_plain_object(preview: Preview, value: Any, depth: int) -> str:
    """`<Cart items=[1, 2], total=3>`: the first attributes, since there is no repr of its own."""
    name = introspection.type_name(type(value))
    total = introspection.attribute_count(value)
    if not total:
        return preview.leaf("<%s object at %#x>" % (name, id(value)), depth)
    count = min(total, preview.limits.head) if depth else preview.shown_count(total)
    texts = (
        _lazy_field(preview, (key if type(key) is str else "...", True, item), depth + 1)
        for key, item in introspection.first_attributes(value, count)
    )
    brackets = "<%s " % name, ">"
    return preview.nest(
        value, depth, brackets, lambda: preview.join(total, texts, noun="attribute")
    )


def _render_record(preview: Preview, value: Any, depth: int) -> str:
    fields = generated_reprs.read_fields(value)
    if fields is None:
        return preview.own_repr(value, depth)
    is_namespace = type(value) is types.SimpleNamespace
    name = "namespace" if is_namespace else introspection.type_name(type(value))
    return preview.fields(value, name, fields, depth)


def _render_lazy(preview: Preview, value: Any, depth: int) -> str:
    """`<QuerySet not evaluated: model=<class 'shop.Book'>>`, or what it has been evaluated to."""
    cls = type(value)
    kind = lazy_values.lazy_kind(value)
    if kind not in ("lazy", "proxy", None):  # the repr of an iterator reads none of its items
        return _find_renderer(cls)(preview, value, depth)
    name = introspection.type_name(cls)
    if kind is None:
        is_set, contents = lazy_values.read_contents(value)
        brackets = "%s(" % name, ")"
        if is_set:
            return preview.nest(value, depth, brackets, lambda: preview.text(contents, depth + 1))
        return preview.own_repr(value, depth)
    fields = lazy_values.shown_fields(value)
    brackets = "<%s not evaluated%s" % (name, ": " if fields else ""), ">"
    texts = (_lazy_field(preview, (field, True, item), depth + 1) for field, item in fields)
    return preview.nest(value, depth, brackets, lambda: preview.join(len(fields), texts))


def _render_own_repr(preview: Preview, value: Any, depth: int) -> str:
    return preview.own_repr(value, depth)


_NATIVE = (
    type(None),
    type(...),
    type(NotImplemented),
    bool,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.CodeType,
    types.FrameType,
)

# By the class that defines the `__repr__`, so that a subclass with its own is not mistaken for one
# of these. By id, because hashing a class runs its metaclass; these classes are never freed.
_RENDERERS: Dict[int, Renderer] = {
    **{id(cls): _render_native for cls in _NATIVE},
    **{id(cls): _render_sequence for cls in introspection.SLICEABLE + introspection.ITERABLE},
    id(float): _render_number,
    id(complex): _render_number,
    id(int): _render_int,
    id(str): _render_string,
    id(bytes): _render_string,
    id(bytearray): _render_bytearray,
    id(memoryview): _render_memoryview,
    id(dict): _render_dict,
    id(collections.OrderedDict): _render_dict,
    id(collections.defaultdict): _render_dict,
    id(collections.Counter): _render_dict,
    id(range): _render_range,
    id(types.MethodType): _render_method,
    id(types.ModuleType): _render_module,
    id(types.SimpleNamespace): _render_record,
    id(BaseException): _render_exception,
    id(object): _render_plain_object,
}


def _find_renderer(cls: type) -> Renderer:
    if issubclass(cls, type):
        return _render_class
    if numpy_pandas.is_table(cls):
        return _render_table
    writer, function = introspection.find_in_mro(cls, "__repr__")
    if introspection.is_enum(cls) and introspection.defining_module(function) == "enum":
        return _render_enum
    renderer = _RENDERERS.get(id(writer))
    if renderer is not None:
        return renderer
    if generated_reprs.is_generated_repr(writer, function):
        return _render_record
    return _render_native if numpy_pandas.is_scalar(cls, function) else _render_own_repr


def _render_table(preview: Preview, value: Any, depth: int) -> str:
    return preview.leaf(numpy_pandas.render(value, preview, depth), depth)


def render_label(value: Any, budget: Optional[bounded_calls.Budget] = None) -> str:
    """A short text for a dict's key."""
    return Preview(_LABEL_LIMITS, budget).text(value)


def is_binary(cls: type) -> bool:
    """Whether it is binary data without a repr of its own."""
    writer = introspection.find_in_mro(cls, "__repr__")[0]
    return any(writer is base for base in (bytes, bytearray, memoryview))
