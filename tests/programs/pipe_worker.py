"""Waits for a line in a named pipe, then leaves a note and ends: work that outlives a debugger."""

import pathlib
import sys

pipe, note = sys.argv[1:]
print("ready", flush=True)  # @ready
with open(pipe) as given:
    text = given.read()
pathlib.Path(note).write_text(text)  # @note
