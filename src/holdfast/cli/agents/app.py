"""The commands of `holdfast agent`, put together."""

from __future__ import annotations

import typer

from holdfast.cli.agents import attaching, exporting, listing, replaying, steering, watching
from holdfast.cli.agents.breakpoints import breakpoints

agent = typer.Typer(help="Agent loops: watch, stop, steer.", no_args_is_help=True)

agent.command("sessions")(listing.sessions)
agent.command("watch")(watching.watch)
agent.command("pause")(steering.pause)
agent.command("resume")(steering.resume)
agent.command("step")(steering.step)
agent.command("inspect")(steering.inspect)
agent.command("inject")(steering.inject)
agent.command("set")(steering.set_variable)
agent.command("cancel")(steering.cancel)
agent.add_typer(breakpoints, name="breakpoint")
agent.command("attach")(attaching.attach)
agent.command("replay")(replaying.replay)
agent.command("fork")(replaying.fork)
agent.command("export")(exporting.export)
