"""Ends with an exception that others led to."""

import json
import sys


class OrderError(Exception):
    pass


def parse(text):
    return json.loads(text)  # @parse


def load(text, retries):
    try:
        return parse(text)
    except ValueError as error:
        raise OrderError("the order is broken") from error  # @raise


def main():
    customer = "me"
    orders = [1, 2]
    if "caught" in sys.argv:
        try:
            load("{broken", 2)
        except OrderError:
            print("caught", customer)
            raise  # @again
    print(customer, len(orders))
    load("{broken", 3)  # @call


main()  # @main
