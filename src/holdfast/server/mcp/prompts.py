"""What agents are told of how to debug: the server's instructions, and a prompt."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types
from mcp.shared.exceptions import MCPError

INSTRUCTIONS = """\
Holdfast debugs Python. Start with debug_run: one call runs a script, module, test or command \
line to its first stop, crash or end. For a wrong value: debug_diff if a good run exists, else \
debug_trace of its function, else debug_why. Prefer one run with `collect`, or debug_step with \
`count` or `until`, to single steps. Reports show what is new; debug_inspect shows all. \
`running`: debug_continue waits on. Every tool takes `budget_tokens`; what shows values, \
`show_secrets`; what runs a target, args, env, cwd, python, stdin. Without `session_id`, the \
latest session is meant.\
"""
ROOT_CAUSE = "root_cause"
_STEPS = """\
Find the root cause of this, with the tools of Holdfast: {symptom}

1. Reproduce it with debug_run, in the smallest form that still fails. Read the whole report.
2. Say which value is wrong first, where, and what it should be. A crash is where it shows, seldom \
where it begins.
3. Predict: name one cause, and what a look would show if it were so. Then look, with one \
experiment: debug_trace of the function that makes the value, debug_why at the line where it is \
wrong, debug_diff of a good and a bad run, debug_run with `collect`, or debug_set_breakpoints with \
`watch` to stop at the write.
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
