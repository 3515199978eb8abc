"""Which thread or task waits for which, and the circles in that: nothing in one can go on."""

from __future__ import annotations

import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import asyncio_tasks, task_waits, thread_waits
from .frames import is_suspended
from .pydevd_access import dap_id, is_ours, user_threads

_LINKS = {"lock": "holds", "future": "runs"}
_Node = Tuple[str, Any]  # "thread" and an ident, or "task" and its id


class _Waiting(NamedTuple):
    subject: str
    phrase: str  # what it waits for, and where
    link: str  # what the one that it waits for does with that


def describe_deadlocks(db: Any) -> Dict[str, Any]:
    """Every thread and every asyncio task that waits, and the circles."""
    idents = {thread.ident: (dap_id(known), thread) for known, thread in user_threads()}
    held = {thread.ident for known, thread in user_threads() if is_suspended(db, known)}
    return _Report(idents, held).build()


class _Report:
    def __init__(self, idents: Dict[Any, Tuple[int, Any]], held: Any) -> None:
        self._idents = idents
        self._held = held
        self._tasks = task_waits.find_tasks()
        self._stacks = self._read_stacks()
        self._edges: Dict[_Node, List[_Node]] = {}
        self._waits: Dict[_Node, _Waiting] = {}

    def _read_stacks(self) -> thread_waits.Stacks:
        current = sys._current_frames()
        threads = {ident: _own_frames(current[ident]) for ident in self._idents if ident in current}
        coroutines = [
            (task_waits.loop_ident(task), task.get_name(), task_waits.coroutine_frames(task))
            for task in self._tasks
        ]
        return thread_waits.Stacks(threads, coroutines)

    def build(self) -> Dict[str, Any]:
        threads = [self._describe_thread(ident) for ident in self._idents]
        tasks = [
            self._describe_task(task, wait)
            for task, wait in task_waits.find_waits(self._tasks)
            if wait is not None
        ]
        return {
            "threads": threads,
            "tasks": tasks,
            "cycles": [self._describe_cycle(cycle) for cycle in _find_cycles(self._edges)],
        }

    # -- threads --------------------------------------------------------------------------------

    def _describe_thread(self, ident: Any) -> Dict[str, Any]:
        number, thread = self._idents[ident]
        frames = self._stacks.threads.get(ident, [])
        described: Dict[str, Any] = {
            "thread_id": number,
            "name": thread.name,
            "status": "paused" if ident in self._held else "running",
            "waits_for": None,
            "held_by": None,
        }
        # A thread that the debugger holds is at a line, and in no lock.
        wait = thread_waits.find_wait(frames) if ident not in self._held else None
        place = wait.frame if wait is not None else (frames[0] if frames else None)
        if place is not None:
            described["location"] = asyncio_tasks.describe_location(place)
        if wait is None:
            return described
        holder = thread_waits.find_holder(wait, self._stacks)
        described["waits_for"] = _describe_wait(wait.kind, wait.name, wait.target, wait.type)
        known_as = _find_global(wait.target, wait.name, place)
        if known_as is not None:
            described["waits_for"]["global_name"] = known_as
        described["note"] = holder.how
        name = wait.target.name if wait.kind == "thread" else wait.name
        if known_as is not None:
            name = "%s (%s)" % (name, known_as)
        phrase = "%s at %s" % (_phrase(wait.kind, name), _place(place))
        self._waits["thread", ident] = _Waiting(thread.name, phrase, _LINKS.get(wait.kind, ""))
        if holder.ident in self._idents:
            described["held_by"] = self._idents[holder.ident][0]
            self._edges["thread", ident] = [("thread", holder.ident)]
        return described

    # -- tasks ----------------------------------------------------------------------------------

    def _describe_task(self, task: Any, wait: task_waits.TaskWait) -> Dict[str, Any]:
        own = task_waits.own_frame(task_waits.coroutine_frames(task))
        described: Dict[str, Any] = {
            "task": task.get_name(),
            "waits_for": _describe_wait(
                wait.kind, wait.name, wait.target, type(wait.target).__name__
            ),
            "held_by": [other.get_name() for other in wait.tasks],
            "note": wait.how,
        }
        if own is not None:
            described["location"] = asyncio_tasks.describe_location(own)
        if wait.tasks:
            self._edges["task", id(task)] = [("task", id(other)) for other in wait.tasks]
        phrase = "%s at %s" % (_phrase(wait.kind, wait.name), _place(own))
        subject = "task %s" % task.get_name()
        self._waits["task", id(task)] = _Waiting(subject, phrase, _LINKS.get(wait.kind, ""))
        return described

    # -- circles --------------------------------------------------------------------------------

    def _describe_cycle(self, cycle: List[_Node]) -> Dict[str, Any]:
        parts = []
        for node, following in zip(cycle, cycle[1:] + cycle[:1]):
            wait = self._waits[node]
            part = "%s waits for %s" % (wait.subject, wait.phrase)
            if wait.link:
                is_own = following == node
                subject = "it" if is_own else self._waits[following].subject
                part += ", which %s %s" % (subject, wait.link) + (" itself" if is_own else "")
            parts.append(part)
        return {
            "threads": [self._idents[key][0] for kind, key in cycle if kind == "thread"],
            "tasks": [task.get_name() for task in self._tasks if ("task", id(task)) in cycle],
            "message": "Deadlock: %s." % "; ".join(parts),
        }


def _own_frames(frame: Any) -> List[Any]:
    frames = []
    while frame is not None:
        if not is_ours(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return thread_waits.limit(iter(frames))


def _describe_wait(kind: str, name: Optional[str], target: Any, type_name: str) -> Dict[str, Any]:
    described: Dict[str, Any] = {"kind": kind, "name": name}
    if target is not None:
        described["type"] = type_name
        described["id"] = hex(id(target))
    if kind == "thread":
        described["name"] = target.name
    return described


def _find_global(target: Any, name: Optional[str], frame: Any) -> Optional[str]:
    """The variable of the frame's module that has the same object, if `name` is another one."""
    if target is None or name is None or name in frame.f_globals:
        return None
    return next((known for known, value in list(frame.f_globals.items()) if value is target), None)


def _phrase(kind: str, name: Optional[str]) -> str:
    if kind == "thread":
        return "the end of a thread" if name is None else "the end of thread %s" % name
    if kind == "exit":
        return "the end of its other threads"
    if kind == "task":
        return "task %s" % name
    return "%s %s" % (kind, name) if name else "a %s" % kind


def _place(frame: Any) -> str:
    return "%s:%s" % (frame.f_code.co_filename, frame.f_lineno) if frame is not None else "?"


def _find_cycles(edges: Dict[_Node, List[_Node]]) -> List[List[_Node]]:
    """The circles that a walk along the edges runs into, each once."""
    cycles: List[List[_Node]] = []
    finished = set()
    for start in edges:
        path: List[_Node] = []
        stack = [(start, iter(edges.get(start, ())))]
        if start in finished:
            continue
        path.append(start)
        while stack:
            node, following = stack[-1]
            step = next(following, None)
            if step is None:
                stack.pop()
                path.pop()
                finished.add(node)
            elif step in path:
                cycles.append(path[path.index(step) :])
            elif step not in finished:
                path.append(step)
                stack.append((step, iter(edges.get(step, ()))))
    return cycles
