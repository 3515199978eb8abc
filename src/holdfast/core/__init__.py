"""The rules, without IO: plain values in, plain values out.

Here stands what is allowed and what follows from it: which state a session goes to next
(`lifecycle`), who decided a hold (`ledger`), and what a breakpoint means before any debugger has
seen it: its line (`executable_lines`), its function (`function_finder`), its condition
(`conditions`), its hit count (`hit_conditions`) and its log message (`logpoints`). debugpy takes
all of these on trust and says nothing when they are wrong, so they are checked here, against the
real grammar and the real code objects.
"""
