"""What can be debugged. Each target turns its own world into stops, events and answers.

`program` is a Python program in a process of its own, with debugpy's debugger inside it.
"""
