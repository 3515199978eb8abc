"""Several clients set breakpoints in one session: who wants which."""

from __future__ import annotations

from holdfast.service.programs.breakpoint_owners import REST, BreakpointOwners

EDITOR, CONTROLLER = "editor:1", "controller"


def test_a_breakpoint_that_nobody_claims_is_of_the_http_api() -> None:
    owners = BreakpointOwners()

    assert owners.of("bp_1") == [REST]
    assert owners.is_kept("bp_1")


def test_the_breakpoint_of_an_editor_is_not_stored() -> None:
    owners = BreakpointOwners()
    owners.create("bp_1", EDITOR)

    assert owners.of("bp_1") == [EDITOR]
    assert not owners.is_kept("bp_1")


def test_one_that_is_there_already_is_adopted_and_still_stored() -> None:
    owners = BreakpointOwners()
    owners.adopt("bp_1", EDITOR)

    assert owners.of("bp_1") == [EDITOR, REST]
    assert owners.is_kept("bp_1")


def test_who_leaves_takes_only_what_nobody_else_wants() -> None:
    owners = BreakpointOwners()
    owners.create("bp_1", EDITOR)
    owners.create("bp_2", EDITOR)
    owners.adopt("bp_2", CONTROLLER)
    owners.adopt("bp_3", EDITOR)

    assert owners.release(EDITOR) == ["bp_1"]
    assert owners.of("bp_2") == [CONTROLLER]
    assert owners.of("bp_3") == [REST]


def test_a_second_leave_changes_nothing() -> None:
    owners = BreakpointOwners()
    owners.create("bp_1", EDITOR)
    for breakpoint_id in owners.release(EDITOR):
        owners.forget(breakpoint_id)

    assert owners.release(EDITOR) == []


def test_a_client_of_the_http_api_adopts_what_an_editor_has_set() -> None:
    owners = BreakpointOwners()
    owners.create("bp_1", EDITOR)
    owners.adopt("bp_1", REST)

    assert owners.release(EDITOR) == []
    assert owners.is_kept("bp_1")
