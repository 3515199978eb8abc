"""Reads its stdin in the way that its argument names."""

import sys
import time

how = sys.argv[1]
if how == "input":
    print("hello", input("name? "))
elif how == "twice":
    print("first: ", end="", flush=True)
    first = sys.stdin.readline()
    second = input("second: ")
    print([first, second])
elif how == "iterate":
    for line in sys.stdin:
        print("got", line.rstrip(), flush=True)
    print("end of file")
elif how == "all":
    print(repr(sys.stdin.read()))
elif how == "slowly":
    total = 0
    while True:
        time.sleep(0.01)
        data = sys.stdin.buffer.read1(200_000)
        if not data:
            break
        total += len(data)
    print(total)
elif how == "eof":
    try:
        input("more? ")
    except EOFError:
        print("no more")
elif how == "close":
    sys.stdin.close()
    print("closed", flush=True)
    time.sleep(60)
