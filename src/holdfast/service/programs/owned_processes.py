"""The processes of a session: its programs, and what they started."""

from __future__ import annotations

import asyncio

from holdfast.targets.program.process_spawner import Spawned, Warden


class OwnedProcesses:
    """A program's children may outlive it. They end with the session, or at a restart."""

    def __init__(self) -> None:
        self._owned: dict[Spawned, Warden] = {}

    def adopt(self, process: Spawned, warden: Warden) -> None:
        self._owned[process] = warden
        warden.watch(process.pid)

    def release(self, process: Spawned) -> None:
        """Forget a process that has ended, or is detached."""
        warden = self._owned.pop(process, None)
        if warden is not None:
            warden.forget(process.pid)

    async def end(self) -> None:
        # They stay in the set until they have ended, because this may be cancelled.
        owned = list(self._owned)
        await asyncio.gather(*(process.kill_tree() for process in owned))
        for process in owned:
            self.release(process)
