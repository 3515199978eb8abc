"""Whether debugging is on, in this process, for all its threads."""

from __future__ import annotations

from holdfast.client.client_settings import Settings
from holdfast.client.recorder import Recorder


class Switch:
    recorder: Recorder | None = None  # while it is on
    was_refused: bool = False  # the application turned it on, and HOLDFAST_CALLS=off prevented it
    settings: Settings = Settings()


switch = Switch()
