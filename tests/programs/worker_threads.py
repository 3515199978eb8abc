"""Three workers that start together, work in turn on request, and end together."""

import sys
import threading

COUNT = 3
start = threading.Barrier(COUNT)
done = []


def work(name):
    start.wait()
    mine = name * 2  # @work
    done.append(mine)  # @done


def spin(halt):
    ticks = 0
    while not halt.is_set():
        ticks += 1
        print("tick", ticks, flush=True)
        halt.wait(0.005)


if sys.argv[1:] == ["spin"]:
    halt = threading.Event()
    ticker = threading.Thread(target=spin, args=(halt,), name="ticker")
    ticker.start()
threads = [threading.Thread(target=work, args=(c,), name=f"worker-{c}") for c in "abc"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if sys.argv[1:] == ["spin"]:
    halt.set()
print(sorted(done))  # @end
