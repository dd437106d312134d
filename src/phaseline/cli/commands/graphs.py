"""``phaseline deployments graph`` and ``phaseline blueprints graph``: diagrams as text."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import deployment_argument, json_option, plugins_option

FORMS = ("text", "mermaid", "dot")


@click.command("graph", epilog="Example: phaseline deployments graph shop --format dot | dot -Tsvg > shop.svg")
@deployment_argument
@click.option("--format", "form", type=click.Choice(FORMS), default="text", show_default=True, help="How to write it.")
@json_option
@click.pass_obj
def of_deployment(desk: Desk, name: str, form: str) -> None:
    """Draw the nodes of a deployment with their relationships, and their instances by state."""
    from phaseline.use_cases.tools.diagrams import draw_deployment, drawn

    with desk.open() as place:
        found = draw_deployment(place, name)
    desk.answer(found, lambda: drawn(found, form), exactly=form != "text")


@click.command("graph", epilog="Example: phaseline blueprints graph blueprint.yaml --format svg > blueprint.svg")
@click.argument("file")
@plugins_option
@click.option(
    "--format",
    "form",
    type=click.Choice((*FORMS, "svg")),
    default="text",
    show_default=True,
    help="How to write it.",
)
@json_option
@click.pass_obj
def of_blueprint(desk: Desk, file: str, plugin_folders: tuple[str, ...], form: str) -> None:
    """Draw the nodes of a blueprint, a file or a stored one, with their relationships. Runs none of its code."""
    from phaseline.use_cases.tools.diagrams import draw_blueprint, drawn

    with desk.open() as place:
        found = draw_blueprint(place, file, plugin_folders=plugin_folders)
    desk.answer(found, lambda: drawn(found, form), exactly=form != "text")
