"""Launching: a script, a module, a test or a piece of code, as its user would start it."""

from __future__ import annotations

import json
import os
import venv
import zipapp
from pathlib import Path
from typing import Any

import pytest

from harness import PROGRAMS, Program, Server, Session, names_our_files

LAUNCH_REPORT = Program("launch_report.py")
STEPS = Program("steps.py")
LIBRARY_ERRORS = Program("library_errors.py")


def launch_and_report(session: Session, **options: Any) -> dict[str, Any]:
    end = session.post("/launch", {"wait": 60, **options})
    assert (end["status"], end["exit_code"]) == ("terminated", 0), end
    found: dict[str, Any] = json.loads(session.output())
    return found


def test_a_relative_script_without_a_directory_is_found_from_the_servers(session: Session) -> None:
    seen = launch_and_report(session, script=os.path.relpath(LAUNCH_REPORT.path))
    assert seen["cwd"] == str(PROGRAMS)


def test_arguments_and_environment_reach_the_script(session: Session) -> None:
    args = ["--epochs", "10", "two words", "ünïcode", ""]
    seen = launch_and_report(
        session,
        script=LAUNCH_REPORT.path,
        args=args,
        env={"CUDA_VISIBLE_DEVICES": "0", "NO_PROXY": None},
    )
    assert seen["argv"] == args
    assert seen["environment"]["CUDA_VISIBLE_DEVICES"] == "0"
    assert "NO_PROXY" not in seen["environment"]
    assert "PATH" in seen["environment"]
    assert (seen["name"], seen["terminal"]) == ("__main__", False)


def test_nothing_of_the_debugger_is_in_the_environment(session: Session) -> None:
    seen = launch_and_report(session, script=LAUNCH_REPORT.path)
    assert not [name for name in seen["environment"] if "DEV" in name and name not in os.environ]


def test_the_working_directory_is_the_scripts_unless_given(
    session: Session, server: Server, tmp_path: Path
) -> None:
    assert launch_and_report(session, script=LAUNCH_REPORT.path)["cwd"] == str(PROGRAMS)
    with server.session() as other:
        seen = launch_and_report(other, script=LAUNCH_REPORT.path, cwd=str(tmp_path))
        assert (seen["cwd"], seen["path"][0]) == (str(tmp_path), str(PROGRAMS))
    (tmp_path / "here.py").write_text(Path(LAUNCH_REPORT.path).read_text())
    with server.session(cwd=str(tmp_path)) as other:
        assert launch_and_report(other, script="here.py")["cwd"] == str(tmp_path)


def test_a_module_is_imported_from_the_working_directory(session: Session, tmp_path: Path) -> None:
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "till.py").write_text("def total():\n    return 42\n")
    main = package / "__main__.py"
    main.write_text("from . import till\nprint(__package__, till.total())\n")
    session.post("/breakpoints", {"file": str(package / "till.py"), "line": 2})

    stop = session.post("/launch", {"module": "shop", "cwd": str(tmp_path), "wait": 60})

    assert stop["location"]["function"] == "total"
    files = [each["file"] for each in session.get("/stacktrace")["frames"]]
    assert files[:2] == [str(package / "till.py"), str(main)]
    assert session.resume()["exit_code"] == 0
    assert session.output() == "shop 42\n"


def test_a_module_that_is_not_there_ends_as_python_says(session: Session) -> None:
    end = session.post("/launch", {"module": "no_such_module", "wait": 60})
    assert (end["status"], end["exit_code"]) == ("terminated", 1)
    assert "No module named no_such_module" in session.output("stderr")


@pytest.mark.slow
def test_one_test_is_debugged_under_pytest(session: Session, tmp_path: Path) -> None:
    tests = tmp_path / "test_math.py"
    tests.write_text("def test_divide():\n    x = 6 / 3\n    assert x == 2\n")
    session.post("/breakpoints", {"file": "test_math.py", "line": 3})
    stop = session.post(
        "/launch",
        {
            "module": "pytest",
            "args": ["-xvs", "-p", "no:cacheprovider", "test_math.py::test_divide"],
            "cwd": str(tmp_path),
            "wait": 60,
        },
    )
    assert stop["location"] == {"file": str(tests), "line": 3, "function": "test_divide"}
    assert session.evaluate("x") == "2.0"
    assert session.resume(wait=60)["exit_code"] == 0
    assert "1 passed" in session.output()


def test_a_piece_of_code_is_run(session: Session) -> None:
    code = "import sys\nprint(sys.argv, __name__)\nopen('no such file')\n"
    end = session.post("/launch", {"code": code, "args": ["a"], "wait": 60})
    assert (end["status"], end["exit_code"]) == ("terminated", 1)
    assert session.output() == "['-c', 'a'] __main__\n"
    trace = session.output("stderr")
    assert 'File "<string>", line 3, in <module>' in trace
    assert not names_our_files(trace)


def make_app(folder: Path) -> Path:
    """A directory that Python can run, with a module in a package."""
    app = folder / "shop"
    (app / "goods").mkdir(parents=True)
    (app / "goods" / "__init__.py").touch()
    (app / "goods" / "till.py").write_text("def total(count):\n    return count * 21\n")
    (app / "__main__.py").write_text("from goods import till\nprint(till.total(2))\n")
    return app


@pytest.mark.parametrize("kind", ["directory", "zip"])
def test_breakpoints_stop_in_a_directory_or_zip_file_that_is_run(
    session: Session, tmp_path: Path, kind: str
) -> None:
    app = make_app(tmp_path)
    if kind == "zip":
        zipapp.create_archive(app)
        app = tmp_path / "shop.pyz"
    main, till = str(app / "__main__.py"), str(app / "goods" / "till.py")
    points = [{"file": main, "line": 2}, {"file": till, "line": 2}]
    points.append({"function": "goods.till.total"})
    for point in points:
        answer = session.post("/breakpoints", point)
        assert answer["verified"] is ("file" in point), answer
    function = answer["id"]

    stop = session.post("/launch", {"script": app.name, "cwd": str(tmp_path), "wait": 60})

    assert stop["location"] == {"file": main, "line": 2, "function": "<module>"}
    assert stop["source"]["text"] == "print(till.total(2))"
    entry = session.resume()
    assert (entry["breakpoint_ids"], entry["location"]["function"]) == ([function], "total")
    stop = session.resume()
    assert stop["location"] == {"file": till, "line": 2, "function": "total"}
    assert session.get("/source?frame_id=0")["content"].endswith("count * 21\n")
    session.get(f"/source?path={app}/missing.py", expect=404)
    assert session.resume()["exit_code"] == 0
    assert session.output() == "42\n"


def test_a_syntax_error_in_a_directorys_main_file_is_reported(
    session: Session, tmp_path: Path
) -> None:
    main = tmp_path / "__main__.py"
    main.write_text("x = 1\nif x == 1\n    pass\n")
    refused = session.post("/launch", {"script": str(tmp_path)}, expect=400)
    assert refused["error_code"] == "syntax_error"
    details = refused["error"]["details"]
    assert (details["file"], details["line"]) == (str(main), 2)


def test_flags_of_the_interpreter_are_the_programs(session: Session) -> None:
    code = (
        "import subprocess, sys\n"
        "assert False\n"
        "flags = subprocess._args_from_interpreter_flags()\n"
        "print(sys._xoptions, sys.warnoptions, flags)\n"
    )
    flags = ["-OX", "dev", "-Werror", "--check-hash-based-pycs", "never"]
    end = session.post("/launch", {"code": code, "python_args": flags, "wait": 60})
    assert end["exit_code"] == 0, session.output("stderr")
    assert session.output().startswith("{'dev': True} ['default', 'error'] ['-O', '-Werror'")
    assert session.get("")["launch"]["python_args"] == flags


def test_the_named_interpreter_runs_the_program(session: Session, python: str) -> None:
    seen = launch_and_report(session, script=LAUNCH_REPORT.path, python_path=python)
    assert os.path.realpath(seen["executable"]) == os.path.realpath(python)


def test_an_environment_with_nothing_installed_is_enough(session: Session, tmp_path: Path) -> None:
    made = tmp_path / "env"
    venv.create(made, with_pip=False)
    seen = launch_and_report(
        session, script=LAUNCH_REPORT.path, venv=str(made), pythonpath=["/one", "/two"]
    )
    assert seen["prefix"] == str(made)
    assert seen["environment"]["VIRTUAL_ENV"] == str(made)
    assert seen["environment"]["PATH"].startswith(str(made / "bin"))
    assert seen["path"][1:3] == ["/one", "/two"]


def test_it_stops_on_entry_before_the_first_line(session: Session, python: str) -> None:
    stop = session.launch(STEPS, python=python, stop_on_entry=True)
    assert (stop["status"], stop["reason"]) == ("paused", "entry")
    assert stop["location"] == {"file": STEPS.path, "line": 1, "function": "<module>"}
    step = session.post("/step-over")
    assert step["location"]["line"] == 3
    assert session.resume()["exit_code"] == 0


# -- exceptions -----------------------------------------------------------------------------------


def describe_exception(stop: dict[str, Any]) -> tuple[str, str, int]:
    assert (stop["status"], stop["reason"]) == ("paused", "exception"), stop
    shown = stop["exception"]
    assert shown["location"] == stop["location"]
    assert stop["location"]["file"] == LIBRARY_ERRORS.path
    return shown["type"], shown["message"], stop["location"]["line"]


def test_it_stops_once_for_each_exception_raised_in_the_users_code(
    session: Session, python: str
) -> None:
    stop = session.launch(LIBRARY_ERRORS, python=python, stop_on_exception=True, args=["crash"])
    bad = "invalid literal for int() with base 10: 'x'"
    assert describe_exception(stop) == ("ValueError", bad, LIBRARY_ERRORS.line("int"))
    assert session.evaluate("text") == "'x'"
    assert describe_exception(session.resume()) == (
        "KeyError",
        "'key'",
        LIBRARY_ERRORS.line("inner"),
    )
    assert describe_exception(session.resume()) == (
        "RuntimeError",
        "the end",
        LIBRARY_ERRORS.line("crash"),
    )
    end = session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 1)
    assert session.output("stderr").count("Traceback") == 1


def test_it_stops_only_where_nothing_catches(session: Session, python: str) -> None:
    stop = session.launch(
        LIBRARY_ERRORS, python=python, stop_on_exception="uncaught", args=["crash"]
    )
    assert describe_exception(stop) == ("RuntimeError", "the end", LIBRARY_ERRORS.line("crash"))
    assert [each["name"] for each in session.get("/stacktrace")["frames"]] == ["main", "<module>"]
    assert session.resume()["exit_code"] == 1


# -- just my code ---------------------------------------------------------------------------------


LIBRARY = "import json\nprint(json.dumps([1]))\nprint('after')\n"


@pytest.mark.parametrize("mine", [True, False])
def test_just_my_code_keeps_steps_out_of_libraries(
    session: Session, python: str, tmp_path: Path, mine: bool
) -> None:
    script = tmp_path / "uses_json.py"
    script.write_text(LIBRARY)
    session.post("/breakpoints", {"file": str(script), "line": 2})
    session.launch(str(script), python=python, just_my_code=mine)
    step = session.post("/step-into")
    if mine:
        assert step["location"]["line"] == 3
    else:
        assert os.path.basename(step["location"]["file"]) == "__init__.py"
        assert step["location"]["function"] == "dumps"
        assert session.get("/stacktrace")["frames"][0]["library"] is True


def test_a_breakpoint_in_a_library_stops_all_the_same_and_stepping_goes_on(
    session: Session, tmp_path: Path
) -> None:
    script = tmp_path / "uses_json.py"
    script.write_text(LIBRARY)
    session.post("/breakpoints", {"function": "json.dumps"})
    stop = session.launch(str(script), just_my_code=True)
    assert stop["location"]["function"] == "dumps"
    step = session.post("/step-over")
    assert step["location"]["function"] == "dumps"
    out = session.post("/step-out")
    assert (out["location"]["file"], out["location"]["line"]) == (str(script), 2)
