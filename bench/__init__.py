"""How fast is it? `python -m bench` (or `make bench`) measures Holdfast beside stock debugpy.

Every way of driving a debugger lives one *life* after the other, in turn, on the same program and
the same interpreter: launch to the first stop, steps, evaluations, a look at the status, the end.
A life yields named readings; `measuring` collects them, `table` shows them. To add a peer, write
a module with a `Driver` in it and name it in `__main__`.

Figures depend on the machine, so nothing here fails because of one. What does fail is a peer that
goes through other lines than the rest: then one would compare different work.
"""
