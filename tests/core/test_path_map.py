"""Paths here and there."""

from __future__ import annotations

import pytest

from holdfast.core.path_map import PathMap


@pytest.mark.parametrize(
    ("pairs", "here", "there"),
    [
        ([("/home/me/app", "/app")], "/home/me/app/a/b.py", "/app/a/b.py"),
        ([("/home/me/app/", "/app/")], "/home/me/app/b.py", "/app/b.py"),
        ([("/home/me/app", "/app")], "/home/me/application/b.py", "/home/me/application/b.py"),
        ([("/src", "/a"), ("/src/lib", "/b")], "/src/lib/x.py", "/b/x.py"),
        ([("/src", "/")], "/src/x.py", "/x.py"),
        ([("/src/x.py", "/y.py")], "/src/x.py", "/y.py"),
        ([("/src", "C:\\app")], "/src/a/b.py", "C:\\app\\a\\b.py"),
        ([], "/src/a.py", "/src/a.py"),
    ],
)
def test_a_path_is_translated_there_and_back(
    pairs: list[tuple[str, str]], here: str, there: str
) -> None:
    paths = PathMap(pairs)

    assert (paths.to_remote(here), paths.to_local(there)) == (there, here)


def test_every_file_in_a_description_is_translated_and_nothing_else() -> None:
    said = {"frames": [{"file": "/app/x.py", "name": "/app/x.py"}], "file": None}

    shown = PathMap([("/src", "/app")]).localize(said)

    assert shown == {"frames": [{"file": "/src/x.py", "name": "/app/x.py"}], "file": None}
