"""Uses a library twice."""

import json


def dump(value):
    return json.dumps(value)  # @dump


print(dump([1]))
print(dump([2]))
