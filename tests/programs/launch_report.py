"""Prints how it was started, as JSON."""

import json
import os
import sys

seen = {
    "argv": sys.argv[1:],
    "name": __name__,
    "cwd": os.getcwd(),
    "path": sys.path,
    "prefix": sys.prefix,
    "executable": sys.executable,
    "environment": dict(os.environ),
    "terminal": sys.stdin.isatty() or sys.stdout.isatty(),
}
print(json.dumps(seen))  # @print
