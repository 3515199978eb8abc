"""Makes a recorded call again, in a process of the user's interpreter, because the user asked.

`replay_process` runs there. It restores the values (`value_restorer`), finds the current code and
calls it (`recorded_call`), and compares the outcome with the recorded one (`differences`). For a
test it describes the call (`generated_test`) with values as source code (`source_expressions`; the
test's file gets `generated_test_helpers`). `nondeterminism` notices the use of clock and chance.
"""
