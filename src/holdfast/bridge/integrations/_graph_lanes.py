"""The lanes of a LangGraph graph: each run of a subgraph is an agent of its own.

LangGraph names the place of a call: `worker:1f3a…|model:77c0…` is the node `model` of the subgraph
that one run of the node `worker` is. Runs of a node side by side have different ids.
"""

from __future__ import annotations

from langgraph.config import get_config

from holdfast.bridge import Bridge


def find_lane(dbg: Bridge, lane: str | None) -> str:
    """The lane to name in a call: the one that the user gave, or that of the subgraph."""
    if lane is not None:
        return lane
    if dbg.lanes.tool is not None:
        return ""  # a graph that a tool runs is an agent of that tool
    try:
        place = get_config().get("metadata", {}).get("langgraph_checkpoint_ns")
    except RuntimeError:
        return ""  # called outside of any graph
    *runs, _node = str(place or "").split("|")
    if not runs:
        return ""
    keys = ["|".join(runs[: at + 1]) for at in range(len(runs))]
    return dbg.lanes.name_keyed(
        [(key, run.partition(":")[0]) for key, run in zip(keys, runs, strict=True)]
    )
