"""A priority queue that compares texts."""

import heapq


def load(lines):
    queue = []
    for line in lines:
        priority, _, name = line.partition(" ")
        heapq.heappush(queue, (priority, name))  # @bug
    return queue


def take(queue, count):
    taken = []
    for _ in range(count):
        taken.append(heapq.heappop(queue)[1])
    return taken


def main():
    queue = load(["10 low", "9 high", "30 lowest"])
    order = take(queue, 2)
    first = order[0]
    print(first)  # @why first


main()
