"""How a run is planned: in which environment, and what is to be said of it."""

from __future__ import annotations

import asyncio
import os
import venv
from pathlib import Path

import pytest

from holdfast.service.tools.programs.run_plan import RunPlan, plan_run
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.tool_requests import DebugRun


def plan(client: ToolClient, target: str = "app.py") -> RunPlan:
    return asyncio.run(plan_run(client, DebugRun(target=target)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("x = 1\n")
    venv.create(folder / ".venv", symlinks=True, with_pip=False)
    return folder


def test_the_active_environment_of_the_server_is_not_its_clients(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "other", symlinks=True, with_pip=False)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "other"))
    assert plan(ToolClient(cwd=str(project))).environment.source == "project"
    own = ToolClient(cwd=str(project), environ=dict(os.environ))
    assert plan(own).environment.source == "VIRTUAL_ENV"


def test_tests_that_are_run_as_a_script_are_remarked_on(project: Path) -> None:
    tests = project / "test_app.py"
    tests.write_text("def test_one():\n    assert False\n")
    client = ToolClient(cwd=str(project))
    (remark,) = plan(client, "test_app.py").remarks
    assert remark == "Its tests were not run: the target `pytest test_app.py` runs them."
    tests.write_text(tests.read_text() + "\nif __name__ == '__main__':\n    test_one()\n")
    assert plan(client, "test_app.py").remarks == ()
    assert plan(client).remarks == ()
