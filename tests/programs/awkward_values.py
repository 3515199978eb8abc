"""Has values that are large, secret, or do strange things when they are shown."""

import threading
import time


class Raises:
    def __repr__(self):
        raise ValueError("no repr")


class Blocks:
    def __repr__(self):
        threading.Event().wait()


class Colourful:
    def __repr__(self):
        return "\x1b[31mred\x1b[0m\nnext: nothing\x07 \ud800"


def large():
    numbers = list(range(1_000_000))
    text = "x" * 10_000_000
    data = b"\x00\xff" * 5_000_000
    nan = float("nan")
    return numbers, text, data, nan  # @large


def strange():
    raises, colourful = Raises(), Colourful()
    surrogate = "\ud800 half"
    print("\x1b[1mbold\x1b[0m \r50%\r100%\x07", flush=True)
    return raises, colourful, surrogate  # @strange


def block():
    blocks = Blocks()
    return blocks  # @blocks


def secret(password):
    config = {"user": "me", "api_key": "sk-abcdefghijklmnopqrstuvwx"}
    url = "postgres://me:hunter2@db/shop"
    tokens = 12
    print("password=" + password, flush=True)
    return config, url, tokens  # @secret


large()
strange()
block()
secret("hunter2")
globals()["y" * 10_000 + "\nnext: b"] = 1
print("x" * 1_000_000)  # @flood
time.sleep(0)  # @after
