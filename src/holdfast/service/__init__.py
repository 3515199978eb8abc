"""The operations: what happens in which order, behind every face.

A face (REST, the command line) holds a `Debugger`. It finds a `Session` in `debugger.sessions`, or
a hold in `debugger.holds`, calls one operation, and renders the answer. Every kind of target has
its own package: `programs/`, `calls/` and `agents/`. What a kind cannot do its session says itself.
"""
