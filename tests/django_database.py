"""Django with a database in memory, for models that a test defines."""

from __future__ import annotations

from typing import Any

import pytest


def configure_django() -> None:
    """Afterwards its modules can be imported. Several tests of one process may call it."""
    django: Any = pytest.importorskip("django")
    from django.conf import settings  # type: ignore[import-untyped]

    if not settings.configured:
        database = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
        settings.configure(DATABASES={"default": database}, USE_TZ=True)
        django.setup()
