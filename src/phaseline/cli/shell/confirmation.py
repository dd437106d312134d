"""The question before what cannot be taken back: asked on a terminal, unless ``--yes`` is given, and never elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from phaseline.cli.streams.output import echo_err, errors

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.cli.shell.cli_context import Desk
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.views.views import DeploymentDetails


def asks(desk: Desk, yes: bool) -> bool:
    """Whether a person is there who can be asked. Programs (``--json``, a pipe in the place of the keyboard) are not."""
    return not (yes or desk.as_json) and sys.stdin.isatty() and errors().isatty()


def confirm(question: str) -> None:
    """Go on if the user types y; otherwise leave with exit code 1, and nothing was done."""
    from phaseline.cli.streams.escaping import visible

    if not click.confirm(visible(question), default=False, err=True):
        echo_err("Nothing was done.")
        click.get_current_context().exit(1)


def found(place: RequestContext, name: str) -> DeploymentDetails:
    """The deployment of this whole name. Raises: PL-C010 with what was perhaps meant."""
    from phaseline.use_cases.lookup.find import find_deployment
    from phaseline.use_cases.queries.deployments import show_deployment

    return show_deployment(place, find_deployment(place.store, name, to_change=True).name)


def confirm_removal(place: RequestContext, name: str, what: str) -> None:
    """Ask for a deployment that is to be removed; ``what``: with {name} and {count}, the instances that it still has."""
    from phaseline.cli.render.table import number

    view = found(place, name)
    left = view.instance_count - view.states.get("deleted", 0) - view.states.get("uninitialized", 0)
    confirm(what.format(name=view.name, count=number(left, "instance")))


def confirm_plan(plan: PlanPreview, question: str) -> None:
    """Show what would be done, then ask."""
    echo_err(plan.text)
    confirm(question)
