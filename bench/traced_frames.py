"""What tracing one frame takes: of the code beside it, and of the frame itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from bench.measurements import PROGRAMS, Ratio
from holdfast.targets.program.launcher import PROBE

_PROGRAM = PROGRAMS / "traced_frames.py"
MAX_REST, MAX_FRAME = 1.1, 5.0
FIXED_US = 100.0
"""What one traced frame may take beside the limit, whatever it does."""
_WAYS = ("plain", "settrace", "traced")
_FRAMES = {"a loop of 10,000 rounds": "loop", "a short frame": "short"}


def measure(pythons: dict[str, str], rounds: int) -> list[Ratio]:
    """`pythons` has the path of an interpreter by its version.

    The speed of a processor changes with time, so that the ways take turns.
    """
    return [
        ratio
        for version, python in pythons.items()
        for ratio in _measure_one(version, python, rounds)
    ]


def _measure_one(version: str, python: str, count: int) -> list[Ratio]:
    rounds = [[_run(python, way) for way in _WAYS] for _ in range(count)]
    plain, settrace, traced = (_take_best(found) for found in zip(*rounds, strict=True))
    name = f"{version}: other code, while a frame is traced"
    rest = Ratio(name, "µs", traced["beside"], "plain Python", plain["beside"], MAX_REST)
    limit = f"{MAX_FRAME:.0f} × an empty sys.settrace + {FIXED_US:.0f} µs"
    frames = [
        Ratio(
            f"{version}: {name}",
            "µs",
            traced[key],
            limit,
            MAX_FRAME * settrace[key] + FIXED_US,
            1.0,
        )
        for name, key in _FRAMES.items()
    ]
    return [rest, *frames]


def _take_best(found: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: min(each[name] for each in found) for name in found[0]}


def _run(python: str, way: str) -> dict[str, float]:
    """Microseconds, by what was measured."""
    argv = [python, str(_PROGRAM), str(PROBE), way]
    printed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    seconds: dict[str, float] = json.loads(printed)
    return {name: value * 1e6 for name, value in seconds.items()}
