"""Looking into the program: threads, stack, variables, expressions, exceptions.

Ids of frames are ours plus one, because an editor may take 0 for none.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast import errors
from holdfast.server.dap.dap_arguments import (
    Arguments,
    CompletionsArguments,
    EvaluateArguments,
    ExceptionInfoArguments,
    ScopesArguments,
    SetExpressionArguments,
    SetVariableArguments,
    StackTraceArguments,
    VariablesArguments,
)
from holdfast.server.dap.dap_requests import Order, RequestList
from holdfast.server.dap.dap_sources import build_source
from holdfast.server.dap.dap_values import (
    build_children,
    build_rest,
    build_variables,
    render_text,
)
from holdfast.service.run_options import RunOptions
from holdfast.wire.dap import Body

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient

requests = RequestList()
_MAX_CHILDREN = 1000
_MAX_COPIED_CHARACTERS = 4_000_000
_KINDS = {"method", "function", "field", "variable", "class", "module", "keyword"}


# -- threads and the stack ------------------------------------------------------------------------


@requests.on("threads", Order.BESIDE)
async def list_threads(client: EditorClient, arguments: Arguments) -> Body:
    if not client.joined.program.is_live:
        return {"threads": []}
    threads = (await client.joined.program.inspection.threads()).threads
    return {"threads": [{"id": each["thread_id"], "name": each["name"]} for each in threads]}


@requests.on("stackTrace", Order.BESIDE)
async def read_stack(client: EditorClient, arguments: StackTraceArguments) -> Body:
    page = await client.joined.program.inspection.stack(
        arguments.thread_id, arguments.start_frame or 0, arguments.levels or None
    )
    return {
        "stackFrames": [_build_frame(client, frame) for frame in page.frames],
        "totalFrames": page.total,
    }


def _build_frame(client: EditorClient, frame: Any) -> Body:
    is_library = bool(frame.get("library"))
    shown: Body = {
        "id": frame["id"] + 1,
        "name": frame.get("qualname") or frame["name"],
        "line": client.to_line(frame["line"]),
        "column": client.first_column,
        "source": build_source(client, frame["file"], is_library=is_library),
    }
    if frame.get("module"):
        shown["moduleId"] = frame["module"]
    if is_library:
        shown["presentationHint"] = "subtle"
    return shown


# -- variables ------------------------------------------------------------------------------------


@requests.on("scopes", Order.BESIDE)
async def list_scopes(client: EditorClient, arguments: ScopesArguments) -> Body:
    answer = await client.joined.program.inspection.scopes(arguments.frame_id - 1)
    scopes = []
    for scope in answer.scopes:
        is_local = scope["name"] == "Locals"
        client.names.note_scope(scope["reference"])
        scopes.append(
            {
                "name": scope["name"],
                "variablesReference": scope["reference"],
                "namedVariables": scope["count"],
                "presentationHint": "locals" if is_local else "globals",
                "expensive": not is_local,
            }
        )
    return {"scopes": scopes}


@requests.on("variables", Order.BESIDE)
async def list_variables(client: EditorClient, arguments: VariablesArguments) -> Body:
    reference, start = arguments.variables_reference, arguments.start or 0
    page = await client.joined.program.inspection.items(
        reference, start, arguments.count or _MAX_CHILDREN, part=_check_part(arguments.filter)
    )
    variables = build_variables(page.items, reference, client.names, has_paging=client.has_paging)
    if page.has_more and not arguments.count:
        variables.append(build_rest(page.total - start - len(page.items)))
    return {"variables": variables}


def _check_part(part: str | None) -> str | None:
    if part not in (None, "indexed", "named"):
        raise errors.InvalidInput(f"no filter {part!r:.100}", field="filter")
    return part


@requests.on("setVariable", Order.BESIDE)
async def set_variable(client: EditorClient, arguments: SetVariableArguments) -> Body:
    value = await client.joined.program.inspection.set_variable(
        arguments.variables_reference, arguments.name, arguments.value
    )
    expression = client.names.find_child(arguments.variables_reference, value)
    client.names.note(value, expression)
    return _build_result(client, value, "value")


@requests.on("setExpression", Order.BESIDE)
async def set_expression(client: EditorClient, arguments: SetExpressionArguments) -> Body:
    target, value = arguments.expression.strip(), arguments.value.strip()
    try:
        ast.parse(value, mode="eval")
        ast.parse(f"{target} = 0")
    except (SyntaxError, ValueError) as problem:
        raise errors.AssignmentFailed(
            f"{target} cannot be set to {value}: {problem}", field="value"
        ) from None
    inspection = client.joined.program.inspection
    frame_id = _to_frame(arguments.frame_id)
    await inspection.evaluate(f"{target} = {value}", frame_id, "repl")
    result = await inspection.evaluate(target, frame_id, "watch")
    client.editors.invalidate(client)
    return _build_result(client, result, "value")


# -- expressions ----------------------------------------------------------------------------------


@requests.on("evaluate", Order.BESIDE)
async def evaluate(client: EditorClient, arguments: EvaluateArguments) -> Body:
    session, context = client.joined, arguments.context
    if context == "repl" and session.program.wants_input:
        return await _give_input(client, arguments.expression)
    inspection, frame_id = session.program.inspection, _to_frame(arguments.frame_id)
    if context == "hover":
        found = await inspection.hover(arguments.expression, frame_id)
        return _build_result(client, found, "result", arguments.expression)
    is_copied = context == "clipboard"
    value = await inspection.evaluate(
        arguments.expression,
        frame_id,
        "watch" if context == "watch" else context,
        max_chars=_MAX_COPIED_CHARACTERS if is_copied else None,
    )
    if context == "repl":
        client.editors.invalidate(client)
    return _build_result(client, value, "result", arguments.expression)


async def _give_input(client: EditorClient, text: str) -> Body:
    """A program that waits for input gets what is typed into the editor's console."""
    line = text if text.endswith("\n") else text + "\n"
    options = RunOptions(by=client.owner, wait=False)
    await client.joined.program.send_input(line, close=False, options=options)
    return {"result": "", "variablesReference": 0}


def _to_frame(frame_id: int | None) -> int:
    """Our id of a frame. Without one, it is where the program stands."""
    return 0 if not frame_id else frame_id - 1


def _build_result(
    client: EditorClient, value: Any, name: str, expression: str | None = None
) -> Body:
    if expression and _is_compound(expression):
        expression = f"({expression})"
    client.names.note(value, expression)
    return {
        name: render_text(value),
        "type": value.get("type", ""),
        **build_children(value, has_paging=client.has_paging),
    }


def _is_compound(expression: str) -> bool:
    """Whether it needs parentheses before something can be read from it."""
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    simple = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)
    return not isinstance(node, simple)


@requests.on("completions", Order.BESIDE)
async def complete(client: EditorClient, arguments: CompletionsArguments) -> Body:
    lines = arguments.text.split("\n")
    number = client.from_line(arguments.line) if arguments.line is not None else 1
    line = lines[min(max(number, 1), len(lines)) - 1]
    text = line[: client.from_column(arguments.column) - 1]
    answer = await client.joined.program.inspection.completions(text, _to_frame(arguments.frame_id))
    return {"targets": [_build_completion(client, target) for target in answer.targets]}


def _build_completion(client: EditorClient, target: Any) -> Body:
    shown: Body = {
        "label": target["label"],
        "start": target["start"],
        "length": target["length"],
    }
    if target.get("type") in _KINDS:
        shown["type"] = target["type"]
    return shown


# -- exceptions -----------------------------------------------------------------------------------


@requests.on("exceptionInfo", Order.BESIDE)
async def describe_exception(client: EditorClient, arguments: ExceptionInfoArguments) -> Body:
    thrown = await client.joined.program.inspection.exception(arguments.thread_id)
    filters = client.joined.program.breakpoints.effective_exceptions.filters
    modes = (("raised", "always"), ("userUnhandled", "userUnhandled"))
    mode = next((mode for name, mode in modes if name in filters), "unhandled")
    return {
        "exceptionId": _full_name(thrown),
        "description": thrown["message"],
        "breakMode": mode,
        "details": _build_details(thrown, thrown.get("causes") or []),
    }


def _full_name(thrown: Any) -> str:
    module = thrown.get("module")
    return thrown["type"] if module in (None, "builtins") else f"{module}.{thrown['type']}"


def _build_details(thrown: Any, causes: Sequence[Any], number: int = 0) -> Body:
    """The exception, and those that led to it as inner ones."""
    details: Body = {
        "message": thrown["message"],
        "typeName": thrown["type"],
        "fullTypeName": _full_name(thrown),
        "stackTrace": _format_trace(thrown),
    }
    inner = [
        _build_details(cause, causes, at)
        for at, cause in enumerate(causes, 1)
        if cause["of"] == number
    ]
    if inner:
        details["innerException"] = inner
    return details


def _format_trace(thrown: Any) -> str:
    """As Python prints it: the innermost frame last."""
    frames = sorted(thrown.get("frames") or [], key=lambda frame: -frame["depth"])
    lines = []
    for frame in frames:
        place = frame.get("qualname") or frame["name"]
        lines.append(f'  File "{frame["file"]}", line {frame["line"]}, in {place}\n')
        if frame.get("text"):
            lines.append(f"    {frame['text'].strip()}\n")
    return "".join(lines) + f"{_full_name(thrown)}: {thrown['message']}\n"
