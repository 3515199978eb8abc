"""Ignores SIGTERM and works for ever."""

import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
while True:  # @loop
    signal.pause()
