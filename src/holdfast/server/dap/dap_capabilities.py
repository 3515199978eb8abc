"""What an editor is told that this adapter can do."""

from __future__ import annotations

from holdfast.wire.dap import Body

_SUPPORTED = (
    *("supportsConfigurationDoneRequest", "supportsRestartRequest", "supportsTerminateRequest"),
    "supportTerminateDebuggee",
    *("supportsConditionalBreakpoints", "supportsHitConditionalBreakpoints", "supportsLogPoints"),
    *("supportsFunctionBreakpoints", "supportsDataBreakpoints"),
    *("supportsBreakpointLocationsRequest", "supportsExceptionFilterOptions"),
    *("supportsExceptionOptions", "supportsExceptionInfoRequest"),
    *("supportsSetVariable", "supportsSetExpression", "supportsEvaluateForHovers"),
    *("supportsClipboardContext", "supportsCompletionsRequest", "supportsGotoTargetsRequest"),
    *("supportsModulesRequest", "supportsLoadedSourcesRequest", "supportsDelayedStackTraceLoading"),
    "supportsSingleThreadExecutionRequests",
)
_CLASS_NAMES = "Names of exception classes, such as: ValueError, app.errors.Broken"


def _build_filter(name: str, label: str, meaning: str, *, is_default: bool = False) -> Body:
    return {
        "filter": name,
        "label": label,
        "description": meaning,
        "default": is_default,
        "supportsCondition": True,
        "conditionDescription": _CLASS_NAMES,
    }


CAPABILITIES: Body = {
    **dict.fromkeys(_SUPPORTED, True),
    "exceptionBreakpointFilters": [
        _build_filter("raised", "Raised Exceptions", "Stop where an exception is raised."),
        _build_filter(
            "uncaught",
            "Uncaught Exceptions",
            "Stop where an exception is raised that nothing catches: it ends the program.",
            is_default=True,
        ),
        _build_filter(
            "userUnhandled",
            "User Uncaught Exceptions",
            "Stop when an exception leaves your code for the code of a library.",
        ),
    ],
    "completionTriggerCharacters": ["."],
}
