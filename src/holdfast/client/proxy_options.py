"""The options of one proxy: those of `with_debug(obj, …)`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from holdfast.client.client_settings import check_capture_target, check_choice
from holdfast.client.followed_objects import Following


@dataclasses.dataclass(frozen=True)
class ProxyOptions:
    """What a proxy was asked to do otherwise than the settings say. Calls carry it along."""

    following: Following | None = None  # with `follow=True`: wraps what is reached from the proxy
    on_unpicklable: str | None = None  # None: as the settings say
    capture_target: bool | str | None = None  # None: as the settings say

    @property
    def lenient(self) -> bool | None:
        """Whether a call goes on with a value that cannot be stored; None: as configured."""
        return None if self.on_unpicklable is None else self.on_unpicklable == "placeholder"


NO_OPTIONS = ProxyOptions()


def build_options(
    follow: bool,
    on_unpicklable: str | None,
    capture_target: bool | str | None,
    base: ProxyOptions,
    wrap: Callable[..., Any],
) -> ProxyOptions:
    """The options of `base` with these; a wrong one is a ValueError. `wrap` makes proxies."""
    if not isinstance(follow, bool):
        raise ValueError(f"follow must be True or False, not {follow!r}")
    if on_unpicklable is not None:
        check_choice("on_unpicklable", on_unpicklable)
    if capture_target is not None:
        check_capture_target(capture_target)
    if not follow and on_unpicklable is None and capture_target is None:
        return base
    following = Following(wrap) if follow or base.following is not None else None
    capture = base.capture_target if capture_target is None else capture_target
    return ProxyOptions(following, on_unpicklable or base.on_unpicklable, capture)
