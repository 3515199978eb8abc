"""Programs under the debugger: their sessions, and every operation on them. Its parts:

    Programs              every program session: opens, restores, expires and ends them
    ProgramSession        one program: its state, its run, and the operations that faces call
    status_builder        the answer after something ran: the stop, its source, locals, output, end
    program_launch        starts a program; `program_attach` attaches to one that runs
    RunListener           passes what happens in one run on to the session
    StopTracker           the stop that the session shows; `ThreadStops` has those of other threads
    Inspection            stack, scopes, variables, expressions, threads, sources
    SessionBreakpoints    the session's breakpoints (`BreakpointSet`), in the debugger and the store
    ProjectBreakpoints    what a new session of a project begins with
    ChildSessions         the processes that the program starts
    SessionStorage        saves the session; `session_document` is what is saved
    project_directory     checks the directory that a client gives for a session
    OutputBuffer, WatchList, IdleTimer, OwnedProcesses, SourceFiles, BreakpointProfiles

A `ProgramSession` wakes whoever waits for its next stop.
"""
