"""Where an agent session's files are, and how sessions are called."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

from holdfast.recording.regular_files import read_regular
from holdfast.trust.private_files import create_missing, make_private_directory

logger = logging.getLogger("holdfast")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


class SessionMetadata(TypedDict, total=False):
    """What `session.json` says of a session."""

    id: str
    name: str
    pid: int
    startTime: str
    endTime: str
    cwd: str
    argv: list[str]
    provider: str | None
    model: str | None
    status: str
    """`running` or `ended`."""
    reason: str
    """How it ended."""
    parent: str
    replayOf: str
    replayRun: str
    """Of a replay: the id by which whoever started it finds its session."""
    mode: str
    forkAt: int
    forkLane: str
    """Of a fork: the lane whose iterations were counted; the main one, if left out."""
    edited: bool
    """Of a fork: something was changed where it begins."""
    startedBy: str
    """The session whose process started this one's process."""
    rules: list[dict[str, object]]
    """Those of its project's `holdfast.toml`."""


def agents_dir(data_dir: Path) -> Path:
    """`HOLDFAST_AGENT_DIR`, else `agents` in the data directory."""
    chosen = os.environ.get("HOLDFAST_AGENT_DIR")
    return Path(os.path.abspath(os.path.expanduser(chosen))) if chosen else data_dir / "agents"


@dataclass(frozen=True)
class AgentsDirectory:
    """The directory of all sessions."""

    root: Path

    @property
    def sessions(self) -> Path:
        return self.root / "sessions"

    @property
    def current(self) -> Path:
        return self.root / "current"

    @property
    def index(self) -> Path:
        return self.root / "index.json"

    @property
    def index_lock(self) -> Path:
        return self.root / "index.lock"

    @property
    def server_bell(self) -> Path:
        return self.root / "server.bell"

    def home(self, session_id: str) -> SessionDirectory:
        if not _ID.fullmatch(session_id):
            raise ValueError(f"not the id of an agent session: {session_id[:100]!r}")
        return SessionDirectory(self.sessions / session_id)

    def list_sessions(self) -> list[SessionDirectory]:
        """Every recording there is, oldest first."""
        try:
            names = sorted(os.listdir(self.sessions))
        except OSError:
            return []
        return [SessionDirectory(self.sessions / name) for name in names if _ID.fullmatch(name)]

    def current_session(self) -> SessionDirectory | None:
        """What `current` points to."""
        try:
            return SessionDirectory(self.sessions / Path(os.readlink(self.current)).name)
        except OSError:
            return None

    def create(self) -> None:
        """Create it. What is there already may be a project's, and keeps its mode."""
        create_missing(self.root)
        make_private_dir(self.sessions)

    def create_session(self, moment: float | None = None) -> SessionDirectory:
        """A directory that nobody had before."""
        self.create()
        stamp = time.strftime("%Y%m%d_%H%M%S", time.localtime(moment))
        while True:
            home = SessionDirectory(self.sessions / f"debug_{stamp}_{secrets.token_hex(4)}")
            try:
                home.path.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return home

    def set_current(self, home: SessionDirectory) -> None:
        """`current` is this one from now on; a reader sees the one or the other, never neither."""
        beside = self.root / f".current.{os.getpid()}.{secrets.token_hex(4)}"
        try:
            os.symlink(Path("sessions") / home.id, beside)
            os.replace(beside, self.current)
        except OSError:
            # No symbolic links here: sessions are named by their ids, then.
            with contextlib.suppress(OSError):
                beside.unlink()


@dataclass(frozen=True)
class SessionDirectory:
    """The directory of one session."""

    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def agents(self) -> AgentsDirectory:
        return AgentsDirectory(self.path.parent.parent)

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def commands(self) -> Path:
        return self.path / "commands.jsonl"

    @property
    def about(self) -> Path:
        return self.path / "session.json"

    @property
    def contents(self) -> Path:
        return self.path / "contents"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def bell(self) -> Path:
        return self.path / "bell"

    def read_metadata(self) -> SessionMetadata:
        """What `session.json` says; nothing if there is none to read."""
        try:
            metadata = json.loads(read_regular(self.about))
        except (OSError, ValueError):
            return {}
        return cast(SessionMetadata, metadata) if isinstance(metadata, dict) else {}

    def write_metadata(self, metadata: SessionMetadata) -> None:
        text = json.dumps(metadata, indent=2, default=repr)
        write_atomically(self.about, text.encode() + b"\n")


def make_private_dir(path: Path) -> None:
    """Create it, or tighten it and say so. An OSError says that it is somebody else's."""
    for warning in make_private_directory(path):
        logger.warning("%s", warning)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
