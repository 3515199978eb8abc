"""Raises errors of several kinds; what is left at the end depends on its argument."""

import json
import sys
import threading


class TroubleError(Exception):
    pass


class DeepTroubleError(TroubleError):
    pass


def trouble(kind):
    raise kind("in trouble")  # @raise


def caught(kind):
    try:
        trouble(kind)  # @caught
    except Exception as error:
        return str(error)


caught(ValueError)
caught(KeyError)
caught(DeepTroubleError)
list(x for x in range(3))  # ends with a StopIteration that nobody means  # noqa: C400
try:
    json.loads("{broken")  # @library
except ValueError:
    pass
if "crash" in sys.argv:
    trouble(TroubleError)  # @crash
if "thread" in sys.argv:
    worker = threading.Thread(target=trouble, args=(TroubleError,), name="worker")
    worker.start()
    worker.join()
if "exit" in sys.argv:
    sys.exit(0)
print("still here")  # @end
