"""Every request that this adapter answers, by its command."""

from __future__ import annotations

from holdfast.server.dap import (
    dap_breakpoints,
    dap_execution,
    dap_inspection,
    dap_lifecycle,
    dap_sources,
)
from holdfast.server.dap.dap_requests import RequestKind

REQUESTS: dict[str, RequestKind] = {
    **dap_lifecycle.requests.kinds,
    **dap_breakpoints.requests.kinds,
    **dap_execution.requests.kinds,
    **dap_inspection.requests.kinds,
    **dap_sources.requests.kinds,
}
