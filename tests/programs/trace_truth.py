"""What `sys.settrace` tells of one function's invocations: the yardstick for recordings.

    python trace_truth.py PROBE SCRIPT FUNCTION OUT

runs a script and writes, as JSON, for each invocation of the function: its arguments, and for each
line event the line and the variables as text. It has nothing in common with the recorder but
the texts of values. It must run on every Python that programs run on.
"""

import json
import os
import sys
import threading
import types

GENERATOR = 0x2A0  # flags of the code of generators and coroutines


def load_texts(probe):
    namespace = {"__name__": "loader"}
    with open(os.path.join(probe, "package_loader.py"), encoding="utf-8") as file:
        exec(compile(file.read(), "package_loader", "exec"), namespace)
    return namespace["load_module"](probe, "traces.traced_values").show


class GroundTruth:
    """Collects the events of one function."""

    def __init__(self, name, script, show):
        self.name = name
        self.script = script if "." not in name else None
        self.show = show
        self.invocations = []
        self.by_frame = {}
        self.beginnings = {}

    def trace(self, frame, event, arg):
        code = frame.f_code
        if code.co_name != self.name.rpartition(".")[2] or not self.is_meant(frame):
            return None
        return self.begin(frame) if event == "call" else None

    def is_meant(self, frame):
        if self.script is not None:
            return frame.f_code.co_filename in (self.script, "<made>")
        module = frame.f_globals.get("__name__", "")
        return self.name.startswith(module + ".")

    def begin(self, frame):
        if frame.f_code.co_flags & GENERATOR:
            # Where it begins is where the first of its frames began.
            first = self.beginnings.setdefault(frame.f_code, frame.f_lasti)
            if frame.f_lasti != first:
                return self.follow
        args = dict(self.read_globals(frame), **self.read(frame))
        invocation = {"events": [], "args": args, "file": frame.f_code.co_filename}
        self.invocations.append(invocation)
        self.by_frame[id(frame)] = invocation
        return self.follow

    def follow(self, frame, event, arg):
        invocation = self.by_frame.get(id(frame))
        if invocation is None:
            return None
        if event == "line":
            invocation["events"].append([frame.f_lineno, self.read(frame), self.read_globals(frame)])
        elif event == "return":
            invocation["last"] = [0, self.read(frame), self.read_globals(frame)]
        return self.follow

    def read(self, frame):
        held = frame.f_locals
        return {name: self.show(held[name]) for name in list(held)}

    def read_globals(self, frame):
        names = frame.f_globals
        kinds = (types.FunctionType, types.ModuleType, type, types.BuiltinFunctionType)
        return {
            name: self.show(names[name])
            for name in frame.f_code.co_names
            if name in names and not name.startswith("__")
            if not isinstance(names[name], kinds) and name not in frame.f_locals
        }


def main(probe, script, function, out):
    show = load_texts(probe)
    truth = GroundTruth(function, script, show)
    sys.argv[:] = [script]
    sys.path[0] = os.path.dirname(script)
    main_module = types.ModuleType("__main__")
    main_module.__file__ = script
    sys.modules["__main__"] = main_module
    with open(script, encoding="utf-8") as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    threading.settrace(truth.trace)
    sys.settrace(truth.trace)
    try:
        exec(code, main_module.__dict__)
    finally:
        sys.settrace(None)
        threading.settrace(None)
        with open(out, "w", encoding="utf-8") as file:
            json.dump(truth.invocations, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
