"""A server with the tools that the conformance suite asks for, behind our own HTTP server.

What a server may answer with is the SDK's business. What this shows is that all of it passes our
connections and our access control: streams, requests to the client, images, errors.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import sys
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as t
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from holdfast.server.access_control import Policy
from holdfast.server.mcp.http_endpoint import McpEndpoint
from holdfast.server.uvicorn_server import HttpServer

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5E"
    "rkJggg=="
)
SOUND = base64.b64encode(
    b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\x01\0\x08\0data\0\0\0\0"
)
IMAGE = t.ImageContent(data=PIXEL, mime_type="image/png")
Content = list[t.ContentBlock]
Tool = Callable[[Any, dict[str, Any]], Awaitable[Content]]


def text(words: str) -> t.TextContent:
    return t.TextContent(text=words)


def embed(uri: str, words: str, mime_type: str = "text/plain") -> t.EmbeddedResource:
    contents = t.TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return t.EmbeddedResource(resource=contents)


def answer(*content: t.ContentBlock) -> Tool:
    async def call(_ctx: Any, _arguments: dict[str, Any]) -> Content:
        return list(content)

    return call


async def fail(_ctx: Any, _arguments: dict[str, Any]) -> Content:
    raise ValueError("This tool intentionally returns an error for testing")


async def report_progress(ctx: Any, _arguments: dict[str, Any]) -> Content:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return [text("reported")]


async def write_log(ctx: Any, _arguments: dict[str, Any]) -> Content:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", said, related_request_id=ctx.request_id)
        await asyncio.sleep(0.05)
    return [text("logged")]


async def sample(ctx: Any, arguments: dict[str, Any]) -> Content:
    asked = t.SamplingMessage(role="user", content=text(arguments["prompt"]))
    said = await ctx.session.create_message(
        [asked], max_tokens=100, related_request_id=ctx.request_id
    )
    return [text(f"LLM response: {said.content.text}")]


def elicit(properties: dict[str, Any], required: list[str], form: str) -> Tool:
    async def call(ctx: Any, arguments: dict[str, Any]) -> Content:
        schema = {"type": "object", "properties": properties, "required": required}
        question = arguments.get("message", "Please answer")
        said = await ctx.session.elicit_form(question, schema, ctx.request_id)
        return [text(form.format(action=said.action, content=json.dumps(said.content)))]

    return call


def choices(kind: str, *titles: str) -> list[dict[str, str]]:
    return [{"const": f"value{n}", "title": f"{title} {kind}"} for n, title in enumerate(titles, 1)]


OPTIONS = ["option1", "option2", "option3"]
COMPLETED = "Elicitation completed: action={action}, content={content}"
TOOLS: dict[str, Tool] = {
    "test_simple_text": answer(text("This is a simple text response for testing.")),
    "test_image_content": answer(IMAGE),
    "test_audio_content": answer(t.AudioContent(data=SOUND.decode(), mime_type="audio/wav")),
    "test_embedded_resource": answer(
        embed("test://embedded-resource", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": answer(
        text("Multiple content types test:"),
        IMAGE,
        embed("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ),
    "test_error_handling": fail,
    "test_tool_with_progress": report_progress,
    "test_tool_with_logging": write_log,
    "test_sampling": sample,
    "test_elicitation": elicit(
        {"username": {"type": "string"}, "email": {"type": "string"}},
        ["username", "email"],
        "User response: <action: {action}, content: {content}>",
    ),
    "test_elicitation_sep1034_defaults": elicit(
        {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": True},
        },
        [],
        COMPLETED,
    ),
    "test_elicitation_sep1330_enums": elicit(
        {
            "untitledSingle": {"type": "string", "enum": OPTIONS},
            "titledSingle": {
                "type": "string",
                "oneOf": choices("Option", "First", "Second", "Third"),
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
            "titledMulti": {
                "type": "array",
                "items": {"anyOf": choices("Choice", "First", "Second", "Third")},
            },
        },
        [],
        COMPLETED,
    ),
}


async def list_tools(_ctx: Any, _params: Any) -> t.ListToolsResult:
    schema = {"type": "object", "properties": {}}
    listed = [
        t.Tool(name=name, description="For the suite.", input_schema=schema) for name in TOOLS
    ]
    return t.ListToolsResult(tools=listed)


async def call_tool(ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
    tool = TOOLS.get(params.name)
    if tool is None:
        raise MCPError(t.INVALID_PARAMS, f"Unknown tool: {params.name}")
    try:
        return t.CallToolResult(content=await tool(ctx, params.arguments or {}))
    except ValueError as problem:
        return t.CallToolResult(content=[text(str(problem))], is_error=True)


# -- resources and prompts ------------------------------------------------------------------------


async def list_resources(_ctx: Any, _params: Any) -> t.ListResourcesResult:
    listed = [
        t.Resource(uri="test://static-text", name="text", mime_type="text/plain"),
        t.Resource(uri="test://static-binary", name="binary", mime_type="image/png"),
    ]
    return t.ListResourcesResult(resources=listed)


async def list_templates(_ctx: Any, _params: Any) -> t.ListResourceTemplatesResult:
    template = t.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
    return t.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    uri = str(params.uri)
    contents: t.TextResourceContents | t.BlobResourceContents
    if uri == "test://static-text":
        said = "This is the content of the static text resource."
        contents = t.TextResourceContents(uri=uri, mime_type="text/plain", text=said)
    elif uri == "test://static-binary":
        contents = t.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
    elif uri.startswith("test://template/"):
        number = uri.split("/")[3]
        said = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
        contents = t.TextResourceContents(uri=uri, mime_type="application/json", text=said)
    else:
        code = t.INVALID_PARAMS if ctx.protocol_version >= "2026-07-28" else -32002
        raise MCPError(code, "Resource not found", {"uri": uri})
    return t.ReadResourceResult(contents=[contents])


async def do_nothing(_ctx: Any, _params: Any) -> t.EmptyResult:
    return t.EmptyResult()


async def complete(_ctx: Any, _params: Any) -> t.CompleteResult:
    return t.CompleteResult(completion=t.Completion(values=["paris", "park"], total=2))


PROMPTS = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}


async def list_prompts(_ctx: Any, _params: Any) -> t.ListPromptsResult:
    return t.ListPromptsResult(
        prompts=[
            t.Prompt(
                name=name,
                description="For the suite.",
                arguments=[t.PromptArgument(name=one, required=True) for one in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
    )


async def get_prompt(_ctx: Any, params: t.GetPromptRequestParams) -> t.GetPromptResult:
    given = params.arguments or {}
    content: Content
    if params.name == "test_simple_prompt":
        content = [text("This is a simple prompt for testing.")]
    elif params.name == "test_prompt_with_arguments":
        words = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
        content = [text(words)]
    elif params.name == "test_prompt_with_embedded_resource":
        embedded = embed(given["resourceUri"], "Embedded resource content for testing.")
        content = [embedded, text("Please process the embedded resource above.")]
    else:
        content = [IMAGE, text("Please analyze the image above.")]
    return t.GetPromptResult(
        messages=[t.PromptMessage(role="user", content=one) for one in content]
    )


def build_manager() -> StreamableHTTPSessionManager:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # logging is deprecated, and still in the suite
        server: Server[Any] = Server(
            "suite",
            version="1",
            on_list_tools=list_tools,
            on_call_tool=call_tool,
            on_list_resources=list_resources,
            on_list_resource_templates=list_templates,
            on_read_resource=read_resource,
            on_subscribe_resource=do_nothing,
            on_unsubscribe_resource=do_nothing,
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
            on_completion=complete,
            on_set_logging_level=do_nothing,
        )
    return StreamableHTTPSessionManager(server)


async def serve() -> None:
    """Serve until the caller closes our stdin."""
    endpoint: Any = McpEndpoint(build_manager)
    policy = Policy(loopback=True, token=None, max_body=1 << 20)
    server = HttpServer(endpoint, policy, "off")
    listener = socket.create_server(("127.0.0.1", 0))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    await server.ready.wait()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await endpoint.close()
    await running


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
