"""What runs inside the program being debugged.

The server starts `boot.py` with the target's own interpreter and one end of a socket. `boot` loads
this directory with `package_loader` as `_holdfast` (so the target never sees `holdfast`), and
`program_runner` connects pydevd (`pydevd_control`), waits for a program from the server, and
runs it. From then on `request_handlers` answers the server's requests on the debugger's connection:

- `frames`, `stop_snapshots`: the frames of a thread, and the snapshot inside every stop event
- `variables`, `variable_children`, `previews`, `handles`: values as JSON, by reference
- `introspection`, `bounded_calls`, `generated_reprs`, `numpy_pandas`: what previews are made of
- `text_parts`: long strings, a part at a time
- `evaluation`: expressions, run in the suspended thread
- `live_frames`: frames of threads that are not suspended, to be read only
- `end_reports`, `exception_facts`: why the program ended, what an exception says
- `breakpoint_rules`, `breakpoint_table`, `exception_filters`: whether the program stops
- `breakpoint_calls`: where `breakpoint()` stops, and where not
- `traces`: records what the program does, for traces, `why` and `diff`
- `run_experiment`: what breakpoints do at a hit in place of a stop
- `failing_tests`, `exception_stops`: stops where a test fails, in pytest and unittest
- `function_names`, `function_table`: which functions a breakpoint names
- `line_monitor` (3.12 and newer), `frame_tracer`, `generator_entries`, `step_returns` (older),
  `missed_breakpoints`, `recursion_room`: how it is made to stop
- `deadlocks`, `thread_waits`, `task_waits`, `frame_code`: which thread or task waits for which
- `asyncio_tasks`, `standard_streams`: tasks, and reads of stdin that wait
- `process_hooks`, `child_startup`, `child_policy`: the processes that the program starts
- `gevent_support`, `tracing_watch`: programs that use gevent, or that take our tracing away
- `injection`, `detachment`: entering a process that runs already, and leaving one
- `pydevd_access`, `pydevd_loader`, `pydevd_patches`, `server_messages`, `server_connection`: pydevd
  and its connection

Everything here is standard library, from Python 3.9 on, and leaves the program as it would be
without it. Modules import one another at the top and in one direction. Imports of pydevd stand
inside functions, because this package is loaded before pydevd is.
"""
