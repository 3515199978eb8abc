"""The options of one proxy: those of `with_debug(obj, …)`."""

from __future__ import annotations

import dataclasses

from holdfast.client.client_settings import check_choice


@dataclasses.dataclass(frozen=True)
class ProxyOptions:
    """What a proxy was asked to do otherwise than the settings say. Calls carry it along."""

    follow: bool = False  # what its methods return and its attributes hold is wrapped as well
    on_unpicklable: str | None = None  # None: as the settings say

    @property
    def lenient(self) -> bool | None:
        """Whether a call goes on with a value that cannot be stored; None: as configured."""
        return None if self.on_unpicklable is None else self.on_unpicklable == "placeholder"


NO_OPTIONS = ProxyOptions()


def build_options(follow: bool, on_unpicklable: str | None, base: ProxyOptions) -> ProxyOptions:
    """The options of `base` with these; a wrong one is a ValueError."""
    if not isinstance(follow, bool):
        raise ValueError(f"follow must be True or False, not {follow!r}")
    if on_unpicklable is not None:
        check_choice("on_unpicklable", on_unpicklable)
    if not follow and on_unpicklable is None:
        return base
    return ProxyOptions(follow or base.follow, on_unpicklable or base.on_unpicklable)
