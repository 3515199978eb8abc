"""The server itself: health, what it can do, its settings, its end; and the machine's processes."""

from __future__ import annotations

from typing import Annotated, Any

from starlette.requests import Request

from holdfast import errors
from holdfast.server.route_table import Documented, RouteList
from holdfast.service.debugger import Debugger
from holdfast.service.settings import Settings
from holdfast.trust import proofs
from holdfast.wire.program_answers import JoinInvitation
from holdfast.wire.program_requests import JoinRequest
from holdfast.wire.server_answers import Health, ProcessList, ServerInfo, ServerProof, ShuttingDown
from holdfast.wire.session_requests import ProofQuery

routes = RouteList()
# An unknown setting changes nothing. The operation lists the known ones.
SettingChanges = Annotated[dict[str, Any], Documented(Settings)]


@routes.get("/health")
async def health(debugger: Debugger) -> Health:
    """Is the server well? `degraded`: it works, but not all could be written to disk yet."""
    return debugger.health()


@routes.get("/info")
async def info(debugger: Debugger) -> ServerInfo:
    """Version, capabilities, and the ways in which programs are reached."""
    return debugger.describe()


@routes.get("/proof")
async def prove(debugger: Debugger, request: Request, query: ProofQuery) -> ServerProof:
    """Prove that this is the server of `server.json`, to a client that knows the secret there.

    `IP` and `PORT` are those that the client connected to. This is asked without a token."""
    here = request.scope["server"]
    if not proofs.is_client(query.proof, debugger.secret, here, query.nonce):
        raise errors.Refused(
            "The proof is wrong.", hint="Read the secret in server.json again, and use a new nonce."
        )
    return ServerProof(proofs.prove_server(debugger.secret, here, query.nonce))


@routes.get("/config")
async def get_config(debugger: Debugger) -> Settings:
    """The settings in force."""
    return debugger.settings


@routes.patch("/config")
async def change_config(debugger: Debugger, body: SettingChanges) -> Settings:
    """Change settings; they are kept. One that is not known changes nothing."""
    return await debugger.configure(body)


@routes.post("/shutdown")
async def shutdown(debugger: Debugger) -> ShuttingDown:
    """Stop the server: every program that it started ends with it."""
    debugger.stop_requested.set()
    return ShuttingDown()


@routes.post("/processes/join", status=201)
async def join(debugger: Debugger, body: JoinRequest) -> JoinInvitation:
    """A process that wants to be debugged asks for a session, and how to connect to it.

    Nothing is injected into it. It connects by itself within a limited time, with the ticket."""
    return await debugger.programs.invite(body.pid, body.name)


@routes.get("/processes")
async def processes(debugger: Debugger) -> ProcessList:
    """The Python processes of this machine, and whether they can be attached to."""
    return await debugger.programs.list_processes()
