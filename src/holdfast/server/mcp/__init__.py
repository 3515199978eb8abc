"""The Model Context Protocol: how agents get at the tools.

An agent comes in through a door (`holdfast mcp` carries its messages there) or over HTTP at `/mcp`.
Both lead to the same server object of the official SDK, which is imported when the first agent
comes: that takes longer than the start of everything else.
"""
