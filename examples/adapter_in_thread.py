"""Debug a program from a script: the debugger runs in a thread of this process.

Run it with `python examples/adapter_in_thread.py`. It needs no server.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from holdfast.embed import AdapterThread, FunctionBreakpointSpec, LineBreakpointSpec

PROGRAM = Path(__file__).parent / "buggy_cart.py"
SECONDS = 60


def find_line(text: str) -> int:
    """The first line of the program with this text in it."""
    lines = PROGRAM.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def debug_with_futures(adapter: AdapterThread) -> None:
    """Every call returns a Future at once. `result` waits for it."""
    results = adapter.breakpoints.set_source(
        PROGRAM,
        [
            LineBreakpointSpec(find_line("self.total += price"), condition="price > 10"),
            LineBreakpointSpec(find_line("self.prices[name]"), log_message="{name} for {price}"),
        ],
    ).result(SECONDS)
    print("can fire:", [result["verified"] for result in results])
    adapter.breakpoints.set_function([FunctionBreakpointSpec("describe")]).result(SECONDS)

    adapter.launch(PROGRAM).result(SECONDS)
    stop = adapter.wait_for_stop().result(SECONDS)
    print("stopped:", stop["reason"], [f"{v['name']}={v['value']}" for v in stop["locals"]][1:])
    print("the caller:", adapter.stack().result(SECONDS)["frames"][1]["function"])

    stop = adapter.continue_(wait=True).result(SECONDS)
    print("stopped:", stop["reason"], adapter.evaluate("cart.total").result(SECONDS)["result"])
    for _ in range(3):
        adapter.step("over").result(SECONDS)
    print("three steps later:", adapter.evaluate("cart.total").result(SECONDS)["result"])

    adapter.continue_(wait=True).result(SECONDS)
    print("logged:", adapter.output(kinds=["log"]).result(SECONDS)["text"].splitlines())
    print("printed:", adapter.output(kinds=["stdout"]).result(SECONDS)["text"].splitlines()[-1])


async def debug_with_await(adapter: AdapterThread) -> None:
    """Each method has a twin that is awaited, in any event loop."""
    await adapter.breakpoints.async_clear_all()
    await adapter.breakpoints.async_set_exception(["uncaught"])
    stop = await adapter.async_launch(code="total = 18\ntotal / (total - 18)", wait=True)
    thrown = stop["exception"]
    print("awaited:", thrown["type"], "with", (await adapter.async_evaluate("total"))["result"])


def main() -> None:
    with AdapterThread() as adapter:
        port = adapter.get_port_future().result(SECONDS)
        print("an editor can join on a port:", port > 0)
        debug_with_futures(adapter)
        asyncio.run(debug_with_await(adapter))
    print("after the end:", adapter.status().exception())


if __name__ == "__main__":
    main()
