"""Answers about a program that cannot answer itself, from stacks read outside its interpreter."""

from __future__ import annotations

from typing import cast

from holdfast import errors
from holdfast.model.stop import Described
from holdfast.targets.program.outside_stacks import OutsideStacks, OutsideThread
from holdfast.wire import session_answers
from holdfast.wire.program_answers import (
    DeadlockReport,
    Frame,
    StackPage,
    Thread,
    ThreadList,
    WaitingThread,
)


def build_threads(stacks: OutsideStacks) -> ThreadList:
    threads = [
        cast(Thread, {"thread_id": thread["id"], **thread}) for thread in describe_threads(stacks)
    ]
    return ThreadList(threads, outside=True, message=explain(stacks))


def describe_threads(stacks: OutsideStacks) -> list[Described]:
    """The threads, with the fields that the probe gives them as far as they are known."""
    described: list[Described] = []
    for thread in stacks.threads:
        entry: Described = {
            "id": thread.id,
            "name": thread.name,
            "status": "paused" if thread.is_held else "running",
            "outside": True,
        }
        place = find_place(thread)
        if place is not None:
            entry["location"] = {"file": place.file, "line": place.line, "function": place.function}
        if thread.holds_gil:
            entry["holds_gil"] = True
        described.append(entry)
    return described


def build_deadlocks(stacks: OutsideStacks) -> DeadlockReport:
    """The threads alone: their locks cannot be read from outside."""
    threads: list[WaitingThread] = []
    for thread in describe_threads(stacks):
        entry = WaitingThread(
            thread_id=thread["id"],
            name=thread["name"],
            status=thread["status"],
            waits_for=None,
            held_by=None,
        )
        if "location" in thread:
            entry["location"] = session_answers.Location(**thread["location"])
        threads.append(entry)
    return DeadlockReport(threads, [], [], explain(stacks), outside=True)


def build_stack(stacks: OutsideStacks, thread_id: int, start: int, count: int) -> StackPage:
    thread = stacks.find(thread_id)
    if thread is None:
        known = [each.id for each in stacks.threads]
        raise errors.ThreadNotFound(f"no thread {thread_id}", thread_id=thread_id, known=known)
    frames: list[Frame] = []
    for each in thread.frames[start : start + count]:
        frame = Frame(name=each.function, function=each.function, file=each.file, line=each.line)
        if each.qualname != each.function:
            frame["qualname"] = each.qualname
        frames.append(frame)
    total = len(thread.frames)
    has_more = start + len(frames) < total
    return StackPage(
        frames, total, start, has_more, thread_id, outside=True, message=explain(stacks)
    )


def find_place(thread: OutsideThread) -> session_answers.Location | None:
    """Where the thread is: its innermost frame."""
    if not thread.frames:
        return None
    top = thread.frames[0]
    return session_answers.Location(top.file, top.line, top.function)


def explain(stacks: OutsideStacks) -> str:
    """Why the program cannot answer."""
    holder = stacks.gil_holder
    if holder is None:
        return (
            "The debugger in the program does not answer. This was read from outside the "
            "interpreter, so there are no values."
        )
    place = find_place(holder)
    where = f" called from {place.file}:{place.line} ({place.function})" if place else ""
    return (
        f"{holder.name or 'A thread'} holds the interpreter's lock (GIL) in C code{where}, so "
        "nothing in the program can answer. This was read from outside the interpreter, so there "
        "are no values."
    )
