"""A Python program in its own process, debugged by the pydevd that ships with debugpy.

The usual way (an adapter process, a launcher process, two TCP hops) costs most of a second per
launch and 44 ms per request. Here `launching` starts the program's own interpreter with our
probe and one end of a socket pair, and `connection` speaks DAP straight to the debugger inside.
`attaching` reaches programs that run already, and the stock adapter where nothing else can.
`target` is the live program in both cases: commands in, stops and endings out.
"""
