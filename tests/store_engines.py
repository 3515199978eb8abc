"""The engines whose stores the conformance tests in `tests/store` open.

`test_call_log`, `test_contents`, `test_feed`, `test_bell`, `test_directory` and `test_store` use
only what `holdfast.store.interface` promises. They run once for each engine in `ENGINES`. What one
engine does its own way is tested in files with its name.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from holdfast.store import Store, open_store

ENGINES: dict[str, Callable[[Path], Awaitable[Store]]] = {"sqlite": open_store}

OpenStore = Callable[[], Awaitable[Store]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ENGINES)
def open_engine(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    """Opens the same store every time, as a server does that is started again."""
    return lambda: ENGINES[request.param](tmp_path / "data")


@pytest.fixture
async def store(open_engine: OpenStore) -> AsyncIterator[Store]:
    store = await open_engine()
    yield store
    await store.aclose()
