"""Calls through a proxy until its standard input ends, whatever becomes of the server.

Prints how many of its calls the server has confirmed. A call that no server lets it make is made
again when one does. At the end it sends the rest, and prints how many calls it has made.
"""

import sys
import threading
import time

from holdfast import DebugServerError, configure_debug, with_debug
from holdfast.client.switch import switch


class Shelf:
    def put(self, number, text):
        return f"{number}: {text}"


def send():
    """Send what has gathered; whether the server has confirmed it."""
    try:
        switch.recorder.leased_calls.flush()
    except DebugServerError:
        return False
    return True


def main(url):
    ending = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ending.set()), daemon=True).start()
    configure_debug(mode="leased", request_timeout=20.0, **({"server_url": url} if url else {}))
    with_debug("ON")
    shelf = with_debug(Shelf())
    made = 0
    while not ending.is_set():
        try:
            # Some values are sent by themselves, under their content ids.
            shelf.put(made, "x" * (300 if made % 10 == 0 else 3))
        except DebugServerError:
            time.sleep(0.02)
            continue
        made += 1
        if made % 20 == 0 and send():
            print(made, flush=True)
    while not send():
        time.sleep(0.02)
    print("made", made, flush=True)


main(sys.argv[1] if len(sys.argv) > 1 else None)
