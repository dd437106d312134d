"""``phaseline blueprints plan``: a blueprint, merged and checked, as one document."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, open_types_option, plugins_option


@click.command("plan", epilog="Example: phaseline blueprints plan blueprint.yaml > plan.json")
@click.argument("file")
@plugins_option
@open_types_option
@json_option
@click.pass_obj
def blueprint_plan(desk: Desk, file: str, plugin_folders: tuple[str, ...], open_types: bool) -> None:
    """Print the plan of a blueprint as JSON: its nodes with all they inherit, operations, relationships, plugins.

    It has the form that the parser of Cloudify gives. Inputs are not given yet, so functions stand as they are written;
    what a workflow would do is told by "phaseline plan".
    """
    import json

    from phaseline.use_cases.tools.merged_plan import planned

    with desk.open() as place:
        found = planned(place, file, plugin_folders=plugin_folders, open_types=open_types)
    desk.answer(found, lambda: json.dumps(found, indent=1, ensure_ascii=False))
