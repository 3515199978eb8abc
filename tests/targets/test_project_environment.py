"""The environment of a project, found in real directories with real environments."""

from __future__ import annotations

import asyncio
import os
import sys
import venv
from pathlib import Path

import pytest

from holdfast.errors import InterpreterMissing
from holdfast.targets.program import project_environment
from holdfast.targets.program.project_environment import (
    Environment,
    EnvironmentRequest,
    find_environment,
)
from interpreters import choose_other_interpreters

PATH = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


def make_environment(path: Path) -> Path:
    venv.create(path, symlinks=True, with_pip=False)
    return path


def find(
    *folders: Path,
    asked: str | None = None,
    named: str | None = None,
    runner: str | None = None,
    **environ: str,
) -> Environment:
    request = EnvironmentRequest(
        [*map(str, folders)], {**PATH, **environ}, asked=asked, named=named, runner=runner
    )
    return asyncio.run(find_environment(request))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository: nothing above it is looked at."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def test_the_environment_of_the_project_is_found_from_below(project: Path) -> None:
    made = make_environment(project / ".venv")
    (project / "src" / "deep").mkdir(parents=True)
    found = find(project / "src" / "deep")
    assert (found.interpreter.prefix, found.source) == (str(made), "project")
    assert found.version == ".".join(map(str, sys.version_info[:3]))


def test_a_nearer_environment_comes_first_and_the_programs_before_the_directorys(
    project: Path, tmp_path: Path
) -> None:
    make_environment(project / ".venv")
    near = make_environment(project / "part" / "venv")
    assert find(project / "part").interpreter.prefix == str(near)
    (tmp_path / "elsewhere" / ".git").mkdir(parents=True)
    assert find(tmp_path / "elsewhere", project).interpreter.prefix == str(project / ".venv")


def test_nothing_above_the_repository_is_taken(project: Path) -> None:
    make_environment(project.parent / ".venv")
    found = find(project)
    assert found.is_own
    assert found.python_path is None


def test_an_active_environment_comes_first_but_not_for_a_tool_that_has_its_own(
    project: Path, tmp_path: Path
) -> None:
    make_environment(project / ".venv")
    active = make_environment(tmp_path / "active")
    found = find(project, VIRTUAL_ENV=str(active))
    assert (found.interpreter.prefix, found.source) == (str(active), "VIRTUAL_ENV")
    assert find(project, VIRTUAL_ENV=str(active), runner="uv").source == "project"


def test_a_broken_environment_is_said_and_skipped(project: Path) -> None:
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").symlink_to("/nonexistent/python")
    found = find(project, VIRTUAL_ENV=str(project / "gone"))
    assert found.is_own
    assert [problem.split(" is not used")[0] for problem in found.problems] == [
        "VIRTUAL_ENV",
        str(project / ".venv"),
    ]


def test_what_is_asked_for_is_taken_or_refused(project: Path, tmp_path: Path) -> None:
    make_environment(project / ".venv")
    other = make_environment(tmp_path / "other")
    assert find(project, asked=str(other)).interpreter.prefix == str(other)
    assert find(project, asked=f"{other}/bin/python").source == "as asked"
    assert find(project, asked=".venv").interpreter.prefix == str(project / ".venv")
    with pytest.raises(InterpreterMissing, match="neither on the PATH"):
        find(project, asked="python9.9")
    with pytest.raises(InterpreterMissing):
        find(project, asked=str(tmp_path))


def test_a_version_is_a_name_on_the_path(project: Path) -> None:
    for other in choose_other_interpreters()[:1]:
        folder = os.path.dirname(other.path)
        version = "{}.{}".format(*other.version)
        for asked in (version, f"python{version}"):
            assert find(project, named=asked, PATH=folder).interpreter.version[:2] == other.version


def test_a_python_of_pyenv_need_not_be_switched_on(project: Path, tmp_path: Path) -> None:
    shims, installed = tmp_path / "shims", tmp_path / "versions" / "3.99.1" / "bin"
    for folder in (shims, installed):
        folder.mkdir(parents=True)
    (shims / "python3.99").write_text("#!/bin/sh\necho command not found >&2\nexit 127\n")
    (shims / "python3.99").chmod(0o755)
    environ = {"PATH": f"{shims}:/usr/bin:/bin"}
    with pytest.raises(InterpreterMissing, match="It said: command not found"):
        find(project, named="python3.99", **environ)
    (installed / "python3.99").symlink_to(sys.executable)
    assert find(project, named="python3.99", **environ).interpreter.path.startswith(str(installed))


def test_the_environment_of_poetry_is_found_in_its_cache(project: Path, tmp_path: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.poetry]\nversion = "1"\nname = "My_Shop"\n')
    base = project_environment._name_poetry_environment("My_Shop", str(project))
    assert base.startswith("my-shop-")
    store = tmp_path / "cache"
    made = make_environment(store / f"{base}-py3.99")
    (store / f"{base}-py3.10").mkdir()
    (store / "envs.toml").write_text(f'[{base}]\nminor = "3.99"\npatch = "3.99.1"\n')
    found = find(project, POETRY_VIRTUALENVS_PATH=str(store))
    assert (found.interpreter.prefix, found.source) == (str(made), "poetry")


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("marker", ["poetry.lock", "Pipfile"])
def test_what_another_user_left_is_not_used(project: Path, tmp_path: Path, marker: str) -> None:
    (project / marker).touch()
    others = make_environment(tmp_path / "others")
    poetry = tmp_path / "bin" / "poetry"
    poetry.parent.mkdir()
    poetry.write_text(f"#!/bin/sh\necho {others}\n")
    poetry.chmod(0o755)
    environ = {"PATH": f"{poetry.parent}:{PATH['PATH']}", "WORKON_HOME": str(tmp_path / "envs")}
    pipenv = project_environment._name_pipenv_environment(str(project), environ)
    Path(pipenv).parent.mkdir()
    Path(pipenv).symlink_to(others)
    assert find(project, **environ).source in ("poetry", "pipenv")
    os.chown(others, 65534, 65534)
    assert find(project, **environ).source not in ("poetry", "pipenv")
    os.chown(others, 0, 0)
    os.chown(project / marker, 65534, 65534)
    assert find(project, **environ).source not in ("poetry", "pipenv")


def test_the_environment_of_pipenv_is_found(project: Path, tmp_path: Path) -> None:
    (project / "Pipfile").touch()
    environ = {"WORKON_HOME": str(tmp_path / "envs")}
    name = project_environment._name_pipenv_environment(str(project), environ)
    make_environment(Path(name))
    assert find(project, **environ).source == "pipenv"


def test_an_environment_of_conda_or_uv_is_found_by_its_variable(
    project: Path, tmp_path: Path
) -> None:
    other = make_environment(tmp_path / "other")
    assert find(project, CONDA_PREFIX=str(other)).source == "CONDA_PREFIX"
    assert find(project, UV_PROJECT_ENVIRONMENT="../other").source == "UV_PROJECT_ENVIRONMENT"


def test_a_program_finds_the_scripts_of_its_environment(project: Path) -> None:
    made = make_environment(project / ".venv")
    script = made / "bin" / "flask"
    script.write_text(f"#!{made}/bin/python\nprint(1)\n")
    (made / "bin" / "ruff").write_bytes(b"\x7fELF")
    found = find(project)
    assert found.find_script("flask") == str(script)
    assert found.find_script("ruff") is None
    assert found.find_script("none") is None
    variables = found.activate({"PATH": "/bin"})
    assert variables == {"PATH": f"{made}/bin:/bin", "VIRTUAL_ENV": str(made)}
