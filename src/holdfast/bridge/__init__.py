"""Inside an agent's loop: records it, and lets somebody outside stop and steer it.

    from holdfast.bridge import start

    dbg = start("my-agent")

    @dbg.tool
    def read_file(path): ...

    @dbg.model
    def ask(messages): ...

    with dbg.run(messages=messages, vars=state):
        ...the loop...

- `agent_bridge`: one agent session, from `start` to its end
- `flows`: what happens around one model call or tool; `flow_driver` runs them, sync or async;
  `pending_results` those of functions that give an awaitable or a stream
- `loop_control`: what holds the loop; `command_executor`: the commands from outside
- `initial_holds`: what is held from the first call on; `project_file`: the rules of `holdfast.toml`
- `replay_tape`: a recording to replay from; `otel`: the loop as OpenTelemetry spans (an extra)

`holdfast.recording` has the files. `docs/agents.md` is the guide, `docs/decisions/0010` the design.
"""

from holdfast.bridge.agent_bridge import Bridge
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.agent_run import Run
from holdfast.bridge.bridge_errors import (
    Diverged,
    ModelDenied,
    RecordedError,
    ToolCancelled,
    ToolDenied,
)
from holdfast.bridge.startup import active, start

__all__ = [
    "Bridge",
    "Diverged",
    "ModelCall",
    "ModelDenied",
    "RecordedError",
    "Run",
    "ToolCall",
    "ToolCancelled",
    "ToolDenied",
    "active",
    "start",
]
