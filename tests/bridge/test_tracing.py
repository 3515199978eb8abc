"""Spans of an agent while it runs: into a program's own provider, or to a collector."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from holdfast.bridge import Bridge
from holdfast.bridge.otel import export
from replayable_agent import CountingLoop, build_writes, open_bridge
from trace_collector import collector

EXAMPLES = Path(__file__).parents[2] / "examples"


class Traced:
    def __init__(self) -> None:
        self.memory = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.memory))

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.memory.get_finished_spans()}


@pytest.fixture
def traced() -> Iterator[Traced]:
    found = Traced()
    yield found
    found.provider.shutdown()


@pytest.fixture
def dbg(tmp_path: Path) -> Iterator[Bridge]:
    with open_bridge(tmp_path) as found:
        yield found


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_loop_becomes_spans_of_the_programs_own_provider(dbg: Bridge, traced: Traced) -> None:
    exported = export(dbg, traced.provider)
    CountingLoop(dbg, [[{"tool": "fail", "why": "broken"}]])()
    assert exported.flush()

    run = traced.spans["invoke_agent replayed"]
    chat, tool = traced.spans["chat scripted"], traced.spans["execute_tool fail"]
    assert chat.kind is trace.SpanKind.CLIENT
    for inside in (chat, tool):
        assert inside.parent is not None
        assert run.context is not None
        assert inside.parent.span_id == run.context.span_id
    assert attributes(tool)["error.type"] == "ValueError"
    assert tool.status.status_code is trace.StatusCode.ERROR
    assert attributes(run)["gen_ai.conversation.id"] == dbg.id
    assert not [name for span in (run, chat, tool) for name in attributes(span) if _is_said(name)]


def _is_said(name: str) -> bool:
    return "messages" in name or "arguments" in name or "result" in name


def test_what_was_said_is_in_the_spans_only_if_that_is_asked_for(
    dbg: Bridge, traced: Traced
) -> None:
    exported = export(dbg, traced.provider, content=True)
    large = "x" * 100_000  # not in its event, but in a file of its own

    @dbg.tool
    def look(key: str, api_key: str) -> str:
        return f"{large} sk-{'a' * 40}"

    @dbg.model(model="m-1")
    def ask(messages: list[Any]) -> dict[str, Any]:
        call: dict[str, Any] = {"id": "c1", "type": "function"}
        call["function"] = {"name": "look", "arguments": '{"key": 1}'}
        return {"role": "assistant", "content": "I look.", "tool_calls": [call]}

    with dbg.run():
        ask([{"role": "system", "content": "be brief"}, {"role": "user", "content": "begin"}])
        look("k", api_key="secret-1")
    assert exported.flush()
    chat = attributes(traced.spans["chat m-1"])
    assert json.loads(chat["gen_ai.system_instructions"]) == [
        {"type": "text", "content": "be brief"}
    ]
    assert json.loads(chat["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "begin"}]}
    ]
    assert json.loads(chat["gen_ai.output.messages"]) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "I look."},
                {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"key": 1}},
            ],
        }
    ]
    tool = attributes(traced.spans["execute_tool look"])
    given = json.loads(tool["gen_ai.tool.call.arguments"])
    assert given == {"key": "k", "api_key": "[redacted]"}
    assert tool["gen_ai.tool.call.result"] == f"{large} [redacted]"
    exported.close()


def test_a_run_belongs_to_the_span_it_was_begun_in(dbg: Bridge, traced: Traced) -> None:
    exported = export(dbg, traced.provider)
    with traced.provider.get_tracer("test").start_as_current_span("request") as request:
        CountingLoop(dbg, [])()
    exported.close()
    run = traced.spans["invoke_agent replayed"]
    assert run.parent is not None
    assert run.parent.span_id == request.get_span_context().span_id


def test_what_is_open_ends_with_the_export(dbg: Bridge, traced: Traced) -> None:
    exported = export(dbg, traced.provider)
    with dbg.run():
        exported.close()
        assert list(traced.spans) == ["invoke_agent replayed"]


def test_a_provider_that_fails_does_not_stop_the_agent(tmp_path: Path, traced: Traced) -> None:
    class Broken(TracerProvider):
        def get_tracer(self, *_: Any, **__: Any) -> Any:
            return None

    with open_bridge(tmp_path) as dbg:
        exported = export(dbg, Broken())
        loop = CountingLoop(dbg, [build_writes("a")])
        loop()
        exported.close()
    assert loop.done == [("write", "a")]


def test_without_a_provider_they_go_to_the_collector_that_is_named(tmp_path: Path) -> None:
    program = """
import runpy, sys
from holdfast.bridge import active, start
from holdfast.bridge import otel, startup
made = startup.start
def begun(*args, **kwargs):
    dbg = made(*args, **kwargs)
    otel.export(dbg)
    return dbg
import holdfast.bridge
holdfast.bridge.start = begun
runpy.run_path(sys.argv[1], run_name="__main__")
"""
    with collector() as found:
        subprocess.run(
            [sys.executable, "-c", program, str(EXAMPLES / "agent_loop.py")],
            env={
                **os.environ,
                "HOLDFAST_HOME": str(tmp_path),
                "OTEL_EXPORTER_OTLP_ENDPOINT": found.url,
            },
            check=True,
            capture_output=True,
            timeout=60,
        )
    assert {(path, kind) for path, kind, _ in found.bodies} == {
        ("/v1/traces", "application/x-protobuf")
    }
    names: list[str] = []
    for _, _, body in found.bodies:
        request = ExportTraceServiceRequest.FromString(body)
        for each in request.resource_spans:
            assert ("service.name", "shopper") in [
                (one.key, one.value.string_value) for one in each.resource.attributes
            ]
            names += [span.name for scope in each.scope_spans for span in scope.spans]
    # The run ends with the process: what ends last is sent, too.
    assert sorted(names) == sorted(
        ["invoke_agent shopper"]
        + ["chat script-1"] * 4
        + ["execute_tool price"] * 2
        + ["execute_tool put"] * 2
        + ["execute_tool pay"]
    )


def test_without_the_sdk_it_says_what_to_install() -> None:
    program = """
import sys
sys.modules["opentelemetry.sdk.trace"] = None
try:
    import holdfast.bridge.otel
except ImportError as problem:
    import json
    print(json.dumps(str(problem)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install 'holdfast[otel]'" in json.loads(done.stdout)
