"""Adapters for the tests of `holdfast.embed`: real ones, in threads of the test process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from holdfast.embed import AdapterThread, ProgramState

SECONDS = 60.0
"""How long a test waits for a Future that must come."""


@pytest.fixture
def adapter() -> Iterator[AdapterThread]:
    with AdapterThread() as running:
        yield running


@pytest.fixture
def http_adapter() -> Iterator[AdapterThread]:
    """One whose session can be reached over REST, too."""
    with AdapterThread(http=True) as running:
        yield running


def stop_at_entry(adapter: AdapterThread, path: str, **options: Any) -> ProgramState:
    adapter.launch(path, stop_on_entry=True, **options).result(SECONDS)
    return adapter.wait_for_stop().result(SECONDS)


def line_of(state: ProgramState) -> int:
    location = state["location"]
    assert location is not None
    return location["line"]


def ask(adapter: AdapterThread, method: str, path: str, body: object = None) -> Any:
    """A request about the adapter's session over REST."""
    url = f"{adapter.url}/sessions/{adapter.session_id}{path}"
    answer = httpx.request(method, url, json=body, timeout=SECONDS, trust_env=False)
    assert answer.status_code < 400, answer.text
    return answer.json()
