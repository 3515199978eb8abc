"""`holdfast debug`: a full-screen debugger in a terminal, one client of the server among others.

`session_client.py` makes the requests and `debug_state.py` has their answers as plain values;
neither knows the screen. `debug_screen.py` is the app: it follows the events of the session, asks
for the state when something happened, and gives each pane its part. The panes know no server: they
show values and send messages.
"""
