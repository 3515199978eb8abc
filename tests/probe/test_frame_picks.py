"""Which invocation of a function is recorded, and what its recording has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.model.trace import CalleeCall, FrameTrace, LoopRun, Step
from holdfast.probe.program_runner import run_program
from holdfast.probe.traces.called_functions import find_function
from holdfast.service.traces.shown_values import ShownValues
from interpreters import Interpreter, choose_interpreters
from traced_programs import TracedRun, run_plain, run_traced

PYTHONS = pytest.mark.parametrize("interpreter", choose_interpreters(), ids=str)

SHOP = """
import threading

RATES = {"a": 2}


class Basket:
    def __init__(self, items):
        self.items = items

    def total(self, factor=1):
        total = 0
        for item in self.items:
            total += price(item) * factor
        return total


def price(item):
    if item < 0:
        raise ValueError("negative")
    return item * RATES["a"]


def outer(n):
    def inner(k):
        return k + n

    return inner(n)


double = lambda value: value * 2


def decorate(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@decorate
def decorated(a, *rest, key=None, **more):
    return a, rest, key, more


def check(items):
    found = []
    for item in items:
        try:
            found.append(price(item))
        except ValueError as error:
            found.append(str(error))
    return found


if __name__ == "__main__":
    for n in range(6):
        Basket([n, n + 1]).total(factor=n)
    print(check([1, -1, 2, -2, 3]), outer(4), double(5), decorated(1, 2, key=3, x=4))
    workers = [threading.Thread(target=price, args=(n,), name="worker") for n in range(2)]
    for worker in workers:
        worker.start()
        worker.join()
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    script = tmp_path / "shop.py"
    script.write_text(SHOP)
    return script


def trace(interpreter: Interpreter, shop: Path, function: str, **spec: Any) -> TracedRun:
    run = run_traced(interpreter.path, shop, function, shop.parent, **spec)
    assert (run.output, run.errors) == (run_plain(interpreter.path, shop).output, "")
    return run


def list_indexes(run: TracedRun) -> list[tuple[int, bool]]:
    return [(frame.index, frame.is_picked) for frame in run.frames]


def show_args(frame: FrameTrace) -> dict[str, str]:
    return {name: value.text for name, value in frame.args.items()}


@PYTHONS
def test_the_first_call_is_picked_unless_another_is_named(
    interpreter: Interpreter, shop: Path
) -> None:
    run = trace(interpreter, shop, "Basket.total")
    assert list_indexes(run) == [(1, True), (2, False), (3, False)]


@PYTHONS
def test_a_call_is_picked_by_its_number_with_two_before_and_after_it(
    interpreter: Interpreter, shop: Path
) -> None:
    run = trace(interpreter, shop, "Basket.total", call=4)
    indexes = [(2, False), (3, False), (4, True), (5, False), (6, False)]
    assert list_indexes(run) == indexes
    assert run.picked.function == "shop.Basket.total"
    assert show_args(run.picked) == {"self": "Basket(items=[3, 4])", "factor": "3"}
    assert run.picked.result is not None
    assert run.picked.result.text == "42"


@PYTHONS
def test_a_call_is_picked_by_a_condition_on_its_arguments(
    interpreter: Interpreter, shop: Path
) -> None:
    run = trace(interpreter, shop, "price", where="item == 4")
    assert show_args(run.picked) == {"item": "4"}
    picked = run.picked.index
    expected = [(picked + n, n == 0) for n in range(-2, 3)]
    assert list_indexes(run) == expected


@PYTHONS
def test_a_condition_that_fails_is_said_and_picks_nothing(
    interpreter: Interpreter, shop: Path
) -> None:
    run = trace(interpreter, shop, "price", where="item.missing > 1")
    assert not any(frame.is_picked for frame in run.frames)
    assert any("AttributeError" in remark for remark in run.remarks)
    broken = trace(interpreter, shop, "price", where="item ==")
    assert any("cannot be compiled" in remark for remark in broken.remarks)


@PYTHONS
def test_the_call_that_raised_is_picked(interpreter: Interpreter, shop: Path) -> None:
    run = trace(interpreter, shop, "price", raised=True)
    assert show_args(run.picked) == {"item": "-1"}
    assert (run.picked.outcome, run.picked.exception_type) == ("raised", "ValueError")
    last = run.picked.items[-1]
    assert isinstance(last, Step)
    assert last.raised == "ValueError('negative')"
    assert len(run.frames) == 5


@PYTHONS
def test_callees_are_told_with_arguments_and_results(interpreter: Interpreter, shop: Path) -> None:
    run = trace(interpreter, shop, "check", full=True)
    loop = next(item for item in run.picked.items if isinstance(item, LoopRun))
    calls = [
        (call.function, call.args, call.result, call.raised)
        for one in loop.kept
        for step in one.steps
        if isinstance(step, Step)
        for call in step.calls
    ]
    raised = "ValueError('negative')"
    assert calls == [
        ("price", "item=1", "2", None),
        ("price", "item=-1", None, raised),
        ("price", "item=2", "4", None),
        ("price", "item=-2", None, raised),
        ("price", "item=3", "6", None),
    ]


@PYTHONS
def test_calls_are_told_in_all_forms(interpreter: Interpreter, tmp_path: Path) -> None:
    script = tmp_path / "calls.py"
    script.write_text(
        "class Thing:\n"
        "    def method(self, a, b=0): return a\n"
        "    @classmethod\n"
        "    def make(cls, a): return a\n"
        "    @staticmethod\n"
        "    def add(a, b): return a + b\n"
        "    def __call__(self, a): return a\n"
        "def plain(a, b=2, *more, c=3, **others): return a\n"
        "def work(thing, args):\n"
        "    plain(1)\n"
        "    plain(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, c=11, d=12)\n"
        "    plain(*args)\n"
        "    thing.method(1, b=2)\n"
        "    Thing.make(3)\n"
        "    thing.add(1, plain(2))\n"
        "    bound = thing.method; bound(9)\n"
        "    len(args), str(4), args.count(1)\n"
        "    plain(1 if args else 2, c=thing.add(1, 2))\n"
        "work(Thing(), (1, 2))\n"
    )
    run = run_traced(interpreter.path, script, "work", tmp_path)
    assert run.errors == ""
    calls = [
        [f"{call.function}({call.args}) -> {call.result}" for call in step.calls]
        for step in run.picked.items
        if isinstance(step, Step)
    ]
    if interpreter.version < (3, 12):
        assert calls[1][0].startswith("plain(a=1, b=2, 3, 4, 5, 6, 7, 8")
        assert calls[0] == ["plain(a=1) -> 1"]
        assert calls[2] == ["plain(a=1, b=2) -> 1"]
        assert calls[3] == ["Thing.method(a=1, b=2) -> 1"]
    else:
        assert calls[0] == ["plain(a=1, b=2, c=3, more=(), others={}) -> 1"]
    assert [[call.partition("(")[0] for call in step] for step in calls] == [
        ["plain"],
        ["plain"],
        ["plain"],
        ["Thing.method"],
        ["Thing.make"],
        ["plain", "Thing.add"],
        ["Thing.method"],
        [],
        ["Thing.add", "plain"],
    ]
    assert [call.rpartition("-> ")[2] for step in calls for call in step] == [
        *["1", "1", "1", "1", "3", "2", "3", "9", "3", "1"]
    ]


def test_functions_of_the_debugger_are_no_callees() -> None:
    def function() -> None: ...

    assert find_function(function) is function
    assert find_function(run_program) is None  # as those around `os.fork` and `os._exit`


def test_a_call_that_did_not_come_back_has_no_result() -> None:
    shown = ShownValues()
    assert shown.show_call(CalleeCall("wait", "n=1")) == "wait(n=1) has not ended"
    assert shown.show_call(CalleeCall("wait", "n=1", "None")) == "wait(n=1) -> None"


@PYTHONS
def test_a_class_is_called_by_its_name(interpreter: Interpreter, shop: Path) -> None:
    shop.write_text(SHOP + "\n\ndef make():\n    return Basket([1])\n\n\nmake()\n")
    run = trace(interpreter, shop, "make")
    (step,) = run.picked.items
    assert isinstance(step, Step)
    (call,) = step.calls
    assert (call.function, call.args) == ("Basket", "items=[1]")


@PYTHONS
@pytest.mark.parametrize(
    ("function", "name", "args"),
    [
        ("outer.inner", "shop.outer.inner", {"k": "4"}),
        ("shop.price", "shop.price", {"item": "0"}),
        ("double", "shop.double", {"value": "5"}),
        (
            "decorated",
            "shop.decorated",
            {"a": "1", "key": "3", "rest": "(2,)", "more": "{'x': 4}"},
        ),
    ],
)
def test_functions_are_found_by_the_names_that_users_give_them(
    interpreter: Interpreter, shop: Path, function: str, name: str, args: dict[str, str]
) -> None:
    run = trace(interpreter, shop, function)
    if function == "double" and interpreter.version >= (3, 11):
        assert run.picked.function.startswith("shop.")
    else:
        assert run.picked.function == name
    assert show_args(run.picked) == args


@PYTHONS
def test_a_bare_name_means_a_function_of_the_script(interpreter: Interpreter, shop: Path) -> None:
    helper = shop.parent / "helper.py"
    helper.write_text("def price(x):\n    return x\n\nprice(0)\n")
    shop.write_text("import helper\nhelper.price(1)\n" + SHOP)
    assert trace(interpreter, shop, "price").picked.file == str(shop)
    assert trace(interpreter, shop, "helper.price").picked.file == str(helper)


@PYTHONS
def test_imported_functions_are_found_wherever_their_module_comes_from(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("zipped.py", "def work(x):\n    y = x + 1\n    return y\n")
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("class A:\n    def work(self, x):\n        return x\n")
    script = tmp_path / "main.py"
    script.write_text(
        "import sys\nsys.path.append(sys.argv[1])\nimport zipped\nfrom package.inner import A\n"
        "print(zipped.work(1), A().work(2))\n"
    )
    for function in ("zipped.work", "package.inner.A.work", "inner.A.work"):
        run = run_traced(
            interpreter.path,
            script,
            function,
            tmp_path,
            args=[str(tmp_path / "packed.zip")],
            is_own=False,
        )
        assert run.output == "2 2\n"
        assert run.picked.source[run.picked.first_line].strip().startswith("def work")


@PYTHONS
def test_a_thread_is_named_and_callers_are_told(interpreter: Interpreter, shop: Path) -> None:
    run = trace(interpreter, shop, "price", where="threading.current_thread().name == 'worker'")
    assert run.picked.thread == "worker"
    first = trace(interpreter, shop, "price").picked
    caller = first.callers[0]
    assert caller.function.endswith("total")
    assert caller.args == {"self": "Basket(items=[0, 1])", "factor": "0"}


RECURSION = """
import threading


def fib(n):
    if n < 2:
        return n
    left = fib(n - 1)
    right = fib(n - 2)
    return left + right


def spin(key, barrier):
    total = 0
    for i in range(400):
        total += i * key
        if i % 100 == 0:
            barrier.wait()
    return total


print(fib(6))
barrier = threading.Barrier(3)
results = {}
threads = [
    threading.Thread(target=lambda k=k: results.__setitem__(k, spin(k, barrier)))
    for k in range(3)
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))
"""


@PYTHONS
def test_recursive_calls_are_recorded_apart(interpreter: Interpreter, tmp_path: Path) -> None:
    script = tmp_path / "recursion.py"
    script.write_text(RECURSION)
    run = run_traced(interpreter.path, script, "fib", tmp_path, call=3)
    assert run.output == run_plain(interpreter.path, script).output
    results = {frame.index: frame.result.text for frame in run.frames if frame.result}
    assert results == {1: "8", 2: "5", 3: "3", 4: "2", 5: "1"}


@PYTHONS
def test_threads_in_one_function_are_recorded_apart(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = tmp_path / "recursion.py"
    script.write_text(RECURSION)
    run = run_traced(interpreter.path, script, "spin", tmp_path)
    assert run.output == run_plain(interpreter.path, script).output
    assert len(run.frames) == 3
    for frame in run.frames:
        key = int(frame.args["key"].text)
        assert frame.result is not None
        assert frame.result.text == str(sum(range(400)) * key)
        loop = next(item for item in frame.items if isinstance(item, LoopRun))
        assert loop.iterations == 400
        assert loop.rows is not None
        assert loop.rows.columns["i"][-1] == "399"
        assert loop.rows.columns["total"][-1] == frame.result.text


@PYTHONS
def test_the_line_of_an_exception_in_a_late_round_is_known(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = tmp_path / "late.py"
    script.write_text(
        "def check(n):\n    if n == 4321:\n        raise ValueError(n)\n    return n\n"
        "def work(count):\n    total = 0\n    for n in range(count):\n"
        "        double = n * 2\n        total += check(n)\n    return total\n"
        "try:\n    work(9000)\nexcept ValueError:\n    pass\n"
    )
    run = run_traced(interpreter.path, script, "work", tmp_path)
    assert (run.picked.outcome, run.picked.exception_line) == ("raised", 9)
