"""Runs a program under the run recorder, as the debugger does: PROBE OPTIONS SCRIPT [ARGS]."""

import importlib.util
import json
import os
import sys


def load_recorder(probe):
    path = os.path.join(probe, "package_loader.py")
    spec = importlib.util.spec_from_file_location("package_loader", path)
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    return loader.load_module(probe, "traces.run_recorder")


def main():
    probe, options, script = sys.argv[1:4]
    module, order = load_recorder(probe), json.loads(options)
    sys.argv[:] = sys.argv[3:]
    sys.path[0] = os.path.dirname(script)
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    names = sys.modules["__main__"].__dict__
    kept = {"__name__": "__main__", "__builtins__": names["__builtins__"], "__file__": script}
    names.clear()
    names.update(kept)
    recorder = module.begin(order)
    try:
        exec(code, names)
    finally:
        recorder.end()


main()
