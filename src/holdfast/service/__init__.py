"""The operations: what happens in which order, behind every face.

`Debugger` owns the sessions, the ledger of holds and the store. A `ProgramSession` is one target's life
seen from outside: it listens to its target, moves through its states, keeps output, events and
breakpoints, and wakes whoever waits for its next stop. Faces (REST, and later MCP, the command
line and the page) call these and shape the answers; they decide nothing themselves.
"""
