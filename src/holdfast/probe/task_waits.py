"""What an asyncio task waits for, and which tasks it needs for that."""

from __future__ import annotations

import sys
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from . import asyncio_tasks, frame_code, thread_waits

_SYNCHRONIZERS = {
    "Lock": ("acquire", "lock"),
    "Condition": ("wait", "condition"),
    "Event": ("wait", "event"),
    "Semaphore": ("acquire", "semaphore"),
    "BoundedSemaphore": ("acquire", "semaphore"),
    "Barrier": ("wait", "barrier"),
    "Queue": ("get put join", "queue"),
}


class TaskWait(NamedTuple):
    kind: str
    name: Optional[str]
    target: Any
    tasks: List[Any]  # those that must go on first, as far as that is known
    how: str


def find_tasks() -> List[Any]:
    if "asyncio" not in sys.modules:
        return []
    return [task for task in asyncio_tasks.find_tasks() if not task.done()]


def coroutine_frames(task: Any) -> List[Any]:
    """The frames of a task's coroutines, innermost first."""
    chain = asyncio_tasks.await_chain(task.get_coro())
    frames = [asyncio_tasks.coroutine_frame(part) for part in reversed(chain)]
    return [frame for frame in frames if frame is not None]


def own_frame(frames: List[Any]) -> Any:
    """The innermost frame that is not asyncio's."""
    return next((frame for frame in frames if not asyncio_tasks.is_in_asyncio(frame)), None)


def loop_ident(task: Any) -> Optional[int]:
    """The ident of the thread that runs the task's loop."""
    try:
        return getattr(task.get_loop(), "_thread_id", None)
    except Exception:
        return None


def find_waits(tasks: List[Any]) -> Iterator[Tuple[Any, Optional[TaskWait]]]:
    """Each task, and what it waits for."""
    holders = _index_holders(tasks)
    for task in tasks:
        yield task, _find_wait(task, holders)


def _find_wait(task: Any, holders: Dict[int, List[Any]]) -> Optional[TaskWait]:
    waiter = getattr(task, "_fut_waiter", None)
    if waiter is None:
        return None
    frames = coroutine_frames(task)
    own = own_frame(frames)
    name = _name_of(own)
    for frame in frames:
        if not asyncio_tasks.is_in_asyncio(frame):
            break
        known = _find_synchronizer(frame)
        if known is not None:
            kind, target = known
            needed = holders.get(id(target), []) if kind == "lock" else []
            return TaskWait(kind, name, target, needed, _explain(kind, needed))
    needed = [other for other in _awaited(waiter, frames) if not other.done()]
    if needed:
        names = ", ".join(other.get_name() for other in needed)
        return TaskWait("task", names, needed[0], needed, "it awaits %s" % names)
    return TaskWait("future", name, waiter, [], "nobody holds a future: its result is not set yet")


def _find_synchronizer(frame: Any) -> Optional[Tuple[str, Any]]:
    owner = frame.f_locals.get("self")
    for base in type(owner).__mro__:
        methods, kind = _SYNCHRONIZERS.get(base.__name__, ("", ""))
        if base.__module__.startswith("asyncio.") and frame.f_code.co_name in methods.split():
            return kind, owner
    return None


def _explain(kind: str, holders: List[Any]) -> str:
    if holders:
        return "%s is inside `async with` on it, or has acquired it" % holders[0].get_name()
    if kind == "lock":
        return "no task's frames show who acquired it"
    return "nobody holds it: it waits for another task"


def _index_holders(tasks: Iterable[Any]) -> Dict[int, List[Any]]:
    """The tasks whose frames show that they hold a lock, by the lock's id."""
    holders: Dict[int, List[Any]] = {}
    for task in tasks:
        for frame in coroutine_frames(task):
            if not asyncio_tasks.is_in_asyncio(frame):
                for hold in thread_waits.iter_holds(frame):
                    holders.setdefault(id(hold.lock), []).append(task)
    return holders


def _awaited(waiter: Any, frames: List[Any]) -> List[Any]:
    """The tasks behind what a task awaits: one, or those that it gathers."""
    if hasattr(type(waiter), "get_coro"):
        return [waiter]
    children = getattr(waiter, "_children", None) or _shielded(waiter)
    if children:
        return _only_tasks(children)
    for frame in frames:
        if not asyncio_tasks.is_in_asyncio(frame):
            break
        names: Dict[str, Any] = frame.f_locals
        place = frame.f_code.co_name
        if place == "wait_for" and "fut" in names:
            return _only_tasks([names["fut"]])
        if place == "_wait" and str(names.get("return_when")) == "ALL_COMPLETED":
            return _only_tasks(names.get("fs", ()))
        if place in ("__aexit__", "_aexit"):
            return _only_tasks(getattr(names.get("self"), "_tasks", ()))
    return []


def _shielded(waiter: Any) -> List[Any]:
    """What `asyncio.shield` protects: only its callbacks know that."""
    callbacks = [entry[0] for entry in getattr(waiter, "_callbacks", None) or ()]
    return [
        cell.cell_contents
        for callback in callbacks
        if getattr(callback, "__qualname__", "").startswith("shield.")
        for name, cell in zip(callback.__code__.co_freevars, callback.__closure__ or ())
        if name == "inner"
    ]


def _only_tasks(futures: Iterable[Any]) -> List[Any]:
    return [future for future in list(futures) if hasattr(type(future), "get_coro")]


def _name_of(frame: Any) -> Optional[str]:
    site = frame_code.find_awaited(frame) if frame is not None else None
    if site is None:
        return None
    is_function = type(site.owner) is type(sys)  # such as asyncio.sleep
    return "%s.%s" % (site.text, site.method) if is_function else site.text
