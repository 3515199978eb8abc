"""Uses copies of modules of the standard library, which stand beside it as `own_…`."""

import io

import own_argparse
import own_bisect
import own_calendar
import own_configparser
import own_copy
import own_csv
import own_difflib
import own_fnmatch
import own_fractions
import own_graphlib
import own_heapq
import own_ipaddress
import own_pprint
import own_reprlib
import own_shlex
import own_statistics
import own_string
import own_textwrap
import own_tokenize

Fraction = own_fractions.Fraction


def quietly(function, *args, **options):
    try:
        return function(*args, **options)
    except Exception as error:
        return type(error)


def texts():
    quietly(own_textwrap.wrap, "The quick brown fox jumps over the lazy dog " * 4, 20)
    quietly(own_textwrap.dedent, "  a\n    b\n")
    quietly(list, own_difflib.unified_diff("a b c d".split(), "a c d e".split()))
    quietly(list, own_difflib.ndiff(["ab\n", "cd\n"], ["ab\n", "ce\n"]))
    quietly(own_difflib.get_close_matches, "appel", ["ape", "apple", "peach"])
    quietly(own_shlex.split, "a 'b c' \"d\\\"e\" # x", comments=True)
    quietly(own_shlex.split, "a 'b")
    quietly(own_string.Template("$a ${b} $$").substitute, a=1, b=2)
    quietly(own_string.capwords, "a b c")
    quietly(own_pprint.pformat, {"a": list(range(30)), "b": {"c": "x" * 90}})
    quietly(own_reprlib.repr, list(range(50)))
    quietly(own_fnmatch.filter, ["a.py", "b.txt"], "*.py")
    source = io.StringIO("def f(x):\n  return x + 1\n").readline
    quietly(lambda: list(own_tokenize.generate_tokens(source)))


def numbers():
    quietly(lambda: Fraction("1/3") + Fraction(2, 6) * 3 - Fraction("0.25"))
    quietly(Fraction, "x")
    quietly(Fraction.limit_denominator, Fraction("3.1415926"), 10)
    quietly(own_statistics.mean, [1, 2, 3.5])
    quietly(own_statistics.median, [3, 1, 2])
    quietly(own_statistics.stdev, [1, 2, 4])
    quietly(own_statistics.quantiles, [1, 2, 3, 4, 5])
    quietly(own_statistics.mean, [])
    quietly(own_calendar.TextCalendar().formatmonth, 2024, 2)
    quietly(lambda: list(own_ipaddress.ip_network("10.0.0.0/29").hosts()))
    quietly(own_ipaddress.ip_address, "zz")


def containers():
    quietly(list, own_heapq.merge([1, 4, 7], [2, 5], [3]))
    quietly(own_heapq.nsmallest, 2, [5, 3, 8, 1])
    quietly(own_bisect.bisect, [1, 2, 3], 2)
    quietly(own_bisect.insort, [1, 3], 2)
    quietly(own_copy.deepcopy, {"a": [1, {2: 3}], "b": (1, [2])})
    sorter = own_graphlib.TopologicalSorter({"d": {"b", "c"}, "b": {"a"}, "c": {"a"}})
    quietly(lambda: tuple(sorter.static_order()))


def settings():
    parser = own_configparser.ConfigParser()
    quietly(parser.read_string, "[a]\nx = 1\ny = %(x)s2\n[b]\nz: 3\n")
    quietly(parser.get, "a", "y")
    quietly(parser.getint, "b", "z")
    quietly(parser.get, "b", "nope")
    quietly(own_csv.Sniffer().sniff, "a;b;c\n1;2;3\n4;5;6\n")
    arguments = own_argparse.ArgumentParser(prog="x")
    arguments.add_argument("--n", type=int, default=3)
    arguments.add_argument("names", nargs="*")
    quietly(arguments.parse_args, ["--n", "4", "a", "b"])
    quietly(arguments.format_help)


texts()
numbers()
containers()
settings()
