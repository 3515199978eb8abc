"""Threads that add up, and one that starts from the wrong number."""

import threading


class Totals:
    def __init__(self):
        self.lock = threading.Lock()
        self.by_name = {}

    def add(self, name, values):
        total = 1 if name == "b" else 0  # @bug
        for value in values:
            total += value
        with self.lock:
            self.by_name[name] = total


def main():
    totals = Totals()
    work = {"a": [1, 2], "b": [3, 4]}
    threads = [threading.Thread(target=totals.add, args=pair) for pair in work.items()]
    for thread in threads:
        thread.start()
        thread.join()
    result = totals.by_name["b"]
    print(result)  # @why result


main()
