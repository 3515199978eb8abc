"""What can be debugged. A target turns its own events into stops, output and ends.

`program` is a Python program in a process of its own, with debugpy's debugger inside it.
"""
