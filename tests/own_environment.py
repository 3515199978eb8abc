"""Gives a run of tests an environment of its own, which everything that it starts inherits.

What a user has set, or has in the home directory, neither changes the outcome of a test nor is
changed by one. The home is in the temporary directory, and is removed at the end of the run.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

IS_SOAK = "HOLDFAST_EVERY_PYTHON" in os.environ
"""Whether this is `make soak`, which does at length what `make test` does briefly."""
_CALLERS_HOME = "TESTS_CALLERS_HOME"
"""The name of the variable that says where the caller's home is."""
_OF_THE_SUITE = {
    *("HOLDFAST_EVERY_PYTHON", "HOLDFAST_EVERY_MODULE", "HOLDFAST_EVERYWHERE"),
    *("HOLDFAST_RUNS", "HOLDFAST_KILLS", "HOLDFAST_SESSIONS", "HOLDFAST_PAGE_DIR"),
}
_LEFT_OUT = re.compile(
    "HOLDFAST_.*|CIDELDILL_.*|PYTHON.*|PYTEST_.*|XDG_.*|GIT_.*|POETRY_.*|PIPENV_.*|WORKON_HOME"
    "|OTEL_.*|LANGSMITH_.*|LANGCHAIN_.*|OPENAI_.*|ANTHROPIC_.*|CLAUDE_.*"
    "|NO_COLOR|FORCE_COLOR|CLICOLOR.*|TTY_.*|COLUMNS|LINES"
    "|MAKE.*|MFLAGS|VIRTUAL_ENV|CONDA_PREFIX|UV_PROJECT_ENVIRONMENT|GEVENT_SUPPORT|EDITOR|VISUAL"
)
_made: Path | None = None


def enter_own_environment() -> None:
    """It is made by the process that starts the run; a worker has inherited it."""
    global _made
    if _CALLERS_HOME in os.environ:
        return
    home = callers_home()
    for name in list(os.environ):
        if _LEFT_OUT.fullmatch(name) and name not in _OF_THE_SUITE:
            del os.environ[name]
    sys.dont_write_bytecode = False  # thousands of interpreters are started
    _made = Path(tempfile.mkdtemp(prefix="tests-home-"))
    here = "localhost,127.0.0.1,::1"
    os.environ |= {_CALLERS_HOME: str(home), "HOME": str(_made), "no_proxy": here, "NO_PROXY": here}
    for name, path in (
        ("PYENV_ROOT", home / ".pyenv"),
        ("PIP_CONFIG_FILE", home / ".config" / "pip" / "pip.conf"),  # where packages come from
        ("NPM_CONFIG_USERCONFIG", home / ".npmrc"),
    ):
        if path.exists():
            os.environ.setdefault(name, str(path))


def leave_own_environment() -> dict[str, str]:
    """The variables for a run that is to make its own, as a user would start it."""
    return {
        name: text
        for name, text in os.environ.items()
        if name not in (_CALLERS_HOME, "HOLDFAST_TIMINGS") and not name.startswith("PYTEST_")
    }


def remove_own_environment() -> None:
    if _made is not None:
        shutil.rmtree(_made, ignore_errors=True)


def callers_home() -> Path:
    return Path(os.environ.get(_CALLERS_HOME) or os.path.expanduser("~"))
