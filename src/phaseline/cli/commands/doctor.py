"""``phaseline doctor``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import json_option


@click.command(epilog="Example: phaseline doctor")
@json_option
@click.pass_obj
def doctor(cli: CliContext) -> None:
    """Check machine, settings and store; show how to fix each finding.

    Nothing is changed. Exit code 1 if a check fails.
    """
    with cli.without_store() as client:
        checks = client.doctor()
    sound = not any(check.level == "fail" for check in checks)
    cli.answer({"checks": checks, "is_sound": sound}, lambda: cli.renderer("doctor:doctor_text")(checks))
    click.get_current_context().exit(0 if sound else 1)
