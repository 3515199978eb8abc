"""The requests of the screen to the server, about one session. They block: threads make them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from holdfast import timings
from holdfast.cli.screen.debug_state import (
    Breakpoint,
    Completion,
    DebugState,
    OutputPage,
    SessionStart,
    SourceFile,
    Stack,
    Value,
    ValuePage,
    Watch,
    parse_stack,
    parse_state,
    parse_watch,
)
from holdfast.client.http_client import ApiError, HttpClient, Reply

PAGE_SIZE = 100
POLL_SECONDS = 20.0
_MAX_CHARS = 400


class SessionClient:
    """Makes requests about one session, under a name of its own."""

    def __init__(self, http: HttpClient, session_id: str) -> None:
        self.session_id = session_id
        self.name = f"screen:{os.getpid()}"
        """Others are told that this is who decided."""
        self._http = http
        self._path = f"/sessions/{quote(session_id)}"

    # -- where it is -----------------------------------------------------------------------------

    def read_state(self) -> DebugState:
        status = self._get("/status", include="stack")
        points = self._get("/breakpoints")["breakpoints"]
        watches = status.get("watches")
        if watches is None:
            watches = self._get("/watch")["watches"]
        return parse_state(status, points, watches)

    def read_start(self) -> SessionStart:
        detail = self._get("")
        launch = detail.get("launch") or {}
        script = launch.get("script")
        if script is not None:
            script = os.path.join(launch.get("cwd") or detail.get("cwd") or "", script)
        return SessionStart(detail.get("last_event") or 0, script)

    def read_stack(self, thread_id: int, count: int = PAGE_SIZE) -> Stack:
        page = self._get(f"/threads/{thread_id}/stacktrace", count=count)
        return parse_stack(page["frames"], page["total"])

    def read_variables(self, frame_id: int, hold_id: str) -> ValuePage:
        """Those of a frame at one stop, which must not be over."""
        options = {"count": PAGE_SIZE, "max_chars": _MAX_CHARS, "hold_id": hold_id}
        page = self._get(f"/frames/{frame_id}/variables", **options)
        return ValuePage(tuple(map(Value.parse, page["variables"])), page["total"])

    def read_scopes(self, frame_id: int, hold_id: str) -> dict[str, int]:
        """The scopes of a frame by name, with the references to unfold them."""
        scopes = self._get(f"/frames/{frame_id}/scopes", hold_id=hold_id)["scopes"]
        return {scope["name"]: scope["reference"] for scope in scopes}

    def read_children(self, reference: int, start: int) -> ValuePage:
        options = {"start": start, "count": PAGE_SIZE, "max_chars": _MAX_CHARS}
        page = self._get(f"/variables/{reference}", **options)
        return ValuePage(tuple(map(_parse_item, page["items"])), page["total"], start)

    def read_source(self, path: str, frame_id: int | None = None) -> SourceFile:
        """A file; or what a frame runs, if only the program has it."""
        wanted = {"path": path} if frame_id is None else {"frame_id": frame_id}
        answer = self._get("/source", **wanted)
        return SourceFile(answer.get("path") or path, answer["content"])

    # -- what it does ----------------------------------------------------------------------------

    def decide(self, hold_id: str, action: str) -> None:
        """End the hold that was seen: if another client has decided it, nothing happens twice."""
        wait = timings.TIMINGS.screen_step if action != "continue" else 0
        body = {"action": action, "by": self.name, "wait": wait, "include": ""}
        self._http.request("POST", f"/api/holds/{quote(hold_id)}/decision", body)

    def run_thread(self, thread_id: int, action: str) -> None:
        self._post(f"/threads/{thread_id}/{action}", by=self.name, include=[])

    def pause(self) -> str:
        """Ask it to stop; returns what there is to say if it did not."""
        answer = self._post("/pause", by=self.name, wait=timings.TIMINGS.screen_step, include=[])
        return str(answer.get("message") or "") if answer["status"] == "running" else ""

    def restart(self) -> None:
        self._post("/restart", by=self.name)

    def terminate(self) -> None:
        self._post("/terminate")

    def delete(self) -> None:
        self._http.request("DELETE", self._path)

    def send_input(self, text: str, *, closes: bool = False) -> None:
        self._post("/stdin", input=text, close=closes)

    # -- breakpoints and watches -----------------------------------------------------------------

    def set_breakpoint(self, file: str, line: int, condition: str | None = None) -> Breakpoint:
        body = {"file": file, "line": line, "condition": condition}
        return Breakpoint.parse(self._post("/breakpoints", **body))

    def change_breakpoint(self, breakpoint_id: str, **fields: Any) -> None:
        self._http.request("PATCH", f"{self._path}/breakpoints/{quote(breakpoint_id)}", fields)

    def remove_breakpoint(self, breakpoint_id: str) -> None:
        self._http.request("DELETE", f"{self._path}/breakpoints/{quote(breakpoint_id)}")

    def add_watch(self, expression: str) -> None:
        self._post("/watch", expression=expression)

    def remove_watch(self, watch_id: str) -> None:
        self._http.request("DELETE", f"{self._path}/watch/{quote(watch_id)}")

    # -- expressions -----------------------------------------------------------------------------

    def evaluate(self, expression: str, frame_id: int) -> Value:
        answer = self._post(
            "/evaluate", expression=expression, frame_id=frame_id, context="repl", max_chars=10_000
        )
        return Value.parse(answer)

    def evaluate_watch(self, watch: Watch, frame_id: int) -> Watch:
        """The same watch, with its value in another frame."""
        name = watch.value.name
        body = {"expression": name, "frame_id": frame_id, "context": "watch"}
        try:
            answer = self._post("/evaluate", **body)
        except ApiError as problem:
            return Watch(watch.id, Value(name, str(problem), is_error=True))
        return parse_watch({**answer, "watch_id": watch.id, "expression": name})

    def complete(self, text: str, frame_id: int) -> list[Completion]:
        """What may stand at the end of the text."""
        targets = self._post("/completions", text=text, frame_id=frame_id)["targets"]
        return [
            Completion(target["label"], target["start"], target["length"]) for target in targets
        ]

    # -- what happens ----------------------------------------------------------------------------

    async def wait_for_events(self, since: int) -> tuple[list[Mapping[str, Any]], int]:
        """The events after a number, as soon as there are some, and the last number of all."""
        answer = await self._poll("/events", since=since)
        return answer["events"], int(answer["last_seq"])

    async def wait_for_output(self, since: str) -> OutputPage:
        page = await self._poll("/output", since=since)
        entries = tuple((entry["type"], entry["text"]) for entry in page["outputs"])
        return OutputPage(entries, page["cursor"], page["has_more"], page["dropped"])

    async def _poll(self, rest: str, **query: object) -> Any:
        path = f"{self._path}{rest}?{urlencode({**query, 'wait': POLL_SECONDS})}"
        return _require_success(await self._http.ask_async(path, wait=POLL_SECONDS))

    def _get(self, rest: str, **query: object) -> Any:
        text = f"?{urlencode(query)}" if query else ""
        return self._http.request("GET", f"{self._path}{rest}{text}")

    def _post(self, rest: str, **body: object) -> Any:
        return self._http.request("POST", f"{self._path}{rest}", body)


def _parse_item(answer: Mapping[str, Any]) -> Value:
    index = answer.get("index")
    return Value.parse(answer, None if index is None else f"[{index}]")


def _require_success(reply: Reply) -> Any:
    body = reply.json()
    if reply.status >= 400:
        raise ApiError(reply.status, body)
    return body
