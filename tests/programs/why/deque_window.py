"""A sliding window that is one too long."""

from collections import deque


class Window:
    def __init__(self, size):
        self.size = size
        self.values = deque()

    def push(self, value):
        self.values.append(value)
        if len(self.values) > self.size + 1:  # @bug
            self.values.popleft()

    def mean(self):
        return sum(self.values) / len(self.values)


def main():
    window = Window(3)
    for value in [100, 1, 2, 3]:
        window.push(value)
    mean = window.mean()
    print(mean)  # @why mean


main()
