"""Calls functions of a module that it imports when it is told to, and of code that it makes."""

import importlib
import sys


def save():  # @own_save
    return 0


def main():
    sys.path.insert(0, __file__.rpartition("/")[0] + "/helpers")
    catalog = importlib.import_module("catalog")  # by a name that no file of ours has as its path
    made = {}
    exec(compile("class Made:\n    def run(self):\n        return 1\n", "<made>", "exec"), made)
    print("loaded")  # @loaded
    save()
    catalog.use_all()
    made["Made"]().run()
    print("all called")


main()
