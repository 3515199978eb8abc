"""Intercepted calls: the applications that report them, what they told, and where one is held.

`Calls` is the whole: its sessions, one for each application (`session`), the values they sent
(`contents`), what they called (`functions`), the breakpoints (`breakpoints`), and each call from
start to completion (`flow`). A call that meets a breakpoint is held (`holding`) until somebody
decides (`decisions`). What was recorded is read in `reading`.
"""
