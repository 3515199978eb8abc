"""Lets Textual's pilot go on as soon as a screen has handled what came, and not by a clock.

By itself the pilot waits after each key until this process takes almost no CPU time: at least
0.04 s, and a whole second on a screen that follows something.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TypeVar
from unittest import mock

from textual.app import App
from textual.pilot import Pilot

T = TypeVar("T")
_HOPS = 3
"""A key goes from the application to a widget, what that says goes back, and a pane is drawn."""


@contextlib.asynccontextmanager
async def run_settled(app: App[T], size: tuple[int, int]) -> AsyncIterator[Pilot[T]]:
    """`app.run_test`, with a pilot that waits until each part has handled its messages."""

    async def settle(*_: float) -> None:
        for _hop in range(_HOPS):
            await Pilot(app)._wait_for_screen()

    with (
        mock.patch("textual.app.wait_for_idle", settle),
        mock.patch("textual.pilot.wait_for_idle", settle),
    ):
        async with app.run_test(size=size) as pilot:
            yield pilot
