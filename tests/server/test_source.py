"""Source text, by path or by frame, from our disk or from where only the target has it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from harness import PROGRAMS, Program, Server, Session

FUNCTIONS = Program("functions.py")
SHAPES = Program("helpers/shapes.py")


def test_the_source_of_any_frame_can_be_read(session: Session) -> None:
    session.break_at(SHAPES, "product")
    session.launch(FUNCTIONS)

    top = session.get("/source?frame_id=0")
    assert (top["path"], top["line"]) == (SHAPES.path, SHAPES.line("product"))
    assert top["content"] == Path(SHAPES.path).read_text()
    caller = session.get("/source?frame_id=1")
    assert caller["file"] == FUNCTIONS.path
    assert caller["total_lines"] == len(Path(FUNCTIONS.path).read_text().splitlines())
    session.get("/source?frame_id=99", expect=404)


def test_a_path_gives_its_text_whole_or_in_part(server: Server) -> None:
    with server.session(cwd=str(PROGRAMS)) as session:
        whole = session.get("/source?path=helpers/shapes.py")
        assert whole["path"] == SHAPES.path
        part = session.get(f"/source?path={quote(SHAPES.path)}&start=2&count=3")
        lines = Path(SHAPES.path).read_text().splitlines(keepends=True)
        assert part["content"] == "".join(lines[1:4])
        assert (part["start_line"], part["total_lines"]) == (2, len(lines))
        assert session.get(f"/source?path={quote(SHAPES.path)}&start=999")["content"] == ""


def test_what_cannot_be_read_is_not_found(session: Session, tmp_path: Path) -> None:
    session.break_at(FUNCTIONS, "plain")
    for _state in ("created", "paused"):
        for path in (tmp_path / "missing.py", tmp_path, "/dev/zero", "/dev/null", "a\0b"):
            gone = session.get(f"/source?path={quote(str(path))}", expect=404)
            assert gone["error_code"] == "source_not_found"
        if session.get()["status"] == "created":
            session.launch(FUNCTIONS)
    session.get("/source", expect=400)
    session.get(f"/source?path={quote(FUNCTIONS.path)}&frame_id=0", expect=400)
    session.get(f"/source?path={quote(FUNCTIONS.path)}&start=0", expect=400)


def test_only_regular_files_of_moderate_size_are_sources(session: Session, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "link.py").symlink_to("/proc/self/environ")
    (tmp_path / "folder").symlink_to("/proc/self")
    with open(tmp_path / "huge.py", "wb") as file:
        file.truncate(64 << 20)
    refused = [
        *("/proc/self/environ", "/proc/self/cmdline", "/sys/kernel/uevent_seqnum", "/dev/stdin"),
        *("/proc", "/tmp/../proc/self/maps", "//proc/self/maps"),
        *(tmp_path / name for name in ("pipe.py", "link.py", "folder/environ", "huge.py")),
    ]
    session.break_at(FUNCTIONS, "plain")
    for _state in ("created", "paused"):
        for path in refused:
            gone = session.get(f"/source?path={quote(str(path))}", expect=404)
            assert gone["error_code"] == "source_not_found", path
        if session.get()["status"] == "created":
            session.launch(FUNCTIONS)


def test_source_that_only_the_target_has_is_read_there(session: Session) -> None:
    code = (
        "import linecache\n"
        "text = 'def made(x):\\n    y = x + 1\\n    return 1 / (y - 2)\\n'\n"
        "linecache.cache['<made>'] = (len(text), None, text.splitlines(True), '<made>')\n"
        "exec(compile(text, '<made>', 'exec'))\n"
        "made(1)\n"
    )
    stop = session.post("/launch", {"code": code, "stop_on_exception": "uncaught", "wait": 60})
    assert stop["exception"]["type"] == "ZeroDivisionError"
    shown = session.get("/source?frame_id=0")
    assert "y = x + 1" in shown["content"]


def test_every_encoding_is_read_as_python_reads_it(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "latin.py"
    script.write_bytes("# coding: latin-1\nname = 'é'\nprint(name)\n".encode("latin-1"))
    assert "name = 'é'" in session.get(f"/source?path={quote(str(script))}")["content"]
    session.post("/breakpoints", {"file": str(script), "line": 3})
    stop = session.launch(str(script))
    assert stop["source"]["context"][1]["text"] == "name = 'é'"
    assert session.locals()["name"]["value"] == "'é'"


# -- where a breakpoint can be --------------------------------------------------------------------


def test_the_lines_that_can_stop_are_known_before_anything_is_launched(server: Server) -> None:
    counter = Program("counter.py")
    with server.session(cwd=str(PROGRAMS)) as session:
        shown = session.get("/source?path=counter.py")["executable_lines"]
        assert {counter.line("loop"), counter.line("return"), counter.line("call")} <= {*shown}
        assert not {counter.line("comment"), counter.line("docstring")} & {*shown}
        assert shown == sorted(shown)
        for line in range(1, len(Path(counter.path).read_text().splitlines()) + 1):
            made = session.post("/breakpoints", {"file": "counter.py", "line": line})
            assert made["verified"] == (line in shown), line
        part = session.get(f"/source?path=counter.py&start={counter.line('loop')}&count=2")
        assert part["executable_lines"] == [counter.line("loop"), counter.line("return")]
        session.delete("/breakpoints")  # they are the project's, and outlive the session


def test_of_a_file_that_is_no_python_no_line_can_stop(session: Session, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("x = 1\ndef (:\n")
    (tmp_path / "page.html").write_text("<p>tea\n")
    for name in ("wrong.py", "page.html"):
        assert session.get(f"/source?path={quote(str(tmp_path / name))}")["executable_lines"] == []


def test_lines_that_can_stop_are_left_out_where_there_is_no_file(session: Session) -> None:
    code = "import linecache\ntext = 'x = 1\\n1 / 0\\n'\n"
    code += "linecache.cache['<made>'] = (len(text), None, text.splitlines(True), '<made>')\n"
    code += "exec(compile(text, '<made>', 'exec'))\n"
    session.post("/launch", {"code": code, "stop_on_exception": "uncaught", "wait": 60})
    made = session.get("/source?frame_id=0")
    assert (made["path"], "executable_lines" in made) == ("<made>", False)


def test_the_source_of_a_frame_has_the_lines_too(session: Session) -> None:
    session.break_at(SHAPES, "product")
    session.launch(FUNCTIONS)
    shown = session.get("/source?frame_id=0")
    assert shown["line"] in shown["executable_lines"]
