"""The settings of a session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SessionConfig:
    """None stands for the default. `cwd` is also the project whose breakpoints the session uses."""

    name: str | None = None
    cwd: str | None = None
    timeout_minutes: float | None = None
    output_limit_bytes: int | None = None
    evaluate_timeout: float | None = None


@dataclass(frozen=True)
class Watch:
    """An expression that is evaluated at every stop."""

    id: str
    expression: str
