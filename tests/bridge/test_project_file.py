"""`holdfast.toml`: which one counts, what it may say, and what is said of a mistake in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.bridge.project_file import Price, find_project_file, read_nearest, read_project_file
from holdfast.errors import InvalidProjectFile

WHOLE = """\
[[agent.rule]]
tool = "write_*"
action = "hold"
timeout = 60
on_timeout = "deny"

[[agent.rule]]
pattern = 'rm -rf'
action = "deny"

[agent.prices]
"gpt-5*" = [1.25, 10.0]
"gpt-5-nano" = [0.05, 0.4]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "holdfast.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_nearest_file_counts_from_the_working_directory_upwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "project" / "src"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    outer = write(tmp_path, WHOLE)
    assert find_project_file() == outer
    inner = write(tmp_path / "project", "")
    assert find_project_file() == inner
    assert read_nearest().rules == ()
    assert len(read_nearest(tmp_path).rules) == 2


def test_a_project_without_a_file_has_no_rules_and_no_prices(tmp_path: Path) -> None:
    if find_project_file(tmp_path) is None:  # nobody has put one above the temporary directory
        assert read_nearest(tmp_path).rules == ()
        assert read_nearest(tmp_path).find_price("gpt-5") is None


def test_rules_come_in_their_order_and_know_where_they_come_from(tmp_path: Path) -> None:
    path = write(tmp_path, WHOLE)
    hold, deny = read_project_file(path).rules
    assert (hold.id, hold.action, hold.tool, hold.timeout) == ("rule-1", "hold", "write_*", 60.0)
    assert (hold.source, deny.source) == (f"{path}:1", f"{path}:7")
    assert (deny.id, deny.title) == ("rule-2", "pattern rm -rf")


def test_a_price_is_found_by_name_before_it_is_found_by_glob(tmp_path: Path) -> None:
    project = read_project_file(write(tmp_path, WHOLE))
    assert project.find_price("gpt-5-nano") == Price(0.05, 0.4)
    assert project.find_price("gpt-5-mini") == Price(1.25, 10.0)
    assert project.find_price("claude") is None
    assert project.find_price(None) is None


@pytest.mark.parametrize(
    ("text", "line", "key", "said"),
    [
        ("[[agent.rule]\n", 1, None, "it is not TOML"),
        ("x = 1\n\n[[agent.rule]]\n", 1, "x", "possible are: agent"),
        ("[agent]\n[calls]\n", 2, "calls", "possible are: agent"),
        ("[[agent.rules]]\ntool = 'x'\n", 1, "agent.rules", "possible are: rule, prices"),
        ("agent = 3\n", None, "agent", "table"),
        ("[agent]\nrule = 3\n", None, "agent.rule", "[[agent.rule]]"),
        (
            WHOLE + "\n[[agent.rule]]\ntool = 'x'\naction = 'block'\n",
            17,
            "agent.rule 3, action",
            "possible are: hold, deny, allow",
        ),
        (
            "# first\n[[agent.rule]]\naction = 'deny'\npattern = '['\n",
            4,
            "agent.rule 1, pattern",
            "not a regular expression",
        ),
        ("[[agent.rule]]\ntool = 'x'\n", 1, "agent.rule 1, action", "needs an action"),
        ("[agent.prices]\na = [1, 2]\nb = 3\n", 3, "agent.prices, b", "[input, output]"),
        ("[agent.prices]\nb = [1, -2]\n", 2, "agent.prices, b", "[input, output]"),
    ],
)
def test_a_mistake_names_the_file_the_line_and_the_key(
    tmp_path: Path, text: str, line: int | None, key: str | None, said: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InvalidProjectFile) as raised:
        read_project_file(path)
    error = raised.value
    assert (error.details.get("line"), error.details.get("key")) == (line, key)
    assert error.details["file"] == str(path)
    place = f"{path}, line {line}: " if line else f"{path}: "
    assert error.message.startswith(place)
    assert said in error.message


def test_a_file_that_cannot_be_read_is_an_error_and_not_ignored(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").symlink_to(tmp_path / "gone.toml")
    with pytest.raises(InvalidProjectFile, match="cannot be read"):
        read_nearest(tmp_path)
    os.unlink(tmp_path / "holdfast.toml")
    (tmp_path / "holdfast.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidProjectFile, match="cannot be read"):
        read_nearest(tmp_path)
