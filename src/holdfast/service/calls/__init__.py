"""Intercepted calls: the applications that report them, what was recorded, and what is held.

`CallService` connects the parts, each of which has one job:

    CallSessions      the directory of applications that report calls (`CallSession`)
    CallRecorder      calls reported one by one: start, complete, numbering
    BatchRecorder     calls that leased applications report after the fact
    CallBreakpoints   which calls to hold, or to answer at once
    CallInterceptor   applies the breakpoints to a call
    CallHolds         held calls (`HeldCall`): open, poll, decide, evaluate, give up
    ActionBuilder     turns a decision into the instruction for the application
    CallLeases        which calls a leased application need not ask about (`LeaseBoard`)
    CallReader        reads what was recorded; `CallRenderer` builds the answers
    CallFinder        finds calls, and applies filters to them (`FilterCheck`)
    CallTail          follows calls as they are recorded
    TimelineReader    when and where very many calls ran
    CallPruner        deletes the oldest calls
    ContentCache, StackCache, FunctionCatalog, RunningCalls   what is in memory
"""
