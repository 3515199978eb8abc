"""Adds up orders, some levels deep."""

import json
import sys


class Basket:
    def __init__(self, items):
        self.items = items


def add_up(items, discount):
    amount = 0
    for price in items:  # @loop
        amount += price  # @add
    return amount - discount  # @sum


def order(items):
    label = "order"
    basket = Basket(items)
    amount = add_up(basket.items, 1)  # @order
    note = json.dumps({"amount": amount})  # @note
    return label, note  # @ordered


def dive(depth, items):
    if depth == 0:
        return order(items)  # @deepest
    return dive(depth - 1, items)  # @dive


total = 0
for number in range(2):
    label, note = dive(int(sys.argv[1]) if len(sys.argv) > 1 else 0, [3, 2, 4])  # @module
    print(label, note)  # @print
