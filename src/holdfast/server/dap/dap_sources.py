"""Sources and modules: what an editor opens, and what the program has loaded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.server.dap.dap_arguments import (
    Arguments,
    ModulesArguments,
    SourceArguments,
    to_path,
)
from holdfast.server.dap.dap_requests import Order, RequestList
from holdfast.wire.dap import Body

if TYPE_CHECKING:
    from holdfast.server.dap.dap_client import EditorClient

requests = RequestList()


def build_source(client: EditorClient, file: str, *, is_library: bool = False) -> Body:
    """A file, or a number by which its text can be had if there is no file of that name."""
    source: Body = {"name": os.path.basename(file) or file, "path": file}
    if file.startswith("<") or not client.editors.has_file(file):
        source["sourceReference"] = client.sources.add(file)
    if is_library:
        source["presentationHint"] = "deemphasize"
        source["origin"] = "library"
    return source


@requests.on("source", Order.BESIDE)
async def read_source(client: EditorClient, arguments: SourceArguments) -> Body:
    reference, source = arguments.source_reference, arguments.source
    if source is not None and source.source_reference:
        reference = source.source_reference
    if reference:
        path = client.sources.get(reference)
    elif source is not None and source.path:
        path = to_path(source.path)
    else:
        raise errors.InvalidInput("the source has no path", field="source.path")
    text = await client.joined.program.inspection.source(path)
    return {"content": text.content, "mimeType": "text/x-python"}


@requests.on("modules", Order.BESIDE)
async def list_modules(client: EditorClient, arguments: ModulesArguments) -> Body:
    modules = await client.joined.program.inspection.modules()
    start = arguments.start_module or 0
    count = arguments.module_count or len(modules)
    return {
        "modules": [
            {
                "id": module["name"],
                "name": module["name"],
                "path": module["file"],
                "isUserCode": not module["library"],
            }
            for module in modules[start : start + count]
        ],
        "totalModules": len(modules),
    }


@requests.on("loadedSources", Order.BESIDE)
async def list_sources(client: EditorClient, arguments: Arguments) -> Body:
    modules = await client.joined.program.inspection.modules()
    files = {module["file"]: module["library"] for module in modules if module["source"]}
    return {
        "sources": [
            build_source(client, file, is_library=is_library) for file, is_library in files.items()
        ]
    }
