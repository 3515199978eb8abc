"""The door for editors: a debug adapter that serves the sessions which every other face drives.

`dap_door` listens and decides who may come in, `dap_stream` cuts one connection into messages,
`dap_client` answers one editor. What it asks for is handled by subject: `dap_lifecycle`,
`dap_execution`, `dap_breakpoints`, `dap_inspection`, `dap_sources`. `dap_events` tells it what
happens in the session, whoever caused it, and `dap_editors` knows who shares which session.
"""
