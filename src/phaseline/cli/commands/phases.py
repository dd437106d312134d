"""``phaseline phases …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, plugins_option, watchable


@click.group(epilog="Example: phaseline phases list --state Allocation")
def phases() -> None:
    """What is done with resources in a state."""


@phases.command("list", epilog="Example: phaseline phases list --type Cloud.Node --state Allocation")
@click.option("--state", default="", metavar="STATE", help="Only phases of this state.")
@click.option("--type", "resource_type", default="", metavar="TYPE", help="Only phases for resources of this type.")
@plugins_option
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk, state: str, resource_type: str, plugin_folders: tuple[str, ...]) -> None:
    """List the phases that plugins define, and what is done with each now; nothing of a plugin is run."""
    from phaseline.cli.render.phases import phase_list
    from phaseline.use_cases.queries.phases import list_phases

    with desk.open(lists=True) as place:
        found = list_phases(place, plugin_folders, state=state, resource_type=resource_type)
    desk.answer(found, lambda: phase_list(found, is_part=bool(state or resource_type)))


@phases.command("show", epilog="Example: phaseline phases show Acme.CreateInstance --json")
@click.argument("name")
@plugins_option
@json_option
@click.pass_obj
def show(desk: Desk, name: str, plugin_folders: tuple[str, ...]) -> None:
    """Show how a phase is defined, how many resources are in it, and how its latest calls went."""
    from phaseline.cli.render.phases import phase_text
    from phaseline.use_cases.queries.phases import show_phase

    with desk.open() as place:
        found = show_phase(place, name, plugin_folders)
    desk.answer(found, lambda: phase_text(found))


@phases.command("pause", epilog='Example: phaseline phases pause Acme.CreateInstance --reason "the cloud is down"')
@click.argument("name")
@click.option("--reason", metavar="TEXT", default="paused by a user", help="Why; shown to everybody who looks.")
@json_option
@click.pass_obj
def pause(desk: Desk, name: str, reason: str) -> None:
    """Have a phase called no more: resources that come to it wait, calls that run go on."""
    from phaseline.cli.render.phases import paused_text
    from phaseline.use_cases.commands.resources.pause_phase import pause as run

    with desk.open() as place:
        found = run(place, name, reason=reason)
    desk.answer(found, lambda: paused_text(found))


@phases.command("forget", epilog="Example: phaseline phases forget Acme.CreateInstance")
@click.argument("name")
@json_option
@click.pass_obj
def forget(desk: Desk, name: str) -> None:
    """Know a phase no more whose plugin is gone for good: resources that wait for it wait on, others go on without it.

    Until then everybody who comes to its state waits, so that no phase is passed over because a plugin is missing.
    For those that wait already: phaseline resources complete.
    """
    from phaseline.cli.render.phases import forgotten_text
    from phaseline.use_cases.lookup.known_phases import forget_phase as run

    with desk.open() as place:
        found = run(place, name)
    desk.answer(found, lambda: forgotten_text(found))


@phases.command("unpause", epilog="Example: phaseline phases unpause Acme.CreateInstance")
@click.argument("name")
@json_option
@click.pass_obj
def unpause(desk: Desk, name: str) -> None:
    """Have a phase called again that was paused, be it by a user or because too much of it had failed."""
    from phaseline.cli.render.phases import paused_text
    from phaseline.use_cases.commands.resources.pause_phase import unpause as run

    with desk.open() as place:
        found = run(place, name)
    desk.answer(found, lambda: paused_text(found))
