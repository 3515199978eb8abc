"""A project as it was at another commit, without touching the project."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from holdfast import errors
from holdfast.service.tools.traces.git_worktree import open_worktree


def git(folder: Path, *words: str) -> str:
    config = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
    ran = subprocess.run(
        ["git", *config, "-C", str(folder), *words], capture_output=True, text=True, check=True
    )
    return ran.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with two commits, and a change that is not committed."""
    folder = tmp_path / "project"
    (folder / "inner").mkdir(parents=True)
    git(folder, "init", "--quiet")
    for text in ("first", "second"):
        (folder / "inner" / "shop.py").write_text(text)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", text)
    (folder / "inner" / "shop.py").write_text("third")
    return folder


def read_at(folder: Path, commit: str) -> str:
    async def read() -> str:
        async with open_worktree(str(folder), commit) as worktree:
            path = worktree.map_path(str(folder / "shop.py" if folder.name == "inner" else folder))
            return Path(path).read_text()

    return asyncio.run(read())


def test_files_are_as_they_were_at_the_commit(project: Path) -> None:
    assert read_at(project / "inner", "HEAD~1") == "first"
    assert read_at(project / "inner", "HEAD") == "second"
    assert (project / "inner" / "shop.py").read_text() == "third"


def test_the_worktree_is_gone_afterwards(project: Path) -> None:
    read_at(project / "inner", "HEAD")
    assert len(git(project, "worktree", "list").splitlines()) == 1
    assert git(project, "status", "--porcelain").split() == ["M", "inner/shop.py"]


def test_hooks_of_the_repository_do_not_run(project: Path, tmp_path: Path) -> None:
    trap = project / ".git" / "hooks" / "post-checkout"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    read_at(project / "inner", "HEAD~1")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("commit", ["HEAD~99", "nowhere", "--help", ""])
def test_what_is_no_commit_is_refused(project: Path, commit: str) -> None:
    with pytest.raises(errors.InvalidInput):
        read_at(project / "inner", commit)


def test_a_commit_that_is_not_there_is_named_as_it_was_written(project: Path) -> None:
    with pytest.raises(errors.InvalidInput) as refused:
        read_at(project, "nowhere")
    assert refused.value.message == "no such commit: nowhere"
    assert "git log" in refused.value.hint


def test_a_directory_without_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.InvalidInput, match="git"):
        read_at(tmp_path, "HEAD")
