"""The cheapest possible HTTP answer: uvicorn on loopback with a constant body.

`python -m bench.bare_server` serves it and prints its port.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

_BODY = b'{"status":"paused"}'
_START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(_BODY))],
}


async def app(_scope: Any, _receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
    await send(_START)
    await send({"type": "http.response.body", "body": _BODY})


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(
        app,
        http="httptools",
        loop="uvloop",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
