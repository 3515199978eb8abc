"""What the tests of the whole server share: a real server, a client, and small real programs.

Programs live in `tests/programs`; a line one wants to stop at carries a `# @name` marker, and
`Program("loop.py").line("name")` finds it, so that no test knows a line number by heart.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import httpx

import holdfast
from event_checks import check_events
from fork_server import start_python
from polling import wait_until

PROGRAMS = Path(__file__).parent / "programs"
OUR_PACKAGE = Path(holdfast.__file__).parent
_OUR_FILES = re.compile(
    rf"{re.escape(str(OUR_PACKAGE))}|<holdfast>|\b_holdfast|/holdfast-[0-9a-f]{{16}}/"
)
_MARKER = re.compile(r"#\s*@(\w+)\s*$")


def names_our_files(text: str) -> bool:
    """Whether there is a file of ours in a traceback: of the package, or of a copy in a process."""
    return _OUR_FILES.search(text) is not None


class Program:
    """A small program and the marked lines in it."""

    def __init__(self, name: str, folder: Path = PROGRAMS) -> None:
        self.path = str(folder / name)
        self._lines: dict[str, int] = {}
        text = Path(self.path).read_text("utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            found = _MARKER.search(line)
            if found:
                self._lines[found[1]] = number

    def line(self, marker: str) -> int:
        return self._lines[marker]


@contextlib.contextmanager
def reserved_port(port: int = 0) -> Iterator[int]:
    """A port, any or this one, that the system gives to nobody else. Who asks for it gets it."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
        yield bound.getsockname()[1]


class Server:
    """`holdfast serve` in a process of its own, from ready to gone.

    `script` is run in place of `holdfast`, for a server in which something is different.
    """

    def __init__(
        self,
        data_dir: Path,
        *options: str,
        env: dict[str, str] | None = None,
        script: Path | None = None,
    ) -> None:
        self.data_dir = data_dir
        data_dir.parent.mkdir(parents=True, exist_ok=True)
        ready, write = os.pipe()
        self.ready_file = data_dir.parent / f"{data_dir.name}.ready.json"
        argv = [*(["-m", "holdfast"] if script is None else [str(script)]), "serve", "--port", "0"]
        if "--pool-size" not in options:
            argv += ["--pool-size", "0"]  # most tests need none, and each costs half a second
        argv += ["--data-dir", str(data_dir), "--ready-file", str(self.ready_file), *options]
        try:
            environment = {**os.environ, **(env or {})}
            self.process = start_python(*argv, stderr=write, env=environment, new_session=True)
        finally:
            os.close(write)
        self._stderr = os.fdopen(ready, "r", errors="replace")
        self.log: list[str] = []
        # The server says where it is once it answers; until then this read is the wait.
        while not (self.log and "Holdfast is at" in self.log[-1]):
            line = self._stderr.readline()
            if not line:
                raise RuntimeError(f"the server did not start: {''.join(self.log)}")
            self.log.append(line)
        self.url: str = json.loads(self.ready_file.read_text())["url"]
        self.http = httpx.Client(base_url=self.url, timeout=100, trust_env=False)

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def wait_for_log(self, word: str) -> str:
        """The next line of its log that has this word in it."""
        while word not in self.log[-1]:
            line = self._stderr.readline()
            assert line, f"it never said {word}: {self.log}"
            self.log.append(line)
        return self.log[-1]

    def read_rest_of_log(self) -> str:
        """What it says until it is gone."""
        return self._stderr.read()

    def stop(self) -> int:
        """As a user would: SIGTERM, and it ends by itself."""
        log = None
        if self.is_running:
            self.process.terminate()
            log = self._stderr.fileno()  # it does not end before somebody has read that
        try:
            return self.process.wait(60, reading=log)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end:\n{self.tell_what_it_waits_for()}") from None
        finally:
            self.close()

    def tell_what_it_waits_for(self) -> str:
        """Its threads and tasks, if it still answers at all."""
        self.process.send_signal(signal.SIGUSR2)
        told = b""
        while select.select([self._stderr], [], [], 5)[0]:
            if not (data := os.read(self._stderr.fileno(), 65536)):
                break
            told += data
        return told.decode(errors="replace")

    def start_again(self) -> Server:
        """Another one at the same address, with the same data. This one has ended."""
        with reserved_port(int(self.url.rpartition(":")[2])) as port:
            return Server(self.data_dir, "--port", str(port))

    def close(self) -> None:
        if self.is_running:
            self.process.kill()
            self.process.wait()
        self.http.close()
        self._stderr.close()

    # -- asking -----------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: Any = None, *, expect: int | None = None) -> Any:
        """One request; any answer below 400 unless `expect` names the status."""
        answer = self.http.request(method, path, json=body)
        if expect is not None:
            assert answer.status_code == expect, (answer.status_code, answer.text)
        else:
            assert answer.status_code < 400, (answer.status_code, answer.text)
        shown = answer.json()
        if answer.status_code == 200 and path.partition("?")[0].endswith("/events"):
            check_events(shown["events"])
        return shown

    def get(self, path: str, **options: Any) -> Any:
        return self.ask("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self.ask("POST", path, body, **options)

    def patch(self, path: str, body: Any = None, **options: Any) -> Any:
        return self.ask("PATCH", path, body, **options)

    def delete(self, path: str, **options: Any) -> Any:
        return self.ask("DELETE", path, **options)

    def list_ids(self, kind: str = "", but: Collection[str] = ()) -> list[str]:
        """The sessions, or those of one kind, but for some; the oldest is the first."""
        sessions = self.get("/sessions")["sessions"]
        ids = [each["session_id"] for each in sessions if not kind or each["kind"] == kind]
        return [each for each in ids if each not in but]

    def check_events(self, cursor: str) -> None:
        """That all events after a cursor are as documented, of sessions that are still there."""
        has_more = True
        while has_more:
            page = self.get(f"/api/events?cursor={cursor}&limit=1000")  # which checks them
            cursor, has_more = page["cursor"], page["has_more"]

    @contextlib.contextmanager
    def settings(self, **values: Any) -> Iterator[None]:
        """Other settings within the block."""
        usual = self.get("/config")
        self.patch("/config", values)
        try:
            yield
        finally:
            self.patch("/config", {name: usual[name] for name in values})

    @contextlib.contextmanager
    def session(self, **config: Any) -> Iterator[Session]:
        """A session that is deleted afterwards, whatever happens."""
        created = self.post("/sessions", config)
        made = Session(self, created["session_id"], created)
        try:
            yield made
            made.check_events()
        finally:
            if self.is_running:
                self.http.delete(f"/sessions/{made.id}")


class Session:
    """One session, with the requests that nearly every test makes."""

    def __init__(self, server: Server, session_id: str, created: Any = None) -> None:
        self.server = server
        self.id = session_id
        self.created = created
        """The answer to the request that created it."""

    def path(self, rest: str) -> str:
        return f"/sessions/{self.id}{rest}"

    def get(self, rest: str = "", **options: Any) -> Any:
        return self.server.get(self.path(rest), **options)

    def post(self, rest: str, body: Any = None, **options: Any) -> Any:
        return self.server.post(self.path(rest), body, **options)

    def patch(self, rest: str, body: Any = None, **options: Any) -> Any:
        return self.server.patch(self.path(rest), body, **options)

    def delete(self, rest: str = "", **options: Any) -> Any:
        return self.server.delete(self.path(rest), **options)

    def check_events(self) -> None:
        """That everything it has told of itself is as documented, if it can still be asked."""
        if self.server.is_running:
            answer = self.server.http.get(self.path("/events?limit=10000"))
            assert answer.status_code in (200, 404), answer.text
            if answer.status_code == 200:
                check_events(answer.json()["events"])

    def wait_for_events(self, kind: str, count: int = 1, since: int = 0) -> list[Any]:
        """The first events of this kind, as soon as there are so many."""
        events: list[Any] = []
        last = since

        def look() -> bool:
            nonlocal last
            page = self.get(f"/events?since={last}&wait=5&limit=1000")["events"]
            last = page[-1]["seq"] if page else last
            events.extend(event for event in page if event["event"] == kind)
            return len(events) >= count

        wait_until(look, f"{count} of {kind}")
        return events

    def break_at(self, program: Program, *markers: str, **more: Any) -> list[str]:
        """Breakpoints at marked lines; their ids."""
        return [
            self.post("/breakpoints", {"file": program.path, "line": program.line(m), **more})[
                "breakpoint_id"
            ]
            for m in markers
        ]

    def launch(self, program: Program | str, *, wait: float | bool = 60, **options: Any) -> Any:
        path = program.path if isinstance(program, Program) else program
        return self.post("/launch", {"script": path, "wait": wait, **options})

    def resume(self, *, wait: float | bool = 60, **options: Any) -> Any:
        return self.post("/continue", {"wait": wait, **options})

    def evaluate(self, expression: str, **options: Any) -> str:
        return str(self.post("/evaluate", {"expression": expression, **options})["result"])

    def locals(self, frame: int = 0) -> dict[str, Any]:
        shown = self.get(f"/frames/{frame}/variables")["variables"]
        return {each["name"]: each for each in shown}

    def output(self, kind: str = "stdout") -> str:
        text, page = "", {"cursor": 0, "has_more": True}
        while page["has_more"]:
            page = self.get(f"/output?type={kind}&since={page['cursor']}")
            text += "".join(entry["text"] for entry in page["outputs"])
        return text
