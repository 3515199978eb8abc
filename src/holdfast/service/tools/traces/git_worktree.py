"""A project as it was at another commit: a worktree of git in a temporary directory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from holdfast import errors, timings

_HINT = "`against` takes a commit of the git repository that the program is in, such as HEAD~1."


@dataclass(frozen=True)
class Worktree:
    """Where a repository is, and where it is as it was."""

    top: str
    path: str

    def map_path(self, path: str) -> str:
        """The same file or directory as it was."""
        real = os.path.realpath(path)
        inside = os.path.relpath(real, self.top)
        return real if inside.startswith(os.pardir) else os.path.join(self.path, inside)

    def map_back(self, path: str) -> str:
        """Where a file of the worktree is in the repository itself."""
        inside = os.path.relpath(path, self.path)
        return path if inside.startswith(os.pardir) else os.path.join(self.top, inside)


@asynccontextmanager
async def open_worktree(folder: str, commit: str) -> AsyncIterator[Worktree]:
    """The repository that a directory is in, at a commit. It is removed at the end."""
    if commit.startswith("-"):
        raise errors.InvalidInput(f"{commit} is no commit", hint=_HINT, field="against")
    top = os.path.realpath((await _git(folder, "rev-parse", "--show-toplevel")).strip())
    try:
        found = await _git(folder, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    except errors.InvalidInput:
        raise errors.InvalidInput(
            f"no such commit: {commit}",
            hint=f"`git log --oneline` in {top} lists commits.",
            field="against",
        ) from None
    parent = tempfile.mkdtemp(prefix="holdfast-worktree-")
    path = os.path.join(os.path.realpath(parent), "tree")
    try:
        await _git(top, "worktree", "add", "--detach", "--quiet", path, found.strip())
        yield Worktree(top, path)
    finally:
        with contextlib.suppress(errors.InvalidInput):
            await _git(top, "worktree", "remove", "--force", path)
        shutil.rmtree(parent, ignore_errors=True)
        with contextlib.suppress(errors.InvalidInput):
            await _git(top, "worktree", "prune")


async def _git(folder: str, *words: str) -> str:
    """What a command of git prints. Hooks of the repository do not run."""
    command = ("git", "-c", "core.hooksPath=/dev/null", "-C", folder, *words)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        )
    except OSError as problem:
        raise errors.InvalidInput(f"git cannot be run: {problem}", field="against") from None
    try:
        out, said = await asyncio.wait_for(process.communicate(), timings.TIMINGS.git_answer)
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()
        raise errors.InvalidInput("git took too long", field="against") from None
    if process.returncode:
        reason = said.decode("utf-8", "replace").strip() or f"exit code {process.returncode}"
        raise errors.InvalidInput(f"git {words[0]}: {reason}", hint=_HINT, field="against")
    return out.decode("utf-8", "replace")
