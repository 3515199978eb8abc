"""Resources: the sources and the output of programs, and captures of failing tests."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from mcp import Client, MCPError

from harness import PROGRAMS, Program, Server
from mcp_clients import MODES, call, over_http, run
from pytest_runs import run_pytest

LOOP = Program("loop.py")


async def read(agent: Client, uri: str) -> str:
    (contents,) = (await agent.read_resource(uri)).contents
    assert str(contents.uri) == uri
    return str(getattr(contents, "text", ""))


async def list_all(agent: Client) -> set[str]:
    """The resources of every page."""
    page = await agent.list_resources()
    uris = {str(one.uri) for one in page.resources}
    while page.next_cursor is not None:
        page = await agent.list_resources(cursor=page.next_cursor)
        uris |= {str(one.uri) for one in page.resources}
    return uris


async def start_loop(agent: Client) -> str:
    place = f"loop.py:{LOOP.line('add')}"
    report = await call(agent, "debug_run", target="loop.py", breakpoints=[place])
    return str(report["session_id"])


@pytest.mark.parametrize("mode", MODES)
def test_the_sources_of_a_program_are_listed_and_read(server: Server, mode: str) -> None:
    async def main() -> None:
        async with over_http(server, mode) as agent:
            session_id = await start_loop(agent)
            listed = await list_all(agent)
            uri = f"holdfast://sessions/{session_id}/source{quote(LOOP.path)}"
            assert uri in listed
            assert await read(agent, uri) == Path(LOOP.path).read_text()
            templates = (await agent.list_resource_templates()).resource_templates
            forms = {one.uri_template for one in templates}
            assert "holdfast://sessions/{id}/source/{+path}" in forms
            assert "holdfast://captures/{id}" in forms
            await call(agent, "debug_stop", session_id=session_id)

    run(main)


@pytest.mark.parametrize("mode", MODES)
def test_no_other_file_is_read(server: Server, mode: str, tmp_path: Path) -> None:
    (tmp_path / "private.py").write_text("secret = 1\n")

    async def main() -> None:
        async with over_http(server, mode) as agent:
            session_id = await start_loop(agent)
            begin = f"holdfast://sessions/{session_id}/source"
            for wrong in (
                f"{begin}{tmp_path}/private.py",
                f"{begin}{PROGRAMS}/../../README.md",
                f"{begin}/etc/passwd",
                "holdfast://sessions/nobody/output",
                "holdfast://captures/nobody",
                "file:///etc/passwd",
            ):
                with pytest.raises(MCPError) as refused:
                    await agent.read_resource(wrong)
                assert refused.value.error.code == (-32002 if mode == "legacy" else -32602)
                assert refused.value.error.data == {"uri": wrong}
            await call(agent, "debug_stop", session_id=session_id)

    run(main)


def test_the_output_is_the_end_of_what_was_written(server: Server, tmp_path: Path) -> None:
    (tmp_path / "talk.py").write_text(
        "for n in range(20_000):\n    print('line', n)\nprint('the last')\n"
    )

    async def main() -> None:
        async with over_http(server, cwd=tmp_path) as agent:
            place = f"talk.py:{3}"
            report = await call(agent, "debug_run", target="talk.py", breakpoints=[place])
            await call(agent, "debug_continue", session_id=report["session_id"])
            text = await read(agent, f"holdfast://sessions/{report['session_id']}/output")
            assert text.endswith("line 19999\nthe last\n")
            assert "bytes before this are left out" in text.splitlines()[0]
            assert len(text) < 66_000
            server.delete(f"/sessions/{report['session_id']}")

    run(main)


def test_a_capture_is_read_as_its_report(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")  # without the captures of other tests

    async def main() -> None:
        async with over_http(server) as agent:
            (uri,) = await list_all(agent)
            assert uri.startswith("holdfast://captures/")
            text = await read(agent, uri)
            assert "assert 10 == 11" in text
            assert await read(agent, "holdfast://captures/latest") == text

    try:
        run_pytest(server.data_dir, "--holdfast", "-q", "-k", "test_total")
        run(main)
    finally:
        server.stop()


def test_what_is_too_much_for_one_page_is_on_the_next(server: Server) -> None:
    made = [server.post("/sessions", {"name": f"many {n}"})["session_id"] for n in range(101)]

    async def main() -> None:
        async with over_http(server) as agent:
            first = await agent.list_resources()
            assert len(first.resources) == 100
            assert first.next_cursor == "100"
            uris = {f"holdfast://sessions/{one}/output" for one in made}
            assert uris <= await list_all(agent)
            with pytest.raises(MCPError, match="no page"):
                await agent.list_resources(cursor="x")

    try:
        run(main)
    finally:
        for one in made:
            server.delete(f"/sessions/{one}")
