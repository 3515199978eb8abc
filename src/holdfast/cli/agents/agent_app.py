"""The table of the commands of `holdfast agent`."""

from __future__ import annotations

from typing import ClassVar

import typer

from holdfast.cli.lazy_commands import LazyCommand, LazyGroup


class AgentCommands(LazyGroup):
    lazy_commands: ClassVar = {
        "run": LazyCommand(
            "agents.run_command:app", "Run an agent, held where you say from its first call on."
        ),
        "sessions": LazyCommand(
            "agents.sessions_command:sessions",
            "The agents that run: id, name, pid, since when, where, and what they do.",
        ),
        "watch": LazyCommand(
            "agents.watch_command:watch",
            "Print what happens, until the session ends or Ctrl+C; with --json one event a line.",
        ),
        "pause": LazyCommand(
            "agents.control_commands:pause",
            "Stop it before its next model call: every lane, or one.",
        ),
        "resume": LazyCommand(
            "agents.control_commands:resume", "Let it go on: as it is, or with something changed."
        ),
        "step": LazyCommand(
            "agents.control_commands:step", "One iteration, then stop: of every lane, or of one."
        ),
        "inspect": LazyCommand(
            "agents.control_commands:inspect",
            "Its messages, context, tools and variables, as they are now, and whole.",
        ),
        "inject": LazyCommand(
            "agents.control_commands:inject",
            "Add a message to the conversation: of the lane that is held, else the main one.",
        ),
        "set": LazyCommand("agents.control_commands:set_variable", "Set a variable of the loop."),
        "cancel": LazyCommand(
            "agents.control_commands:cancel", "Cancel a tool call that runs or is held."
        ),
        "breakpoint": LazyCommand(
            "agents.agent_breakpoint_commands:breakpoints", "Where it is to stop."
        ),
        "attach": LazyCommand(
            "agents.attach_command:attach",
            "A full-screen view on a terminal; from a pipe, a command a line (`help` lists them).",
        ),
        "replay": LazyCommand(
            "agents.recording_commands:replay",
            "Show a recording; with a mode or CMD, run the agent again, and compare.",
        ),
        "fork": LazyCommand(
            "agents.recording_commands:fork",
            "Take N iterations from a recording, then go on live, perhaps changed.",
        ),
        "diff": LazyCommand(
            "agents.diff_command:diff",
            "Where two runs part: how far they are the same, and the first difference.",
        ),
        "test": LazyCommand(
            "agents.test_command:write_test",
            "Write a pytest file that runs the agent from a recording: it must ask for the same.",
        ),
        "export": LazyCommand(
            "agents.export_command:export",
            "Spans of a recording: to stdout, a file, or a collector's address.",
        ),
    }


agent = typer.Typer(
    cls=AgentCommands,
    help="Agent loops: watch, stop, steer.",
    no_args_is_help=True,
    add_completion=False,
)


@agent.callback()
def _root() -> None:
    pass
