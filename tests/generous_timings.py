"""The time limits of the product while it is tested.

On a busy machine anything can be late, and no answer may change because of that. So every process
that a test starts gets limits that no machine is too slow for. A test of one limit sets that one
small, against something that never happens: `Server(..., env=set_timings(debugger_answer=0.05))`.

Two limits keep their defaults: they are waited for in full where nothing is wrong, and no answer is
another one if they are over too early.
"""

from __future__ import annotations

import json
import os

from holdfast import timings
from holdfast.probe.timings import ProbeTimings
from holdfast.timings import Timings

_WAITED_FOR = ("terminal_quiet", "last_output")
_DEFAULTS = {**vars(Timings()), **ProbeTimings().list()}
_GENEROUS = {
    name: max(seconds, 60)
    for name, seconds in _DEFAULTS.items()
    if name not in (*_WAITED_FOR, "probe")
}
_GENEROUS["server_stops"] = 300  # longer than all that it waits for


def set_timings(**own: float) -> dict[str, str]:
    """The variable that gives a process generous limits, but for a test's own."""
    return {timings.VARIABLE: json.dumps({**_GENEROUS, **own})}


def use_generous_timings() -> None:
    """In this process, and in all that it starts."""
    os.environ.update(set_timings())
    timings.use(timings.read_environment())
