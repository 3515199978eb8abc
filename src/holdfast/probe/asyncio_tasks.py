"""asyncio tasks: which there are, where each stands, and what it waits for."""

from __future__ import annotations

import sys
from typing import Any, Dict, Iterable, List, Optional, Set

from . import debugger


def listing() -> List[Dict[str, Any]]:
    if "asyncio" not in sys.modules:
        return []
    current = _current()
    return [_describe(task, current) for task in _all() if not task.done()]


def _all() -> List[Any]:
    """Every task of every loop; asyncio keeps them in different places by version."""
    tasks = sys.modules["asyncio.tasks"]
    found: Set[Any] = set()
    for name in ("_all_tasks", "_scheduled_tasks", "_eager_tasks"):
        found.update(_copy(getattr(tasks, name, ())))
    for loop in _loops():
        found.update(_copy_tasks(tasks, loop))
    return sorted(found, key=lambda task: (len(task.get_name()), task.get_name()))


def _copy(tasks: Iterable[Any]) -> List[Any]:
    # A weak set may change while another thread runs; try again as asyncio itself does.
    for _attempt in range(1000):
        try:
            return list(tasks)
        except RuntimeError:
            continue
    return []


def _copy_tasks(tasks: Any, loop: Any) -> Iterable[Any]:
    try:
        return list(tasks.all_tasks(loop))
    except Exception:
        return ()


def _loops() -> List[Any]:
    """Loops that run now, seen from the frames that run them."""
    found = []
    for top in list(sys._current_frames().values()):
        frame: Any = top
        while frame is not None:
            if frame.f_code.co_name == "run_forever":
                loop = frame.f_locals.get("self")
                if loop is not None:
                    found.append(loop)
            frame = frame.f_back
    return found


def _current() -> Set[int]:
    tasks = sys.modules["asyncio.tasks"]
    running = getattr(tasks, "_current_tasks", {})
    found = {id(task) for task in list(getattr(running, "values", dict)())}
    for loop in _loops():
        try:
            found.add(id(tasks.current_task(loop)))
        except Exception:
            pass
    return found


def _describe(task: Any, current: Set[int]) -> Dict[str, Any]:
    coroutine = task.get_coro()
    running = id(task) in current
    shown: Dict[str, Any] = {
        "name": task.get_name(),
        "coroutine": getattr(coroutine, "__qualname__", type(coroutine).__name__),
        "state": "running" if running else "waiting",
        "current": running,
    }
    stack = _running_stack(coroutine) if running else _stack(coroutine)
    if stack:
        shown["location"] = stack[0]
        shown["stack"] = stack
    if not running:
        shown["waiting_for"] = _waiting_for(task, coroutine)
    return shown


def _chain(coroutine: Any) -> List[Any]:
    """The coroutine and what it awaits, outermost first."""
    chain: List[Any] = []
    while coroutine is not None and len(chain) < 100:
        chain.append(coroutine)
        coroutine = getattr(coroutine, "cr_await", None) or getattr(
            coroutine, "gi_yieldfrom", getattr(coroutine, "ag_await", None)
        )
    return chain


def _frame(coroutine: Any) -> Any:
    for name in ("cr_frame", "gi_frame", "ag_frame"):
        frame = getattr(coroutine, name, None)
        if frame is not None:
            return frame
    return None


def _stack(coroutine: Any) -> List[Dict[str, Any]]:
    """Innermost first; frames inside asyncio itself are left out."""
    shown = []
    for part in reversed(_chain(coroutine)):
        frame = _frame(part)
        if frame is None or _in_asyncio(frame) or debugger.is_ours(frame.f_code.co_filename):
            continue
        shown.append(_place(frame))
    return shown


def _running_stack(coroutine: Any) -> List[Dict[str, Any]]:
    """As `_stack`, of a task that runs: it awaits nothing, so its thread tells where it is."""
    outermost = _frame(coroutine)
    for top in list(sys._current_frames().values()):
        frames: List[Any] = []
        frame: Any = top
        while frame is not None:
            if debugger.is_ours(frame.f_code.co_filename):
                frames = []  # what is above is the debugger's own, where it holds the thread
            elif not _in_asyncio(frame):
                frames.append(frame)
            if frame is outermost:
                return [_place(each) for each in frames]
            frame = frame.f_back
    return _stack(coroutine)


def _place(frame: Any) -> Dict[str, Any]:
    code = frame.f_code
    name = code.co_name
    return {"file": code.co_filename, "line": frame.f_lineno, "function": name}


def _in_asyncio(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__", "")).split(".")[0] == "asyncio"


def _waiting_for(task: Any, coroutine: Any) -> Dict[str, Any]:
    """The innermost thing awaited: another task, `asyncio.sleep`, a lock, a future…"""
    waiter = getattr(task, "_fut_waiter", None)
    shown: Dict[str, Any] = {"kind": "future" if waiter is not None else "scheduler"}
    call = _asyncio_call(coroutine)
    if call:
        shown["call"] = call
    if waiter is not None:
        shown["type"] = type(waiter).__name__
        other = _task_behind(waiter)
        if other is not None:
            shown.update({"kind": "task", "task": other})
    return shown


def _asyncio_call(coroutine: Any) -> Optional[str]:
    for part in reversed(_chain(coroutine)):
        frame = _frame(part)
        if frame is not None and _in_asyncio(frame):
            name: str = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
            owner = frame.f_locals.get("self")
            if "." not in name and owner is not None:
                name = "%s.%s" % (type(owner).__name__, name)
            return "asyncio." + name
    return None


def _task_behind(waiter: Any) -> Optional[str]:
    name = getattr(waiter, "get_name", None)
    if name is not None:
        return str(name())
    children = [c for c in getattr(waiter, "_children", ()) if hasattr(c, "get_name")]
    if children:
        return ", ".join(child.get_name() for child in children if not child.done())
    return None
