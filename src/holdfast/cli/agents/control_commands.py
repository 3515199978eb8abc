"""Commands to an agent: sent, and what became of them said."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from holdfast.cli.agents.event_lines import shorten
from holdfast.cli.agents.session_selection import SessionOption, select_running
from holdfast.cli.server_access import AsJson, complain, console
from holdfast.model.agent_commands import ACCEPTED, EXPIRED, INSPECTABLE, REJECTED
from holdfast.model.agent_events import RecordedEvent
from holdfast.model.decision import ROLES
from holdfast.recording import command_sender, liveness

Json = dict[str, Any]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds to wait for the agent's answer.")
]
PATIENCE = 10.0
_BY = "cli"
_LATER = {
    "pause": "it stops before its next model call",
    "step": "it stops after its next iteration",
    "inject_message": "it is added before the next model call",
    "set_variable": "it is set before the next model call",
    "cancel_tool": "the tool is being cancelled",
}


def run_command(
    session: str | None, kind: str, data: Json, as_json: bool, timeout: float = PATIENCE
) -> Json:
    """Send it, say what became of it, and end with 1 if that is not what was wanted."""
    home = select_running(session)
    tail = command_sender.tail_from_end(home)
    try:
        command_id = command_sender.send_command(home, kind, data)
    except OSError as problem:
        complain(f"The command cannot be written: {problem}", f"Check {home.commands}.")
    events = command_sender.collect_answers(
        tail, home, command_id, timeout, lambda event: command_sender.is_final_answer(kind, event)
    )
    told: Json = {"session": home.id, "type": kind, "command_id": command_id}
    told |= _outcome(kind, events)
    if "status" not in told:
        gone = not liveness.is_alive(home)
        told["status"] = "gone" if gone else "unanswered"
        told["message"] = "the agent is gone" if gone else f"no answer within {timeout:g} s"
    good = told["status"] not in (REJECTED, EXPIRED, "gone", "unanswered")
    if as_json:
        print(json.dumps(told))
    else:
        console.print(f"Sent {kind} command", highlight=False)
        if good:
            later = _LATER.get(kind) if told["status"] == ACCEPTED else None
            parts = [told["status"], told.get("note") or later]
            _say(": ".join(str(each) for each in parts if each))
    if not good:
        if as_json:
            raise typer.Exit(1)
        complain(f"{told['status']}: {told.get('message') or told.get('note')}", _hint(told))
    return told


def _outcome(kind: str, events: list[RecordedEvent]) -> Json:
    found: Json = {}
    for event in events:
        data = event["data"]
        match event["type"]:
            case "error":
                return {"status": REJECTED, "message": data.get("message")}
            case "command_executed":
                found = {"status": data.get("status"), "note": data.get("note")}
            case "command_response":
                found["response"] = {
                    name: value for name, value in data.items() if name not in ("commandId", "type")
                }
    is_whole = any(command_sender.is_final_answer(kind, event) for event in events)
    return {name: value for name, value in found.items() if value is not None} if is_whole else {}


def _hint(told: Json) -> str:
    match told["status"]:
        case "unanswered":
            return "It is written and takes effect when the agent reads it; is its process stopped?"
        case "expired":
            return "What it meant is over; `holdfast agent sessions` shows what is held now."
        case "gone":
            return "Its recording stays: `holdfast agent sessions --all`."
        case _:
            return "Correct it and send it again."


def _say(text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def parse_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as problem:
        complain(f"{name} is not JSON: {problem}", f"Text needs quotes: '\"{text[:40]}\"'.")


# -- the commands ---------------------------------------------------------------------------------


def pause(
    session: SessionOption = None, as_json: AsJson = False, timeout: TimeoutOption = PATIENCE
) -> None:
    """Stop it before its next model call."""
    run_command(session, "pause", {}, as_json, timeout)


def resume(
    stop: Annotated[
        str | None, typer.Argument(help="Which stop; all that is held if left out.")
    ] = None,
    changed: Annotated[
        str | None, typer.Option("--input", help="Run it with this input, a JSON object.")
    ] = None,
    result: Annotated[
        str | None, typer.Option(help="Do not run it: this is its result, as JSON.")
    ] = None,
    thrown: Annotated[
        tuple[str, str] | None,
        typer.Option("--raise", help="Do not run it: raise this exception, with this message."),
    ] = None,
    cancel_it: Annotated[bool, typer.Option("--cancel", help="Cancel the held tool.")] = False,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = PATIENCE,
) -> None:
    """Let it go on: as it is, or with something changed."""
    given = [changed is not None, result is not None, thrown is not None, cancel_it]
    if sum(given) > 1:
        complain("--input, --result, --raise and --cancel exclude each other.")
    data: Json = {"by": _BY, "action": "continue"}
    if stop is not None:
        data["stop"] = stop
    if changed is not None:
        data |= {"action": "modify", "input": parse_json(changed, "--input")}
    elif result is not None:
        data |= {"action": "skip", "result": parse_json(result, "--result")}
    elif thrown is not None:
        data |= {"action": "raise", "exception_type": thrown[0], "exception_message": thrown[1]}
    elif cancel_it:
        data["action"] = "cancel"
    run_command(session, "resume", data, as_json, timeout)


def step(
    stop: Annotated[str | None, typer.Argument(help="From which stop.")] = None,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = PATIENCE,
) -> None:
    """One iteration, then stop."""
    data: Json = {"by": _BY}
    if stop is not None:
        data["stop"] = stop
    run_command(session, "step", data, as_json, timeout)


def inspect(
    what: Annotated[str, typer.Argument(help=f"{', '.join(INSPECTABLE)}.")] = "all",
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = PATIENCE,
) -> None:
    """Its messages, context, tools and variables, as they are now."""
    told = run_command(session, "inspect", {"what": what}, as_json, timeout)
    if not as_json:
        for line in format_state((told.get("response") or {}).get("data") or {}):
            _say(line)


def inject(
    role: Annotated[str, typer.Argument(help=f"{', '.join(ROLES)}.")],
    content: str,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = PATIENCE,
) -> None:
    """Add a message to the conversation."""
    data = {"role": role, "content": content}
    run_command(session, "inject_message", data, as_json, timeout)


def set_variable(
    key: str,
    value: Annotated[str, typer.Argument(help="As JSON: text needs quotes.")],
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = PATIENCE,
) -> None:
    """Set a variable of the loop."""
    data = {"key": key, "value": parse_json(value, "the value")}
    run_command(session, "set_variable", data, as_json, timeout)


def cancel(
    tool_id: str,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = PATIENCE,
) -> None:
    """Cancel a tool call that runs or is held."""
    run_command(session, "cancel_tool", {"toolId": tool_id, "by": _BY}, as_json, timeout)


# -- a snapshot, for people -----------------------------------------------------------------------


def format_state(found: Json) -> list[str]:
    """What `inspect` answered."""
    lines = [f"iteration  {found.get('iteration')}{' (paused)' if found.get('paused') else ''}"]
    provider = found.get("provider") or {}
    named = [str(provider[each]) for each in ("name", "model") if provider.get(each)]
    if named:
        lines.append(f"model      {'/'.join(named)}")
    if "tokens" in found:
        lines.append(f"tokens     {found['tokens']}")
    messages = found.get("messages")
    if messages:
        roles = ", ".join(f"{count} {role}" for role, count in messages["roles"].items())
        lines.append(f"messages   {messages['count']}" + (f": {roles}" if roles else ""))
        lines += [
            f"  {each.get('role')}: {shorten(each.get('preview'))}" for each in messages["recent"]
        ]
    context = found.get("context")
    if context:
        most = f" of {context['maxTokens']}" if context.get("maxTokens") else ""
        lines.append(f"context    about {context['tokenEstimate']} tokens{most}")
        if context.get("hasSummary"):
            lines.append(f"  summary: {shorten(context.get('summaryPreview'))}")
    tools = found.get("tools")
    if tools:
        lines.append(f"tools      {tools['count']}: {', '.join(tools['enabled'])}")
    if found.get("workingSet"):
        lines.append(f"files      {', '.join(map(str, found['workingSet']))}")
    if found.get("variables"):
        lines.append("variables")
        lines += [f"  {key} = {shorten(each)}" for key, each in found["variables"].items()]
    for each in found.get("stops") or []:
        held = f"{each.get('at')} {each.get('name') or ''}".rstrip()
        lines.append(f"held       {each.get('stop')} before {held} {shorten(each.get('input'))}")
    return lines
