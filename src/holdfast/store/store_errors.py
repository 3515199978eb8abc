"""What can go wrong with a store."""

from __future__ import annotations

from holdfast.errors import NotStored


class StoreProblem(NotStored):
    """Something could not be read from disk, or written there."""


class StoreInUse(StoreProblem):
    code = "STORE_IN_USE"
    short = "store_in_use"
    default_hint = "Use the server that runs there, stop it, or choose another data directory."
