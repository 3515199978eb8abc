"""Recordings of runs: finding, reading and showing them.

`trace_service` lists and deletes them, and keeps the values whose text was cut in the store.
`recordings` is one recording as an object that every tool and page asks: its calls, one call as a
frame trace, the calls around it. `call_view` turns frame traces into answers. `why_facts` says
where a value came from, and `why_view` says it to pages.
"""
