"""An agent that shops: a scripted model, three tools, and a sub-agent that one of them asks."""

import json

from holdfast.bridge import start

dbg = start("shopper", provider="offline", model="script-1", prices={"script-*": [100.0, 200.0]})
state = {"tax": 0.25, "shop": "corner"}
TASK = "Buy tea & cake. <b>Quickly</b> <img src=x onerror=alert(1)>"


@dbg.tool(pure=True)
def price(item):
    return {"tea": 4.0, "cake": 8.0}[item]


@dbg.tool(pure=True)
def research(topic):
    """Ask a sub-agent, which asks its model twice."""
    notes = [{"role": "user", "content": f"What is known of {topic}?"}]
    with dbg.run(lane="researcher", messages=notes):
        notes.append({"role": "assistant", "content": ask(notes)["content"]})
        notes.append({"role": "user", "content": "Shorter, please."})
        return ask(notes)["content"]


@dbg.tool
def put(item, amount):
    return f"{item} for {amount!r}"


@dbg.tool
def pay(total):
    if total > 100:
        raise ValueError(f"{total} is too much")
    return f"paid {total!r}"


TURNS = [
    [("price", {"item": "tea"}), ("research", {"topic": "cake"})],
    [("put", {"item": "tea", "amount": 4.0}), ("put", {"item": "cake", "amount": 8.0})],
    [("pay", {"total": 15.0})],
]


@dbg.model(model="script-1", provider="offline")
def ask(messages):
    usage = {"input_tokens": 20 * len(messages), "output_tokens": 10}
    if "known of" in messages[0]["content"]:
        return {"role": "assistant", "content": f"note {len(messages)}", "usage": usage}
    turn = sum(1 for message in messages if message["role"] == "assistant")
    calls = [
        {"id": f"call-{turn}-{place}", "name": name, "input": given}
        for place, (name, given) in enumerate(TURNS[turn] if turn < len(TURNS) else [])
    ]
    language = "Fertig" if "German" in str(messages) else "Done"
    content = "" if calls else f"{language}: {messages[-1]['content']}"
    return {"role": "assistant", "content": content, "tool_calls": calls, "usage": usage}


def shop():
    messages = [
        {"role": "system", "content": "You shop for others."},
        {"role": "user", "content": TASK},
    ]
    tools = {"price": price, "research": research, "put": put, "pay": pay}
    with dbg.run(messages=messages, vars=state, tools=list(tools)):
        while True:
            answer = ask(messages)
            messages.append(answer)
            if not answer["tool_calls"]:
                return answer["content"]
            for call in answer["tool_calls"]:
                try:
                    result = tools[call["name"]](**call["input"])
                except Exception as error:
                    result = f"{type(error).__name__}: {error}"
                content = result if isinstance(result, str) else json.dumps(result)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


print(dbg.id, flush=True)
print(shop())
