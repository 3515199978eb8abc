"""Holdfast: one debugger for Python programs, intercepted calls and agent loops.

Importing this package must stay cheap for an application: nothing but the standard library.
"""

__version__ = "0.1.0"
