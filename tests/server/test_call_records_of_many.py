"""Many applications record their calls at once."""

from __future__ import annotations

import pytest

from harness import Server
from http_application import HttpApplication


@pytest.fixture
def app(server: Server) -> HttpApplication:
    return HttpApplication(server, name="records")


def test_many_applications_at_once_lose_nothing(server: Server) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(number: int) -> list[str]:
        app = HttpApplication(server, name=f"many {number}")
        return [app.call("many", number, each, result=each) for each in range(20)]

    with ThreadPoolExecutor(8) as pool:
        done = [each for ids in pool.map(work, range(8)) for each in ids]
    found = server.get("/api/calls?function=many&limit=1000")["calls"]
    assert {each["call_id"] for each in found} == set(done)
    assert len(done) == len(set(done)) == 160
    assert all(each["status"] == "success" for each in found)
