"""Recordings of runs: what `debug_trace`, `debug_why` and `debug_diff` have left."""

from __future__ import annotations

from holdfast.server.route_table import RouteList
from holdfast.service.debugger import Debugger
from holdfast.wire.trace_answers import (
    CallQuery,
    DeletedTraces,
    Trace,
    TraceCall,
    TraceList,
    TraceQuery,
)
from holdfast.wire.trace_why import TraceWhy, WhyQuery

routes = RouteList("/api")


@routes.get("/traces")
async def list_traces(debugger: Debugger, query: TraceQuery) -> TraceList:
    """The recordings, newest first."""
    return await debugger.traces.list(query.limit)


@routes.get("/traces/{trace_id}")
async def get_trace(debugger: Debugger, trace_id: str) -> Trace:
    """One of them, with the calls that it has: by its id, the beginning of it, or `latest`."""
    return await debugger.traces.describe(trace_id)


@routes.get("/traces/{trace_id}/calls/{key}")
async def get_trace_call(
    debugger: Debugger, query: CallQuery, trace_id: str, key: str
) -> TraceCall:
    """One call of a recording from its arguments to its end, with every round of its loops."""
    return await debugger.traces.show_call(trace_id, key, show_secrets=query.show_secrets)


@routes.get("/traces/{trace_id}/why")
async def explain_value(debugger: Debugger, query: WhyQuery, trace_id: str) -> TraceWhy:
    """Where a value came from; each statement with its call and the rounds of the loops around it.
    `debug_why` answers the same in fewer words."""
    return await debugger.traces.explain(trace_id, query)


@routes.delete("/traces/{trace_id}")
async def delete_trace(debugger: Debugger, trace_id: str) -> DeletedTraces:
    """Delete one, or with `all` all of them."""
    return DeletedTraces(deleted=await debugger.traces.delete(trace_id))
