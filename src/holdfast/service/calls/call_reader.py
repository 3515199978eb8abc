"""Reads recorded calls: lists, one call, its tree; functions; values, and how two differ."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from msgspec import UNSET

from holdfast import errors
from holdfast.model.call import CallRecord, call_number, is_id_of
from holdfast.service.calls.call_finder import CallFinder
from holdfast.service.calls.call_renderer import CallRenderer, build_function
from holdfast.service.calls.call_tail import CallTail
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.function_catalog import FunctionCatalog
from holdfast.store import CallLog
from holdfast.wire import pickle_viewer
from holdfast.wire.call_answers import (
    CallDetail,
    CallPage,
    CallTree,
    Difference,
    FunctionList,
    Value,
    ValueComparison,
)
from holdfast.wire.call_items import parse_cid
from holdfast.wire.call_requests import CallSearch
from holdfast.wire.described import none_to_unset
from holdfast.wire.pickle_differ import compare_pickles

_MAX_TREE_DEPTH = 20


@dataclass(eq=False)
class CallReader:
    _call_log: CallLog
    _finder: CallFinder
    _tail: CallTail
    _functions: FunctionCatalog
    _contents: ContentCache
    _renderer: CallRenderer

    # -- lists ------------------------------------------------------------------------------

    async def list_calls(self, search: CallSearch) -> CallPage:
        """Newest first."""
        check = self._finder.build_filter_check(search.filter)
        if search.session is not None:
            await self._finder.check_session(search.session)
        cursor = self._tail.format_cursor()  # before it is read, so that nothing is missed
        found = await self._finder.find(self._finder.build_query(search), check, search.limit)
        return CallPage(
            calls=await self._renderer.build_summaries(found.records),
            count=len(found.records),
            next=found.next,
            has_more=found.next is not None,
            cursor=cursor,
            looked_at=found.looked_at,
            undecided=0 if check is None else check.undecided,
            condition_errors=UNSET if check is None else check.build_errors() or UNSET,
        )

    async def follow_calls(self, search: CallSearch, after: str, seconds: float) -> CallPage:
        """What was recorded or changed after a cursor; waits for some if there is nothing yet."""
        check = self._finder.build_filter_check(search.filter)
        if search.session is not None:
            await self._finder.check_session(search.session)
        query = self._finder.build_query(search)
        arrived = await self._tail.read(after, query, check, search.limit, seconds)
        return CallPage(
            calls=await self._renderer.build_summaries(arrived.records),
            count=len(arrived.records),
            next=arrived.cursor,
            has_more=arrived.has_more,
            cursor=arrived.cursor,
            looked_at=arrived.looked_at,
            undecided=0 if check is None else check.undecided,
            missed=arrived.missed,
            condition_errors=UNSET if check is None else check.build_errors() or UNSET,
        )

    async def list_functions(self, session_id: str | None) -> FunctionList:
        if session_id is not None:
            await self._finder.check_session(session_id)
        counted = await self._functions.list_counted(session_id)
        functions = [
            build_function(function, calls, self._functions.sessions_of(function))
            for function, calls in counted
        ]
        return FunctionList(functions=functions, total=len(functions))

    # -- one call ---------------------------------------------------------------------------

    async def get_call(self, call_id: str) -> CallDetail:
        return await self._renderer.build_detail(await self._read_call(call_id))

    async def get_tree(self, call_id: str, limit: int) -> CallTree:
        """A call and the calls made within it, nested."""
        record = await self._read_call(call_id)
        children, is_complete = await self._read_children(record, limit)
        return CallTree(
            call=await self._renderer.build_tree(record, children),
            complete=is_complete,
            total=1 + sum(map(len, children.values())),
        )

    async def _read_call(self, call_id: str) -> CallRecord:
        number = call_number(call_id)
        record = None if number is None else await self._call_log.call(number)
        if record is None or not is_id_of(call_id, record):
            raise errors.CallNotFound(f"no call {call_id}", call_id=call_id)
        return record

    async def _read_children(
        self, record: CallRecord, limit: int
    ) -> tuple[dict[int, list[CallRecord]], bool]:
        """The calls within a call, and within those, by parent; True when that is all of them."""
        by_parent: dict[int, list[CallRecord]] = {}
        level, left = [record.number], limit
        for _depth in range(_MAX_TREE_DEPTH):
            children = await self._call_log.children(level, left + 1)
            for child in children[:left]:
                by_parent.setdefault(child.parent or 0, []).append(child)
            if len(children) > left:
                return by_parent, False
            left -= len(children)
            level = [child.number for child in children if child.number != child.parent]
            if not level:
                return by_parent, True
        return by_parent, False

    # -- values -----------------------------------------------------------------------------

    async def get_content(self, cid: str) -> bytes:
        return await self._contents.require_data(parse_cid(cid))

    async def get_value(self, cid: str) -> Value:
        """A value by its preview; all of it, too, if it is a literal that is not long."""
        value = await self._view_value(cid)
        value.literal = none_to_unset(await self._contents.read_literal(value))
        return value

    async def _view_value(self, cid: str) -> Value:
        key = parse_cid(cid)
        preview = (await self._contents.previews([key])).get(key)
        if preview is None:
            preview = pickle_viewer.build_preview(await self.get_content(cid))
        return Value.of(cid, preview)

    async def compare(self, left: str, right: str) -> ValueComparison:
        """Where two values differ, read from their bytes without loading them."""
        differences: list[Difference] = []
        is_complete = True
        first, second = await self.get_content(left), await self.get_content(right)
        if left != right:
            differences, is_complete = await asyncio.to_thread(compare_pickles, first, second)
        return ValueComparison(
            left=await self._view_value(left),
            right=await self._view_value(right),
            equal=left == right or (is_complete and not differences),
            identical=left == right,
            differences=differences,
            complete=is_complete,
        )
