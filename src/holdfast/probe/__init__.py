"""What runs inside the program being debugged.

The server starts `boot.py` with the target's own interpreter and one end of a socket. Boot loads
this directory as a package called `_holdfast` (so the target never sees `holdfast`), arms the
debugger that ships with debugpy, waits to be told which program to run, and becomes it. From
then on `debugger` answers the server's requests on the debugger's own connection: `stops` shows
frames, `values` renders what is in them, `evaluation` runs expressions where the program waits,
`rules` decides whether a breakpoint stops, `tasks` lists asyncio tasks, `streams` notices that
input is wanted, and `children` keeps the processes that it starts out of trouble, or has them
join with a debugger of their own (`joining`). `inject` brings the same package into a process
that somebody else started, and `release` lets any of them go.

Everything here is standard library, from Python 3.9 on, and leaves the program as it would be
without it.
"""
