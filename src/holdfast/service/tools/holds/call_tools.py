"""Searches the calls that applications recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast import errors
from holdfast.service.calls.breakpoint_advice import suggest_functions
from holdfast.service.calls.call_arguments import list_arguments
from holdfast.service.tools.holds.held_targets import list_frames, name_function
from holdfast.service.tools.holds.shown_texts import show_text, show_value
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.call_answers import CallDetail, CallNode, CallSummary, ChangedValues, Value
from holdfast.wire.call_reports import CallReport, ReportedCall
from holdfast.wire.call_requests import CallSearch
from holdfast.wire.tool_requests import SearchCalls

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_NO_CALLS = (
    "Calls are recorded of objects that an application wraps: `from holdfast import with_debug`."
)
_TREE_LIMIT = 500
_MAX_NAMES = 20


async def search_calls(debugger: Debugger, client: ToolClient, request: SearchCalls) -> CallReport:
    """List calls, newest first, or show one."""
    if request.call_id is None:
        if request.tree:
            raise errors.InvalidInput("tree: it needs a call_id", field="tree")
        return await _list_calls(debugger, request)
    if request.tree:
        return await _show_tree(debugger, request, request.call_id)
    return await _show_call(debugger, client, request, request.call_id)


async def _list_calls(debugger: Debugger, request: SearchCalls) -> CallReport:
    search = CallSearch(
        function=request.function,
        session=request.session_id,
        filter=request.where,
        before=request.before,
        limit=request.limit,
    )
    page = await debugger.calls.reader.list_calls(search)
    report = CallReport(
        calls=[_build_call(debugger, call, request) for call in page.calls],
        total=page.count,
        looked_at=page.looked_at if request.where else UNSET,
        older=page.next if page.next is not None else UNSET,
    )
    if page.condition_errors is not UNSET:
        report.problems = [
            show_text(f"{each.error} ({each.count} calls)") for each in page.condition_errors
        ]
    if not page.calls and page.next is None:
        report.next = _describe_nothing(debugger, request)
    return report


def _describe_nothing(debugger: Debugger, request: SearchCalls) -> str:
    functions = debugger.calls.functions.list_used(request.session_id)
    if not functions:
        return _NO_CALLS
    if request.function is None:
        return "No recorded call fits."
    near = suggest_functions(request.function, functions)
    functions.sort(key=lambda each: (each.qualname or each.name) not in near)
    known = [name_function(each.alias, each.qualname, each.name) for each in functions]
    more = f" and {len(known) - _MAX_NAMES} more" if len(known) > _MAX_NAMES else ""
    return show_text(f"No such call. Known functions: {', '.join(known[:_MAX_NAMES])}{more}.")


def _build_call(debugger: Debugger, call: CallSummary, request: SearchCalls) -> ReportedCall:
    function = debugger.calls.functions.get(call.method_name, call.alias, call.qualname)
    shown = ReportedCall(
        call_id=call.call_id,
        function=show_text(name_function(call.alias, call.qualname, call.method_name)),
        arguments={
            argument.name: show_value(argument.name, argument.text, request.show_secrets)
            for argument in list_arguments(function, call.args, call.kwargs)
            if argument.is_passed
        },
    )
    if call.exception_type:
        message = call.exception_message or ""
        shown.exception = show_text(f"{call.exception_type}: {message}", request.show_secrets)
    elif call.result is not None:
        shown.result = show_value("result", call.result.text, request.show_secrets)
    if call.status not in ("success", "exception"):
        shown.status = call.status
    if call.duration_ms is not None:
        shown.ms = round(call.duration_ms, 3)
    if call.decided is not UNSET:
        shown.decided = show_text(call.decided.text, request.show_secrets)
    return shown


# -- one call -------------------------------------------------------------------------------------


async def _show_call(
    debugger: Debugger, client: ToolClient, request: SearchCalls, call_id: str
) -> CallReport:
    call = await debugger.calls.reader.get_call(call_id)
    report = CallReport(
        calls=[_build_call(debugger, call, request)],
        total=1,
        session_id=call.session_id,
        stack=list_frames(call.call_site.stack_trace, client),
    )
    if call.location is not None:
        report.at = client.show_place(call.location.file, call.location.line)
    if call.signature:
        report.signature = show_text(call.signature)
    if call.parent_call_id is not None:
        report.within = call.parent_call_id
    names = [str((call.thread or {}).get("name") or ""), call.task or ""]
    if any(names):
        report.thread = show_text(" ".join(name for name in names if name))
    if call.changed is not None:
        report.changed = _show_changes(call.changed, request.show_secrets)
    _add_delivered(report, call, request.show_secrets)
    return report


def _show_changes(changed: ChangedValues, show_secrets: bool) -> dict[str, str]:
    values: dict[str, Value] = {}
    if changed.args is not UNSET:
        values |= {f"args[{at}]": value for at, value in changed.args.items()}
    if changed.kwargs is not UNSET:
        values |= changed.kwargs
    if changed.target is not UNSET:
        values["self"] = changed.target
    return {name: show_value(name, value.text, show_secrets) for name, value in values.items()}


def _add_delivered(report: CallReport, call: CallDetail, show_secrets: bool) -> None:
    delivered = call.delivered or None
    if delivered is None:
        return
    if delivered.result is not UNSET:
        report.delivered = show_value("result", delivered.result.text, show_secrets)
    elif delivered.exception_type is not UNSET:
        raised = f"{delivered.exception_type}: {delivered.exception_message or ''}"
        report.delivered = show_text(raised, show_secrets)


async def _show_tree(debugger: Debugger, request: SearchCalls, call_id: str) -> CallReport:
    tree = await debugger.calls.reader.get_tree(call_id, _TREE_LIMIT)
    calls = []
    for depth, node in _walk(tree.call):
        shown = _build_call(debugger, node, request)
        shown.depth = depth
        calls.append(shown)
    report = CallReport(calls=calls, total=tree.total)
    if not tree.complete:
        report.omitted = [f"calls after the first {tree.total}: ask for the tree of one of them"]
    return report


def _walk(node: CallNode, depth: int = 0) -> Iterator[tuple[int, CallNode]]:
    yield depth, node
    for child in node.children:
        yield from _walk(child, depth + 1)
