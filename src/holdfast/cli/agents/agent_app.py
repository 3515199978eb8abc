"""The commands of `holdfast agent`, put together."""

from __future__ import annotations

import typer

from holdfast.cli.agents import (
    attach_command,
    control_commands,
    diff_command,
    export_command,
    recording_commands,
    run_command,
    sessions_command,
    test_command,
    watch_command,
)
from holdfast.cli.agents.agent_breakpoint_commands import breakpoints

agent = typer.Typer(help="Agent loops: watch, stop, steer.", no_args_is_help=True)

agent.command(
    "run", cls=run_command.RunCommand, context_settings={"allow_interspersed_args": False}
)(run_command.run)
agent.command("sessions")(sessions_command.sessions)
agent.command("watch")(watch_command.watch)
agent.command("pause")(control_commands.pause)
agent.command("resume")(control_commands.resume)
agent.command("step")(control_commands.step)
agent.command("inspect")(control_commands.inspect)
agent.command("inject")(control_commands.inject)
agent.command("set")(control_commands.set_variable)
agent.command("cancel")(control_commands.cancel)
agent.add_typer(breakpoints, name="breakpoint")
agent.command("attach")(attach_command.attach)
agent.command("replay")(recording_commands.replay)
agent.command("fork")(recording_commands.fork)
agent.command("diff")(diff_command.diff)
agent.command("test")(test_command.write_test)
agent.command("export")(export_command.export)
