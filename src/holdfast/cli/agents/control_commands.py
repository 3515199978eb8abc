"""Sends commands to an agent, and prints what became of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from holdfast import timings
from holdfast.cli.agents.event_lines import format_cost, shorten
from holdfast.cli.agents.fork_editor import read_messages
from holdfast.cli.agents.session_selection import LaneOption, SessionOption, select_running
from holdfast.cli.server_access import AsJson, complain, console
from holdfast.model.agent_commands import ACCEPTED, EXPIRED, INSPECTABLE, REJECTED, CommandData
from holdfast.model.agent_events import EventData, RecordedEvent
from holdfast.model.decision import ROLES
from holdfast.recording import command_sender, liveness
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.recording_state import RecordingState
from holdfast.wire.message_text import format_message

if TYPE_CHECKING:
    from typing_extensions import Required  # in `typing` from Python 3.11 on

TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.1, help="Seconds to wait for the agent's answer.")
]
DEFAULT_TIMEOUT = timings.TIMINGS.agent_answer
_BY = "cli"


class CommandReport(TypedDict, total=False):
    """What became of a command, as `--json` prints it."""

    session: Required[str]
    type: Required[str]
    command_id: Required[str]
    status: Required[str]
    """`applied`, `accepted`, `rejected`, `expired`, `gone` or `unanswered`."""
    note: str
    message: str
    response: EventData


_LATER = {
    "pause": "it stops before its next model call",
    "step": "it stops after its next iteration",
    "inject_message": "it is added before the next model call",
    "set_variable": "it is set before the next model call",
    "cancel_tool": "the tool is being cancelled",
}


def run_command(
    session: str | None,
    kind: str,
    data: CommandData,
    as_json: bool,
    timeout: float = DEFAULT_TIMEOUT,
) -> CommandReport:
    """Send it, print what became of it, and end with 1 if that is not what was wanted."""
    home = select_running(session)
    tail = command_sender.tail_from_end(home)
    try:
        command_id = command_sender.send_command(home, kind, data)
    except OSError as problem:
        complain(f"The command cannot be written: {problem}", f"Check {home.commands}.")
    events = command_sender.collect_answers(
        tail, home, command_id, timeout, lambda event: command_sender.is_final_answer(kind, event)
    )
    report: CommandReport = {
        "session": home.id,
        "type": kind,
        "command_id": command_id,
        "status": "unanswered",
    }
    if any(command_sender.is_final_answer(kind, event) for event in events):
        _add_outcome(report, events, RecordingState(ContentFiles(home.contents)))
    elif liveness.is_alive(home):
        report["message"] = f"no answer within {timeout:g} s"
    else:
        report["status"], report["message"] = "gone", "the agent is gone"
    status = report["status"]
    is_good = status not in (REJECTED, EXPIRED, "gone", "unanswered")
    if as_json:
        print(json.dumps(report))
    else:
        console.print(f"Sent {kind} command", highlight=False)
        if is_good:
            later = _LATER.get(kind) if status == ACCEPTED else None
            _print(": ".join(part for part in (status, report.get("note") or later) if part))
    if not is_good:
        if as_json:
            raise typer.Exit(1)
        complain(f"{status}: {report.get('message') or report.get('note')}", _hint(status))
    return report


def _add_outcome(report: CommandReport, events: list[RecordedEvent], state: RecordingState) -> None:
    """`state` reads what is too large for its event."""
    for event in events:
        data = event["data"]
        match event["type"]:
            case "error":
                report["status"] = REJECTED
                report["message"] = str(data.get("message"))
            case "command_executed":
                report["status"] = str(data.get("status"))
                if data.get("note") is not None:
                    report["note"] = str(data["note"])
            case "command_response":
                report["response"] = {
                    name: state.read_body(value)
                    for name, value in data.items()
                    if name not in ("commandId", "type")
                }


def read_response(report: CommandReport) -> EventData:
    """The data of a response; nothing if it has none."""
    data = report.get("response", {}).get("data")
    return data if isinstance(data, dict) else {}


def _hint(status: str) -> str:
    match status:
        case "unanswered":
            return "It is written and takes effect when the agent reads it; is its process stopped?"
        case "expired":
            return "What it meant is over; `holdfast agent sessions` shows what is held now."
        case "gone":
            return "Its recording stays: `holdfast agent sessions --all`."
        case _:
            return "Correct it and send it again."


def _print(text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def parse_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as problem:
        complain(f"{name} is not JSON: {problem}", f"Text needs quotes: '\"{text[:40]}\"'.")


# -- the commands ---------------------------------------------------------------------------------


def pause(
    lane: LaneOption = None,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = DEFAULT_TIMEOUT,
) -> None:
    """Stop it before its next model call: every lane, or one."""
    run_command(session, "pause", _name_lane(lane), as_json, timeout)


def _name_lane(lane: str | None) -> dict[str, object]:
    return {} if lane is None else {"lane": lane}


def resume(
    stop: Annotated[
        str | None, typer.Argument(help="Which stop; all that is held if left out.")
    ] = None,
    changed_input: Annotated[
        str | None, typer.Option("--input", help="Run it with this input, a JSON object.")
    ] = None,
    messages: Annotated[
        str | None,
        typer.Option(
            "--messages", metavar="FILE", help="Of a model call: send these, a JSON list; - stdin."
        ),
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", help="Of a model call: another system prompt.")
    ] = None,
    result: Annotated[
        str | None, typer.Option(help="Do not run it: this is its result, as JSON.")
    ] = None,
    exception: Annotated[
        tuple[str, str] | None,
        typer.Option("--raise", help="Do not run it: raise this exception, with this message."),
    ] = None,
    is_cancelled: Annotated[bool, typer.Option("--cancel", help="Cancel the held tool.")] = False,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = DEFAULT_TIMEOUT,
) -> None:
    """Let it go on: as it is, or with something changed."""
    is_edited = messages is not None or system is not None
    is_changed = changed_input is not None
    options = [is_changed, is_edited, result is not None, exception is not None, is_cancelled]
    if sum(options) > 1:
        complain(
            "--input, --messages with --system, --result, --raise and --cancel exclude each other."
        )
    data: dict[str, object] = {"by": _BY, "action": "continue"}
    if stop is not None:
        data["stop"] = stop
    if changed_input is not None:
        data |= {"action": "modify", "input": parse_json(changed_input, "--input")}
    elif is_edited:
        data["action"] = "modify"
        if messages is not None:
            data["messages"] = read_messages(messages)
        if system is not None:
            data["system"] = system
    elif result is not None:
        data |= {"action": "skip", "result": parse_json(result, "--result")}
    elif exception is not None:
        kind, message = exception
        data |= {"action": "raise", "exception_type": kind, "exception_message": message}
    elif is_cancelled:
        data["action"] = "cancel"
    run_command(session, "resume", data, as_json, timeout)


def step(
    stop: Annotated[str | None, typer.Argument(help="From which stop.")] = None,
    lane: LaneOption = None,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = DEFAULT_TIMEOUT,
) -> None:
    """One iteration, then stop: of every lane, or of one."""
    data = {"by": _BY, **({} if stop is None else {"stop": stop}), **_name_lane(lane)}
    run_command(session, "step", data, as_json, timeout)


def inspect(
    what: Annotated[str, typer.Argument(help=f"{', '.join(INSPECTABLE)}.")] = "all",
    first: Annotated[
        int | None,
        typer.Option(help="The first message to show, from 0 on; -3: the last three."),
    ] = None,
    count: Annotated[int | None, typer.Option(min=0, help="How many messages to show.")] = None,
    lane: LaneOption = None,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = DEFAULT_TIMEOUT,
) -> None:
    """Its messages, context, tools and variables, as they are now, and whole."""
    data: dict[str, object] = {"what": what, "first": first or 0, **_name_lane(lane)}
    if count is not None:
        data["count"] = count
    report = run_command(session, "inspect", data, as_json, timeout)
    if not as_json:
        for line in format_state(read_response(report)):
            _print(line)


def inject(
    role: Annotated[str, typer.Argument(help=f"{', '.join(ROLES)}.")],
    content: str,
    lane: LaneOption = None,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = DEFAULT_TIMEOUT,
) -> None:
    """Add a message to the conversation: of the lane that is held, else the main one."""
    data = {"role": role, "content": content, **_name_lane(lane)}
    run_command(session, "inject_message", data, as_json, timeout)


def set_variable(
    key: str,
    value: Annotated[str, typer.Argument(help="As JSON: text needs quotes.")],
    lane: LaneOption = None,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = DEFAULT_TIMEOUT,
) -> None:
    """Set a variable of the loop."""
    data = {"key": key, "value": parse_json(value, "the value"), **_name_lane(lane)}
    run_command(session, "set_variable", data, as_json, timeout)


def cancel(
    tool_id: str,
    session: SessionOption = None,
    as_json: AsJson = False,
    timeout: TimeoutOption = DEFAULT_TIMEOUT,
) -> None:
    """Cancel a tool call that runs or is held."""
    run_command(session, "cancel_tool", {"toolId": tool_id, "by": _BY}, as_json, timeout)


# -- a snapshot, for people -----------------------------------------------------------------------


def _format_lane(lane: EventData) -> str:
    """`research: held, iteration 2, 5 messages, of main in tool-4`"""
    text = (
        f"{lane.get('lane')}: {lane.get('status')}, iteration {lane.get('iteration')}, "
        f"{lane.get('messages')} message{'' if lane.get('messages') == 1 else 's'}"
    )
    if lane.get("parent"):
        text += f", of {lane['parent']}"
    return f"{text} in {lane['within']}" if lane.get("within") else text


def format_state(state: EventData) -> list[str]:
    """What `inspect` answered."""
    lines = [f"iteration  {state.get('iteration')}{' (paused)' if state.get('paused') else ''}"]
    lanes = state.get("lanes") or []
    if len(lanes) > 1:
        lines.append(f"lane       {state.get('lane')}")
        lines += [f"  {_format_lane(lane)}" for lane in lanes]
    provider = state.get("provider") or {}
    names = [str(provider[field]) for field in ("name", "model") if provider.get(field)]
    if names:
        lines.append(f"model      {'/'.join(names)}")
    if "tokens" in state:
        lines.append(f"tokens     {state['tokens']}")
    if isinstance(state.get("cost"), (int, float)):
        lines.append(f"cost       {format_cost(state['cost'])}")
    messages = state.get("messages")
    if messages:
        roles = ", ".join(f"{count} {role}" for role, count in messages["roles"].items())
        lines.append(f"messages   {messages['count']}" + (f": {roles}" if roles else ""))
        lines += _format_messages(messages)
    context = state.get("context")
    if context:
        limit = f" of {context['maxTokens']}" if context.get("maxTokens") else ""
        lines.append(f"context    about {context['tokenEstimate']} tokens{limit}")
        if context.get("hasSummary"):
            summary = context.get("summary") or context.get("summaryPreview")
            lines += _indent(f"summary: {summary}", "  ")
    tools = state.get("tools")
    if tools:
        lines.append(f"tools      {tools['count']}: {', '.join(tools['enabled'])}")
    if state.get("workingSet"):
        lines.append(f"files      {', '.join(map(str, state['workingSet']))}")
    if state.get("variables"):
        lines.append("variables")
        for key, value in state["variables"].items():
            lines += _indent(f"{key} = {_format_value(value)}", "  ")
    for stop in state.get("stops") or []:
        held = f"{stop.get('at')} {stop.get('name') or ''}".rstrip()
        tool = f" ({stop['toolId']})" if stop.get("toolId") else ""
        lines.append(f"held       {stop.get('stop')} before {held}{tool}")
        if stop.get("at") != "model" and stop.get("input") is not None:
            lines += _indent(_format_value(stop["input"]), "  ")
    return lines


def _format_messages(messages: EventData) -> list[str]:
    """Whole, with their numbers; of an agent that does not give them, the previews it gives."""
    if "items" not in messages:
        return [
            f"  {message.get('role')}: {shorten(message.get('preview'))}"
            for message in messages["recent"]
        ]
    lines: list[str] = []
    first, items = messages.get("first") or 0, messages["items"]
    if first:
        lines.append(f"  … {first} before these (--first 0 --count {first})")
    for number, message in enumerate(items, first):
        author, text = format_message(message)
        lines += _indent(f"{number} {author}: {text}", "  ")
    if (rest := messages["count"] - first - len(items)) > 0:
        lines.append(f"  … {rest} after these (--first {first + len(items)})")
    return lines


def _format_value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return (
        text if len(text) <= 100 else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    )


def _indent(text: str, margin: str) -> list[str]:
    first, *rest = text.splitlines() or [""]
    return [f"{margin}{first}", *(f"{margin}    {line}" for line in rest)]
