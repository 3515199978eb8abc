"""Any report fits any budget, and its text and its structure carry the same facts."""

from __future__ import annotations

import string

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from holdfast.wire import rest
from holdfast.wire.plain_text import clean, clean_line
from holdfast.wire.report_answers import Report, ReportedCause, ReportedException, ReportedFrame
from holdfast.wire.tool_answers import BYTES_PER_TOKEN, ToolResult, fit

_SESSION = "sess_9f3c2a7b41d0e58"


# -- random reports -------------------------------------------------------------------------------

raw = st.one_of(
    st.text(max_size=30),
    st.text(alphabet='"\\\n\t\x1b🐍é', max_size=200),
    st.integers(1, 30_000).map(lambda n: "x" * n),
    st.integers(1, 3_000).map(lambda n: "🐍\n" * n),
)
texts = raw.map(clean)
lines = raw.map(clean_line)
names = st.one_of(st.text(string.ascii_lowercase, min_size=1, max_size=12), lines)
values = st.dictionaries(names, texts, max_size=12)
many_values = st.integers(13, 400).map(lambda n: {f"v{i}": str(i) * 9 for i in range(n)})


def maybe(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.one_of(st.just(UNSET), strategy)


causes = st.builds(
    ReportedCause,
    type=lines,
    message=texts,
    relation=st.just("cause"),
    at=maybe(lines),
    text=maybe(lines),
    locals=maybe(values),
)
frames = st.builds(ReportedFrame, at=lines, function=lines, text=maybe(lines), locals=maybe(values))
exceptions = st.builds(
    ReportedException,
    type=lines,
    message=texts,
    causes=maybe(st.lists(causes, min_size=1, max_size=5)),
    frames=maybe(st.lists(frames, min_size=1, max_size=5)),
)
some_lines = st.lists(lines, min_size=1, max_size=60)
source = st.lists(lines.map(lambda line: f"  1  {line}"), max_size=6).map(
    lambda around: [*around[:3], "> 2  here", *around[3:]]
)
reports = st.builds(
    Report,
    status=st.sampled_from(["paused", "running", "terminated"]),
    session_id=st.just(_SESSION),
    reason=maybe(lines),
    at=maybe(lines.map(lambda line: f"{line}.py:12")),
    function=maybe(lines),
    message=maybe(texts),
    environment=maybe(lines),
    exception=maybe(exceptions),
    source=maybe(source),
    locals=maybe(st.one_of(values, many_values)),
    gone=maybe(some_lines),
    unchanged=maybe(st.integers(1, 5000)),
    returned=maybe(values),
    values=maybe(values),
    stack=maybe(some_lines),
    steps=maybe(some_lines),
    columns=maybe(some_lines),
    rows=maybe(st.lists(st.lists(texts, min_size=1, max_size=5), min_size=1, max_size=60)),
    hits=maybe(st.integers(0, 10**9)),
    output=maybe(texts),
    prompt=maybe(lines),
    exit_code=maybe(st.integers(-64, 255)),
    never_hit=maybe(some_lines),
    problems=maybe(some_lines),
    omitted=maybe(some_lines),
    next=maybe(st.just("debug_step, debug_continue")),
)


def check_fits(result: ToolResult, budget: int) -> None:
    limit = budget * BYTES_PER_TOKEN
    assert len(rest.encode(result.answer)) <= limit
    assert len(result.text.encode()) <= limit


def list_facts(value: object) -> list[str]:
    """Every text and number in a structured answer."""
    if isinstance(value, dict):
        return [fact for item in value.items() for part in item for fact in list_facts(part)]
    if isinstance(value, list):
        return [fact for part in value for fact in list_facts(part)]
    return [str(value)]


def squeeze(text: str) -> str:
    return "".join(text.split())


def check_same_facts(result: ToolResult) -> None:
    answer = msgspec.to_builtins(result.answer)
    text = squeeze(result.text)
    relations = {"cause": "raised from"}
    for name, value in answer.items():
        facts = list_facts(value)
        if isinstance(value, dict) and name != "exception":
            facts = [*value, *value.values()]
        elif name == "exception":
            facts = [relations.get(fact, fact) for fact in facts if fact not in _FIELDS]
        for fact in facts:
            assert squeeze(fact) in text, (name, fact)


_FIELDS = {
    field
    for struct in (ReportedException, ReportedCause, ReportedFrame)
    for field in struct.__struct_fields__
}


@settings(deadline=None, max_examples=100)
@given(report=reports, budget=st.one_of(st.integers(100, 400), st.integers(100, 20_000)))
def test_any_report_fits_any_budget_and_says_the_same_twice(report: Report, budget: int) -> None:
    result = fit(report, budget)
    check_fits(result, budget)
    check_same_facts(result)
    assert isinstance(result.answer, Report)
    assert (result.answer.status, result.answer.session_id) == (report.status, _SESSION)
    assert report.status in result.text
    assert _SESSION in result.text
    if result.answer != report:
        assert result.answer.omitted or _is_only_cut(report, result.answer)


def test_returned_values_without_room_are_said_to_be_left_out() -> None:
    report = Report(
        status="paused",
        session_id=_SESSION,
        at=f"{'x' * 54}.py:12",
        message="x" * 120,
        environment="x" * 40,
        returned={"x" * 50: ""},
        next="debug_step, debug_continue",
    )
    answer = fit(report, 100).answer
    assert isinstance(answer, Report)
    assert answer.returned is UNSET
    assert answer.omitted


def _is_only_cut(before: Report, after: Report) -> bool:
    """Whether each part is still there."""
    left = [f for f in before.__struct_fields__ if getattr(after, f) is UNSET]
    return all(getattr(before, field) in (UNSET, {}, []) for field in left)


# -- how it becomes smaller -----------------------------------------------------------------------


def make_large() -> Report:
    report = Report(
        status="paused",
        session_id=_SESSION,
        reason="breakpoint",
        at="shop.py:12",
        function="total",
        source=["  11  before", "> 12  here", "  13  after"],
        locals={f"rows{i}": f"[{i}, " + "0, " * 300 + "0]" for i in range(20)},
        stack=[f"f{i} shop.py:{i}" for i in range(10)],
        output="".join(f"line {i}\n" for i in range(100)),
    )
    assert report.locals
    report.shapes.update(dict.fromkeys(report.locals.values(), "list of 302 int"))
    return report


def fit_report(report: Report, budget: int) -> Report:
    result = fit(report, budget)
    check_fits(result, budget)
    assert isinstance(result.answer, Report)
    return result.answer


def test_long_values_are_cut_first() -> None:
    report = fit_report(make_large(), 2000)
    assert report.locals
    assert len(report.locals) == 20
    assert all(value.endswith("… (list of 302 int)") for value in report.locals.values())
    assert report.source == make_large().source
    assert any('debug_inspect(expand="rows0")' in part for part in report.omitted or ())


def test_then_they_become_shapes() -> None:
    values = list((fit_report(make_large(), 500).locals or {}).values())
    assert len(values) == 20
    assert values[0].startswith("[0, 0, ")
    assert values[-1] == "list of 302 int"


def test_then_names_and_counts() -> None:
    report = fit_report(make_large(), 200)
    assert 0 < len(report.locals or {}) < 20
    assert report.omitted
    assert "variables rows" in report.omitted[0]
    smallest = fit_report(make_large(), 100)
    assert (smallest.status, smallest.at) == ("paused", "shop.py:12")
    assert smallest.omitted
    assert "debug_inspect(" in smallest.omitted[0]


def test_the_end_of_the_output_is_kept() -> None:
    report = fit_report(Report(status="running", session_id=_SESSION, output="x\n" * 9000), 200)
    assert report.output
    assert report.output.startswith("…")
    assert report.output.endswith("x\n")
    assert any("of output" in part for part in report.omitted or ())


def test_of_many_rows_the_first_and_the_last_are_kept() -> None:
    rows = [[f"shop.py:{i}", str(i)] for i in range(500)]
    report = fit_report(Report(status="terminated", session_id=_SESSION, rows=rows), 400)
    assert report.rows
    assert (report.rows[0], report.rows[-1]) == (rows[0], rows[-1])
    assert any("rows" in part for part in report.omitted or ())


def test_a_budget_is_used_well() -> None:
    for budget in (300, 800, 2000, 5000):
        result = fit(make_large(), budget)
        used = max(len(rest.encode(result.answer)), len(result.text.encode()))
        whole = len(rest.encode(make_large()))
        assert used > min(whole, budget * BYTES_PER_TOKEN) * 0.6


def test_a_report_that_fits_is_left_as_it_is() -> None:
    report = make_large()
    assert fit(report, 20_000).answer is report


# -- how to see what is left out ------------------------------------------------------------------


def list_calls(report: Report) -> list[str]:
    return [note.partition(": ")[2] for note in report.omitted or ()]


def test_what_is_left_out_is_shown_in_the_same_frame() -> None:
    report = make_large()
    report.inspected = "frame=3"
    assert list_calls(fit_report(report, 100)) == ["debug_inspect(frame=3, budget_tokens=2000)"]
    assert 'debug_inspect(frame=3, expand="rows0")' in list_calls(fit_report(report, 1000))


def test_a_part_of_a_value_is_unfolded_by_its_whole_name() -> None:
    parts = {f"[{i}]": "x" * 300 for i in range(8)}
    report = Report(status="paused", session_id=_SESSION, values={'q["a"]': "list of 8", **parts})
    assert list_calls(fit_report(report, 400)) == ['debug_inspect(expand="q[\\"a\\"][0]")']


def test_values_that_were_asked_for_can_only_be_asked_for_again() -> None:
    values = {f"name{i}": "x" * 300 for i in range(40)}
    report = Report(status="paused", session_id=_SESSION, values=values)
    assert list_calls(fit_report(report, 100)) == ["the same with a larger budget_tokens"]


def test_a_value_is_said_to_be_shortened_once() -> None:
    report = make_large()
    report.omitted = ['rows0, rows1 shortened: debug_inspect(expand="rows0")']
    assert list_calls(fit_report(report, 1000)).count('debug_inspect(expand="rows0")') == 1


def test_what_can_be_done_next_is_whole_or_left_out() -> None:
    report = make_large()
    report.next = "debug_inspect(frame=1), " * 5
    for budget in (100, 150, 300, 800):
        assert fit_report(report, budget).next in (UNSET, report.next)
