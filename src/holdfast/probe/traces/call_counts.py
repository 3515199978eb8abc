"""Counts the calls of the program's own functions, by who called whom, with their times.

This is the light first look at a run: nothing of values or statements. Functions of libraries are
left out; what they call of the program's own counts as called by whoever called them.

The recording has lines `["tree", CODES, NODES]`, of which the last one counts. A code is `[name,
file, line]`; a node is `[parent, code, calls, total ms, own ms, raised]`, its parent before it.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Dict, List, Optional, Tuple

from ..function_names import list_module_names, strip_locals, walk_functions
from . import trace_errors
from .own_files import OwnFiles
from .trace_log import TraceLog

_INTERVAL = 0.5  # seconds of the program's time between two lines
_MAX_NODES = 5000
_TOOLS = (5, 4, 3)
_clock = time.perf_counter
_get_ident = threading.get_ident


class _Node:
    """A function within those that called it."""

    __slots__ = ("calls", "children", "code", "depth", "number", "own", "parent", "raised", "total")

    def __init__(self, number: int, parent: Optional[_Node], code: int) -> None:
        self.number = number
        self.parent = parent
        self.code = code
        self.children: Dict[int, _Node] = {}
        self.calls = self.raised = 0
        self.depth = 0  # how often it is on the stack now
        self.total = self.own = 0.0


class CallTree:
    """The tree of calls so far."""

    def __init__(self, log: TraceLog, roots: Any) -> None:
        self.log = log
        self._files = OwnFiles(roots)
        self._root = _Node(-1, None, -1)
        self._nodes: List[_Node] = []
        self._codes: Dict[int, Tuple[Any, int]] = {}  # by the id of code that is kept
        self._names: List[List[Any]] = []
        self._qualnames: Dict[int, Tuple[Any, str]] = {}
        # By thread: node, code, when it began, time in callees; the innermost last.
        self._stacks: Dict[int, List[List[Any]]] = {}
        self._written = _clock()

    def is_own(self, code: Any) -> bool:
        return bool(self._files.find_path(code.co_filename))

    def enter(self, code: Any, names: Dict[str, Any], is_call: bool) -> None:
        """A function begins, or a generator goes on."""
        stack = self._stacks.setdefault(_get_ident(), [])
        node = self._find_node(stack[-1][0] if stack else self._root, code, names)
        if is_call:
            node.calls += 1
        node.depth += 1
        stack.append([node, code, _clock(), 0.0])

    def leave(self, code: Any, is_raised: bool = False) -> None:
        """It ends, or yields."""
        stack = self._stacks.get(_get_ident())
        if not stack or not any(entry[1] is code for entry in stack):
            return
        now = _clock()
        while stack:
            node, own_code, began, inner = stack.pop()
            spent = now - began
            node.own += spent - inner
            node.depth -= 1
            if node.depth == 0:  # of a recursion, only the outermost call
                node.total += spent
            if stack:
                stack[-1][3] += spent
            if own_code is code:
                node.raised += is_raised
                break
        if now - self._written > _INTERVAL:
            self.write()

    def _find_node(self, parent: _Node, code: Any, names: Dict[str, Any]) -> _Node:
        number = self._number_code(code, names)
        above: Optional[_Node] = parent
        while above is not None:  # a recursion is one node, however deep it goes
            if above.code == number:
                return above
            above = above.parent
        node = parent.children.get(number)
        if node is None:
            if len(self._nodes) >= _MAX_NODES:
                return parent
            node = parent.children[number] = _Node(len(self._nodes), parent, number)
            self._nodes.append(node)
        return node

    def _number_code(self, code: Any, names: Dict[str, Any]) -> int:
        known = self._codes.get(id(code))
        if known is None:
            qualname = self._find_qualname(code)
            modules = [name for name in list_module_names(names) if name != "__main__"]
            name = "%s.%s" % (modules[0], qualname) if modules else qualname
            known = self._codes[id(code)] = (code, len(self._names))
            self._names.append([name, code.co_filename, code.co_firstlineno])
        return known[1]

    def _find_qualname(self, code: Any) -> str:
        """Before 3.11 only the code around it knows its whole name."""
        if code.co_name == "<module>" and not hasattr(code, "co_qualname"):
            for inner, name in walk_functions(code):
                self._qualnames[id(inner)] = (inner, name)
        known = self._qualnames.get(id(code))
        if known is not None:
            return known[1]
        return strip_locals(getattr(code, "co_qualname", code.co_name))

    def write(self) -> None:
        """Write the tree as it is; what still runs counts up to now."""
        self._written = now = _clock()
        running: Dict[int, float] = {}
        for stack in list(self._stacks.values()):
            for entry in stack[:]:
                running.setdefault(entry[0].number, now - entry[2])
        rows = [
            [
                node.parent.number if node.parent is not None else -1,
                node.code,
                node.calls,
                round((node.total + running.get(node.number, 0.0)) * 1000, 3),
                round(node.own * 1000, 3),
                node.raised,
            ]
            for node in self._nodes
        ]
        self.log.write(["tree", self._names, rows])
        self.log.flush()


class _Counter:
    """What both ways of counting have in common."""

    def __init__(self, tree: CallTree) -> None:
        self.tree = tree

    def disarm(self) -> None:
        raise NotImplementedError

    def fail(self, error: BaseException) -> None:
        if not trace_errors.is_ours(error):
            raise error
        self.disarm()
        self.tree.log.write({"remark": "counting failed: " + trace_errors.describe(error)})

    def end(self) -> None:
        self.disarm()
        if self.tree.log.is_open:
            self.tree.write()
            self.tree.log.close()


class MonitoringCounter(_Counter):
    """By `sys.monitoring`: code of libraries is asked about once, and then runs at full speed."""

    def __init__(self, tree: CallTree) -> None:
        super().__init__(tree)
        self._api: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        self._tool = -1
        self._own: Dict[int, Any] = {}

    def arm(self) -> bool:
        api, events = self._api, self._api.events
        free = [tool for tool in _TOOLS if api.get_tool(tool) is None]
        if not free:
            return False
        self._tool = free[0]
        api.use_tool_id(self._tool, "holdfast call counts")
        callbacks = {
            events.PY_START: self._on_start,
            events.PY_RESUME: self._on_resume,
            events.PY_THROW: self._on_throw,
            events.PY_RETURN: self._on_leave,
            events.PY_YIELD: self._on_leave,
            events.PY_UNWIND: self._on_unwind,
        }
        for event, callback in callbacks.items():
            api.register_callback(self._tool, event, self._guard(callback))
        api.set_events(self._tool, events.PY_START | events.PY_UNWIND | events.PY_THROW)
        return True

    def disarm(self) -> None:
        api, tool, self._tool = self._api, self._tool, -1
        if tool < 0 or api.get_tool(tool) != "holdfast call counts":
            return
        events = api.events
        api.set_events(tool, 0)
        for code in self._own.values():
            api.set_local_events(tool, code, 0)
        for name in "PY_START PY_RESUME PY_THROW PY_RETURN PY_YIELD PY_UNWIND".split():
            api.register_callback(tool, getattr(events, name), None)
        api.free_tool_id(tool)

    def _guard(self, callback: Any) -> Any:
        def guarded(code: Any, *args: Any) -> Any:
            try:
                return callback(code, *args)
            except RecursionError:
                return None
            except Exception as error:
                return self.fail(error)

        return guarded

    def _on_start(self, code: Any, _offset: int) -> Any:
        if id(code) not in self._own:
            if not self.tree.is_own(code):
                return self._api.DISABLE
            self._own[id(code)] = code
            events = self._api.events
            wanted = events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
            self._api.set_local_events(self._tool, code, wanted)
        self.tree.enter(code, sys._getframe(2).f_globals, True)
        return None

    def _on_resume(self, code: Any, _offset: int) -> None:
        if id(code) in self._own:
            self.tree.enter(code, sys._getframe(2).f_globals, False)

    def _on_throw(self, code: Any, _offset: int, _error: Any) -> None:
        self._on_resume(code, _offset)

    def _on_leave(self, code: Any, _offset: int, _value: Any) -> None:
        self.tree.leave(code)

    def _on_unwind(self, code: Any, _offset: int, _error: Any) -> None:
        if id(code) in self._own:
            self.tree.leave(code, True)


class ProfileCounter(_Counter):
    """By `sys.setprofile`, before Python 3.12."""

    def __init__(self, tree: CallTree) -> None:
        super().__init__(tree)
        self._own: Dict[int, Tuple[Any, bytes]] = {}
        self._others: Dict[int, Any] = {}
        self._is_off = False

    def arm(self) -> bool:
        sys.setprofile(self._profile)
        threading.setprofile(self._profile)
        return True

    def disarm(self) -> None:
        self._is_off = True
        if sys.getprofile() == self._profile:
            sys.setprofile(None)
            threading.setprofile(None)

    def _profile(self, frame: Any, event: str, _value: Any) -> None:
        if event != "call" and event != "return":
            return
        code = frame.f_code
        if id(code) in self._others or self._is_off:
            return
        try:
            if id(code) not in self._own and not self._learn(code):
                return
            if event == "call":
                self.tree.enter(code, frame.f_globals, _is_beginning(frame, self._own[id(code)][1]))
            else:
                self.tree.leave(code, self._is_raising(frame))
        except RecursionError:
            pass
        except Exception as error:
            self.fail(error)

    def _learn(self, code: Any) -> bool:
        if self.tree.is_own(code):
            self._own[id(code)] = (code, code.co_code)
            return True
        self._others[id(code)] = code
        return False

    def _is_raising(self, frame: Any) -> bool:
        """A frame that returns nothing and is at no `return` or `yield` is left by an exception."""
        raw = self._own[id(frame.f_code)][1]
        return frame.f_lasti < 0 or raw[frame.f_lasti] not in _ENDS


def _find_ends() -> Any:
    import opcode

    names = ("RETURN_VALUE", "YIELD_VALUE", "YIELD_FROM", "SEND", "RETURN_GENERATOR")
    return frozenset(opcode.opmap[name] for name in names if name in opcode.opmap)


_ENDS = _find_ends()


def _is_beginning(frame: Any, raw: bytes) -> bool:
    """Whether a frame begins, or a generator's goes on."""
    if not frame.f_code.co_flags & 0x2A0:
        return True
    if sys.version_info < (3, 11):
        return bool(frame.f_lasti < 0)
    return not raw[frame.f_lasti + 1] & 3  # the argument of RESUME


def begin(spec: Dict[str, Any], header: Dict[str, Any]) -> _Counter:
    tree = CallTree(TraceLog(spec["path"], header), spec.get("roots") or ())
    counter: Any
    counter = MonitoringCounter(tree) if hasattr(sys, "monitoring") else ProfileCounter(tree)
    if not counter.arm():
        tree.log.write({"remark": "nothing was counted: all tools of sys.monitoring are in use"})
    made: _Counter = counter
    return made
