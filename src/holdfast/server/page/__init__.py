"""The web page: its built files, the addresses that open it, and what browsers may do with it.

`web/` has its source. The package's build (`hatch_build.py`) puts the result into `built/` here.
"""
