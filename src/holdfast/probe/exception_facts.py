"""What an exception says and what led to it, read without trusting its class."""

from __future__ import annotations

from . import bounded_calls, introspection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator, List, Tuple

_MAX_MEMBERS = 5  # of one exception group
_MAX_NOTES = 10
_MAX_CHARACTERS = 4000

# Read as the interpreter does: a class may override these names.
_READ: Dict[str, Callable[[Any], Any]] = {
    name: BaseException.__dict__[name].__get__
    for name in ("__traceback__", "__cause__", "__context__", "__suppress_context__")
}


def read_traceback(error: BaseException) -> Any:
    return _READ["__traceback__"](error)


def iter_related(error: BaseException) -> Iterator[Tuple[str, BaseException]]:
    """The exceptions that led to it, and how: `cause`, `context`, or `member` of a group."""
    cause = _READ["__cause__"](error)
    if cause is not None:
        yield "cause", cause
    elif not _READ["__suppress_context__"](error):
        context = _READ["__context__"](error)
        if context is not None:
            yield "context", context
    for member in read_members(error):
        yield "member", member


def read_members(error: BaseException) -> List[BaseException]:
    """The first exceptions of a group: Python's own, or the one of the package `exceptiongroup`."""
    members = introspection.read_slot(error, "exceptions")[1]
    if introspection.is_instance_of(error, "exceptiongroup", "BaseExceptionGroup"):
        members = members or (introspection.instance_dict(error) or {}).get("_exceptions")
    if type(members) is not tuple:
        return []
    return [member for member in members[:_MAX_MEMBERS] if issubclass(type(member), BaseException)]


def read_message(error: BaseException, budget: bounded_calls.Budget) -> str:
    args = introspection.exception_args(error)
    writer = introspection.find_in_mro(type(error), "__str__")[0]
    if writer is BaseException and (not args or (len(args) == 1 and type(args[0]) is str)):
        return shorten(args[0] if args else "")
    try:
        return shorten(budget.call(lambda: str(error), type(error)))
    except bounded_calls.CallFailed as failure:
        return shorten("<str raised %s>" % failure.error)
    except (bounded_calls.CallTimedOut, bounded_calls.BudgetSpent):
        return "<str took too long>"


def read_notes(error: BaseException) -> List[str]:
    notes = (introspection.instance_dict(error) or {}).get("__notes__")
    if type(notes) is not list:
        return []
    return [shorten(note) for note in notes[:_MAX_NOTES] if type(note) is str]


def shorten(text: str) -> str:
    shortened = str.__getitem__(text, slice(0, _MAX_CHARACTERS))
    if str.__len__(text) > _MAX_CHARACTERS:
        shortened += "..."
    return introspection.escape_surrogates(shortened)
