"""Programs under the debugger: their sessions, and what is done to them.

A `ProgramSession` is one program's life seen from outside. It listens to its target, moves through
its states, keeps output, events and breakpoints, and wakes whoever waits for its next stop.
"""
