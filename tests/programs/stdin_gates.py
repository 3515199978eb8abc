"""Goes through ten gates, each opened by a line on stdin, and stops for nothing else."""

import sys


def passed(number):
    return number  # @gate


for number in range(10):
    line = sys.stdin.readline()
    passed(number)  # @call
