"""Records a driver with each of several versions of a module: PROBE FOLDER PLAN.

The plan is a JSON list of `[name, module, source, driver]`. For each, the module is written to a
folder of its own, the driver is run by the recorder, and what it printed is kept beside it.
"""

import importlib.util
import io
import json
import os
import signal
import sys
from contextlib import redirect_stdout

SECONDS = 0.8  # of computing; a changed loop may never end


class Endless(BaseException):
    pass


def stop(_number, _frame):
    raise Endless


def load(probe, name):
    path = os.path.join(probe, "package_loader.py")
    spec = importlib.util.spec_from_file_location("package_loader", path)
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    return loader.load_module(probe, name)


def record(run_recorder, folder, module, source, driver):
    os.makedirs(folder)
    for name, text in ((module, source), ("driver", driver)):
        with open(os.path.join(folder, name + ".py"), "w") as file:
            file.write(text)
    sys.path.insert(0, folder)
    script = os.path.join(folder, "driver.py")
    code = compile(driver, script, "exec")
    spec = {"kind": "run", "path": os.path.join(folder, "run.jsonl"), "roots": [folder]}
    spec["max_events"] = 12_000
    spec["keep"] = "oldest"
    output = io.StringIO()
    recorder = run_recorder.begin(spec)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        with redirect_stdout(output):
            exec(code, {"__name__": "__main__", "__file__": script})
    except (Exception, Endless) as error:
        output.write(repr(error))
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        recorder.end()
        sys.path.remove(folder)
        sys.modules.pop(module, None)
    with open(os.path.join(folder, "output.txt"), "w") as file:
        file.write(output.getvalue())


def main():
    probe, folder, plan = sys.argv[1:4]
    run_recorder = load(probe, "traces.run_recorder")
    signal.signal(signal.SIGVTALRM, stop)
    with open(plan) as file:
        entries = json.load(file)
    for name, module, source, driver in entries:
        record(run_recorder, os.path.join(folder, name), module, source, driver)


main()
