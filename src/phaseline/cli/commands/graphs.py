"""``phaseline deployments graph`` and ``phaseline blueprints graph``: diagrams as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import deployment_argument, json_option, plugins_option

if TYPE_CHECKING:
    from phaseline.views.diagrams import Drawing

FORMS = ("text", "mermaid", "dot")


@click.command("graph", epilog="Example: phaseline deployments graph shop --format dot | dot -Tsvg > shop.svg")
@deployment_argument
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="text", show_default=True, help="Format of the diagram."
)
@json_option
@click.pass_obj
def of_deployment(cli: CliContext, name: str, form: str) -> None:
    """Draw a deployment's nodes, relationships and instances by state."""
    with cli.open() as client:
        found = client.deployments.graph(name)
    cli.answer(found, lambda: _drawn(found, form), exactly=form != "text")


@click.command("graph", epilog="Example: phaseline blueprints graph blueprint.yaml --format svg > blueprint.svg")
@click.argument("file")
@plugins_option
@click.option(
    "--format",
    "form",
    type=click.Choice((*FORMS, "svg")),
    default="text",
    show_default=True,
    help="Format of the diagram.",
)
@json_option
@click.pass_obj
def of_blueprint(cli: CliContext, file: str, plugins: tuple[str, ...], form: str) -> None:
    """Draw the nodes and relationships of a blueprint.

    FILE is a file, or the id of a stored blueprint. None of its code is run.
    """
    with cli.open() as client:
        found = client.blueprints.graph(file, plugins=plugins)
    cli.answer(found, lambda: _drawn(found, form), exactly=form != "text")


def _drawn(found: Drawing, form: str) -> str:
    from phaseline.views.diagrams import drawn

    return drawn(found, form)
