"""What a shell offers after Tab, with the real command line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fork_server import run_holdfast, start_python
from harness import Program, Server, Session
from holdfast.cli import completion
from holdfast.recording.capture_files import captures_dir

LOOP = Program("loop.py")
FINDING = ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL", "HOLDFAST_HOME", "HOLDFAST_TOKEN")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name in ("shop.py", "notes.txt", ".hidden.py"):
        (folder / name).touch()
    (folder / "src").mkdir()
    return folder


def complete(folder: Path, line: str, **env: str) -> list[str]:
    """What bash is offered at the end of a line."""
    words = line.split(" ")
    plain = {name: value for name, value in os.environ.items() if name not in FINDING}
    environment = {**plain, "_HOLDFAST_COMPLETE": "complete_bash", "COMP_WORDS": line, **env}
    environment |= {"COMP_CWORD": str(len(words) - 1)}
    environment.setdefault("HOLDFAST_HOME", str(folder / "none"))
    script = folder.parent / "holdfast"  # the name that the variable is made of
    script.write_text("from holdfast.cli import main; main()")
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        process = start_python(
            *(str(script),),
            stdout=stdout.fileno(),
            stderr=stderr.fileno(),
            env=environment,
            cwd=folder,
        )
        process.wait(60)
        stdout.seek(0)
        stderr.seek(0)
        assert stderr.read() == ""
        return stdout.read().split()


@pytest.fixture
def held(session: Session) -> Session:
    session.break_at(LOOP, "call")
    session.launch(LOOP)
    return session


def test_commands_and_options_are_offered(folder: Path) -> None:
    assert {"run", "step", "sessions", "stop"} <= set(complete(folder, "holdfast "))
    assert complete(folder, "holdfast ins") == ["inspect"]
    assert "--break" in complete(folder, "holdfast run --")
    assert complete(folder, "holdfast step to") == ["to-line"]


def test_scripts_and_directories_are_offered(folder: Path) -> None:
    assert complete(folder, "holdfast run ") == ["shop.py", "src/"]
    assert complete(folder, "holdfast run -b sh") == ["shop.py:"]
    assert complete(folder, "holdfast run --stdin n") == ["notes.txt"]
    assert complete(folder, "holdfast run --cwd ") == ["src/"]


def test_ids_of_the_running_server_are_offered(server: Server, held: Session, folder: Path) -> None:
    home = str(server.data_dir)
    assert held.id in complete(folder, "holdfast continue -s ", HOLDFAST_HOME=home)
    assert complete(folder, f"holdfast stop {held.id[:12]}", HOLDFAST_HOME=home) == [held.id]
    [hold] = [
        one["hold_id"] for one in server.get("/api/holds")["holds"] if one["session_id"] == held.id
    ]
    assert hold in complete(folder, "holdfast holds show ", HOLDFAST_HOME=home)
    assert "all" in complete(folder, "holdfast break -r ", HOLDFAST_HOME=home)


def test_captures_are_offered_without_a_server(folder: Path, tmp_path: Path) -> None:
    captures = captures_dir(tmp_path)
    captures.mkdir(mode=0o700)
    assert complete(folder, "holdfast captures ", HOLDFAST_HOME=str(tmp_path)) == ["latest"]
    offered = complete(folder, "holdfast inspect --capture l", HOLDFAST_HOME=str(tmp_path))
    assert offered == ["latest"]


def test_without_a_server_nothing_is_offered_or_started(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for line in ("holdfast stop ", "holdfast holds show ", "holdfast calls show "):
        assert complete(folder, line, HOLDFAST_HOME=str(home)) == []
    assert not home.exists()


def test_a_server_that_does_not_answer_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER_URL", "http://127.0.0.1:1")
    assert completion.complete_session("") == []
    monkeypatch.setenv("HOLDFAST_SERVER_URL", "nonsense://")
    assert completion.complete_hold("") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_shown(shell: str, tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    ran = run_holdfast("--show-completion", shell, env=env)
    assert ran.returncode == 0, ran.stderr
    assert "_COMPLETE" in ran.stdout
    assert list(tmp_path.iterdir()) == []


BASH = """
eval "$(holdfast --show-completion bash)"
COMP_WORDS=(holdfast run -b sh) COMP_CWORD=3
_holdfast_completion holdfast
echo "${COMPREPLY[@]}"
"""


def test_it_works_in_a_real_shell(folder: Path) -> None:
    scripts = os.path.dirname(sys.executable)
    env = {
        **os.environ,
        "PATH": f"{scripts}:{os.environ['PATH']}",
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    command = ["bash", "--norc", "-c", BASH]
    ran = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert (ran.stdout, ran.stderr) == ("shop.py:\n", "")
