"""Recorders of what a program does, written to a file while it runs.

`trace_start` begins and ends a recording. The frame recorder follows picked invocations of one
function; the run recorder (`run_recorder`) follows all of the program's own code; `call_counts`
counts calls only. What they write is described in `trace_log` and read by `holdfast.core`.

No code of the program runs for a recording, and no error of a recorder reaches the program.
"""
