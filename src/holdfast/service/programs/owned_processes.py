"""The processes of a session: each run's, with all that it started, until the session ends them."""

from __future__ import annotations

import asyncio

from holdfast.targets.program.process_spawner import Spawned, Warden


class OwnedProcesses:
    """A program may be over and its children not: they are ended with the session, or a restart."""

    def __init__(self) -> None:
        self._owned: dict[Spawned, Warden] = {}

    def adopt(self, process: Spawned, warden: Warden) -> None:
        self._owned[process] = warden
        warden.watch(process.pid)

    def release(self, process: Spawned) -> None:
        """It is gone, or detached: no longer ours to end."""
        warden = self._owned.pop(process, None)
        if warden is not None:
            warden.forget(process.pid)

    async def end(self) -> None:
        # Ours until they are gone: whoever waits here may be cancelled.
        owned = list(self._owned)
        await asyncio.gather(*(process.kill_tree() for process in owned))
        for process in owned:
            self.release(process)
