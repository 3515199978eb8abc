"""The tools for agents: few, each a whole task, with answers that fit a budget.

MCP, REST and the command line call `ToolSet.call` with the name of a tool and its request. The
answers are built from the same sessions and operations that every other face uses.
"""
