"""Functions with hooks in them do what they did, on the Pythons where they are rewritten."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.targets.program.launcher import PROBE
from interpreters import MONITORING, Interpreter, choose_interpreters

PYTHONS = pytest.mark.parametrize("interpreter", choose_interpreters(before=MONITORING), ids=str)

LOAD = f"""
import sys, types
with open({str(PROBE / "package_loader.py")!r}, encoding="utf-8") as file:
    exec(compile(file.read(), "package_loader", "exec"), namespace := {{"__name__": "loader"}})
load = lambda name: namespace["load_module"]({str(PROBE)!r}, "traces." + name)

def walk(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from walk(const)

def list_codes():
    import argparse, asyncio, configparser, difflib, email.message, tarfile, typing, unittest
    sample = [asyncio.streams, configparser, sys.modules["contextlib"], typing]
    for module in list(sys.modules.values()) if sys.argv[1] == "all" else sample:
        file = getattr(module, "__file__", None) or ""
        if file.endswith(".py") and "/lib/python" in file:
            with open(file, encoding="utf-8") as opened:
                yield from walk(compile(opened.read(), file, "exec"))
"""
# With HOLDFAST_EVERY_MODULE, as in `make soak`, the code of all modules that these import.
EXTENT = "all" if os.environ.get("HOLDFAST_EVERY_MODULE") else "sample"

TAKE_APART = """
import dis
assembly = load("code_assembly")
count = 0
for code in list_codes():
    made = assembly.assemble(code, assembly.disassemble(code), code.co_consts, 0)
    # Superfluous prefixes may be gone: what counts is what the instructions say.
    def read(code):
        steps = [(i.opname, i.argrepr.partition("to ")[0]) for i in dis.get_instructions(code)
                 if i.opname != "EXTENDED_ARG"]
        return steps, [line for _, line in dis.findlinestarts(code)]
    assert read(code) == read(made), (code.co_filename, code.co_name)
    if sys.version_info >= (3, 11):
        assert list(code.co_positions()) == list(made.co_positions())
        assert dis._parse_exception_table(code) == dis._parse_exception_table(made)
    count += 1
print(count > (1000 if sys.argv[1] == "all" else 300))
"""

REWRITE_ALL = """
rewriter = load("code_rewriter")
hooks = rewriter.Hooks(*[None] * len(rewriter.Hooks._fields))
count = 0
for code in list_codes():
    if code.co_flags & 1:
        made, switches = rewriter.rewrite(code, hooks)
        assert made.co_varnames == code.co_varnames
        assert hash(made) is not None
        count += 1
print(count > (1000 if sys.argv[1] == "all" else 300))
"""


def run(interpreter: Interpreter, code: str, folder: Path) -> str:
    done = subprocess.run(
        [interpreter.path, "-c", LOAD + code, EXTENT],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@PYTHONS
def test_code_that_is_taken_apart_and_put_together_is_the_same(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    assert run(interpreter, TAKE_APART, tmp_path) == "True\n"


@pytest.mark.slow
@PYTHONS
def test_every_function_of_large_modules_can_be_rewritten(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    assert run(interpreter, REWRITE_ALL, tmp_path) == "True\n"
