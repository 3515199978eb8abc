"""The board: a page of memory that a server shares with the applications it grants a lease.

Eight-byte words in the machine's own order, each read and written whole. The server changes the
epoch before it says that a breakpoint is in force, and moves the heartbeat on while it lives, so an
application knows in nanoseconds whether the rules that it has are still the rules.
"""

from __future__ import annotations

SIZE = 4096
MAGIC = int.from_bytes(b"holdfast", "little")
VERSION = 1

# Which word is what.
MAGIC_AT = 0
VERSION_AT = 1
EPOCH_AT = 2
HEARTBEAT_AT = 3  # CLOCK_MONOTONIC, in nanoseconds

BEAT_SECONDS = 0.05
LEASE_NS = 500_000_000  # how old a heartbeat may be
