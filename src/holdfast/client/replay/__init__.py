"""A recorded call, made again: in a process of the user's own interpreter, because a user asked.

`child` is what runs there. It restores the values (`restoring`), finds the current code and calls
it (`calling`), says where the outcome differs from the recorded one (`differences`), and, for a
test, writes the values as source (`expressions`, with `helpers` that go into the test's file).
`stability` tells whether the call can be repeated at all: not if it depends on clock or chance.
"""
