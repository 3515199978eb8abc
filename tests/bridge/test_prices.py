"""What model calls cost, where prices are given."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from holdfast.bridge import Bridge, start
from holdfast.bridge.answer_summary import describe_answer
from holdfast.errors import InvalidInput
from holdfast.recording.run_totals import add_up, read_usage
from replayable_agent import open_bridge, read_data, read_events

PRICES = {"small-*": [1.0, 10.0], "large": [2.0, 20.0, 0.5]}
USAGE = {"input_tokens": 1_000, "output_tokens": 100}


def call(dbg: Bridge, model: str, usage: dict[str, Any] = USAGE) -> None:
    @dbg.model(model=model)
    def ask(messages: list[Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": "yes", "usage": usage}

    ask([{"role": "user", "content": "?"}])


def test_a_call_costs_what_its_tokens_do(tmp_path: Path) -> None:
    with start("priced", directory=tmp_path, prices=PRICES) as dbg:
        call(dbg, "small-1")
        call(dbg, "large")
        assert dbg.cost == pytest.approx(0.002 + 0.004)
        assert dbg.snapshot()["cost"] == pytest.approx(0.006)
        assert dbg.home is not None
    costs = [data["cost"] for data in read_data(dbg.home, "api_response")]
    assert costs == [pytest.approx(0.002), pytest.approx(0.004)]
    totals = add_up(read_events(dbg.home)).describe()
    assert totals["cost"] == pytest.approx(0.006)
    assert totals["unpriced"] == []
    assert read_usage(dbg.home.events).cost == pytest.approx(0.006)


def test_prices_of_the_project_count_after_those_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[agent.prices]\n"small-*" = [100, 100]\n"tiny" = [1, 0]\n'
    (tmp_path / "holdfast.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with start("priced", directory=tmp_path, prices=PRICES) as dbg:
        call(dbg, "small-1")
        call(dbg, "tiny")
        assert dbg.cost == pytest.approx(0.002 + 0.001)


def test_a_model_without_a_price_has_no_cost_and_that_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING, logger="holdfast"),
        start("priced", directory=tmp_path, prices=PRICES) as dbg,
    ):
        for model in ("small-1", "other", "other"):
            call(dbg, model)
        assert dbg.home is not None
    assert dbg.cost == pytest.approx(0.002)
    said = [record.getMessage() for record in caplog.records if "price" in record.getMessage()]
    assert said == [
        "no price is given for model other: the cost of this session is without its calls"
    ]
    assert ["cost" in data for data in read_data(dbg.home, "api_response")] == [True, False, False]
    assert add_up(read_events(dbg.home)).describe()["unpriced"] == ["other"]


def test_without_prices_there_is_no_cost(tmp_path: Path) -> None:
    with start("priced", directory=tmp_path) as dbg:
        call(dbg, "small-1")
        assert dbg.cost is None
        assert "cost" not in dbg.snapshot()
        assert dbg.home is not None
    assert add_up(read_events(dbg.home)).describe()["cost"] is None


def test_what_comes_from_a_recording_costs_nothing(tmp_path: Path) -> None:
    with start("priced", directory=tmp_path, prices=PRICES) as dbg:
        call(dbg, "large")
    with open_bridge(tmp_path, REPLAY=dbg.id) as again:
        again.prices = dbg.prices
        call(again, "large")
    assert again.cost == 0


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 200, "cache_read_input_tokens": 800, "output_tokens": 100},  # Anthropic
        {
            "input_tokens": 100,
            "cache_read_input_tokens": 800,
            "cache_creation_input_tokens": 100,
            "output_tokens": 100,
        },
        {  # OpenAI, chat completions
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 800},
        },
        {  # OpenAI, responses
            "input_tokens": 1000,
            "output_tokens": 100,
            "input_tokens_details": {"cached_tokens": 800},
        },
    ],
)
def test_cached_tokens_are_counted_as_what_they_are(tmp_path: Path, usage: dict[str, Any]) -> None:
    described = describe_answer({"content": "yes", "usage": usage})["usage"]
    assert described == {"inputTokens": 1000, "cachedTokens": 800, "outputTokens": 100}
    with start("priced", directory=tmp_path, prices=PRICES) as dbg:
        call(dbg, "large", usage)
        assert dbg.cost == pytest.approx((200 * 2 + 800 * 0.5 + 100 * 20) / 1e6)
        call(dbg, "small-1", usage)  # it has no other price for them
        assert dbg.cost == pytest.approx(0.0028 + 0.002)


@pytest.mark.parametrize("prices", [{"m": 3}, {"m": [1]}, {"m": [1, -1]}, {"m": [1, 2, 3, 4]}])
def test_what_is_no_price_is_refused(tmp_path: Path, prices: Any) -> None:
    with pytest.raises(InvalidInput, match=r"\[input, output\]"):
        start("priced", directory=tmp_path, prices=prices)
