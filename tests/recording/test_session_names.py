"""Sessions by what people type."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.recording.directories import AgentsDirectory
from holdfast.recording.session_names import find_sessions

IDS = (
    "debug_20260123_131000_abc1",
    "debug_20260123_131000_abc12",
    "debug_20260124_090000_77f0",
    "debug_20260124_090000_c1c1",
)


@pytest.fixture
def agents(tmp_path: Path) -> AgentsDirectory:
    agents = AgentsDirectory(tmp_path)
    for number, session_id in enumerate(IDS):
        home = agents.home(session_id)
        home.path.mkdir(parents=True)
        home.write_metadata({"name": "my agent" if number < 2 else "77f0"})
    return agents


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (IDS[0], [IDS[0]]),  # although another begins with it
        ("debug_20260123", [IDS[0], IDS[1]]),
        ("20260124_09", [IDS[2], IDS[3]]),
        ("abc12", [IDS[1]]),
        ("c1", [IDS[0], IDS[3]]),
        ("my agent", [IDS[0], IDS[1]]),
        ("77f0", [IDS[2], IDS[3]]),  # a name comes before a part of an id
        ("my", []),
        ("../tmp", []),
        ("", []),
    ],
)
def test_a_text_means_an_id_a_name_or_a_part_of_an_id(
    agents: AgentsDirectory, text: str, meant: list[str]
) -> None:
    assert [home.id for home in find_sessions(agents, text)] == meant
