"""Interpreters found, run and refused, with real ones."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import InterpreterMissing
from holdfast.targets.program import interpreters
from holdfast.targets.program.interpreters import Interpreter, venv_environment

OWN_VERSION = sys.version_info[:3]


def resolve(**asked: str | None) -> Interpreter:
    return asyncio.run(interpreters.resolve(**asked))


def refusal(**asked: str | None) -> InterpreterMissing:
    with pytest.raises(InterpreterMissing) as raised:
        resolve(**asked)
    return raised.value


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def make_fake_python(path: Path, version: str) -> Path:
    """Answers the probe as a Python of that version would."""
    facts = f"('holdfast', {version}, 'cpython', '/usr', '/usr/bin/python')"
    return script(path, f'#!/bin/sh\necho "{facts}"\n')


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "env"
    venv.create(folder, symlinks=True)
    return folder


def test_the_default_is_our_own_python() -> None:
    own = resolve()
    assert (own.path, own.version, own.prefix) == (sys.executable, OWN_VERSION, sys.prefix)
    assert own.is_venv == (sys.prefix != sys.base_prefix)


def test_a_venv_is_known_by_where_it_stands_not_by_where_it_links_to(environment: Path) -> None:
    found = resolve(venv=str(environment))
    assert found.path == str(environment / "bin" / "python")
    assert found.prefix == str(environment)
    assert found.is_venv
    assert (found.version, found.implementation) == (OWN_VERSION, sys.implementation.name)


def test_paths_are_relative_to_the_sessions_directory(environment: Path) -> None:
    cwd = str(environment.parent)
    by_venv = resolve(venv="env", cwd=cwd)
    assert by_venv == resolve(python_path="env/bin/python", cwd=cwd)
    assert by_venv.path == str(environment / "bin" / "python")


def test_a_name_is_looked_up_on_the_path(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(environment / "bin"))
    assert resolve(python_path="python3").path == str(environment / "bin" / "python3")


def test_python_path_wins_over_venv(environment: Path) -> None:
    found = resolve(python_path=sys.executable, venv=str(environment))
    assert found.path == sys.executable


def test_a_conda_environment_is_a_directory_with_bin_python(tmp_path: Path) -> None:
    (tmp_path / "conda-meta").mkdir()
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    facts = f"('holdfast', (3, 12, 1), 'cpython', '{tmp_path}', '{python}')"
    script(python, f'#!/bin/sh\necho "{facts}"\n')
    assert resolve(venv=str(tmp_path)) == Interpreter(
        str(python), (3, 12, 1), "cpython", str(tmp_path), True
    )


def test_an_interpreter_is_asked_once_until_its_file_changes(tmp_path: Path) -> None:
    python = make_fake_python(tmp_path / "python", "(3, 12, 1)")
    count = "echo >> calls\n"
    python.write_text(python.read_text() + count)
    asked = {"python_path": str(python), "cwd": str(tmp_path)}
    assert resolve(**asked) == resolve(**asked)
    assert (tmp_path / "calls").read_text() == "\n"
    make_fake_python(python, "(3, 13, 0)")
    os.utime(python, ns=(1, 1))
    assert resolve(**asked).version == (3, 13, 0)


MISSING = [
    ({"python_path": "./nowhere/python"}, "missing", "does not exist"),
    ({"python_path": "no-such-python"}, "missing", "not on the PATH"),
    ({"python_path": "."}, "directory", "is a directory"),
    ({"venv": "nowhere"}, "missing", "is not a directory"),
    ({"venv": "."}, "missing", "has no Python"),
    ({"python_path": "./plain"}, "not_executable", "not executable"),
    ({"python_path": "./dangling"}, "missing", "the link to"),
    ({"python_path": "./fifo"}, "not_python", "is not a file"),
    ({"python_path": "./garbage"}, "not_python", "cannot be run"),
    ({"python_path": "./shell"}, "not_python", "not a Python"),
    ({"python_path": "./failing"}, "not_python", "not a Python"),
    ({"python_path": "./old"}, "too_old", "is Python 3.8.18; a target needs 3.9"),
    ({"python_path": "./ancient"}, "too_old", "is Python 2.7.18"),
]


@pytest.mark.parametrize(("asked", "reason", "message"), MISSING)
def test_what_will_not_do_is_refused_with_the_reason(
    tmp_path: Path, asked: dict[str, str], reason: str, message: str
) -> None:
    (tmp_path / "plain").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "fifo", 0o700)
    script(tmp_path / "garbage", "\0\1\2")
    script(tmp_path / "shell", "#!/bin/sh\necho hello\n")
    script(tmp_path / "failing", "#!/bin/sh\necho no >&2\nexit 2\n")
    make_fake_python(tmp_path / "old", "(3, 8, 18)")
    make_fake_python(tmp_path / "ancient", "(2, 7, 18)")
    error = refusal(**asked, cwd=str(tmp_path))
    assert message in error.message
    assert error.details["reason"] == reason
    assert error.details.items() >= asked.items()
    assert str(tmp_path) in error.details["path"]


def test_an_interpreter_that_does_not_answer_is_given_up(
    tmp_path: Path, limits: Callable[..., None]
) -> None:
    limits(interpreter_answer=0.2)
    python = script(tmp_path / "python", "#!/bin/sh\nsleep 60\n")
    assert refusal(python_path=str(python)).details["reason"] == "no_answer"


def test_code_of_the_user_does_not_run_while_we_ask(environment: Path, tmp_path: Path) -> None:
    for name in ("sitecustomize.py", "usercustomize.py", "encodings.py"):
        (tmp_path / name).write_text("raise SystemExit('ran')")
    assert resolve(venv=str(environment), cwd=str(tmp_path)).is_venv


def activate(environment: Path, **environ: str) -> dict[str, str]:
    return venv_environment(str(environment), environ)


def test_the_variables_are_those_of_activation(environment: Path) -> None:
    command = '. "$0/bin/activate"; echo "$VIRTUAL_ENV"; echo "$PATH"; echo "${PYTHONHOME-none}"'
    before: dict[str, Any] = {"PATH": os.environ["PATH"], "PYTHONHOME": "/nowhere"}
    done = subprocess.run(
        ["sh", "-c", command, str(environment)], env=before, capture_output=True, text=True
    )
    ours = activate(environment, **before)
    wanted = [ours["VIRTUAL_ENV"], ours["PATH"], ours.get("PYTHONHOME", "none")]
    assert done.stdout.splitlines() == wanted


def test_a_conda_environment_has_its_own_variables(tmp_path: Path) -> None:
    (tmp_path / "conda-meta").mkdir()
    ours = activate(tmp_path, PATH="/usr/bin")
    assert ours == {
        "PATH": f"{tmp_path}/bin:/usr/bin",
        "CONDA_PREFIX": str(tmp_path),
        "CONDA_DEFAULT_ENV": tmp_path.name,
    }


def test_our_own_variables_are_the_ground_and_stay_as_they_are(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST", "kept")
    before = dict(os.environ)
    assert venv_environment(str(environment))["HOLDFAST_TEST"] == "kept"
    assert dict(os.environ) == before
