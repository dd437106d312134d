"""``phaseline status``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import SETTLED, completing, json_option, watchable

if TYPE_CHECKING:
    from phaseline.use_cases.queries.status import Status

SEEN_AT = "phaseline.engine_seen_at"
"""Key, in click's context, of the time (ms) at which ``status --watch`` last saw an engine.

If it has not seen an engine yet, the value is the time at which it first looked for one.
"""


@click.command(epilog="Example: phaseline status shop --watch")
@click.argument("name", required=False, shell_complete=completing("deployments"))
@watchable
@json_option
@click.pass_obj
def status(cli: CliContext, name: str | None) -> str | None:
    """Show the store, the engine, open executions and pending decisions.

    With NAME: only this deployment; --watch then ends when the deployment has no open execution, or no process has
    worked on it for 10 s.
    """
    with cli.open() as client:
        found = client.status(name)
    cli.answer(found, lambda: cli.renderer("status:status_text")(found))
    return SETTLED if name is not None and (not found.open_count or _is_left_alone(found)) else None


def _is_left_alone(found: Status) -> bool:
    """Return True if no process has owned the store for ``PATIENCE_S`` while this command watched.

    Then the command expects no change any more.
    """
    from phaseline.app.watcher import PATIENCE_S

    looks = click.get_current_context().meta
    if found.engine is not None:
        looks[SEEN_AT] = found.now_at
    return found.now_at - int(looks.setdefault(SEEN_AT, found.now_at)) > PATIENCE_S * 1000
