"""The socket from a program's debugger to the server."""

from __future__ import annotations

import subprocess

from holdfast.targets.program.launcher import PROBE

CODE = f"""
import socket, sys, threading, traceback
with open({str(PROBE / "package_loader.py")!r}, encoding="utf-8") as file:
    exec(compile(file.read(), "package_loader", "exec"), namespace := {{"__name__": "loader"}})
connections = namespace["load_module"]({str(PROBE)!r}, "server_connection")
ours, theirs = socket.socketpair()
connection = connections.ServerConnection(ours.detach())
theirs.sendall(b"launch")
read = []
reader = threading.Thread(target=lambda: read.append(connection.recv(100)))
reader.start()

def waits():
    found = traceback.extract_stack(sys._current_frames().get(reader.ident))
    return any((frame.filename, frame.name) == (threading.__file__, "wait") for frame in found)

while reader.is_alive() and not waits():
    pass
print(read)
connection.let_read()
reader.join()
print(read)
"""


def test_no_request_is_read_before_the_debugger_is_ready(python: str) -> None:
    # One that begins to trace the main thread would hold it while it sets the debugger up.
    done = subprocess.run([python, "-c", CODE], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n[b'launch']\n", "")
