"""The directory of an agent session, for everybody who reads or writes it.

The bridge in the agent's process writes events and reads commands; the command line and the server
read events and append commands. `docs/decisions/0010` draws the directory and names every field.
Everything here needs the standard library alone, because it runs in the user's process too.

- `layout`: where things are, and how a session is called
- `journal`: appending events; `tail`: reading what others append
- `contents`: bodies that are too large for a line
- `liveness`: whether a session's agent still runs; `index`: which ones do
- `retention`: which recordings are kept
- `bell`: waking whoever reads; `sending`: a command, and what became of it
"""
