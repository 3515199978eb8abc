"""Prints, as JSON, everything a program can easily see of the interpreter it runs in."""

import json
import os
import signal
import sys
import threading


def stream(which):
    raw = getattr(which.buffer, "raw", which.buffer)
    return {
        "class": type(which).__name__,
        "name": which.name,
        "mode": getattr(which, "mode", "absent"),
        "encoding": which.encoding,
        "errors": which.errors,
        "isatty": which.isatty(),
        "fileno": which.fileno(),
        "newlines": str(which.newlines),
        "write_through": which.write_through,
        "buffer": type(which.buffer).__name__,
        "raw_name": str(raw.name),
        "closefd": raw.closefd,
    }


def main_module(names):
    spec, loader = names["__spec__"], names["__loader__"]
    return {
        "names": sorted(names),
        "name": names["__name__"],
        "file": names.get("__file__"),
        "doc": names["__doc__"],
        "package": names["__package__"],
        "cached": names.get("__cached__", "absent"),
        "spec": spec and [spec.name, spec.origin],
        "loader": [getattr(loader, "__name__", type(loader).__name__), getattr(loader, "name", None), getattr(loader, "path", 0)],
        "builtins": type(names["__builtins__"]).__name__,
        "is_main": sys.modules["__main__"].__dict__ is names,
    }


def handlers():
    found = {}
    for number in sorted(signal.valid_signals()):
        handler = signal.getsignal(number)
        found[int(number)] = getattr(handler, "__name__", str(handler))
    return found


def observations(names):
    return {
        "argv": sys.argv,
        "orig_argv": getattr(sys, "orig_argv", [])[1:],
        "executable": sys.executable,
        "prefix": [sys.prefix, sys.exec_prefix, sys.base_prefix],
        "path": sys.path,
        "path0": sys.path[0],
        "main": main_module(names),
        "cwd": os.getcwd(),
        "environ": dict(os.environ),
        "flags": str(sys.flags),
        "xoptions": sys._xoptions,
        "warnoptions": sys.warnoptions,
        "stdin": stream(sys.stdin),
        "stdout": stream(sys.stdout),
        "stderr": stream(sys.stderr),
        "dunder_streams": [sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__],
        "signals": handlers(),
        "main_thread": [threading.current_thread().name, threading.main_thread().name],
        "excepthook": sys.excepthook is sys.__excepthook__,
        "displayhook": sys.displayhook is sys.__displayhook__,
        "recursion_limit": sys.getrecursionlimit(),
        "switch_interval": sys.getswitchinterval(),
        "umask": oct(os.umask(os.umask(0o22) or 0o22)),
        "nice": os.nice(0),
        "session_leader": os.getsid(0) == os.getpid(),
        "inheritable": [fd for fd in range(3, 64) if is_inheritable(fd)],
        "dont_write_bytecode": sys.dont_write_bytecode,
        "locale": sys.getfilesystemencoding(),
        "meta_path": [getattr(each, "__name__", type(each).__name__) for each in sys.meta_path],
        "path_hooks": len(sys.path_hooks),
        "tracebacks": getattr(sys, "tracebacklimit", "absent"),
    }


def is_inheritable(fd):
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False


if __name__ == "__main__":
    print("OBSERVED " + json.dumps(observations(globals())))
