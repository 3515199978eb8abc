"""A report as text: what people and models read."""

from __future__ import annotations

from holdfast.wire.report_answers import Report, ReportedCause, ReportedException, ReportedFrame

SESSION = "sess_9f3c2a7b41d0e58"


def test_a_stop_reads_from_why_to_what_changed() -> None:
    report = Report(
        status="paused",
        session_id=SESSION,
        reason="breakpoint",
        at="shop.py:12",
        function="total",
        source=["  11  for price in items:", "> 12      amount += price"],
        locals={"amount": "5", "price": "2"},
        was={"amount": "3"},
        gone=["rest"],
        unchanged=7,
        returned={"discount": "0"},
        values={"len(items)": "4"},
        stack=["main shop.py:20", "<module> shop.py:25"],
        output="one\ntwo",
    )
    assert report.to_text() == "\n".join(
        (
            f"paused at shop.py:12 in total (breakpoint) · {SESSION}",
            "  11  for price in items:",
            "> 12      amount += price",
            "amount = 5 (was 3)",
            "price = 2",
            "gone: rest",
            "… 7 unchanged",
            "discount returned 0",
            "len(items) = 4",
            "stack: main shop.py:20 ← <module> shop.py:25",
            "output:",
            "  one",
            "  two",
        )
    )


def test_a_crash_reads_as_what_led_to_what() -> None:
    report = Report(
        status="terminated",
        session_id=SESSION,
        at="shop.py:3",
        exit_code=1,
        exception=ReportedException(
            type="ShopError",
            message="no such thing",
            causes=[ReportedCause(type="KeyError", message="'x'", relation="cause", at="db.py:9")],
            frames=[
                ReportedFrame(
                    at="shop.py:8", function="main", text="find('x')", locals={"name": "'x'"}
                )
            ],
        ),
    )
    assert report.to_text() == "\n".join(
        (
            f"terminated at shop.py:3, exit code 1 · {SESSION}",
            "ShopError: no such thing",
            "  raised from KeyError: 'x' at db.py:9",
            "in main shop.py:8  find('x')",
            "  name = 'x'",
        )
    )


def test_no_value_can_pass_for_a_line_of_the_report() -> None:
    report = Report(
        status="paused",
        session_id=SESSION,
        message="one\nnext: a",
        locals={"x": "1\nnext: b"},
        output="ok\nnext: c",
        steps=["shop.py:1  y = 2\nnext: d"],
    )
    assert not any(line.startswith("next:") for line in report.to_text().splitlines())


def test_a_place_is_no_note_of_an_exception() -> None:
    cause = ReportedCause(
        type="ValueError", message="broken\na note", relation="cause", at="shop.py:4", text="int(s)"
    )
    thrown = ReportedException(type="Bad", message="", causes=[cause])
    report = Report(status="paused", session_id=SESSION, exception=thrown)
    assert report.to_text().splitlines()[1:] == [
        "Bad",
        "  raised from ValueError: broken",
        "    a note",
        "    at shop.py:4  int(s)",
    ]
