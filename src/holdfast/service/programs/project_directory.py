"""Checks the project directory that a client gives for a session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from holdfast import errors


def resolve_directory(cwd: str | None) -> str | None:
    """The directory as an absolute path. It must exist."""
    if cwd is None:
        return None
    path = os.path.abspath(os.path.expanduser(cwd))
    if not os.path.isdir(path):
        raise errors.UnusablePath(f"no such directory: {path}", file=path, field="cwd")
    return path


def resolve_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a session, with its `cwd` checked and made absolute."""
    if "cwd" not in settings:
        return dict(settings)
    return {**settings, "cwd": resolve_directory(settings["cwd"])}
