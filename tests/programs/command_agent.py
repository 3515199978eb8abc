"""A small agent: each line on its stdin is a command of its user's, and ends with `ready`.

    turn N        N iterations, each a model call and a tool call: double(iteration)
    pair N        N model calls of each of two agents side by side, in lanes `a` and `b`
    big           a tool whose result is 200,000 characters
    fail          a tool that raises
    flood N       N events
    close         end the session in order
    crash         be killed
"""

import os
import signal
import sys
import threading

from holdfast.bridge import start
from holdfast.model.agent_events import VALUE_RECORDED

dbg = start("looper", directory=sys.argv[1] if len(sys.argv) > 1 else None, model="none-1")
messages = [{"role": "user", "content": "double it"}]
state = {"step": 1}
out = sys.stdout


@dbg.tool
def double(number):
    return number * 2


@dbg.tool
def big():
    return "x" * 200_000


@dbg.tool
def fail():
    raise ValueError("no such luck")


@dbg.model(model="none-1", provider="nobody")
def ask(messages):
    usage = {"input_tokens": 10, "output_tokens": 2}
    return {"content": "use double", "stop_reason": "tool_use", "usage": usage}


def turn(count):
    for number in range(1, count + 1):
        ask(messages)
        found = double(number=number)
        messages.append({"role": "assistant", "content": f"it is {found}"})
    return messages[-1]["content"]


def run_lane(lane, count):
    own = [{"role": "user", "content": f"I am {lane}"}]
    with dbg.run(messages=own, lane=lane):
        for _ in range(count):
            own.append({"role": "assistant", "content": ask(own)["content"]})


def pair(count):
    threads = [threading.Thread(target=run_lane, args=(lane, count)) for lane in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    with dbg.run(messages=messages, vars=state):
        print("ready", dbg.id, flush=True)
        for line in sys.stdin:
            word, *more = line.split()
            try:
                match word:
                    case "turn":
                        print(turn(int(more[0])))
                    case "pair":
                        pair(int(more[0]))
                    case "big":
                        print(len(big()))
                    case "fail":
                        fail()
                    case "flood":
                        for number in range(int(more[0])):
                            dbg.emit(VALUE_RECORDED({"name": "n", "value": number}))
                    case "state":
                        print(state, len(messages))
                    case "close":
                        dbg.close()
                    case "crash":
                        os.kill(os.getpid(), signal.SIGKILL)
            except Exception as error:
                print(type(error).__name__, error)
            print("ready", flush=True)


main()
