"""What a blocked thread waits for, and which thread holds that.

All is read from the threads' frames and from the locks themselves. CPython does not record who
holds a plain lock: it is the thread inside a `with` block on it, or after an `acquire()` of it that
no `release()` follows. If no frame shows that, or several do, it stays unknown.
"""

from __future__ import annotations

import _thread
import queue
import re
import sys
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import frame_code, introspection

_LIBRARY = ("threading", "queue", "concurrent.futures", "multiprocessing", "socketserver")
_MAX_FRAMES = 200
_OWNER = re.compile(r"owner=(\d+)")
_Lock: Any = _thread.LockType
_RLock: Any = getattr(_thread, "RLock", None)


class Wait(NamedTuple):
    """What a thread or a task waits for."""

    kind: str
    name: Optional[str]  # what the program calls it
    target: Any  # the object
    frame: Any  # the program's own frame that waits
    type: str = ""


class Holder(NamedTuple):
    ident: Optional[int]  # of the thread
    how: str  # how that is known, or why it is not


class _Hold(NamedTuple):
    lock: Any
    how: str
    is_certain: bool
    ident: Optional[int] = None  # of the thread


class Stacks:
    """The frames of each thread, innermost first, by ident; and those of suspended coroutines."""

    def __init__(
        self,
        threads: Dict[int, List[Any]],
        coroutines: List[Tuple[Optional[int], str, List[Any]]],
    ) -> None:
        self.threads = threads
        self._coroutines = coroutines  # the thread of the loop, the task, its frames
        self._holds: Optional[Dict[int, List[_Hold]]] = None

    def find_holds(self, lock: Any) -> List[_Hold]:
        """The frames that show that they hold a lock."""
        if self._holds is None:
            self._holds = {}
            for hold in self._iter_holds():
                self._holds.setdefault(id(hold.lock), []).append(hold)
        return self._holds.get(id(lock), [])

    def _iter_holds(self) -> Iterator[_Hold]:
        for ident, frames in self.threads.items():
            released = _released_lock(frames)
            for frame in frames:
                for hold in iter_holds(frame):
                    if hold.lock is not released:
                        yield hold._replace(ident=ident)
        for ident_of_loop, task, frames in self._coroutines:
            for frame in frames:
                for hold in iter_holds(frame):
                    yield hold._replace(
                        ident=ident_of_loop, how="%s, in task %s" % (hold.how, task)
                    )


# -- waiting --------------------------------------------------------------------------------------


def find_wait(frames: List[Any]) -> Optional[Wait]:
    """What a thread with these frames waits for, if it is a lock or something made of locks."""
    if not frames:
        return None
    own = _find_own_frame(frames)
    top = frames[0]
    waited = _find_joined(frames)
    if waited is not None:
        return Wait("thread", _name_of(own), waited, own, introspection.type_name(type(waited)))
    if any(frame.f_code is _code(threading, "_shutdown") for frame in frames):
        return Wait("exit", None, None, own, "")
    site = frame_code.find_call(top)
    if top.f_code is _code(threading.Condition, "wait"):
        condition = top.f_locals.get("self")
        if site is not None and site.method == "_acquire_restore":
            return _wait_for_lock(_lock_of(condition), _name_of(own), own)
        return _wait_for_condition(frames, condition, own)
    if site is None:
        return None
    return _wait_for_lock(site.owner, _name_of(own), own)


def _wait_for_lock(lock: Any, name: Optional[str], frame: Any) -> Optional[Wait]:
    kind = type(lock)
    type_name = introspection.type_name(kind)
    if kind is _Lock:
        return Wait("lock", name, lock, frame, "Lock") if lock.locked() else None
    if _RLock is not None and issubclass(kind, _RLock):
        return Wait("lock", name, lock, frame, "RLock") if _owner_of(lock) else None
    if kind.__module__ == "_queue":
        return Wait("queue", name, lock, frame, type_name)
    if kind.__module__ == "_multiprocessing":
        return Wait("process lock", name, lock, frame, type_name)
    return None


def _wait_for_condition(frames: List[Any], condition: Any, own: Any) -> Wait:
    """A condition, or what is built on one: the outermost of these that waits."""
    kind, target = "condition", condition
    for frame in frames:
        if not _is_library(frame):
            break
        known = _kind_of_call(frame)
        if known is not None:
            kind, target = known, frame.f_locals.get("self")
    return Wait(kind, _name_of(own), target, own, introspection.type_name(type(target)))


def _kind_of_call(frame: Any) -> Optional[str]:
    for kind, owner, names in (
        ("event", threading.Event, ("wait",)),
        ("condition", threading.Condition, ("wait", "wait_for")),
        ("semaphore", threading.Semaphore, ("acquire",)),
        ("barrier", threading.Barrier, ("wait",)),
        ("queue", queue.Queue, ("get", "put", "join")),
        ("future", _future_class(), ("result", "exception")),
    ):
        if any(frame.f_code is _code(owner, name) for name in names):
            return kind
    return None


def _future_class() -> Any:
    module = sys.modules.get("concurrent.futures._base")
    return getattr(module, "Future", None)


def _find_joined(frames: List[Any]) -> Any:
    """The thread that is waited for with `join`."""
    for frame in frames:
        if not _is_library(frame):
            return None
        if frame.f_code is _code(threading.Thread, "join"):
            return frame.f_locals.get("self")
    return None


def _find_own_frame(frames: List[Any]) -> Any:
    """The program's own frame that called what waits."""
    return next((frame for frame in frames if not _is_library(frame)), frames[0])


def _name_of(frame: Any) -> Optional[str]:
    """What the frame calls the object that it waits for. The names of a library say nothing."""
    site = None if _is_library(frame) else frame_code.find_call(frame)
    return site.text if site is not None else None


def _is_library(frame: Any) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return any(module == name or module.startswith(name + ".") for name in _LIBRARY)


def _code(owner: Any, name: str) -> Any:
    return getattr(getattr(owner, name, None), "__code__", None)


# -- holding --------------------------------------------------------------------------------------


def find_holder(wait: Wait, stacks: Stacks) -> Holder:
    """Who holds what is waited for."""
    if wait.kind == "thread":
        return Holder(wait.target.ident, "it waits for the end of that thread")
    if wait.kind == "future":
        runner = _find_runner(wait.target, stacks)
        if runner is not None:
            return Holder(runner, "that thread runs the call whose result it is")
    if wait.kind != "lock":
        return Holder(None, _NOBODY.get(wait.kind, "nobody holds it"))
    owner = _owner_of(wait.target)
    if owner is not None:
        return Holder(owner, "the lock names its owner")
    return _search_holder(wait, stacks)


_NOBODY = {
    "condition": "nobody holds a condition: it waits until another thread notifies it",
    "event": "nobody holds an event: it waits until another thread sets it",
    "semaphore": "a semaphore does not say who took it: it waits until another thread releases it",
    "barrier": "nobody holds a barrier: it waits until enough threads have come",
    "queue": "nobody holds a queue: it waits until another thread puts something in, or takes it",
    "future": "nobody holds a future: it waits until its result is set",
    "process lock": "it may be held by another process, which cannot be seen from here",
    "exit": "the program has ended and waits for its other threads",
}


def _find_runner(future: Any, stacks: Stacks) -> Optional[int]:
    """The thread of a pool that runs the call of a future."""
    for ident, frames in stacks.threads.items():
        for frame in frames:
            if frame.f_globals.get("__name__") == "concurrent.futures.thread":
                item = frame.f_locals.get("self", frame.f_locals.get("work_item"))
                if introspection.read_attribute(item, "future")[1] is future:
                    return ident
    return None


def _owner_of(lock: Any) -> Optional[int]:
    """The ident of the thread that holds an RLock."""
    if _RLock is not None and issubclass(type(lock), _RLock):
        match = _OWNER.search(_RLock.__repr__(lock))
        return int(match.group(1)) or None if match else None
    return None


def _search_holder(wait: Wait, stacks: Stacks) -> Holder:
    holds = stacks.find_holds(wait.target)
    for is_certain in (True, False):
        found = {hold.ident: hold.how for hold in holds if hold.is_certain is is_certain}
        if len(found) == 1:
            [(ident, how)] = found.items()
            return Holder(ident, how)
        if found:
            return Holder(None, "several threads may hold it: %s" % "; ".join(found.values()))
    return Holder(
        None, "Python does not record who holds a plain lock, and no frame shows who acquired it"
    )


def iter_holds(frame: Any) -> Iterator[_Hold]:
    """The locks that a frame holds: inside a `with` block, for certain, or after an `acquire()`."""
    for site in frame_code.find_entered(frame):
        how = "it is inside `with %s` of %s" % (site.text, _place(frame, site.line))
        yield _Hold(_lock_of(site.owner), how, True)
    last: Dict[int, frame_code.CallSite] = {}
    for site in frame_code.find_earlier_calls(frame, {"acquire", "release"}):
        last[id(_lock_of(site.owner))] = site
    for site in last.values():
        if site.method == "acquire":
            place = _place(frame, site.line)
            how = "it called %s.acquire() in %s and has not released it" % (site.text, place)
            yield _Hold(_lock_of(site.owner), how, False)


def _place(frame: Any, line: Optional[int]) -> str:
    return "%s:%s" % (frame.f_code.co_filename, line)


def _lock_of(owner: Any) -> Any:
    """The lock inside a condition; of a lock, itself."""
    if issubclass(type(owner), threading.Condition):
        return introspection.read_attribute(owner, "_lock")[1]
    return owner


def _released_lock(frames: List[Any]) -> Any:
    """The lock that this thread has given up while it waits for its condition."""
    if frames and frames[0].f_code is _code(threading.Condition, "wait"):
        return _lock_of(frames[0].f_locals.get("self"))
    return None


def limit(frames: Iterator[Any]) -> List[Any]:
    """As many frames as are looked at."""
    return [frame for frame, _number in zip(frames, range(_MAX_FRAMES))]
