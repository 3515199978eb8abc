"""An agent's loop by hand: a scripted model, three tools, and every call recorded.

    python examples/agent_loop.py

Then, with the session's id that it prints:

    holdfast agent replay ID                    what happened
    holdfast agent replay ID --mode full        the loop again, without one call of model or tool
    holdfast agent fork ID --at 2 --message "in German, please" -- python examples/agent_loop.py
    holdfast agent export ID --otlp             as spans of OpenTelemetry

To stop it, begin it with `--slow`, and take `holdfast agent attach` in another terminal.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from holdfast.bridge import start

dbg = start("shopper", provider="offline", model="script-1")
state: dict[str, Any] = {"tax": 0.25}
basket: list[str] = []
pace = 2.0 if "--slow" in sys.argv else 0.0


@dbg.tool(pure=True)
def price(item: str) -> float:
    """Changes nothing: a fork may go past it without a warning."""
    return {"tea": 4.0, "cake": 8.0}[item]


@dbg.tool
def put(item: str, amount: float) -> str:
    basket.append(item)
    return f"{item} for {amount:.2f}, ticket {dbg.randint(100, 999)}"


@dbg.tool
def pay(total: float) -> str:
    return f"paid {total:.2f}"


@dbg.model(model="script-1", provider="offline")
def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Where a real agent would ask a model: the next turn follows from what was said."""
    time.sleep(pace)
    results = [each for each in messages if each["role"] == "tool"]
    polite = any("German" in str(each["content"]) for each in messages)
    turns: list[list[tuple[str, dict[str, Any]]]] = [
        [("price", {"item": "tea"}), ("price", {"item": "cake"})],
        [("put", {"item": "tea", "amount": 4.0}), ("put", {"item": "cake", "amount": 8.0})],
        [("pay", {"total": 12.0 * (1 + state["tax"])})],
    ]
    done = sum(1 for each in messages if each["role"] == "assistant")
    calls = [
        {"id": f"call-{done}-{at}", "name": name, "input": given}
        for at, (name, given) in enumerate(turns[done] if done < len(turns) else [])
    ]
    said = ("Fertig" if polite else "Done") + f": {results[-1]['content']}" if not calls else ""
    return {
        "role": "assistant",
        "content": said,
        "tool_calls": calls,
        "stop_reason": "tool_use" if calls else "end_turn",
        "usage": {"input_tokens": 20 * len(messages), "output_tokens": 10},
    }


def loop(task: str) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    tools = {"price": price, "put": put, "pay": pay}
    with dbg.run(messages=messages, vars=state, tools=list(tools)):
        while True:
            answer = ask(messages)
            messages.append(answer)
            if not answer["tool_calls"]:
                return str(answer["content"])
            for call in answer["tool_calls"]:
                try:
                    result = tools[call["name"]](**call["input"])
                except Exception as error:  # the model is told, and may do better
                    result = f"{type(error).__name__}: {error}"
                said = result if isinstance(result, str) else json.dumps(result)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})


if __name__ == "__main__":
    print("session", dbg.id)
    print(loop("Buy tea and cake."))
    print("in the basket:", ", ".join(basket) or "nothing")
