"""An agent with a scripted model: it writes as many files as it is told, one an iteration."""

import json
import os
import sys
import time

from holdfast.bridge import start

wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 2
dbg = start(sys.argv[2] if len(sys.argv) > 2 else "agent", session=os.environ.get("SESSION"))
print(dbg.id, flush=True)


@dbg.model
def ask(messages, model="scripted"):
    turn = sum(1 for each in messages if each["role"] == "assistant")
    return {"role": "assistant", "content": str(turn), "more": turn < wanted}


@dbg.tool
def write(name):
    with open(os.environ.get("DONE", os.devnull), "a") as file:
        file.write(f"{name}\n")
    return f"wrote {name}"


@dbg.tool
def idle(seconds):
    time.sleep(seconds)


messages = [{"role": "user", "content": "begin"}]
state = {"depth": 1}
if os.environ.get("WAIT"):
    sys.stdin.readline()
with dbg.run(messages=messages, vars=state):
    while True:
        answer = ask(messages)
        messages.append(answer)
        if not answer["more"]:
            break
        messages.append({"role": "tool", "content": write(answer["content"])})
if os.environ.get("IDLE"):
    idle(float(os.environ["IDLE"]))
print(json.dumps({"messages": len(messages), "depth": state["depth"]}), flush=True)
