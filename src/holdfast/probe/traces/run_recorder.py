"""Records all of a program's own code: each statement with the places that it read and wrote.

`begin` is for a program that runs under the debugger. Within a process that has other things to do,
such as one that runs tests, a `RunRecorder` is started and stopped around each of them; what is
known of files and code is kept between.

What the program may notice: it is slower, 20 to 40 µs a statement; before 3.12, `sys.gettrace()`
is not None; and lists and dicts may live until the next statement (see `object_numbers`).
"""

from __future__ import annotations

import os
import sys
import time
from types import CodeType, TracebackType
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple, Type, Union

from . import source_files
from .event_tracker import EventTracker
from .memory_log import MemoryLog
from .own_files import OwnFiles
from .run_events import CodePlan, FrameInfo, describe_code, describe_file, describe_statement
from .run_hooks import make_hooks
from .statement_facts import FileFacts, Statement
from .trace_log import TraceLog

MAX_EVENTS = 200_000
_TRANSPARENT = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>"))  # a part of their statement
_BYTES_OF_EVENT = 200
_MAX_BYTES = 64_000_000
_MIN_BYTES = 16_000_000
_MAX_NOTES = 50
_MAX_PENDING = 32  # lines that are not in the file yet; before any call, all are


class RunRecorder:
    """One recording; after `discard` it may be started again."""

    def __init__(
        self,
        roots: Iterable[str],
        log: Union[TraceLog, MemoryLog],
        max_events: int = MAX_EVENTS,
        keep: str = "newest",
        max_per_code: int = 0,
    ) -> None:
        """`max_per_code`: how many statements of one function are recorded; 0 for all."""
        self._own = OwnFiles(roots)
        self.log = log
        self._max_events = max_events
        self._stops_when_full = keep == "oldest"
        self._max_per_code = max_per_code
        self._plans: Dict[int, Tuple[Any, Optional[CodePlan]]] = {}  # by id; keeps the code alive
        self._files: Dict[str, Tuple[int, Optional[FileFacts]]] = {}
        self._statements: Dict[Statement, int] = {}
        self._told: Set[Any] = set()  # what this recording has a line of
        self._noted: List[CodePlan] = []  # of which it has a line
        self._hot: List[CodePlan] = []
        self._notes: List[str] = []
        self._pid = os.getpid()
        self.is_on = False
        self.tracker = self._make_tracker()
        self._hooks = make_hooks(self)

    def _make_tracker(self) -> EventTracker:
        self._dropped = 0
        self._pending = 0
        return EventTracker(self._write, self.log.flush, self.number_statement, self._is_own_code)

    # -- life -------------------------------------------------------------------------------------

    def start(self) -> None:
        self.is_on = True
        self.tracker.numbers.open()
        problem = self._hooks.start()
        if problem is not None:
            self.note("nothing was recorded: " + problem)
            self.is_on = False

    def stop(self) -> None:
        """Record no more. It may be called again."""
        if not self.is_on:
            return
        self.is_on = False
        problem = self._hooks.stop()
        if self._pid == os.getpid():  # or it is a forked child: the recording is its parent's
            if problem is not None:
                self.note(problem)
            self.tracker.finish()
            self.log.flush()
        self.tracker.numbers.close()

    def discard(self) -> None:
        """Forget what was recorded, and be ready to start again."""
        self.stop()
        if isinstance(self.log, MemoryLog):
            self.log.clear()
        for plan in self._hot:
            plan.is_hot = False
        self._hot.clear()
        for plan in self._noted:
            plan.count, plan.is_noted = 0, False
        self._noted.clear()
        self._told.clear()
        self._notes.clear()
        self.tracker = self._make_tracker()

    def end(self) -> None:
        """Stop for good, and close the recording."""
        self.stop()
        self._hooks.close()
        if self._pid == os.getpid():
            self.log.close()

    def __enter__(self) -> RunRecorder:
        self.start()
        return self

    def __exit__(
        self,
        _kind: Optional[Type[BaseException]],
        _error: Optional[BaseException],
        _traceback: Optional[TracebackType],
    ) -> None:
        self.stop()

    def note(self, text: str) -> None:
        """Say something about the recording, once."""
        if text not in self._notes and len(self._notes) < _MAX_NOTES:
            self._notes.append(text)
            self.log.write({"note": text})

    def fail(self, error: BaseException) -> None:
        """An error of ours: the recording ends, the program goes on."""
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = ""
        if place is not None:
            name = os.path.basename(place.tb_frame.f_code.co_filename)
            where = " at %s:%d" % (name, place.tb_lineno)
        try:
            self.note("the recording ended by an error of the recorder: %r%s" % (error, where))
            self.stop()
        except Exception:
            self.is_on = False  # there is nothing more to try; the program must not notice

    # -- events -----------------------------------------------------------------------------------

    def on_line(self, frame: Any, info: FrameInfo, line: int) -> None:
        tracker = self.tracker
        tracker.begin_statement(frame, info, line)
        if self._stops_when_full and (tracker.count >= self._max_events or self.log.is_full):
            self.note("recording stopped after %d statements, as it was full" % tracker.count)
            self.stop()
        elif self._max_per_code and info.plan.count > self._max_per_code:
            self._ignore(frame, info)

    def _ignore(self, frame: Any, info: FrameInfo) -> None:
        """A function that runs so often that the rest would suffer."""
        plan = info.plan
        if plan.is_hot:
            return
        plan.is_hot = True
        self._hot.append(plan)
        self._hooks.ignore(plan)
        for key, other in list(self.tracker.frames.items()):
            if other.plan is plan:
                self.tracker.leave(key, other)
        name, line = plan.scope.qualname, plan.code.co_firstlineno
        text = "of %s (line %d) only the first %d statements were recorded"
        self.note(text % (name, line, self._max_per_code))

    def _write(self, line: Any) -> None:
        log = self.log
        log.write(line)
        if log.dropped != self._dropped and not self._stops_when_full:
            self._dropped = log.dropped
            if isinstance(log, TraceLog) or log.dropped % 1000 == 1:
                self._repeat_frames()
        self._pending += 1
        if self._pending >= _MAX_PENDING:
            self._pending = 0
            log.flush()

    def _repeat_frames(self) -> None:
        """The beginnings of frames that still run may be among what went."""
        for line in list(self.tracker.lines.values()):
            self.log.write(line)

    # -- files, code and statements ---------------------------------------------------------------

    def _is_own_code(self, code: Any) -> bool:
        return bool(self._own.find_path(code.co_filename))

    def find_plan(self, code: Any) -> Optional[CodePlan]:
        """What is known of a code object of the program; None if it is not followed."""
        known = self._plans.get(id(code))
        if known is None:
            path = self._find_path(code)
            if not path:
                return None
            known = self._plans[id(code)] = code, self._make_plan(code, path)
        plan = known[1]
        if plan is not None and not plan.is_noted:
            self._tell_code(plan)
        return plan

    def _find_path(self, code: Any) -> str:
        name: str = code.co_filename
        path = self._own.find_path(name)
        if path or not name.startswith("<") or name.startswith("<frozen"):
            return path
        return name if self._is_made_by_own(code) else ""

    def _is_made_by_own(self, code: CodeType) -> bool:
        """Code that `exec` or `eval` made: is it the program's, and is its source known?"""
        if code.co_name in _TRANSPARENT or code.co_name.startswith("__"):
            return False  # methods such as those that `dataclass` makes
        frame = sys._getframe(1)
        found: Any = frame
        while found is not None and found.f_code is not code:
            found = found.f_back
        if found is None:
            return False
        maker = found.f_back
        if (
            code.co_name == "<module>"
            and maker
            and not self._own.find_path(maker.f_code.co_filename)
        ):
            return False  # a library made it, as `dataclass` does
        file = dict.get(found.f_globals, "__file__")
        if type(file) is not str or not self._own.find_path(file):
            return False
        if source_files.find_file(code.co_filename) is None:
            self.note("code that %s made by exec or eval has no source: it was not recorded" % file)
            return False
        return True

    def _make_plan(self, code: Any, path: str) -> Optional[CodePlan]:
        if code.co_name in _TRANSPARENT:
            return None
        if path not in self._files:
            facts = source_files.find_file(path)
            if facts is None:
                self.note("the source of %s could not be read: it was not recorded" % path)
            self._files[path] = len(self._files) + 1, facts
        facts = self._files[path][1]
        scope = facts.find_scope(code) if facts is not None else None
        return None if scope is None else CodePlan(code, scope, len(self._plans) + 1)

    def _tell_code(self, plan: CodePlan) -> None:
        plan.is_noted = True
        self._noted.append(plan)
        path = self._find_path(plan.code) or plan.code.co_filename
        number, facts = self._files[path]
        if path not in self._told and facts is not None:
            self._told.add(path)
            self.log.write(describe_file(number, path, facts.text))
        definition = plan.scope.definition
        outer = -1 if definition is None else self.number_statement(definition, None)
        self.log.write(describe_code(plan, number, outer))

    def number_statement(self, statement: Optional[Statement], plan: Optional[CodePlan]) -> int:
        """The number of a statement, whose line is written before it is first used."""
        if statement is None:
            return -1
        number = self._statements.get(statement)
        if number is None:
            number = self._statements[statement] = len(self._statements) + 1
        if statement not in self._told:
            self._told.add(statement)
            statement.prepare()
            related = (
                self.number_statement(statement.parent, plan),
                self.number_statement(statement.exits, plan),
                self.number_statement(statement.body, plan),
            )
            file = self._files.get(statement.scope.path, (0, None))[0]
            self.log.write(describe_statement(statement, number, file, related))
        return number


def begin(spec: Dict[str, Any]) -> RunRecorder:
    """Record the program from now on, as the launch asks for; `end` ends it."""
    header = dict(spec, format=1, **_describe_process())
    keep = spec.get("keep") or "newest"
    max_events = int(spec.get("max_events") or MAX_EVENTS)
    budget = min(_MAX_BYTES, max(_MIN_BYTES, max_events * _BYTES_OF_EVENT))
    log = TraceLog(spec["path"], header, budget, keep)
    recorder = RunRecorder(spec.get("roots") or (), log, max_events, keep)
    os.register_at_fork(after_in_child=recorder.stop)
    recorder.start()
    return recorder


def _describe_process() -> Dict[str, Any]:
    return {
        "python": "%d.%d.%d" % sys.version_info[:3],
        "argv": [str(arg) for arg in sys.argv],
        "cwd": os.getcwd(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
