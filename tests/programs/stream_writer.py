"""Writes to both of its streams in turn, in many tongues, and in none."""

import os
import sys

print("out 1")
print("err 1", file=sys.stderr)
print("out 2")
print("grüße, 世界 🐍")
sys.stdout.flush()
os.write(1, b"bad \xff byte\n")
os.write(1, "世".encode()[:2])  # half a character…
os.write(1, "世".encode()[2:] + b"\n")  # …and the rest of it
sys.stdout.write("no newline")
