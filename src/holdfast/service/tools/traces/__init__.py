"""The tools that show what a run did: `debug_trace`, `debug_why` and `debug_diff`.

`recorded_run` runs a program and records it. `trace_tools` shows one call of a recording, or finds
the way from one to another; `why_tools` follows a value back to where it came from; `diff_tools`
finds the first place where two runs differ, and `git_worktree` makes the run of another commit.
"""
