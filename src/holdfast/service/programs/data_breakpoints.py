"""Breakpoints on values: what can be watched, and what the debugger in the program says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast import errors
from holdfast.model.breakpoint import build_breakpoint_id
from holdfast.service.programs.breakpoint_set import BreakpointSet
from holdfast.service.programs.frame_ids import to_arguments
from holdfast.targets.program.target import Target
from holdfast.wire.described import none_to_unset
from holdfast.wire.program_answers import DataBreakpointInfo

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession


_MAX_NAMES = 1000


class DataBreakpoints:
    """Only the program knows whether one of them can fire, so each change is confirmed by it."""

    def __init__(self, session: ProgramSession, points: BreakpointSet) -> None:
        self._session = session
        self._points = points
        self._names: dict[str, str] = {}  # what each data id stands for

    async def find(
        self,
        name: str,
        frame_id: int | None = None,
        reference: int | None = None,
        *,
        is_until: bool = False,
    ) -> DataBreakpointInfo:
        """What a name stands for, in a frame or in the value of a reference, to be watched."""
        session = self._session
        target = session.live_target("evaluate")
        if reference is not None:
            where: dict[str, Any] = {"reference": reference}
        else:
            where = to_arguments(session.stops.find_frame(frame_id or 0))
        answer = await target.execute(
            "data_info", session.evaluate_timeout, **where, name=name, until=is_until
        )
        data_id = answer["data_id"]
        if data_id is not None:
            self._remember_name(data_id, answer["description"])
        return DataBreakpointInfo(
            data_id=data_id,
            dataId=data_id,
            description=answer["description"],
            access_types=answer["access_types"] if data_id else [],
            can_persist=bool(answer.get("can_persist")),
            message=none_to_unset(answer.get("message")),
        )

    async def resolve(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a breakpoint, with the data id of what is named."""
        where = ("name", "frame_id", "reference")
        fields = {key: spec[key] for key in spec if key not in where}
        if "name" not in spec:
            return self.add_name(fields)
        reference = spec.get("reference")
        data_id = await self._require(spec["name"], spec.get("frame_id"), reference)
        if reference is not None:  # the name alone says too little
            return self.add_name({**fields, "data_id": data_id})
        return {**fields, "data_id": data_id, "expression": spec["name"]}

    def _remember_name(self, data_id: str, name: str) -> None:
        self._names[data_id] = name
        if len(self._names) > _MAX_NAMES:
            del self._names[next(iter(self._names))]

    def add_name(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The same fields, with what their data id stands for, so that everybody can read it."""
        name = self._names.get(str(spec.get("data_id")))
        return dict(spec) if name is None else {"expression": name, **spec}

    async def _require(
        self,
        name: str,
        frame_id: int | None = None,
        reference: int | None = None,
        *,
        is_until: bool = False,
    ) -> str:
        info = await self.find(name, frame_id, reference, is_until=is_until)
        if info.data_id is None:
            raise errors.NotWatchable(
                f"{name} cannot be watched: {info.message or info.description}", name=name
            )
        return info.data_id

    async def apply(self, target: Target) -> set[str]:
        """Tell the debugger, and note which can fire. The ids of those that are true already."""
        reply = target.post_data(self._points.data())
        results = (await target.read_reply(reply, "data_breakpoints")).get("results") or {}
        holds = set()
        for number, result in results.items():
            breakpoint_id = build_breakpoint_id(int(number))
            facts = {"verified": bool(result["verified"]), "message": result.get("message")}
            self._points.note(breakpoint_id, **facts)
            if result.get("holds"):
                holds.add(breakpoint_id)
        return holds

    async def check(self, target: Target) -> None:
        """A program has started: those of an earlier run are gone, unless it knows them."""
        if any(point.is_data for point in self._points):
            await self.apply(target)

    # -- until an expression is true --------------------------------------------------------

    async def watch_until(self, expression: str, frame_id: int) -> bool:
        """Watch an expression until the next stop. True if it is true already."""
        data_id = await self._require(expression, frame_id, is_until=True)
        spec = {"data_id": data_id, "expression": expression, "is_until": True}
        (point,) = self._points.add([spec])
        target = self._session.current_target()
        holds = point.id in await self.apply(target)
        if holds:
            self._session.breakpoints.drop_untils(target)
        return holds
