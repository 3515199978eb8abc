"""asyncio tasks: where each one is, and what it waits for."""

from __future__ import annotations

import sys
from typing import Any, Dict, Iterable, List, Optional, Set

from .pydevd_access import is_ours

_MAX_CHAIN = 100  # coroutines that await one another


def list_tasks() -> List[Dict[str, Any]]:
    if "asyncio" not in sys.modules:
        return []
    current = _current_task_ids()
    return [_describe_task(task, current) for task in find_tasks() if not task.done()]


def find_tasks() -> List[Any]:
    """Every task of every loop; asyncio keeps them in different places by version."""
    tasks = sys.modules["asyncio.tasks"]
    everywhere: Set[Any] = set()
    for name in ("_all_tasks", "_scheduled_tasks", "_eager_tasks"):
        everywhere.update(_copy_weak_set(getattr(tasks, name, ())))
    for loop in _running_loops():
        everywhere.update(_tasks_of_loop(tasks, loop))
    return sorted(everywhere, key=lambda task: (len(task.get_name()), task.get_name()))


def _copy_weak_set(tasks: Iterable[Any]) -> List[Any]:
    # A weak set may change while another thread runs; try again as asyncio itself does.
    for _attempt in range(1000):
        try:
            return list(tasks)
        except RuntimeError:
            continue
    return []


def _tasks_of_loop(tasks: Any, loop: Any) -> Iterable[Any]:
    try:
        return list(tasks.all_tasks(loop))
    except Exception:
        return ()


def _running_loops() -> List[Any]:
    """The loops that run now, found through the frames that run them."""
    loops = []
    for top in list(sys._current_frames().values()):
        frame: Any = top
        while frame is not None:
            if frame.f_code.co_name == "run_forever":
                loop = frame.f_locals.get("self")
                if loop is not None:
                    loops.append(loop)
            frame = frame.f_back
    return loops


def _current_task_ids() -> Set[int]:
    tasks = sys.modules["asyncio.tasks"]
    running = getattr(tasks, "_current_tasks", {})
    ids = {id(task) for task in list(getattr(running, "values", dict)())}
    for loop in _running_loops():
        try:
            ids.add(id(tasks.current_task(loop)))
        except Exception:
            pass
    return ids


def _describe_task(task: Any, current: Set[int]) -> Dict[str, Any]:
    coroutine = task.get_coro()
    running = id(task) in current
    described: Dict[str, Any] = {
        "name": task.get_name(),
        "coroutine": getattr(coroutine, "__qualname__", type(coroutine).__name__),
        "state": "running" if running else "waiting",
        "current": running,
    }
    stack = _running_stack(coroutine) if running else _waiting_stack(coroutine)
    if stack:
        described["location"] = stack[0]
        described["stack"] = stack
    if not running:
        described["waiting_for"] = _describe_wait(task, coroutine)
    return described


def await_chain(coroutine: Any) -> List[Any]:
    """The coroutine and what it awaits, outermost first."""
    chain: List[Any] = []
    while coroutine is not None and len(chain) < _MAX_CHAIN:
        chain.append(coroutine)
        coroutine = getattr(coroutine, "cr_await", None) or getattr(
            coroutine, "gi_yieldfrom", getattr(coroutine, "ag_await", None)
        )
    return chain


def coroutine_frame(coroutine: Any) -> Any:
    for name in ("cr_frame", "gi_frame", "ag_frame"):
        frame = getattr(coroutine, name, None)
        if frame is not None:
            return frame
    return None


def _waiting_stack(coroutine: Any) -> List[Dict[str, Any]]:
    """Innermost first; frames inside asyncio itself are left out."""
    stack = []
    for part in reversed(await_chain(coroutine)):
        frame = coroutine_frame(part)
        if frame is None or is_in_asyncio(frame) or is_ours(frame.f_code.co_filename):
            continue
        stack.append(describe_location(frame))
    return stack


def _running_stack(coroutine: Any) -> List[Dict[str, Any]]:
    """As `_waiting_stack`, for a task that runs: its thread's frames show where it is."""
    outermost = coroutine_frame(coroutine)
    for top in list(sys._current_frames().values()):
        frames: List[Any] = []
        frame: Any = top
        while frame is not None:
            if is_ours(frame.f_code.co_filename):
                frames = []  # the frames above belong to the debugger, which suspends the thread
            elif not is_in_asyncio(frame):
                frames.append(frame)
            if frame is outermost:
                return [describe_location(frame) for frame in frames]
            frame = frame.f_back
    return _waiting_stack(coroutine)


def describe_location(frame: Any) -> Dict[str, Any]:
    code = frame.f_code
    name = code.co_name
    return {"file": code.co_filename, "line": frame.f_lineno, "function": name}


def is_in_asyncio(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__", "")).split(".")[0] == "asyncio"


def _describe_wait(task: Any, coroutine: Any) -> Dict[str, Any]:
    """The innermost thing awaited: another task, `asyncio.sleep`, a lock, a future…"""
    waiter = getattr(task, "_fut_waiter", None)
    described: Dict[str, Any] = {"kind": "future" if waiter is not None else "scheduler"}
    call = _find_asyncio_call(coroutine)
    if call:
        described["call"] = call
    if waiter is not None:
        described["type"] = type(waiter).__name__
        other = _awaited_task_name(waiter)
        if other is not None:
            described.update({"kind": "task", "task": other})
    return described


def _find_asyncio_call(coroutine: Any) -> Optional[str]:
    for part in reversed(await_chain(coroutine)):
        frame = coroutine_frame(part)
        if frame is not None and is_in_asyncio(frame):
            name: str = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
            owner = frame.f_locals.get("self")
            if "." not in name and owner is not None:
                name = "%s.%s" % (type(owner).__name__, name)
            return "asyncio." + name
    return None


def _awaited_task_name(waiter: Any) -> Optional[str]:
    name = getattr(waiter, "get_name", None)
    if name is not None:
        return str(name())
    children = [c for c in getattr(waiter, "_children", ()) if hasattr(c, "get_name")]
    if children:
        return ", ".join(child.get_name() for child in children if not child.done())
    return None
