"""Runs the HTTP server: opens its port, publishes its address, and shuts it down in order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from holdfast import errors, timings
from holdfast.server import gc_policy
from holdfast.server.access_control import Policy
from holdfast.server.app import create_app
from holdfast.server.connection_limits import choose_backlog
from holdfast.server.dap.dap_door import Door
from holdfast.server.mcp.agent_door import AgentDoor
from holdfast.server.peers import is_same_user
from holdfast.server.uvicorn_server import MAX_BODY_BYTES, HttpServer
from holdfast.service.debugger import Debugger
from holdfast.service.stop_signals import StopSignals
from holdfast.trust import kernel_sockets
from holdfast.trust.private_files import read_private_file, write_private_file
from holdfast.trust.socket_owners import parse_address

log = logging.getLogger(__name__)
DEFAULT_PORT = 5000


@dataclass(frozen=True)
class ServerOptions:
    host: str = "127.0.0.1"
    port: int | None = None
    """None: the default port, or a free port if that is taken. 0: a free port."""
    data_dir: Path = Path.home() / ".holdfast"
    ready_file: Path | None = None
    token: str | None = None
    pool_size: int | None = None
    """How many interpreters are kept warm; None: as the settings say."""
    dap_port: int = 0
    """Where editors come in, on loopback; 0: at a free port."""

    @property
    def loopback(self) -> bool:
        if self.host == "localhost":
            return True
        with contextlib.suppress(ValueError):
            return ip_address(self.host).is_loopback
        return False


def discovery_file(data_dir: Path) -> Path:
    """The file in which clients find the address of the server."""
    return data_dir / "server.json"


async def serve(
    options: ServerOptions,
    say: Callable[[str], None],
    beside: Callable[[Debugger], Awaitable[None]] | None = None,
) -> None:
    """Serve until a signal or a client asks to stop. Returns when all targets have ended.

    `beside` is run once the server is ready; the server stops when it returns. An alarm that ends
    this process is left behind, for whatever the interpreter still waits for.
    """
    signals = StopSignals()
    service = await Debugger.open(options.data_dir, is_same_user, options.pool_size, signals)
    try:
        token = options.token or (None if options.loopback else _load_token(options.data_dir))
        listener = _listen(options, say)
        lobby = Door(service, token=token)
        await lobby.open(port=options.dap_port)
        agents = AgentDoor(service, token)
        await agents.open()
    except BaseException:
        await service.store.aclose()
        raise
    service.editor_doors = lobby.editors
    service.agent_door = agents
    policy = Policy(options.loopback, token, MAX_BODY_BYTES)
    app = create_app(service, is_loopback=options.loopback)
    server = HttpServer(app, policy)

    async def close_faces() -> None:
        await asyncio.gather(lobby.editors.close(), agents.close(), app.close_streams())

    stopping = asyncio.create_task(_stop_on_request(server, service, signals, close_faces))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    files = [discovery_file(options.data_dir), *filter(None, [options.ready_file])]
    try:
        async with gc_policy.tune_collector():
            try:
                await _announce(server, running, listener, options, policy, service, say)
            except errors.Failure:
                server.should_exit = True  # shut down in order even so
                await running
                raise
            if beside is None:
                await running
            else:
                await asyncio.gather(running, _run_beside(beside, service))
    finally:
        stopping.cancel()
        await close_faces()
        for file in files:
            _withdraw(file)


def read_token_file(file: Path) -> str:
    """The token in a file that only its owner can read."""
    try:
        token = read_private_file(file).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        raise errors.Failure(
            f"cannot take the token in {file}: {why}",
            hint="Put the token into a regular file of yours, and `chmod 600` it.",
            file=str(file),
        ) from None
    if not is_token(token):
        raise errors.Failure(
            f"there is no token in {file}",
            hint="A token is one line of printable ASCII characters, such as `openssl rand -hex "
            "32` prints.",
            file=str(file),
        )
    return token


def is_token(text: str) -> bool:
    """Whether it can be sent in a header."""
    return bool(text) and text.isascii() and text.isprintable() and text == text.strip()


def _load_token(data_dir: Path) -> str:
    """The token for clients on other machines. It is kept, so that it stays the same."""
    file = data_dir / "token"
    if os.path.lexists(file):
        return read_token_file(file)
    token = secrets.token_urlsafe(32)
    _publish(file, token + "\n")
    return token


def _listen(options: ServerOptions, say: Callable[[str], None]) -> socket.socket:
    """Bind the port. Without a given port, take a free one if the default is taken."""
    wanted = DEFAULT_PORT if options.port is None else options.port
    try:
        return _bind(options.host, wanted)
    except errors.Failure:
        if options.port is not None:
            raise
    listener = _bind(options.host, 0)
    say(f"port {wanted} is taken; using {listener.getsockname()[1]} instead")
    return listener


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # Until one of them listens, two servers that start together can both have the port.
        listener.listen(choose_backlog())
    except (OSError, OverflowError, UnicodeError) as problem:
        listener.close()
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise errors.Failure(
            f"cannot listen at {host}:{port}: {why}",
            hint="Choose another --port (0 takes a free one), or another --host.",
        ) from None
    return listener


async def _run_beside(work: Callable[[Debugger], Awaitable[None]], service: Debugger) -> None:
    try:
        await work(service)
    finally:
        service.stop_requested.set()


async def _stop_on_request(
    server: HttpServer,
    service: Debugger,
    signals: StopSignals,
    close_faces: Callable[[], Awaitable[None]],
) -> None:
    signals.listen(service.stop_requested.set)
    await service.stop_requested.wait()
    signals.limit_ending()
    server.should_exit = True
    # Targets end first, so that requests that wait for one are answered with its end.
    # If that takes long, those requests are answered with the current state.
    asyncio.get_running_loop().call_later(timings.TIMINGS.last_requests / 2, service.wake_all)
    await service.programs.end_targets()
    await close_faces()
    service.wake_all()


async def _announce(
    server: HttpServer,
    running: asyncio.Task[None],
    listener: socket.socket,
    options: ServerOptions,
    policy: Policy,
    service: Debugger,
    say: Callable[[str], None],
) -> None:
    """Publish the address, once the server accepts connections there."""
    token = policy.token
    ready = asyncio.create_task(server.ready.wait())
    await asyncio.wait([ready, running], return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if running.done():
        await running
        raise errors.Failure("the server could not start")
    port = listener.getsockname()[1]
    # From its first answer on, the kernel is believed when it does not know a client.
    kernel_sockets.find_listener(parse_address(listener.getsockname()[:2]))
    url = build_url(listener.getsockname()[0], port)
    facts: dict[str, object] = {"url": url, "pid": os.getpid(), "data_dir": str(options.data_dir)}
    facts["dap_port"] = service.editor_doors.lobby_port if service.editor_doors else None
    facts["mcp_port"] = service.agent_door.port if service.agent_door else None
    known_to_user = {**facts, "secret": service.secret, **({"token": token} if token else {})}
    _publish(discovery_file(options.data_dir), json.dumps(known_to_user) + "\n")
    if options.ready_file is not None:
        _publish(options.ready_file, json.dumps(facts) + "\n")
    say(f"Holdfast is at {url} (data in {options.data_dir})")
    if token and options.token is None:
        origin = f"in {options.data_dir / 'token'}"
    else:
        origin = "you gave"
    if not policy.loopback:
        name = socket.gethostname()
        say(
            f"WARNING: reachable from other machines, as http://{name}:{port} for instance. "
            f"Clients need the token {origin}, and it is sent in the clear: use a tunnel or TLS."
        )
    elif token:
        say(f"Every request needs the token {origin}, on this machine too.")


def build_url(host: str, port: int) -> str:
    """An address to visit. That of a server on all addresses is the loopback address."""
    ip = ip_address(host)
    if ip.is_unspecified:
        host = "127.0.0.1" if ip.version == 4 else "::1"
    return f"http://[{host}]:{port}" if ip.version == 6 else f"http://{host}:{port}"


def _publish(file: Path, text: str) -> None:
    try:
        write_private_file(file, text)
    except OSError as problem:
        raise errors.Failure(
            f"cannot write {file}: {problem.strerror}",
            hint="Choose a place that you can write to, on a disk with room.",
        ) from None


def _withdraw(file: Path) -> None:
    """Remove our published address, unless another server has replaced it."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        if json.loads(read_private_file(file))["pid"] == os.getpid():
            file.unlink()
