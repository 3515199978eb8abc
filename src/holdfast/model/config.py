"""What a session is set to, apart from what it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SessionConfig:
    """`cwd` is also the project whose breakpoints the session shares. None: the default."""

    name: str | None = None
    cwd: str | None = None
    timeout_minutes: float | None = None
    output_limit_bytes: int | None = None
    evaluate_timeout: float | None = None


@dataclass(frozen=True)
class Watch:
    """An expression whose value is wanted at every stop."""

    id: str
    expression: str
