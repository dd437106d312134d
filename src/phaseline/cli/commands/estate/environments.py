"""``phaseline environments …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for, page_of
from phaseline.cli.shell.options import limit_option, row_filter_option


@click.group(epilog="Example: phaseline environments list")
def environments() -> None:
    """List environments: deployments to which others belong."""


environments.add_command(
    command_for(
        "environments.list",
        row_filter_option,
        limit_option,
        render="estates:environment_list",
        answer=page_of("environments"),
        help="List the deployments with the label csys-obj-type=environment, and the status of all below them.",
        example="environments list --filter 'labels.region == \"eu\"'",
    )
)
