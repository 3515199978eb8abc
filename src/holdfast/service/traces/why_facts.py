"""Which facts of a chain of causes are worth telling: the same for the tool and for pages."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from holdfast import errors
from holdfast.core import why_slice
from holdfast.model.run_recording import WhyChain, WhyLink
from holdfast.service.traces.recordings import Recording, WholeRunRecording

MAX_LINES = 30
_QUIET_RELATIONS = ("value", "argument", "returned", "raised", "test", "which object")
_EMPTY = frozenset(("{}", "[]", "set()", "defaultdict({})", "deque([])"))
_ENTRY = "if __name__ =="


def check_whole(recording: Recording) -> WholeRunRecording:
    """A recording that can tell what fed a value."""
    if isinstance(recording, WholeRunRecording):
        return recording
    raise errors.NotRecorded(
        f"trace {recording.id} follows one function only, and not what fed it",
        hint="`again: true` runs the program once more to record all, and repeats its side "
        "effects.",
    )


def explain(
    recording: WholeRunRecording,
    variable: str | None,
    place: tuple[str, int] | None,
    hit: int,
    *,
    after: bool = False,
) -> WhyChain:
    """Where a variable, or without one the exception that ended the run, came from."""
    try:
        if variable is None or place is None:
            return why_slice.explain_exception(recording.events, max_lines=MAX_LINES)
        file, line = place
        return why_slice.explain_value(
            recording.events, file, line, variable, hit, max_lines=MAX_LINES, after=after
        )
    except why_slice.NotExplained as problem:
        has_run = not isinstance(problem, why_slice.NeverRan)
        raise errors.NotRecorded(str(problem), hint=problem.hint, has_run=has_run) from None


def list_links(chain: WhyChain) -> Sequence[WhyLink]:
    return [link for link in chain.links if not _says_nothing(link)]


def _says_nothing(link: WhyLink) -> bool:
    """Who called is told by the arguments; that a container was empty at first says little."""
    if link.relation == "which object":
        return _EMPTY.issuperset(link.wrote.values())
    return link.relation == "called by" or link.source.startswith(_ENTRY)


def list_origins(chain: WhyChain) -> Sequence[str]:
    return [origin for origin in chain.origins if not origin.startswith("a constant")]


def find_relation(link: WhyLink) -> str | None:
    """How it matters, unless that is plain."""
    return None if link.relation in _QUIET_RELATIONS else link.relation


def list_written(link: WhyLink) -> dict[str, str]:
    """What the statement itself does not say already, as `x = 3` does."""
    arguments = {name: text for name, text in link.wrote.items() if "(" in name}
    wrote = {name: text for name, text in link.wrote.items() if "(" not in name}
    if arguments and not wrote.keys() - {"raised"}:
        return arguments  # else what it read tells them
    constant = _find_constant(link.source)
    return {name: text for name, text in wrote.items() if name != constant}


def _find_constant(source: str) -> str | None:
    """The variable that a statement gives a literal value."""
    try:
        (statement,) = ast.parse(source).body
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            return None
        ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return ast.unparse(target)
