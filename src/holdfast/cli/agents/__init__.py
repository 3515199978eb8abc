"""`holdfast agent …`: watching and steering agents from their files alone, without a server.

`choosing` finds the session that is meant, `listing` shows which there are, `watching` prints what
happens (`lines` says how an event reads), `steering` and `breakpoints` send commands and say what
became of them. `attaching` does both at once: from a pipe (`telling` understands the lines), or on
the `screen`; `seeing` is what it knows of the agent. `replaying` shows one of the `recordings`, or
has the agent run again (`rerunning`), and `exporting` makes spans of it. `app` puts the commands
together.
"""
