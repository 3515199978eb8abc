"""`holdfast agent test`: a pytest that passes on the recorded behaviour and fails on another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_loops import AgentLoop, build_writes, open_bridge
from generous_timings import set_timings
from holdfast.bridge import recorded_test
from holdfast.bridge.recorded_test import check_recording
from holdfast.recording.directories import AgentsDirectory, SessionDirectory

AGENT = """
import asyncio
import sys

from holdfast.bridge import start

dbg = start("my agent")
done = []


@dbg.tool
def write(path, text="x"):
    done.append(path)
    open("written.txt", "a").write(path)
    return f"wrote {path}"


@dbg.model(model="script-1")
async def ask(messages):
    open("asked.txt", "a").write("x")
    return {"role": "assistant", "content": "write two files"}


async def main():
    async with dbg.run():
        await ask([{"role": "user", "content": "begin"}])
        for path in ("a.txt", "b.txt"):
            write(path)
    print("done", len(sys.argv))


if __name__ == "__main__":
    asyncio.run(main())
"""

Run = subprocess.CompletedProcess[str]


class Project:
    """A directory with an agent in it, and a recording of the agent elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.agent = self.folder / "my_agent.py"
        self.agent.write_text(AGENT)
        known = {name: text for name, text in os.environ.items() if "HOLDFAST" not in name}
        self.environment = {**known, **set_timings(), "HOLDFAST_HOME": str(folder / "data")}
        self.agents = AgentsDirectory(folder / "data" / "agents")
        self.run_python("my_agent.py", "--option")

    @property
    def recording(self) -> SessionDirectory:
        [home] = self.agents.list_sessions()  # those of the tests are not kept
        return home

    def run_python(self, *words: str) -> Run:
        return subprocess.run(
            [sys.executable, *words],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def write_test(self, *words: str, to: str = "test_agent.py") -> tuple[str, str]:
        """The file, and what the command says on stderr. Paths are relative to the file."""
        path = self.folder / to
        path.parent.mkdir(exist_ok=True)
        with path.open("w") as file:
            ran = subprocess.run(
                [sys.executable, "-m", "holdfast", "agent", "test", *words],
                env=self.environment,
                cwd=self.folder,
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
            )
        return path.read_text(), ran.stderr

    def run_test(self, path: str = "test_agent.py") -> Run:
        options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".")
        return self.run_python("-m", "pytest", *options, path)

    def change(self, before: str, after: str) -> None:
        assert before in self.agent.read_text()
        self.agent.write_text(self.agent.read_text().replace(before, after))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.slow
def test_the_written_test_passes_until_the_agent_does_something_else(project: Project) -> None:
    written, said = project.write_test("my agent", "--copy", "recordings")
    assert said == ""
    assert 'command=[sys.executable, "my_agent.py", "--option"]' in written
    assert f'HERE / "recordings/{project.recording.id}"' in written
    assert "cwd=HERE," in written
    project.recording.path.rename(project.folder / "gone")  # the copy is all that it needs
    ran = project.run_test()
    assert ran.returncode == 0, ran.stdout
    assert (project.folder / "written.txt").read_text() == "a.txtb.txt"  # no tool ran again
    assert (project.folder / "asked.txt").read_text() == "x"  # nor did the model
    assert project.agents.list_sessions() == []  # and nothing of it is kept

    project.change("    write(path)", "    write(path, text='y')")
    ran = project.run_test()
    assert ran.returncode == 1
    assert "tool write is asked for something else than in the recording: text is new" in ran.stdout
    assert 'found     {"kind":"tool","name":"write","asked":{"path":"a.txt","text":"y"}}' in (
        ran.stdout
    )


@pytest.mark.slow
def test_an_entry_is_called_instead_of_a_command(project: Project) -> None:
    words = (project.recording.id[-6:], "--entry", "my_agent:main", "--copy", "tests/recordings")
    written, said = project.write_test(*words, to="tests/test_agent.py")
    assert said == ""
    assert 'entry="my_agent:main"' in written
    assert f'HERE / "recordings/{project.recording.id}"' in written
    assert 'cwd=HERE / ".."' in written
    ran = project.run_test("tests/test_agent.py")
    assert ran.returncode == 0, ran.stdout
    project.change("    write(path)", "    pass")
    ran = project.run_test("tests/test_agent.py")
    assert ran.returncode == 1
    assert "the recording goes on with tool write" in ran.stdout


def test_a_test_that_fails_already_is_written_and_reported(project: Project) -> None:
    project.change("print(", "raise SystemExit(")
    written, said = project.write_test("my agent")
    assert "def test_my_agent():" in written
    assert "This test fails with the current code." in said
    assert "it asked for the same, and then failed (exit code 1)" in said
    assert f"The test refers to {project.recording.path}" in said


def test_what_cannot_be_a_test_is_refused(project: Project, tmp_path: Path) -> None:
    copied = tmp_path / "copied.jsonl"
    copied.write_bytes(project.recording.events.read_bytes())
    assert "needs the whole directory" in project.write_test(str(copied))[1]
    said = project.write_test("my agent", "--entry", "my_agent.py")[1]
    assert "--entry is module:function, not 'my_agent.py'." in said
    project.folder.rename(tmp_path / "elsewhere")
    project.folder = tmp_path / "elsewhere"
    assert "which is not there any more" in project.write_test("my agent")[1]


def test_a_recording_that_is_gone_fails_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="--copy DIR"):
        check_recording(tmp_path / "gone", command=["true"])


def test_an_agent_that_starts_no_session_fails_with_what_it_printed(project: Project) -> None:
    command = [sys.executable, "-c", "print('I am no agent')"]
    with pytest.raises(AssertionError, match=r"(?s)started no session.*I am no agent"):
        check_recording(project.recording.path, command=command)


def test_an_agent_that_does_not_end_in_time_fails(project: Project) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(3600)"]
    with pytest.raises(AssertionError, match=r"did not end within 0.1 s\.$"):
        check_recording(project.recording.path, command=command, timeout=0.1)


def test_an_agent_that_is_held_meanwhile_fails_and_says_so(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_bridge(tmp_path / "held") as dbg:
        loop = AgentLoop(dbg, build_writes(1))
        loop.breakpoint(on="tool", name="write")
        running = loop.run_in_thread()
        loop.wait_for_stop()

        def be_held(argv: list[str], *, env: dict[str, str], timeout: float, **_: Any) -> None:
            folder = env[recorded_test.DIRECTORY_VARIABLE]
            shutil.copytree(tmp_path / "held", folder, dirs_exist_ok=True, ignore=_ignore_pipes)
            raise subprocess.TimeoutExpired(argv, timeout)

        monkeypatch.setattr(subprocess, "run", be_held)
        with pytest.raises(AssertionError, match="s: it is held before tool write, and in a test"):
            check_recording(project.recording.path, command=["agent"])
        loop.resume()
        running.result(60)


def _ignore_pipes(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_fifo()]
