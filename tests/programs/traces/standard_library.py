"""Calls functions of the standard library."""

import argparse
import bisect
import configparser
import csv
import difflib
import fractions
import heapq
import json.decoder
import json.scanner
import statistics
import textwrap

TEXT = "the quick brown fox jumps over the lazy dog " * 4


def main():
    print(textwrap.wrap(TEXT, 30)[:3])
    print(textwrap.dedent("  a\n    b\n  c\n"))
    decoder = json.decoder.JSONDecoder()
    decoder.parse_string = json.decoder.py_scanstring
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    print(decoder.decode('{"a": [1, 2.5, "x\\n"], "b": {"c": null}}'))
    print(csv.Sniffer().sniff("a;b;c\n1;2;3\n4;5;6\n").delimiter)
    matcher = difflib.SequenceMatcher(None, "abcdefgh", "abxdefyh")
    print(matcher.get_opcodes())
    print(list(heapq.merge([1, 4, 7], [2, 5], [0, 9])))
    parser = configparser.ConfigParser()
    parser.read_string("[one]\na = 1\nb = %(a)s2\n[two]\nlong = x\n  y\n")
    print({name: dict(parser[name]) for name in parser.sections()})
    print(fractions.Fraction("1/3") + fractions.Fraction(2, 7))
    print(statistics.median([5, 1, 4]), statistics.pvariance([1, 2, 4]))
    arguments = argparse.ArgumentParser(prog="p")
    arguments.add_argument("--x", type=int, default=2)
    arguments.add_argument("y", nargs="*")
    print(arguments.parse_args(["--x", "5", "a", "b"]))
    items = [1, 3, 5]
    bisect.insort(items, 4)
    print(items)


main()
