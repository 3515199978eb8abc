"""The words of the house, as plain values.

A *session* is one target's life. A *hold* is a point where that target waits, at a *location* when
it is code that waits. Exactly one *decision* ends a hold. These are frozen, carry no behaviour
beyond questions about themselves, and every other room speaks in them.
"""
