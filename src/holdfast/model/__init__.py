"""The terms of the system, as frozen values that every other package uses.

A *session* debugs one target. A *hold* is a point at which the target waits, with a *location* if
it waits in code. One *decision* ends a hold.
"""
