"""`pip install holdfast` without extras: what works, and what says which line installs the rest.

The wheel is built with the packages that are installed here, and `dill` is copied from here, so
that no package is downloaded.
"""

from __future__ import annotations

import importlib.metadata
import os
import pty
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from agent_process import running_agent
from generous_timings import set_timings
from harness import Server
from holdfast.recording.directories import AgentsDirectory
from polling import wait_until
from replayable_agent import read_data

ROOT = Path(__file__).parents[1]
INSTALL_LINE = "pip install 'holdfast[server]'"

APPLICATION = """
from holdfast import with_debug

class Price:  # only dill can pickle an instance of a class in __main__
    def __init__(self, cents):
        self.cents = cents

def double(price):
    return Price(price.cents * 2)

def main():
    with_debug("ON")
    print(with_debug(double)(Price(21)).cents)

if __name__ == "__main__":
    main()
"""

AGENT = """
from holdfast.bridge import start

dbg = start("light")

@dbg.model
def ask(messages):
    print("the model runs")
    return {"text": "done"}

@dbg.tool
def add(a, b):
    print("the tool runs")
    return a + b

with dbg, dbg.run(messages=[]):
    ask([])
    print(add(1, 2))
"""


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, *arguments], check=True, timeout=100)


class LightInstall:
    """A virtual environment with Holdfast and its only requirement."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "data"
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        self.python = folder / "venv" / "bin" / "python"
        prefix = {"base": str(folder / "venv")}
        self.site = Path(sysconfig.get_path("purelib", "posix_prefix", prefix))
        _pip("wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT))
        (wheel,) = folder.glob("*.whl")
        _pip("--python", str(self.python), "install", "--no-deps", str(wheel))
        for name in self.requirements():
            self._copy(name)

    def requirements(self) -> list[str]:
        """The packages that the installed metadata requires when no extra is named."""
        (installed,) = importlib.metadata.distributions(name="holdfast", path=[str(self.site)])
        required = map(Requirement, installed.requires or [])
        return [each.name for each in required if each.marker is None or each.marker.evaluate()]

    def _copy(self, name: str) -> None:
        for file in importlib.metadata.files(name) or []:
            if ".." not in file.parts:
                (self.site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), self.site / file)

    def start(self, *argv: str, **environment: str) -> subprocess.Popen[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST")}
        return subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**kept, **set_timings(), "HOLDFAST_HOME": str(self.home), **environment},
        )

    def run(self, *argv: str, **environment: str) -> tuple[int, str, str]:
        """The exit code, what was printed, and what was printed to standard error."""
        process = self.start(*argv, **environment)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> LightInstall:
    return LightInstall(tmp_path_factory.mktemp("light"))


@pytest.mark.slow
def test_it_requires_only_dill_and_a_reader_of_toml(light: LightInstall) -> None:
    assert light.requirements() == (["dill"] if sys.version_info >= (3, 11) else ["dill", "tomli"])


@pytest.mark.slow
def test_an_application_is_debugged(light: LightInstall, server: Server, tmp_path: Path) -> None:
    script = tmp_path / "application.py"
    script.write_text(APPLICATION)
    server.post("/api/breakpoints", {"function": "double"})
    try:
        running = light.start(str(light.python), str(script), HOLDFAST_SERVER_URL=server.url)
        hold = wait_until(lambda: _hold_of(server, "double"))
        server.post(f"/api/holds/{hold['hold_id']}/decision", {"action": "continue"})
        output, notice = running.communicate(timeout=60)
        assert output == "42\n"
        assert notice.startswith("holdfast: double(price=")
        assert notice.count("\n") == 1
    finally:
        server.delete("/api/breakpoints")

    replay = [sys.executable, "-m", "holdfast", "calls", "replay", hold["call_id"]]
    assert light.run(*replay, "--url", server.url)[0] == 0


def _hold_of(server: Server, function: str) -> Any:
    holds = server.get("/api/holds")["holds"]
    return next((hold for hold in holds if hold.get("method_name") == function), None)


@pytest.mark.slow
def test_an_agent_is_recorded_and_replayed(light: LightInstall, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(AGENT)
    code, output, errors = light.run(str(light.python), str(script))
    assert (code, output, errors) == (0, "the model runs\nthe tool runs\n3\n", "")

    (home,) = AgentsDirectory(light.home / "agents").list_sessions()
    assert [data["name"] for data in read_data(home, "tool_call_start")] == ["add"]

    command = (str(light.python), str(script))
    assert light.run(*command, HOLDFAST_REPLAY=home.id) == (0, "3\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [(), ("--version",), ("serve",), ("calls", "list", "--json"), ("agent", "attach")],
    ids=" ".join,
)
def test_the_command_says_what_to_install(light: LightInstall, arguments: tuple[str, ...]) -> None:
    command = str(light.python.parent / "holdfast")
    said = (1, "", _message("typer"))
    assert light.run(command, *arguments) == said
    assert light.run(str(light.python), "-m", "holdfast", *arguments) == said


WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None  # importing it raises ModuleNotFoundError
del sys.argv[1]
from holdfast.cli import main
main()
"""


@pytest.mark.slow
def test_the_debugger_in_a_thread_says_what_to_install(light: LightInstall) -> None:
    code, _output, errors = light.run(str(light.python), "-c", "import holdfast.embed")
    assert code == 1
    assert INSTALL_LINE in errors


def test_a_command_names_the_one_part_that_is_missing(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", WITHOUT, "uvicorn", "serve", "--data-dir", str(tmp_path)]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == _message("uvicorn")


def test_a_screen_without_its_package_names_it(tmp_path: Path) -> None:
    with running_agent(tmp_path) as running:
        terminal, side = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", WITHOUT, "textual", "agent", "attach", "-s", running.id],
            stdin=side,
            stdout=side,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOLDFAST_HOME": str(tmp_path)},
        )
        os.close(side)
        errors = process.communicate(timeout=60)[1]
        os.close(terminal)
    assert (process.returncode, errors) == (1, _message("textual"))


def _message(package: str) -> str:
    return (
        f"This command needs {package}, which is not installed. Install it with: {INSTALL_LINE}\n"
    )
