"""Modules that load large libraries: their tests are reported as any others, and nothing stays."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

TESTS = Path(__file__).parent

CONFTEST = """
    import pathlib, pytest

    pytest_plugins = ["separate_modules", "worker_memory"]

    def pytest_configure(config):
        import separate_modules, worker_memory

        separate_modules.TESTS = pathlib.Path(__file__).parent
        separate_modules.SEPARATE = ["test_heavy*.py"]
        worker_memory.MAX_MEGABYTES = config.getoption("megabytes")

    def pytest_addoption(parser):
        parser.addoption("--megabytes", type=int, default=400)
"""


class Project:
    """A directory of tests, run by one worker."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.write("conftest.py", CONFTEST)
        self.write("pytest.ini", "[pytest]\nmarkers = slow: runs last\n")

    def write(self, name: str, text: str) -> None:
        (self.home / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def run(self, *options: str) -> tuple[int, str]:
        outer = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
        environment = outer | {"PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        plugins = ["-p", "xdist", "-p", "pytest_timeout", "-p", "pytest_repeat"]
        always = [*plugins, "-p", "no:cacheprovider", "-rA", f"--basetemp={self.home}/temporary"]
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *always, *options],
            cwd=self.home,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_each_test_has_its_own_outcome_and_the_module_stays_out_of_the_worker(
    project: Project,
) -> None:
    project.write(
        "test_heavy.py",
        """
        import os, pathlib, pytest, threading

        @pytest.fixture(scope="module")
        def owner():
            yield os.getpid()
            pathlib.Path("ended").touch()

        class TestGroup:
            def test_passes(self, owner):
                print("said in the child")
                assert owner == os.getpid()

            @pytest.mark.parametrize("number", [1, 2])
            def test_is_one(self, owner, number):
                assert owner == os.getpid() and not os.path.exists("ended")
                assert number == 1

        @pytest.mark.skip(reason="not today")
        def test_skipped(): pass

        @pytest.mark.xfail
        def test_expected(): assert False

        @pytest.fixture
        def broken(): raise ValueError("no fixture")

        def test_without_its_fixture(broken): pass

        @pytest.mark.timeout(0.1, func_only=True)
        def test_hangs(): threading.Event().wait()
        """,
    )
    project.write("test_heavy_absent.py", "import pytest\npytest.importorskip('no_such_library')\n")
    project.write("test_heavy_broken.py", "raise ValueError('broken module')\n")
    project.write(
        "test_heavy_dying.py",
        """
        import os

        def test_dies(): os._exit(3)
        def test_after_it(): pass
        """,
    )
    project.write(
        "test_light.py",
        """
        import os, sys

        def test_nothing_is_left():
            assert "test_heavy" not in sys.modules and os.path.exists("ended")
        """,
    )
    table = project.home / "table.xml"
    always = ("--continue-on-collection-errors", "--timeout-method=signal")
    status, shown = project.run("-n1", *always, f"--junitxml={table}", "--durations=0")
    assert status == pytest.ExitCode.TESTS_FAILED
    for text in (
        "PASSED test_heavy.py::TestGroup::test_passes\n",
        "PASSED test_heavy.py::TestGroup::test_is_one[1]\n",
        "FAILED test_heavy.py::TestGroup::test_is_one[2] - assert 2 == 1\n",
        "not today\n",
        "XFAIL test_heavy.py::test_expected\n",
        "ERROR test_heavy.py::test_without_its_fixture - ValueError: no fixture\n",
        "FAILED test_heavy.py::test_hangs - Failed: Timeout (>0.1s) from pytest-timeout.\n",
        "call     test_heavy.py::test_hangs",
        "could not import 'no_such_library'",
        "ERROR test_heavy_broken.py",
        "ValueError: broken module",
        "The process of this module died: its exit status is 3",
        "PASSED test_heavy_dying.py::test_after_it\n",
        "PASSED test_light.py::test_nothing_is_left\n",
        "said in the child",
        "Largest memory of each worker: gw0 ",
    ):
        assert text in shown, shown
    cases = {
        f"{case.get('classname')}.{case.get('name')}": [each.tag for each in case]
        for case in ElementTree.parse(table).iter("testcase")
    }
    assert cases["test_heavy.TestGroup.test_passes"] == []
    assert cases["test_heavy.TestGroup.test_is_one[2]"] == ["failure"]
    assert cases["test_heavy.test_skipped"] == ["skipped"]


CHOSEN = """
    import pathlib, pytest

    @pytest.fixture(scope="module")
    def owner():
        yield
        pathlib.Path("ended").touch()

    class TestGroup:
        @pytest.mark.slow
        def test_slow(self): pass
        def test_quick(self): pass

    def test_fails(owner): assert False
    def test_second(owner): pass
    def test_third(owner): pathlib.Path("third").touch()
"""


def test_tests_are_chosen_and_repeated_as_always(project: Project) -> None:
    project.write("test_heavy.py", CHOSEN)
    chosen = ("test_heavy.py::TestGroup", "test_heavy.py::test_second", "--count=2")
    status, shown = project.run("-n1", *chosen, "-k", "not slow and not timeout", "-m", "not slow")
    assert status == pytest.ExitCode.OK, shown
    names = ("TestGroup::test_quick[1-2]", "TestGroup::test_quick[2-2]", "test_second[1-2]")
    assert all(f"PASSED test_heavy.py::{name}\n" in shown for name in names), shown
    assert "4 passed" in shown


def test_a_run_that_stops_early_ends_the_fixtures(project: Project) -> None:
    project.write("test_heavy.py", CHOSEN)
    status, shown = project.run("-n1", "-x", "test_heavy.py", "-k", "not TestGroup")
    assert "1 failed" in shown
    assert status != pytest.ExitCode.OK
    assert (project.home / "ended").exists()
    assert not (project.home / "third").exists()


def test_a_run_without_workers_has_all_modules_in_its_process(project: Project) -> None:
    project.write("test_heavy.py", "def test_passes(): pass\n")
    project.write(
        "test_other.py", "import sys\ndef test_it(): assert 'test_heavy' in sys.modules\n"
    )
    status, shown = project.run()
    assert status == pytest.ExitCode.OK, shown
    assert "2 passed" in shown


def test_a_worker_that_takes_too_much_memory_fails_the_run(project: Project) -> None:
    project.write("test_light.py", "def test_passes(): pass\n")
    status, shown = project.run("-n1", "--megabytes=1")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "1 passed" in shown
    assert "gw0 took more than 1 MB." in shown
