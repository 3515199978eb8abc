"""Whether debugging is on, in this process, for all its threads."""

from __future__ import annotations

from holdfast.client.client_settings import Settings
from holdfast.client.recorder import Recorder


class Switch:
    recorder: Recorder | None = None  # while it is on
    asked: bool = False  # it was asked to be on, and HOLDFAST_CALLS=off said no
    settings: Settings = Settings()


switch = Switch()
