"""A Python program in its own process, debugged by the pydevd that ships with debugpy.

The usual way (an adapter process, a launcher process, two TCP hops) costs most of a second per
launch and 44 ms per request. Here `launcher` starts the program's own interpreter with our probe
and one end of a socket pair, and `dap_connection` speaks DAP to the debugger inside. `attachment`
reaches programs that already run. `adapter` uses debugpy's own adapter when the probe cannot start.
`target` is the live program in all cases: it takes commands and reports stops and the end.
"""
