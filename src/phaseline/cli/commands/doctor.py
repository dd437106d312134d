"""``phaseline doctor``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option


@click.command(epilog="Example: phaseline doctor")
@json_option
@click.pass_obj
def doctor(desk: Desk) -> None:
    """Examine machine, settings and store; each finding with what mends it.

    Changes nothing. The exit code is 1 if anything fails.
    """
    from phaseline.app.app_context import AppContext
    from phaseline.cli.render.doctor import doctor_text
    from phaseline.use_cases.tools.doctor import examine, is_sound

    checks = examine(desk.settings, lambda settings: AppContext(settings, "phaseline doctor"))
    sound = is_sound(checks)
    desk.answer({"checks": checks, "is_sound": sound}, lambda: doctor_text(checks))
    click.get_current_context().exit(0 if sound else 1)
