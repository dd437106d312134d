"""The question before irreversible actions: asked only on a terminal, and never with ``--yes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.streams.output import echo_err

if TYPE_CHECKING:
    from phaseline.client.client import Client
    from phaseline.use_cases.prepare.plan_preview import PlanPreview


def confirm(question: str) -> None:
    """Ask the user. Return if the answer is y; otherwise exit with code 1 before anything is done."""
    from phaseline.cli.streams.escaping import visible

    if not click.confirm(visible(question), default=False, err=True):
        echo_err("Nothing was done.")
        click.get_current_context().exit(1)


def confirm_removal(client: Client, name: str, what: str) -> None:
    """Ask before a deployment is removed. ``what``: the question, with {name} and {count} (remaining instances)."""
    from phaseline.cli.render.table import number

    view = client.deployments.find(name)
    left = view.instance_count - view.states.get("deleted", 0) - view.states.get("uninitialized", 0)
    confirm(what.format(name=view.name, count=number(left, "instance")))


def confirm_plan(plan: PlanPreview, question: str) -> None:
    """Show the plan, then ask."""
    echo_err(plan.text)
    confirm(question)
