"""The flags of the Python interpreter that a program may be started with.

What is missing names a program, asks for a prompt, or ends Python at once: `-c`, `-m`, `-i`, `-x`,
`-h`, `-V`.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import InvalidInput

_PLAIN = "bBdEIOPqRsSuv"
_WITH_VALUE = "WX"
_LONG_WITH_VALUE = ("--check-hash-based-pycs",)
ACCEPTED = (*(f"-{letter}" for letter in _PLAIN), "-W ARG", "-X OPT", *_LONG_WITH_VALUE)
_INSTEAD = {"m": "Use `module`.", "c": "Use `code`.", "i": "Use a breakpoint at its last line."}


def check(flags: Sequence[str]) -> None:
    """Raise InvalidInput for the first one that cannot be given, with those that can."""
    rest = list(flags)
    while rest:
        flag = rest.pop(0)
        if flag in _LONG_WITH_VALUE:
            needs_value = True
        elif len(flag) > 1 and flag[0] == "-" and flag[1] != "-":
            needs_value = _check_letters(flag)
        else:
            raise _refuse(flag, "it is no flag of Python that can be used here")
        if needs_value and not rest:
            raise _refuse(flag, "its value is missing")
        if needs_value:
            rest.pop(0)


def _check_letters(flag: str) -> bool:
    """Check one flag or several that are joined, as `-BO`; whether its value is the next one."""
    for place, letter in enumerate(flag[1:], 1):
        if letter in _WITH_VALUE:
            return place == len(flag) - 1
        if letter not in _PLAIN:
            reason = _INSTEAD.get(letter, "a debugged program cannot have it")
            raise _refuse(flag, f"-{letter} cannot be given. {reason}")
    return False


def _refuse(flag: str, reason: str) -> InvalidInput:
    return InvalidInput(
        f"python_args: {flag!r}: {reason}",
        hint=f"These can be given: {', '.join(ACCEPTED)}.",
        field="python_args",
        flag=flag,
        accepted=list(ACCEPTED),
    )
