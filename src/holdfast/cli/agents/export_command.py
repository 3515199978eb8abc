"""`holdfast agent export`: writes a recording in a form that other tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

import typer

from holdfast import __version__, timings
from holdfast.cli.agents.recording_file import Recording, open_recording
from holdfast.cli.server_access import AsJson, complain, console
from holdfast.recording import agent_spans
from holdfast.recording.content_files import ContentFiles


def export(
    session: Annotated[str, typer.Argument(metavar="ID|PATH", help="A session, or its events.")],
    target: Annotated[
        str, typer.Argument(metavar="[FILE|URL]", help="Where to; - is stdout.")
    ] = "-",
    otlp: Annotated[bool, typer.Option("--otlp", help="OpenTelemetry's OTLP, as JSON.")] = False,
    has_content: Annotated[
        bool, typer.Option("--content", help="Also what was said: messages, arguments, results.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Spans of a recording: to stdout, a file, or a collector's address."""
    if not otlp:
        complain("Say what to make of it.", "There is --otlp.")
    recording = open_recording(session)
    document = agent_spans.build_document(
        recording.events(),
        recording.id,
        _describe_process(recording),
        __version__,
        with_content=has_content,
        contents=None if recording.home is None else ContentFiles(recording.home.contents),
    )
    count = len(document["resourceSpans"][0]["scopeSpans"][0]["spans"])
    report: dict[str, object] = {"session": recording.id, "spans": count}
    if target == "-":
        print(json.dumps(document))
        return
    if target.startswith(("http://", "https://")):
        target = _add_path(target)
        report["rejected"] = _post(target, document)
    else:
        try:
            Path(target).write_text(json.dumps(document) + "\n", encoding="utf-8")
        except OSError as problem:
            complain(f"It cannot be written: {problem}")
    report["target"] = target
    if as_json:
        print(json.dumps(report))
    else:
        text = f"{count} spans of {recording.id} to {target}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    if report.get("rejected"):
        complain(f"The collector refused {report['rejected']} of them.")


def _describe_process(recording: Recording) -> dict[str, agent_spans.Value]:
    pid = recording.about.get("pid")
    return {"process.pid": pid} if isinstance(pid, int) else {}


def _add_path(url: str) -> str:
    """A collector's address without a path means where traces go."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path="/v1/traces")) if parts.path in ("", "/") else url


def _post(url: str, document: dict[str, Any]) -> int:
    """How many spans the collector did not take."""
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    body = json.dumps(document).encode()
    request = Request(url, body, {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=timings.TIMINGS.spans_exported) as answer:
            body = answer.read()
    except HTTPError as problem:
        text = problem.read(500).decode(errors="replace").strip()
        complain(f"{url} answered {problem.code}: {text or problem.reason}", _hint(problem.code))
    except (URLError, OSError) as problem:
        complain(f"{url} cannot be reached: {problem}", "Is a collector there? It must speak HTTP.")
    try:
        return int(json.loads(body or b"{}").get("partialSuccess", {}).get("rejectedSpans", 0))
    except (ValueError, AttributeError, TypeError):
        return 0


def _hint(code: int) -> str:
    if code == 415:
        return "It does not take JSON; `holdfast.bridge.otel.export` sends protobuf."
    return "Its traces are usually taken at /v1/traces."
