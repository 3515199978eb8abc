"""Directories and files that are for their owner alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.trust.private_files import (
    NotPrivate,
    check_parents,
    is_private_directory,
    make_private_directory,
    open_private_file,
    read_private_file,
    write_private_file,
)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's files")
NOBODY = 65534


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0, 0o022, 0o277], ids=oct)
def _umask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """For what is made in the directory of the test, which is there already."""
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask")
def test_what_is_made_is_private_whatever_the_umask(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "b"
    assert make_private_directory(directory) == []
    write_private_file(directory / "written", "text")
    os.close(open_private_file(directory / "opened", os.O_RDWR | os.O_CREAT))
    assert mode(tmp_path / "a") == mode(directory) == 0o700
    assert mode(directory / "written") == mode(directory / "opened") == 0o600
    assert read_private_file(directory / "written") == b"text"


@pytest.mark.parametrize("open_mode", [0o755, 0o770, 0o701])
def test_an_open_directory_is_tightened_and_told_of_once(tmp_path: Path, open_mode: int) -> None:
    tmp_path.chmod(open_mode)
    [warning] = make_private_directory(tmp_path)
    assert f"{open_mode:04o}" in warning
    assert mode(tmp_path) == 0o700
    assert make_private_directory(tmp_path) == []


@as_root
def test_a_directory_of_somebody_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    directory = tmp_path / "theirs"
    directory.mkdir(mode=0o755)
    os.chown(directory, NOBODY, NOBODY)
    with pytest.raises(NotPrivate, match="belongs to user nobody, not to you"):
        make_private_directory(directory)
    assert mode(directory) == 0o755


def test_a_directory_that_others_may_write_to_is_not_private(tmp_path: Path) -> None:
    directory = tmp_path / "cache"
    assert not is_private_directory(directory)
    directory.mkdir(mode=0o755)
    assert is_private_directory(directory)
    directory.chmod(0o775)
    assert not is_private_directory(directory)
    directory.chmod(0o700)
    assert is_private_directory(directory)
    if os.geteuid() == 0:
        os.chown(directory, NOBODY, NOBODY)
        assert not is_private_directory(directory)


@as_root
def test_a_link_of_somebody_else_to_our_directory_is_refused(tmp_path: Path) -> None:
    ours, link = tmp_path / "ours", tmp_path / "link"
    ours.mkdir(mode=0o755)
    link.symlink_to(ours)
    assert make_private_directory(link)  # our own link is a way to keep the data elsewhere
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(NotPrivate, match="symbolic link of user nobody"):
        make_private_directory(link)


def test_an_open_directory_above_is_told_of_unless_it_is_sticky(tmp_path: Path) -> None:
    directory = tmp_path / "above" / "data"
    make_private_directory(directory)
    assert check_parents(directory) == []
    directory.parent.chmod(0o777)
    [warning] = check_parents(directory)
    assert str(directory.parent) in warning
    directory.parent.chmod(0o1777)
    assert check_parents(directory) == []


def test_a_symbolic_link_is_neither_opened_nor_read_nor_written_through(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    write_private_file(victim, "precious")
    link.symlink_to(victim)
    with pytest.raises(NotPrivate, match="symbolic link"):
        open_private_file(link, os.O_RDWR | os.O_CREAT)
    with pytest.raises(NotPrivate, match="symbolic link"):
        read_private_file(link)
    write_private_file(link, "new")
    assert not link.is_symlink()
    assert victim.read_text() == "precious"


def test_a_fifo_is_refused_without_waiting_for_its_other_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo", 0o600)
    for flags in (os.O_RDONLY, os.O_RDWR):
        with pytest.raises(NotPrivate, match="not a regular file"):
            open_private_file(tmp_path / "fifo", flags)
    with pytest.raises(NotPrivate, match="not a regular file"):
        read_private_file(tmp_path / "fifo")


@pytest.mark.parametrize("open_mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_can_use_is_not_read(tmp_path: Path, open_mode: int) -> None:
    file = tmp_path / "file"
    file.write_text("secret")
    file.chmod(open_mode)
    with pytest.raises(NotPrivate, match=f"{open_mode:04o}, not 0600"):
        read_private_file(file)


@as_root
def test_a_file_of_somebody_else_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_private_file(file, "theirs")
    os.chown(file, NOBODY, NOBODY)
    with pytest.raises(NotPrivate, match="belongs to user nobody"):
        read_private_file(file)
    with pytest.raises(NotPrivate, match="belongs to user nobody"):
        open_private_file(file, os.O_RDWR)
