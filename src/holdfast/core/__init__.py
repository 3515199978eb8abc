"""The rules, without IO: plain values in, plain values out.

They say which state a session goes to next (`lifecycle`), which decisions are valid
(`decision_check`) and who decided a hold (`ledger`). They check the parts of a breakpoint: its line
(`executable_lines`), function (`function_finder`), condition (`conditions`), hit count
(`hit_conditions`) and log message (`logpoints`). debugpy accepts all of these unchecked and does
not report what is wrong with them.
"""
