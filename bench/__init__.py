"""How fast is it? `python -m bench` (or `make bench`) measures Holdfast beside stock debugpy.

A peer is a `Driver`: it launches a program and hands out a `Debuggee` to step, to ask and to end.
`stock` and `holdfast_http` have one each. On them run

- `life`: a program from launch to end, peer after peer, on the same program and interpreter;
- `hot`: breakpoints in hot loops that never stop, on every Python there is.

What has no peer is asked of Holdfast alone: `trip` (a status beside a `bare` HTTP answer), `crowd`
(many sessions at once), `growth` (what a step costs as things grow) and `inside` (a step without
HTTP). `calls` and `calls_store` are about intercepted calls, each figure beside what it cannot be
cheaper than. `measuring` holds what they share, `table` shows the figures as Markdown, and `plots`
draws.

Figures depend on the machine, so nothing here fails because of one. What does fail is a program
that goes through other lines than it should: then one would compare different work.
"""
