"""How errors are answered over HTTP."""

from __future__ import annotations

import msgspec

from holdfast.errors import AlreadyDecided, HoldfastError, LaunchFailed, SessionNotFound
from holdfast.server.error_answers import error_body, status_of


def test_an_error_has_the_status_of_its_nearest_family() -> None:
    errors = [SessionNotFound("x"), AlreadyDecided("x"), LaunchFailed("x"), HoldfastError("x")]
    assert [status_of(error) for error in errors] == [404, 409, 500, 500]


def test_an_error_body_carries_the_reference_and_leaves_the_error_alone() -> None:
    error = LaunchFailed("It ended at once.", session_id="s1")
    assert msgspec.to_builtins(error_body(error, reference="r1")) == {
        "error": {
            "code": "LAUNCH_FAILED",
            "message": "It ended at once.",
            "hint": LaunchFailed.default_hint,
            "details": {"session_id": "s1", "reference": "r1"},
        },
        "error_code": "launch_failed",
    }
    assert error.details == {"session_id": "s1"}
