"""An application under call debugging: this very process, and what a real server knows of it."""

from __future__ import annotations

import base64
import hashlib
import pickle
from collections.abc import Callable
from typing import Any

from background import run_in_thread
from harness import Server
from holdfast import configure_debug, with_debug
from holdfast.client.client_settings import Settings
from holdfast.client.switch import switch


class Application:
    """Debugging is on from `start` to `stop`; holds are found by waiting for their events."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._seen = 0

    def start(self, **options: Any) -> Application:
        configure_debug(server_url=self.server.url, **options)
        self.info = with_debug("ON")
        self.session_id = self.info.session_id()
        self._seen = 0
        return self

    def stop(self) -> None:
        with_debug("OFF")
        switch.settings = Settings()
        if self.server.process.poll() is None:
            self.server.delete("/api/breakpoints")

    def restart(self, **options: Any) -> None:
        """Off, and on with other options."""
        with_debug("OFF")
        self.start(**options)

    # -- calls ------------------------------------------------------------------------------

    def list_calls(self, function: str | None = None) -> list[Any]:
        """The calls of this session, the first one first."""
        name = f"&function={function}" if function else ""
        found = self.server.get(f"/api/calls?session={self.session_id}&limit=500{name}")["calls"]
        return list(reversed(found))

    def list_names(self) -> list[str]:
        return [call["method_name"] for call in self.list_calls()]

    def read_call(self, function: str) -> Any:
        """All about the last call of a function."""
        return self.server.get(f"/api/calls/{self.list_calls(function)[-1]['call_id']}")

    def read_content(self, cid: str) -> bytes:
        answer = self.server.http.get(f"/api/cid/{cid}")
        assert answer.status_code == 200, answer.text
        return answer.content

    def find_registered(self, name: str) -> list[Any]:
        found = self.server.get(f"/api/functions?session={self.session_id}")["functions"]
        return [each for each in found if each["name"] == name]

    # -- holds ------------------------------------------------------------------------------

    def break_on(self, function: str, **more: Any) -> Any:
        return self.server.post("/api/breakpoints", {"function": function, **more})

    def wait_for_hold(self) -> str:
        """The next hold of this session, which is waited for."""
        while True:
            path = f"/sessions/{self.session_id}/events?since={self._seen}&wait=60"
            events = self.server.get(path)["events"]
            assert events, "nothing was held"
            for event in events:
                self._seen = event["seq"]
                if event["type"] == "hold_opened":
                    return str(event["hold_id"])

    def decide(self, hold: str, action: str, **more: Any) -> Any:
        body = {"action": action, "by": "a test", **more}
        return self.server.post(f"/api/holds/{hold}/decision", body)

    def run_and_decide(self, work: Callable[[], Any], action: str, **more: Any) -> Any:
        """What `work` comes to when the call that it makes is held and so decided."""
        running = run_in_thread(work)
        self.decide(self.wait_for_hold(), action, **more)
        return running.result(60)


def encode_value(value: Any) -> dict[str, str]:
    """A value as a decider sends it: bytes under their content id."""
    data = pickle.dumps(value)
    return {
        "cid": hashlib.sha256(data).hexdigest(),
        "data": base64.b64encode(data).decode(),
    }
