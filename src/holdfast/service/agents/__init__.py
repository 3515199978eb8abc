"""Agent loops: the server follows the files that their bridges write, and appends to theirs.

An agent's bridge decides what is held and writes down what happens (`docs/decisions/0010`). This
package reads it, opens a hold for each stop, and turns decisions into commands. `agent_registry`
follows all agents, `agent_session` is one of them, `event_log` reads events out of a recording,
`recording_scan` finds the state of a session without reading all of it, `command_exchange` sends
commands and waits for their results, and `answer_builder` builds the answers. `recording_reader`
shows recordings to people, and `agent_reruns` runs agents again from theirs.
"""
