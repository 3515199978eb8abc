"""What `pytest --holdfast` leaves of a failing test, and how it holds there.

`client/pytest_plugin` loads this package when its options are used. `capture_plugin` has the hooks,
`failure_capture` describes a failure, `captured_values` its variables, `assertion_operands` the
values in its assertion. `failure_stop` holds at a failure.
"""
