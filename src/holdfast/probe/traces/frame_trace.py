"""The trace of one frame: the function, the way its events are had, and the recording."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict

from .function_choice import FunctionChoice
from .invocations import Invocations
from .trace_log import TraceLog

ROWS = '["r"'  # how lines with rows begin; they go first when the recording is full


class FrameTrace:
    """A recording under way."""

    def __init__(self, choice: FunctionChoice, invocations: Invocations, backend: Any) -> None:
        self._choice = choice
        self._invocations = invocations
        self._backend = backend

    def prepare_code(self, code: Any, module: str) -> Any:
        prepare = getattr(self._backend, "prepare_code", None)
        return code if prepare is None else prepare(code, module)

    def fail(self, error: BaseException) -> None:
        self._invocations.fail(error)
        self._backend.disarm()

    def end(self) -> None:
        self._backend.disarm()
        if self._invocations.log.is_open:
            self._invocations.end()
            self._invocations.log.close()


def begin(
    spec: Dict[str, Any], header: Dict[str, Any], on_picked_end: Callable[[], None]
) -> FrameTrace:
    log = TraceLog(spec["path"], header, drop_first=ROWS)
    invocations = Invocations(spec, log)
    invocations.on_picked_end = on_picked_end
    choice = FunctionChoice(
        spec["function"], bool(spec.get("is_own")), spec.get("script"), spec.get("roots") or ()
    )
    backend: Any
    if hasattr(sys, "monitoring"):
        from .frame_monitor import FrameMonitor

        backend = FrameMonitor(choice, invocations)
        if not backend.arm():
            invocations.remark("nothing was recorded: all tools of sys.monitoring are in use")
    else:
        from .code_hooks import CodeHooks

        backend = CodeHooks(choice, invocations)
        backend.arm()
    return FrameTrace(choice, invocations, backend)
