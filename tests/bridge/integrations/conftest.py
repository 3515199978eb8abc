"""So that what fails in the shared contract says how."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("contract", "steering")
