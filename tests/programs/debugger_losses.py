"""Takes the debugger away from itself, in the way that its argument names."""

import os
import signal
import sys


def reach(what):
    return what  # @reach


def settrace_none():
    sys.settrace(None)  # @settrace
    return reach("unseen")


def settrace_back():
    before = sys.gettrace()
    sys.settrace(None)
    sys.settrace(before)
    return reach("seen")


def settrace_in_ended_thread():
    """The next thread gets the ident of the one that has ended, as a rule."""
    import threading

    ended = threading.Thread(target=lambda: sys.settrace(lambda *_: None))
    ended.start()
    ended.join()
    gate = threading.Event()
    work = lambda: gate.wait() and reach("in the next thread")  # noqa: E731
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    input("go? ")
    gate.set()
    thread.join()


def coverage():
    from coverage import Coverage

    measuring = Coverage(data_file=None)
    measuring.start()
    reach("unseen")
    measuring.stop()


def free_tools():
    for tool in range(6):
        if sys.monitoring.get_tool(tool) is not None:
            sys.monitoring.free_tool_id(tool)
    return reach("unseen")


def exec_fails():
    try:
        os.execv("/no/such/program", ["program"])
    except OSError:
        return reach("still here")


def exec_shell():
    os.execv("/bin/sh", ["sh", "-c", "echo replaced; read line; exit 3"])


def exec_python():
    os.execv(sys.executable, [sys.executable, __file__, "reach_again"])


def reach_again():
    reach("in the next program")
    raise SystemExit(4)


def close_all():
    os.closerange(3, 100_000)
    print("alone", flush=True)
    signal.pause()


globals()[sys.argv[1]]()
print("end")  # @end
