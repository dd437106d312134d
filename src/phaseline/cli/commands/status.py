"""``phaseline status``."""

from __future__ import annotations

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import json_option


@click.command(epilog="Example: phaseline status --json")
@json_option
@click.pass_obj
def status(desk: Desk) -> None:
    """Tell in one screen how everything stands: store, engine, open executions, what needs a person."""
    from phaseline.cli.render.status import status_text
    from phaseline.use_cases.status import status as look

    with desk.open() as place:
        found = look(place)
    desk.answer(found, lambda: status_text(found))
