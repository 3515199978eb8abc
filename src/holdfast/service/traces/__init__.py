"""Recordings of runs: finding, reading and showing them.

`trace_service` lists and deletes them, and keeps the values whose text was cut in the store.
`recordings` is one recording as an object that every tool and page asks: its calls, one call as a
frame trace, the calls around it. `call_view` and `round_choice` turn frame traces into answers.
"""
