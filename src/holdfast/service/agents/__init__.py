"""Agent loops: the server follows the files that their bridges write, and appends to theirs.

An agent's bridge decides what is held and writes down what happens (`docs/decisions/0010`); this
room reads it, opens a hold for each stop, and turns decisions into commands. `log` reads events
out of a recording, `glance` finds out how a session stands without reading all of it, `session` is
one agent as the server knows it, `following` keeps up with all of them, `steering` sends commands
and waits for what becomes of them, and `shown` is how clients see it all.
"""
