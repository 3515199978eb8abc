"""Runs until it is ended: small functions, called for ever."""

import time


def inner(number):
    doubled = number * 2  # @inner
    return doubled


def work(count):
    total = 0  # @first
    for number in range(count):
        total += inner(number)  # @body
    return total  # @last


while True:
    work(3)  # @loop
    time.sleep(0.001)
