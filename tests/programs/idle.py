"""Runs until it is told to stop, or for as many seconds as its argument says."""

import sys
import time

end = time.monotonic() + float(sys.argv[1]) if len(sys.argv) > 1 else None
print("ready", flush=True)
while end is None or time.monotonic() < end:
    time.sleep(0.01)  # @nap
print("over")
