"""Inside an agent's loop: records it, and lets somebody outside stop and steer it.

    from holdfast.bridge import start

    dbg = start("my-agent")

    @dbg.tool
    def read_file(path): ...

    @dbg.model
    def ask(messages): ...

    with dbg.run(messages=messages, vars=state):
        ...the loop...

`agent_bridge` is the bridge itself, `flows` what happens around one model call or tool, `loop_control` what
somebody outside has asked for, `tape` a recording to play from, `otel` spans of what happens
(with the extra of that name). `holdfast.recording` has the files;
`docs/agents.md` tells the whole story, and `docs/decisions/0010` why it is so.
"""

from holdfast.bridge.agent_bridge import Bridge, Run
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.bridge_errors import Diverged, RecordedError, ToolCancelled
from holdfast.bridge.startup import active, start

__all__ = [
    "Bridge",
    "Diverged",
    "ModelCall",
    "RecordedError",
    "Run",
    "ToolCall",
    "ToolCancelled",
    "active",
    "start",
]
