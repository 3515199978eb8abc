"""numpy arrays and pandas tables, by shape and first elements."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

from holdfast.probe import variables
from holdfast.probe.variables import Handles


def make_preview(value: Any, **options: Any) -> dict[str, Any]:
    return variables.describe(value, "v", Handles(), 1, **options)


def unfold(value: Any, start: int = 0, count: int = 100) -> dict[str, Any]:
    handles = Handles()
    ref = variables.describe(value, "v", handles, 1)["reference"]
    return variables.expand(handles, ref, start, count)


def frame(rows: int = 1000) -> pd.DataFrame:
    return pd.DataFrame({"id": range(rows), "price": [0.5] * rows, "name": ["x"] * rows})


# -- arrays --------------------------------------------------------------------------------------


def test_a_small_array_is_shown_whole() -> None:
    item = make_preview(np.arange(4.0).reshape(2, 2))
    assert item["value"] == "array(shape=(2, 2), dtype=float64) [[0.0, 1.0], [2.0, 3.0]]"
    assert (item["shape"], item["dtype"], item["length"]) == ([2, 2], "float64", 2)
    assert (item["expandable"], item["type"]) == (True, "ndarray")
    assert "truncated" not in item


def test_a_giant_array_shows_its_corner_without_being_copied() -> None:
    giant = np.zeros((3000, 1000))
    tracemalloc.start()
    try:
        item = make_preview(giant)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert item["value"].startswith("array(shape=(3000, 1000), dtype=float64) [[0.0, 0.0,")
    assert len(item["value"]) < 600
    assert item["truncated"] is True
    assert peak < 200_000


@pytest.mark.parametrize(
    "value",
    [
        np.array(3),
        np.zeros((0, 4)),
        np.zeros((2,) * 10),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.array(["2020-01-01"], dtype="datetime64[ns]"),
        np.ma.masked_array([1, 2], [True, False]),
        np.zeros(5)[::-1],
        np.array([1, 2], dtype=">i4"),
    ],
    ids=str,
)
def test_unusual_arrays_are_shown(value: Any) -> None:
    item = make_preview(value)
    assert "cannot be shown" not in item["value"]
    assert item["shape"] == list(value.shape)
    assert len(item["value"]) < 600


def test_an_array_of_objects_asks_them_safely() -> None:
    class Bad:
        def __repr__(self) -> str:
            raise ValueError("boom")

    assert "repr raised ValueError: boom" in make_preview(np.array([Bad()], dtype=object))["value"]


def test_an_array_unfolds_into_rows_and_a_row_into_numbers() -> None:
    page = unfold(np.arange(12).reshape(4, 3), 1, 2)
    assert [(item["index"], item["name"], item["shape"]) for item in page["items"]] == [
        (1, "1", [3]),
        (2, "2", [3]),
    ]
    assert (page["total"], page["has_more"]) == (4, True)
    numbers = unfold(np.array([1.5, 2.5]))["items"]
    assert [item["value"] for item in numbers] == [repr(np.float64(1.5)), repr(np.float64(2.5))]


def test_an_element_of_an_array_can_be_set() -> None:
    handles, value = Handles(), np.zeros((2, 2))
    ref = variables.describe(value, "v", handles, 1)["reference"]
    row = variables.expand(handles, ref, 0, 9)["items"][1]["reference"]
    variables.set_child(handles, row, "0", 7)
    assert value.tolist() == [[0, 0], [7, 0]]
    with pytest.raises(IndexError):
        variables.set_child(handles, ref, "2", 7)


def test_an_array_in_a_list_is_named_by_its_shape() -> None:
    assert make_preview([np.zeros((5, 5))])["value"] == "[array(shape=(5, 5), dtype=float64)]"


# -- tables --------------------------------------------------------------------------------------


def test_a_dataframe_says_its_shape_columns_and_first_rows() -> None:
    item = make_preview(frame())
    assert item["value"] == "DataFrame(1000 rows x 3 columns)"
    assert (item["shape"], item["columns"]) == ([1000, 3], ["id", "price", "name"])
    assert (item["length"], item["truncated"], item["expandable"]) == (1000, True, True)
    assert len(item["preview"].splitlines()) == 6


def test_a_wide_dataframe_lists_its_first_columns() -> None:
    item = make_preview(pd.DataFrame(np.zeros((2, 500))))
    assert item["columns"] == [str(number) for number in range(20)]
    assert item["shape"] == [2, 500]


def test_a_dataframe_unfolds_into_series_and_those_into_cells() -> None:
    handles = Handles()
    ref = variables.describe(frame(), "v", handles, 1)["reference"]
    page = variables.expand(handles, ref, 1, 1)
    (column,) = page["items"]
    assert (column["name"], column["type"], page["total"]) == ("price", "Series", 3)
    assert column["value"] == "Series(1000 items, dtype=float64)"
    cells = variables.expand(handles, column["reference"], 998, 10)
    assert [(item["name"], item["index"]) for item in cells["items"]] == [
        ("998", 998),
        ("999", 999),
    ]


def test_a_series_is_named_by_its_index() -> None:
    series = pd.Series([1, 2], index=["a", "b"])
    item = make_preview(series)
    assert (item["dtype"], item["shape"], item["length"]) == ("int64", [2], 2)
    assert item["preview"].splitlines()[0].split() == ["a", "1"]
    assert [each["name"] for each in unfold(series)["items"]] == ["'a'", "'b'"]


def test_a_cell_of_a_dataframe_can_be_set() -> None:
    handles, table = Handles(), frame(3)
    ref = variables.describe(table, "v", handles, 1)["reference"]
    column = variables.expand(handles, ref, 0, 9)["items"][1]["reference"]
    variables.set_child(handles, column, "2", 9.5)
    assert table["price"].tolist() == [0.5, 0.5, 9.5]
    assert variables.get_child(handles, column, "2") == 9.5
    variables.set_child(handles, ref, "name", ["a", "b", "c"])
    assert table["name"].tolist() == ["a", "b", "c"]


def test_a_summary_of_a_table_has_only_its_size() -> None:
    item = make_preview(frame(), summary=True)
    assert (item["shape"], item["length"]) == ([1000, 3], 1000)
    assert not {"value", "preview", "columns"} & set(item)


def test_a_dataframe_of_objects_that_raise_has_no_preview_but_an_answer() -> None:
    class Bad:
        def __repr__(self) -> str:
            raise ValueError("boom")

    item = make_preview(pd.DataFrame({"a": [Bad()]}))
    assert item["value"] == "DataFrame(1 rows x 1 columns)"
    assert "preview" not in item


def test_describing_values_imports_neither_library() -> None:
    script = (
        "import sys; from holdfast.probe import variables;"
        "variables.describe([1], 'v', variables.Handles(), 1);"
        "assert not {'numpy', 'pandas', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
