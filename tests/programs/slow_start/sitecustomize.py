"""On PYTHONPATH it keeps an interpreter from ever starting: a launch that takes for ever."""

import os
import signal

if "HOLD_UP" in os.environ:
    out = os.open(os.environ["HOLD_UP"], os.O_WRONLY)
    os.write(out, f"{os.getpid()}\n".encode())
    while True:
        signal.pause()
