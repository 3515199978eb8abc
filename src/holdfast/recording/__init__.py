"""The directory of an agent session, for everybody who reads or writes it.

The bridge in the agent's process writes events and reads commands; the command line and the server
read events and append commands. `docs/decisions/0010` draws the directory and names every field.
Everything here needs the standard library alone, because it runs in the user's process too.

- `directories`: where things are, and how a session is called
- `event_writer`: appends events; `tail`: reads what others append
- `recording_state`: reduces events to the state of a session; `agent_spans`: to OpenTelemetry spans
- `lane_tree`: how deep inside other agents an event happened
- `conversation`: a run as turns and tools; `recorded_snapshot`: its state as `inspect` shows it,
  with what `message_summary` says of messages
- `run_totals`: what a run came to; `run_comparison`: where two runs part; `run_alignment`: two
  runs side by side
- `agent_rerun`: an agent that runs again from a recording; `recorded_calls`: what a fork takes
  from it; `rerun_outcome`: what came of it
- `session_names`: finds sessions by a part of an id or by a name
- `content_files`: bodies that are too large for a line
- `liveness`: whether a session's agent still runs; `session_index`: which ones do
- `capture_files`: what failing tests leave; that is no part of an agent session
- `retention`: which recordings are kept
- `wakeup_fifo`: wakes whoever reads; `command_sender`: sends a command and collects its answers
"""
