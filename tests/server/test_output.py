"""Output: what a program writes is kept in order, read with a cursor, and followed live."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from harness import Program, Server, Session

LOOP = Program("loop.py")
STREAM_WRITER = Program("stream_writer.py")


def texts(page: dict[str, Any]) -> str:
    return "".join(each["text"] for each in page["outputs"])


def test_both_streams_are_captured_with_times_in_order(session: Session, python: str) -> None:
    session.launch(STREAM_WRITER, python=python)
    assert session.output() == ("out 1\nout 2\ngrüße, 世界 🐍\nbad \\xff byte\n世\nno newline")
    assert session.output("stderr") == "err 1\n"
    page = session.get("/output")
    assert {each["type"] for each in page["outputs"]} == {"stdout", "stderr"}
    stamps = [each["timestamp"] for each in page["outputs"]]
    assert stamps == sorted(stamps)
    assert [each["seq"] for each in page["outputs"]] == list(range(1, len(stamps) + 1))
    assert (page["has_more"], page["dropped"]) == (False, 0)


def test_what_was_printed_before_a_stop_is_there_at_the_stop(session: Session, python: str) -> None:
    code = "print('one', end='')\nprint('two')\nx = 1\n"
    session.post("/launch", {"code": code, "python": python, "stop_on_entry": True, "wait": 60})
    session.post("/step-over")
    assert session.output() == "one"
    session.post("/step-over")
    assert session.output() == "onetwo\n"


def test_output_is_read_page_by_page(session: Session) -> None:
    code = (  # what goes to another stream is an entry of its own
        "import sys\n"
        "for i in range(40):\n"
        "    print(i, file=sys.stderr if i % 2 else sys.stdout, flush=True)\n"
    )
    session.post("/launch", {"code": code, "wait": 60})
    whole = session.get("/output")
    cursor, found, pages = "0", "", 0
    while True:
        page = session.get(f"/output?since={cursor}&limit=3")
        assert len(page["outputs"]) <= 3
        found, cursor, pages = found + texts(page), page["cursor"], pages + 1
        if not page["has_more"]:
            break
    assert found == texts(whole) == "".join(f"{i}\n" for i in range(40))
    assert pages > 1
    assert session.get(f"/output?since={cursor}")["outputs"] == []
    assert session.get("/output?since=x", expect=400)["error"]["details"]["field"] == "since"
    session.get("/output?limit=0", expect=400)


def test_the_oldest_goes_when_there_is_too_much(server: Server) -> None:
    with server.session(output_limit_bytes=4096) as session:
        code = (
            "import sys\nfor i in range(400):\n    sys.stdout.write('x' * 99 + '\\n')\nprint('end')"
        )
        session.post("/launch", {"code": code, "wait": 60})
        page = session.get("/output?since=0")
        assert page["dropped"] > 0
        assert len(texts(page)) <= 4096
        assert texts(page).endswith("x\nend\n")
        assert session.get(f"/output?since={page['cursor']}")["dropped"] == 0


def test_one_enormous_write_is_kept_to_the_limit_as_well(server: Server) -> None:
    with server.session(output_limit_bytes=2048) as session:
        session.post("/launch", {"code": "print('x' * 1_000_000)", "wait": 60})
        page = session.get("/output")
        assert len(texts(page)) <= 2048
        assert page["dropped"] > 0


def test_output_can_be_forgotten(session: Session) -> None:
    session.launch(LOOP)
    cursor = session.get("/output")["cursor"]
    assert session.delete("/output") == {"cleared": True, "cursor": cursor}
    page = session.get("/output")
    assert (page["outputs"], page["dropped"]) == ([], 0), "what was cleared was not dropped"
    session.post("/restart", {"wait": 60})
    assert texts(session.get(f"/output?since={cursor}")) == "total 45\ndone\n"


def test_a_program_that_floods_us_is_still_heard(session: Session) -> None:
    code = (
        "import select, sys\n"
        "while not select.select([0], [], [], 0)[0]:\n"
        "    sys.stdout.write('0123456789' * 10 + '\\n')\n"
    )
    session.post("/launch", {"code": code})
    session.get("/output?wait=60")
    assert session.get("/status")["status"] == "running"
    session.post("/input", {"input": "enough\n"})
    assert session.get("/status?wait=60")["exit_code"] == 0


def test_a_program_may_close_its_streams(session: Session) -> None:
    code = (
        "import os, sys\nprint('before', flush=True)\nsys.stdout.close()\nos.close(2)\n"
        "os.close(0)\nx = 1\n"
    )
    session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 60})
    for line in range(2, 7):
        assert session.post("/step-over")["location"]["line"] == line
    assert session.resume()["exit_code"] is not None
    assert session.output() == "before\n"


# -- live -----------------------------------------------------------------------------------------


def events(answer: httpx.Response) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for line in answer.iter_lines():
        if not line:
            if event:
                yield event
            event = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = value


def test_output_is_streamed_until_the_end(session: Session) -> None:
    code = "print('one')\nprint('two')\nprint('three')\n"
    session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 60})
    with session.server.http.stream("GET", session.path("/output/stream")) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        stream = events(answer)
        session.post("/step-over")
        first = next(stream)
        assert (first["event"], json.loads(first["data"])["text"]) == ("stdout", "one\n")
        session.post("/continue")
        rest = list(stream)
    assert "".join(json.loads(e["data"]).get("text", "") for e in rest) == "two\nthree\n"
    assert rest[-1]["event"] == "end"
    assert json.loads(rest[-1]["data"]) == {"status": "terminated", "exit_code": 0}

    # Whoever lost the connection goes on from where it was.
    http, path = session.server.http, session.path("/output/stream")
    with http.stream("GET", path, headers={"Last-Event-ID": first["id"]}) as answer:
        again = list(events(answer))
    with http.stream("GET", f"{path}?since={first['id']}") as answer:
        since = list(events(answer))
    assert again == since == rest


# -- files that move ------------------------------------------------------------------------------


def test_relative_paths_start_where_the_program_started(session: Session, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    script = tmp_path / "moves.py"
    script.write_text("import os\nos.chdir('away')\nx = 1\ny = 2\n")
    session.post("/breakpoints", {"file": str(script), "line": 3})
    session.post("/launch", {"script": "moves.py", "cwd": str(tmp_path), "wait": 60})
    point = session.post("/breakpoints", {"file": "moves.py", "line": 4})
    assert (point["verified"], point["file"]) == (True, str(script))
    assert session.resume()["location"]["line"] == 4
    assert session.evaluate("os.getcwd()") == repr(str(tmp_path / "away"))


def test_a_program_that_changes_its_own_source_is_reported(
    session: Session, tmp_path: Path
) -> None:
    script = tmp_path / "changes.py"
    text = "open(__file__, 'a').write('# changed\\n')\nx = 1\ny = 2\n"
    script.write_text(text)
    session.post("/breakpoints", {"file": str(script), "line": 3})
    stop = session.launch(str(script))
    assert stop["location"]["line"] == 3
    [warning] = stop["warnings"]
    assert "has changed" in warning
    assert script.read_text() == text + "# changed\n"


def test_names_and_values_in_any_script(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "größe 世界.py"
    script.write_text("größe = '世界 🐍'\nprint(größe)\n", "utf-8")
    session.post("/breakpoints", {"file": str(script), "line": 2})
    stop = session.launch(str(script), env={"NAME": "ünï"}, args=["→"])
    assert stop["location"]["file"] == str(script)
    assert session.locals()["größe"]["value"] == "'世界 🐍'"
    assert session.evaluate("größe[0]") == "'世'"
    session.resume()
    assert session.output() == "世界 🐍\n"


# -- with an answer at a stop ---------------------------------------------------------------------


def shown(answer: dict[str, Any]) -> str:
    return "".join(each["text"] for each in answer["output"])


def test_an_answer_shows_what_no_answer_of_its_run_has_shown(session: Session) -> None:
    code = "print('one')\nprint('two')\nprint('three')\nprint('four')\n"
    session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 60})
    session.post("/step-over", {"wait": 60})
    both = session.post("/step-over", {"wait": 60, "include": ["output"]})
    assert shown(both) == "one\ntwo\n", "an answer without output loses nothing"
    assert session.get("/status?include=output")["output"] == []
    session.post("/step-over", {"wait": 60})
    assert shown(session.get("/status?include=output")) == "three\n"
    end = session.resume(include="output")
    assert shown(end) == "four\n"
    assert end["output_cursor"] == session.get("/output")["cursor"]

    again = session.post("/restart", {"wait": 60, "include": ["output"], "stop_on_entry": False})
    assert shown(again) == "one\ntwo\nthree\nfour\n"


def test_whoever_names_a_cursor_sees_everything_after_it(session: Session) -> None:
    """Two clients of one session; and one that asks again after a lost answer."""
    code = "print('one')\nprint('two')\nprint('three')\n"
    session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 60})
    first = session.post("/step-over", {"wait": 60, "include": ["output"]})
    cursor = first["output_counts"]["since"]
    session.post("/step-over", {"wait": 60, "include": ["output"]})
    for _ in range(2):
        again = session.get(f"/status?include=output&output_since={cursor}")
        assert shown(again) == "one\ntwo\n"
    end = session.resume(include=["output"], output_since=int(first["output_cursor"]))
    assert shown(end) == "two\nthree\n"
    refused = session.get("/status?include=output&output_since=x", expect=400)
    assert refused["error"]["details"]["field"] == "output_since"


def test_of_too_much_output_an_answer_shows_the_end(session: Session) -> None:
    code = "for i in range(20_000):\n    print(f'{i:09}')\n"
    end = session.post("/launch", {"code": code, "wait": 60, "include": ["output"]})
    text, counts = shown(end), end["output_counts"]
    assert len(text) == 64 * 1024
    assert text.endswith("000019998\n000019999\n")
    assert counts["bytes"] == 200_000
    assert counts["omitted_bytes"] == 200_000 - 64 * 1024
    assert 0 < counts["omitted"] < counts["entries"]
    assert counts["dropped"] == 0
    assert len(end["output"]) == 1, "neighbours of one stream are one entry"
    whole = session.output()
    assert whole.endswith(text)
    assert whole.startswith("000000000\n")
    assert session.get(f"/output?since={end['output_cursor']}")["outputs"] == []
    before = session.get(f"/output?since={counts['since']}&limit={counts['omitted']}")
    assert whole.startswith(texts(before))

    for size in (0, 15, 1_000_000):
        part = session.get(f"/status?include=output&output_since=0&output_bytes={size}")
        assert len(shown(part)) == min(size, 200_000)
    session.get("/status?include=output&output_bytes=-1", expect=400)


def test_a_long_entry_is_cut_between_two_characters(session: Session) -> None:
    code = "print('é' * 1000, end='')"
    end = session.post(
        "/launch", {"code": code, "wait": 60, "include": "output", "output_bytes": 7}
    )
    assert shown(end) == "é" * 3
    assert end["output"][0]["omitted_bytes"] == 1994


def test_entries_name_the_run_that_wrote_them(session: Session) -> None:
    session.post("/launch", {"code": "x =", "wait": 60}, expect=400)
    end = session.post("/launch", {"code": "print('a')", "wait": 60, "include": ["output"]})
    assert [each["run"] for each in end["output"]] == [1]
    session.post("/restart", {"wait": 60})
    found = {each["run"]: each["text"] for each in session.get("/output")["outputs"]}
    assert found == {1: "a\n", 2: "a\n"}
    assert session.get()["run"] == 2


def test_output_that_was_cleared_is_not_shown_again(server: Server) -> None:
    with server.session(output_limit_bytes=4096) as session:
        code = "import sys\nsys.stdout.write('x' * 3000)\nx = 1\nsys.stdout.write('y' * 6000)\n"
        session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 60})
        session.post("/step-over", {"wait": 60})
        session.post("/step-over", {"wait": 60})
        session.delete("/output")
        stop = session.get("/status?include=output")
        assert (stop["output"], stop["output_counts"]["dropped"]) == ([], 0)
        end = session.resume(include=["output"])
        assert set(shown(end)) == {"y"}
        assert end["output_counts"]["dropped"] > 0, "more than is kept was written since then"
        assert session.get("/output")["dropped"] == end["output_counts"]["dropped"]
