"""The trace of one frame: the function, the way its events are had, and the recording."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, Sequence

from .function_choice import FunctionChoice
from .invocations import Invocations
from .trace_log import BUDGET, TraceLog

ROWS = '["r"'  # how lines with rows begin; they go first when the recording is full


class FrameTrace:
    """A recording under way."""

    def __init__(self, invocations: Invocations, sources: Sequence[Any]) -> None:
        """`sources`: where the events come from."""
        self._invocations = invocations
        self._sources = sources

    def prepare_code(self, code: Any, module: str) -> Any:
        for source in self._sources:
            if hasattr(source, "prepare_code"):
                code = source.prepare_code(code, module)
        return code

    def fail(self, error: BaseException) -> None:
        self._invocations.fail(error)
        self._disarm()

    def _disarm(self) -> None:
        for source in self._sources:
            source.disarm()

    def end(self) -> None:
        self._disarm()
        if self._invocations.log.is_open:
            self._invocations.end()
        self._invocations.log.close()


def begin(
    spec: Dict[str, Any], header: Dict[str, Any], on_picked_end: Callable[[], None]
) -> FrameTrace:
    log = TraceLog(spec["path"], header, spec.get("budget") or BUDGET, drop_first=ROWS)
    invocations = Invocations(spec, log)
    invocations.on_picked_end = on_picked_end
    choice = FunctionChoice(
        spec["function"], bool(spec.get("is_own")), spec.get("script"), spec.get("roots") or ()
    )
    return FrameTrace(invocations, _arm(choice, invocations, bool(spec.get("is_static", True))))


def _arm(choice: FunctionChoice, invocations: Invocations, is_static: bool) -> List[Any]:
    if hasattr(sys, "monitoring"):
        from .frame_monitor import FrameMonitor

        monitor = FrameMonitor(choice, invocations)
        if not monitor.arm():
            invocations.remark("nothing was recorded: all tools of sys.monitoring are in use")
        return [monitor]
    from .code_hooks import CodeHooks

    hooks = CodeHooks(choice, invocations)
    hooks.arm()
    if is_static:
        return [hooks]
    from .frame_tracing import FrameTracer

    tracer = FrameTracer(choice, invocations)
    tracer.arm()
    return [hooks, tracer]
