"""A hand-written agent loop with a scripted model and three tools. Every call is recorded.

    python examples/agent_loop.py

It prints the id of its session. Then try:

    holdfast agent replay ID                    show what happened
    holdfast agent replay ID --mode full        run the loop again, without calling a model or tool
    holdfast agent fork ID --at 2 --message "in German, please" -- python examples/agent_loop.py
    holdfast agent export ID --otlp             print OpenTelemetry spans

To steer it, start it with `--slow`, and run `holdfast agent attach` in another terminal.
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
    """This tool changes nothing, so a fork may replay it without a warning."""
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
    """A real agent would ask a model here. This one follows a script."""
    time.sleep(pace)
    results = [message for message in messages if message["role"] == "tool"]
    is_german = any("German" in str(message["content"]) for message in messages)
    turns: list[list[tuple[str, dict[str, Any]]]] = [
        [("price", {"item": "tea"}), ("price", {"item": "cake"})],
        [("put", {"item": "tea", "amount": 4.0}), ("put", {"item": "cake", "amount": 8.0})],
        [("pay", {"total": 12.0 * (1 + state["tax"])})],
    ]
    turn = sum(1 for message in messages if message["role"] == "assistant")
    calls = [
        {"id": f"call-{turn}-{position}", "name": name, "input": arguments}
        for position, (name, arguments) in enumerate(turns[turn] if turn < len(turns) else [])
    ]
    done = "Fertig" if is_german else "Done"
    content = "" if calls else f"{done}: {results[-1]['content']}"
    return {
        "role": "assistant",
        "content": content,
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
                except Exception as error:  # report it to the model, which may try again
                    result = f"{type(error).__name__}: {error}"
                content = result if isinstance(result, str) else json.dumps(result)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


if __name__ == "__main__":
    print("session", dbg.id)
    print(loop("Buy tea and cake."))
    print("in the basket:", ", ".join(basket) or "nothing")
