"""``phaseline status``."""

from __future__ import annotations

import click

from phaseline.cli import completing
from phaseline.cli.desk import Desk
from phaseline.cli.options import json_option, watchable


@click.command(epilog="Example: phaseline status shop --watch")
@click.argument("name", required=False, shell_complete=completing.deployments)
@watchable
@json_option
@click.pass_obj
def status(desk: Desk, name: str | None) -> None:
    """Tell in one screen how everything stands: store, engine, open executions, what needs a person.

    With the NAME of a deployment: how that one stands.
    """
    from phaseline.cli.render.status import status_text
    from phaseline.use_cases.status import status as look

    with desk.open(lists=True) as place:
        found = look(place, name)
    desk.answer(found, lambda: status_text(found))
