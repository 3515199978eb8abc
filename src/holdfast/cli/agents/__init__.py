"""`holdfast agent …`: watching and steering agents from their files alone, without a server.

`session_selection` finds the session that is meant; `sessions_command` lists what there is.
`watch_command` prints what happens, and `event_lines` says how an event reads. `control_commands`
and `agent_breakpoint_commands` send commands and say what became of them. `attach_command` does
both at once: from a pipe (`command_parser` understands the lines), or on the `agent_screen`.
`recording_commands` shows a recording or has the agent run again (`agent_rerun`), `diff_command`
compares two, `test_command` makes a test of one, and `export_command` makes spans of it.
`agent_app` puts the commands together.
"""
