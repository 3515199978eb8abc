"""What a newcomer relies on: the papers are there, the rooms say what they are, nothing leaks."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "holdfast"
ROOMS = sorted(path for path in SOURCE.rglob("__init__.py"))
PAPERS = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"]

# In two pieces, so that this file does not contain what it forbids.
REGISTRIES = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "registry.npm" + "js.org",
    "yarn" + "pkg.com",
]


def own_files() -> list[Path]:
    """What is in the repository, or is about to be; everything visible, where git cannot say."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        named = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
        found = [ROOT / name for name in named.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = [path for top in ROOT.glob("[!.]*") for path in (top, *top.rglob("*"))]
    return [path for path in found if path.is_file()]


def texts() -> dict[str, str]:
    read = {}
    for path in own_files():
        try:
            read[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture, or a test's own nonsense
            continue
    return read


def places() -> list[str]:
    """Paths that only this machine has. A short one, such as `/app`, could be found anywhere."""
    home = Path.home()
    return [f"{home}/"] * (home != Path("/")) + [f"{ROOT}/"] * (len(ROOT.parts) > 2)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_newcomer_finds_the_papers(paper: str) -> None:
    assert (ROOT / paper).read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: path.parent.name)
def test_every_room_says_what_it_is(room: Path) -> None:
    assert ast.get_docstring(ast.parse(room.read_text(encoding="utf-8")))


def test_no_file_names_a_place_on_this_machine() -> None:
    found = {(name, place) for name, text in texts().items() for place in places() if place in text}
    assert not found


def test_no_file_names_a_package_registry() -> None:
    found = {(name, host) for name, text in texts().items() for host in REGISTRIES if host in text}
    assert not found


def test_the_lock_file_pins_every_line() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "==" not in line and not line.startswith("#")] == []


IMPORTED = """
import sys
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
import holdfast
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


@pytest.mark.parametrize("options", [["-E"], ["-E", "-S"]], ids=["installed", "bare"])
def test_importing_holdfast_costs_only_the_standard_library(options: list[str]) -> None:
    command = [sys.executable, *options, "-c", IMPORTED, str(SOURCE.parent)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert set(ran.stdout.split()) - sys.stdlib_module_names == {"holdfast"}
