"""Benchmarks: `python -m bench` (or `make bench`) compares Holdfast with stock debugpy.

Each debugger has a `Driver` (`debugpy_driver`, `holdfast_driver`), which launches a program and
returns a `Debuggee` to step, evaluate in and end. Two modules run on every driver:

- `program_runs`: a program from launch to end, one debugger after the other;
- `hot_loops`: breakpoints in hot loops that never stop, on every installed Python.

The others measure Holdfast alone: `round_trips` (`GET …/status` beside a constant HTTP answer of
`bare_server`), `concurrent_sessions` (many sessions at once), `growth` (the cost of a step as a
program grows), `step_parts` (a step without HTTP), `calls` and `call_store` (intercepted calls) and
`agents` (agent loops). `measurements` has what they share, `tables` prints the figures as Markdown,
and `plots` draws them.

Figures depend on the machine, so no figure makes a run fail. A program that runs through other
lines than expected does: its figures would compare different work.
"""
