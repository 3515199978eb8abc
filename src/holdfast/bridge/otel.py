"""An agent's loop as spans of OpenTelemetry, while it runs.

    from holdfast.bridge.otel import export

    dbg = start("my-agent")
    export(dbg)

They go to the program's own `TracerProvider` if it has one, else to one that sends them where
`OTEL_EXPORTER_OTLP_ENDPOINT` says. `recording.agent_spans` defines the spans. A thread of its own
makes them: the agent does not wait for it.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import queue
import threading
from typing import NamedTuple

try:
    from opentelemetry import context as contexts
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
except ImportError as problem:
    raise ImportError(
        "spans need the OpenTelemetry SDK: pip install 'holdfast[otel]'", name=problem.name
    ) from problem

from holdfast import __version__, timings
from holdfast.bridge.agent_bridge import Bridge
from holdfast.model.agent_events import RecordedEvent
from holdfast.recording import agent_spans
from holdfast.wire import agent_lines

logger = logging.getLogger("holdfast")

_KINDS = {agent_spans.INTERNAL: trace.SpanKind.INTERNAL, agent_spans.CLIENT: trace.SpanKind.CLIENT}


class _QueuedEvent(NamedTuple):
    seq: int
    kind: str
    moment: float
    data: str
    context: contexts.Context


class Export:
    """What `export` began; it ends with the session."""

    def __init__(
        self, dbg: Bridge, provider: trace.TracerProvider, is_own: bool, has_content: bool
    ) -> None:
        self._dbg = dbg
        self._provider, self._is_own = provider, is_own
        self._tracer = provider.get_tracer("holdfast", __version__)
        self._spans = agent_spans.Spans(
            dbg.id,
            dbg.name,
            dbg.provider,
            dbg.model_name,
            with_content=has_content,
            contents=dbg.values.contents,
        )
        self._open: dict[str, trace.Span] = {}
        self._queue: queue.SimpleQueue[_QueuedEvent | threading.Event | None] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=self._process_events, name="holdfast-otel", daemon=True
        )
        self._thread.start()
        dbg.listen(self._queue_event)
        # After the provider's own: what is registered last is done first.
        atexit.register(self._end)

    def _queue_event(self, seq: int, kind: str, moment: float, data: str) -> None:
        self._queue.put(_QueuedEvent(seq, kind, moment, data, contexts.get_current()))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything that has ended is sent; False if that took too long."""
        timeout = timings.TIMINGS.spans_sent if timeout is None else timeout
        done = threading.Event()
        self._queue.put(done)
        if not done.wait(timeout):
            return False
        send = getattr(self._provider, "force_flush", None)
        return send is None or bool(send(int(timeout * 1000)))

    def close(self) -> None:
        """End what is open, and send it. The session itself goes on."""
        atexit.unregister(self._end)
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join(timings.TIMINGS.spans_sent)
        if self._is_own and isinstance(self._provider, TracerProvider):
            self._provider.shutdown()

    def _end(self) -> None:
        """At the end of the process: the provider goes before the bridge would."""
        self._dbg.close("exit")
        self.close()

    # -- in its own thread -----------------------------------------------------------------------

    def _process_events(self) -> None:
        while (queued := self._queue.get()) is not None:
            if isinstance(queued, threading.Event):
                queued.set()
                continue
            try:
                self._take(queued)
            except Exception:
                # Telemetry of any kind may fail, and the next event may do better.
                logger.exception("an event could not be made into a span")
        for span in self._spans.close():
            self._finish(span)

    def _take(self, queued: _QueuedEvent) -> None:
        event: RecordedEvent = {
            "seq": queued.seq,
            "type": queued.kind,
            "timestamp": agent_lines.format_timestamp(queued.moment),
            "sessionId": self._dbg.id,
            "data": json.loads(queued.data),
        }
        for span in self._spans.take(event):
            if span.is_over:
                self._finish(span)
            else:
                self._begin(span, queued.context)

    def _begin(self, span: agent_spans.Span, around: contexts.Context) -> None:
        parent = self._open.get(span.parent) if span.parent is not None else None
        self._open[span.id] = self._tracer.start_span(
            span.name,
            context=around if parent is None else trace.set_span_in_context(parent, around),
            kind=_KINDS[span.kind],
            attributes=span.attributes,
            start_time=span.start,
        )

    def _finish(self, span: agent_spans.Span) -> None:
        made = self._open.pop(span.id, None)
        if made is None:
            return
        made.set_attributes(span.attributes)
        for moment in span.moments:
            made.add_event(moment.name, moment.attributes, moment.at)
        if span.error is not None:
            made.set_status(trace.Status(trace.StatusCode.ERROR, span.error))
        made.end(span.end)


def export(
    dbg: Bridge, provider: trace.TracerProvider | None = None, *, content: bool = False
) -> Export:
    """Make spans of what this agent does, from now on.

    With `content`, they have what was said: messages, arguments and results, without the secrets
    that the recording does not have, either.
    """
    if provider is not None:
        return Export(dbg, provider, is_own=False, has_content=content)
    found = trace.get_tracer_provider()
    if isinstance(found, TracerProvider):
        return Export(dbg, found, is_own=False, has_content=content)
    return Export(dbg, _create_provider(dbg.name), is_own=True, has_content=content)


def _create_provider(name: str) -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    service = os.environ.get("OTEL_SERVICE_NAME") or name
    made = TracerProvider(resource=Resource.create({"service.name": service}))
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made
