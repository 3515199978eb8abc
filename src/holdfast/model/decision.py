"""What ends a hold, and who said so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Decision:
    """One answer to one hold. `options` are the action's own, such as `modified_args`."""

    action: str
    by: str
    options: Mapping[str, object] = field(default_factory=dict, hash=False)
