"""What agents are told of how to debug: the server's instructions, and a prompt."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types
from mcp.shared.exceptions import MCPError

INSTRUCTIONS = """\
Holdfast debugs Python programs. Start with debug_run: one call runs a script, module, test or \
command line to its first stop, crash or end and reports it, with locals. Prefer one run with \
breakpoints and `collect`, or one debug_step with `count` or `until`, to many single steps. \
Reports show what is new since the last one; debug_inspect shows anything again. `running` means \
that the wait is over and the program is not: debug_continue waits on. `budget_tokens` bounds an \
answer, which says what it leaves out. Without `session_id`, the latest session is meant.\
"""
ROOT_CAUSE = "root_cause"
_STEPS = """\
Find the root cause of this, with the tools of Holdfast: {symptom}

1. Reproduce it with debug_run, in the smallest form that still fails. Read the whole report.
2. Say which value is wrong first, where, and what it should be. A crash is where it shows, seldom \
where it begins.
3. Predict: name one cause, and what a look would show if it were so. Then look, with one \
experiment: debug_run with `collect` at the line that makes the value, a condition that is true \
only when it is wrong, or debug_set_breakpoints with `watch` to stop at the write.
4. If the prediction fails, drop the cause and take the next. Go back towards the origin: who \
called this, who wrote that.
5. You have it when you can say which line makes which value wrong, and why. Show it: change the \
value with debug_evaluate, run on, and see the symptom go.
6. Fix that line and not the symptom. Run it again, and the tests around it.

Do not step line by line where one run can tell. End what you started with debug_stop.\
"""


def list_prompts() -> list[mcp_types.Prompt]:
    symptom = mcp_types.PromptArgument(
        name="symptom", description="What goes wrong, and how to make it happen.", required=True
    )
    return [
        mcp_types.Prompt(
            name=ROOT_CAUSE,
            title="Find the root cause",
            description="How to get from a symptom to its cause in few calls.",
            arguments=[symptom],
        )
    ]


def get_prompt(name: str, arguments: Mapping[str, str]) -> mcp_types.GetPromptResult:
    if name != ROOT_CAUSE:
        raise MCPError(mcp_types.INVALID_PARAMS, f"Unknown prompt: {name}. There is: {ROOT_CAUSE}")
    symptom = arguments.get("symptom", "").strip()
    if not symptom:
        raise MCPError(mcp_types.INVALID_PARAMS, "The argument `symptom` is missing")
    text = _STEPS.format(symptom=symptom)
    message = mcp_types.PromptMessage(role="user", content=mcp_types.TextContent(text=text))
    return mcp_types.GetPromptResult(description="Find the root cause", messages=[message])
