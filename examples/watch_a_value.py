"""Find out who changes a value: a data breakpoint stops at every line that writes it.

Run it with `python examples/watch_a_value.py`. It needs no server.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.embed import AdapterThread, DataBreakpointSpec, FunctionBreakpointSpec

PROGRAM = Path(__file__).parent / "buggy_cart.py"
SECONDS = 60


def main() -> None:
    source = PROGRAM.read_text().splitlines()
    with AdapterThread() as adapter:
        # Stop where the cart exists: when something is added to it for the first time.
        adapter.breakpoints.set_function([FunctionBreakpointSpec("Cart.add")]).result(SECONDS)
        adapter.launch(PROGRAM, wait=True).result(SECONDS)
        adapter.breakpoints.set_function([]).result(SECONDS)

        # Ask whether it can be watched, then watch that attribute of that very object.
        info = adapter.breakpoints.data_info("self.total", frame_id=0).result(SECONDS)
        data_id = info["dataId"]
        assert data_id is not None, info["description"]
        spec = DataBreakpointSpec(data_id, access_type="change")
        (result,) = adapter.breakpoints.set_data([spec]).result(SECONDS)
        print("watching:", result["verified"])

        stop = adapter.continue_(wait=True).result(SECONDS)
        while stop["reason"] == "data breakpoint":
            change = stop["data"]
            place = change["location"]
            assert place is not None
            code = source[place["line"] - 1].strip()
            print(f"{change['old']} -> {change['new']}, by {place['function']}: {code}")
            stop = adapter.continue_(wait=True).result(SECONDS)
        print("ended:", adapter.output().result(SECONDS)["text"].splitlines()[-1])


if __name__ == "__main__":
    main()
