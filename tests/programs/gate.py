"""Waits at a gate, a FIFO that somebody opens, and goes on."""

import sys
from pathlib import Path

Path(sys.argv[1]).read_text()  # @gate
after = True  # @after
last = after  # @last
