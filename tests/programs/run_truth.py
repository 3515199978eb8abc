"""Runs a program under a plain `sys.settrace`, and writes what its statements did: OUT ROOT SCRIPT.

It shares no code with the recorder. For each invocation, in the order of their beginnings: its
statements by line, with the variables that each assigns as `repr` shows them afterwards, and how it
ended.
"""

import ast
import dis
import json
import os
import sys
import threading

SIMPLE = (int, float, bool, str, bytes, type(None), list, dict, tuple, set)
SKIPPED = ("<listcomp>", "<setcomp>", "<dictcomp>", "<lambda>", "<genexpr>")


def list_statements(path):
    """line -> (line of the statement, names that it assigns), by function."""
    with open(path, "rb") as file:
        tree = ast.parse(file.read())
    scopes = {}

    def add(body, scope):
        for node in body:
            begin = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            inner = getattr(node, "body", None)
            end = node.end_lineno
            if isinstance(inner, list):
                end = max(node.lineno, first(inner[0]) - 1)
            if getattr(node, "cases", None):
                end = max(node.lineno, node.cases[0].pattern.lineno - 1)
            known = scope.get(begin)
            names = assigned(node) if known is None else known[1]
            number = node.lineno if known is None else known[0]
            for line in range(begin, end + 1):
                scope.setdefault(line, (number, names))
            target = scope
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                target = {}
                scopes[node.name, begin] = scopes[node.name, node.lineno] = target
            for name in ("body", "orelse", "finalbody"):
                add(getattr(node, name, None) or [], target)
            for handler in getattr(node, "handlers", []):
                for line in range(handler.lineno, max(handler.lineno, first(handler.body[0]) - 1) + 1):
                    scope[line] = (handler.lineno, [])
                add(handler.body, scope)
            for case in getattr(node, "cases", []):
                start = case.pattern.lineno
                for line in range(start, max(start, first(case.body[0]) - 1) + 1):
                    scope[line] = (start, [])
                add(case.body, scope)

    scopes["<module>", 1] = scopes["<module>", 0] = {}
    add(tree.body, scopes["<module>", 1])
    return scopes


def first(node):
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def assigned(node):
    """Plain names that an assignment writes."""
    targets = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.For)) or (
        isinstance(node, ast.AnnAssign) and node.value is not None
    ):
        targets = [node.target]
    names = []
    for target in targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        names += [part.id for part in parts if isinstance(part, ast.Name)]
    return names


class Truth:
    def __init__(self, root):
        self.root = os.path.realpath(root) + os.sep
        self.files = {}
        self.frames = {}
        self.kept = []
        self.calls = []

    def find_scope(self, code):
        if code.co_name in SKIPPED:
            return None
        path = os.path.realpath(code.co_filename)
        if not path.startswith(self.root):
            return None
        if path not in self.files:
            self.files[path] = list_statements(path)
        return self.files[path].get((code.co_name, code.co_firstlineno))

    def on_call(self, frame, event, arg):
        scope = self.find_scope(frame.f_code)
        if scope is None:
            return None
        state = self.frames.get(frame)
        if state is None:
            call = {"function": frame.f_code.co_name, "steps": [], "outcome": None}
            self.calls.append(call)
            state = self.frames[frame] = {"call": call, "now": None, "error": None, "scope": scope}
            self.kept.append(frame)
        return self.on_event

    def on_event(self, frame, event, arg):
        state = self.frames[frame]
        if event == "line":
            known = state["scope"].get(frame.f_lineno)
            if known is None:
                return self.on_event
            now = state["now"]
            if now is not None and now["line"] == known[0] and frame.f_lasti > now["offset"]:
                return self.on_event
            self.settle(frame, state, known[0])
            state["now"] = {"line": known[0], "names": known[1], "offset": frame.f_lasti}
        elif event == "exception":
            state["error"] = arg[1]
            is_end = isinstance(arg[1], (StopIteration, StopAsyncIteration, GeneratorExit))
            if state["now"] is not None:  # an end may be that of a loop, or of the statement
                state["now"]["ended" if is_end else "raised"] = True
        elif event == "return":
            is_yield = self.is_yield(frame)
            if not is_yield:
                self.settle(frame, state, 0)
                if arg is None and state["error"] is not None and not self.is_return(frame):
                    state["call"]["outcome"] = ["raised", type(state["error"]).__name__]
                else:
                    state["call"]["outcome"] = ["returned", show(arg)]
        return self.on_event

    @staticmethod
    def is_return(frame):
        return "RETURN" in dis.opname[frame.f_code.co_code[frame.f_lasti]]

    @staticmethod
    def is_yield(frame):
        if not frame.f_code.co_flags & (0x20 | 0x80 | 0x200):
            return False
        last = frame.f_lasti
        if last < 0:
            return False
        name = dis.opname[frame.f_code.co_code[last]]
        following = frame.f_code.co_code[last + 2 : last + 3]
        is_waiting = bool(following) and dis.opname[following[0]] == "YIELD_FROM"
        return "YIELD" in name or name in ("SEND", "RESUME", "RETURN_GENERATOR") or is_waiting

    def settle(self, frame, state, following):
        now, state["now"] = state["now"], None
        if now is None:
            return
        values = {}
        if "raised" not in now and "ended" not in now:
            for name in now["names"]:
                if name in frame.f_locals:
                    values[name] = show(frame.f_locals[name])
        state["call"]["steps"].append([now["line"], values])


def is_simple(value, depth=0):
    """Whether its text is the same, whoever makes it."""
    if type(value) not in SIMPLE or depth > 2:
        return False
    if type(value) is dict:
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple, set)):
        return len(value) <= 8 and all(is_simple(item, depth + 1) for item in value)
    return len(str(value)) <= 12  # longer numbers are addresses


def show(value):
    text = repr(value) if is_simple(value) else ""
    return text if 0 < len(text) <= 30 else None


def main():
    out, root, script = sys.argv[1:4]
    sys.argv[:] = sys.argv[3:]
    sys.path[0] = os.path.dirname(script)
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    names = {"__name__": "__main__", "__builtins__": __builtins__, "__file__": script}
    truth = Truth(root)
    trace = truth.on_call
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        exec(code, names)
    except BaseException as error:
        print(type(error).__name__)
    finally:
        sys.settrace(None)
        threading.settrace(None)
    with open(out, "w") as file:
        json.dump(truth.calls, file)


main()
