"""``phaseline schedules …``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from phaseline.cli.shell.cli_context import command_for, counted
from phaseline.cli.shell.options import (
    deployment_needed,
    deployment_option,
    gathered,
    parameter_option,
    watchable,
)

name_argument = click.argument("name")


@click.group(epilog="Example: phaseline schedules list")
def schedules() -> None:
    """Create, list, change and preview schedules of deployments.

    A schedule starts a workflow at times of a clock, in a timezone.
    """


def parameter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options with parameters of the workflow; without any, the argument is None."""

    @wraps(function)
    def with_parameters(
        *args: object, parameter_files: tuple[str, ...], parameters_given: tuple[str, ...], **others: object
    ) -> object:
        return function(*args, parameters=gathered(parameter_files, parameters_given) or None, **others)

    files = click.option(
        "--params",
        "parameter_files",
        metavar="FILE",
        multiple=True,
        help="YAML or JSON file with parameters; later files win, and -p wins over files. [repeatable]",
    )
    return files(parameter_option(with_parameters))


def timing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options with the times of a schedule, and what else it does."""
    options = (
        click.option("--rrule", metavar="RULE", help="Rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=-1FR."),
        click.option("--cron", metavar="TEXT", help="The five fields of cron, such as '30 7 * * 1-5'."),
        click.option("--every", metavar="SPAN", help="How often: 30min, 1d, '2 weeks', 1mo."),
        click.option(
            "--weekday",
            "weekdays",
            metavar="DAY",
            multiple=True,
            help="With --every: su, mo, tu …; with months 1mo is the first, l-fr the last of the month. [repeatable]",
        ),
        click.option("--count", type=int, metavar="N", help="With --every: number of times. [default: no limit]"),
        click.option("--at", metavar="TIME", help="Once, at this time: 'YYYY-MM-DD HH:MM', 'HH:MM' or '+2 hours'."),
        click.option("--since", metavar="TIME", help="First time, from which the rule counts. [default: now]"),
        click.option("--until", metavar="TIME", help="Last time. [default: no end]"),
        click.option("--zone", metavar="NAME", help="Timezone of all times, such as Europe/Paris. [default: UTC]"),
        click.option("--slip", type=int, metavar="MINUTES", help="How late it may start. [default: 0]"),
        click.option(
            "--stop-on-fail/--no-stop-on-fail",
            default=None,
            help="Disable the schedule after an execution that failed.",
        ),
        click.option(
            "--catch-up",
            type=click.Choice(("slip", "last", "all", "none")),
            help="Times missed while no engine ran: start the newest within the slip, the newest, all, or none. "
            "[default: slip]",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def workflow_option(*, is_needed: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option that names the workflow."""
    return click.option("--workflow", metavar="NAME", required=is_needed, help="Workflow to start.")


COMMANDS = (
    command_for(
        "schedules.create",
        name_argument,
        deployment_needed,
        workflow_option(is_needed=True),
        parameter_options,
        timing_options,
        render="schedules:schedule_text",
        help="Store a schedule of a deployment.\n\nGive one of --rrule, --cron, --every and --at.",
        example="schedules create nightly -d shop --workflow check_drift --cron '0 2 * * *' --zone Europe/Paris",
    ),
    command_for(
        "schedules.list",
        deployment_option,
        watchable,
        render="schedules:schedule_list",
        answer=counted("schedules"),
        help="List schedules with their next times.",
        example="schedules list -d shop",
    ),
    command_for(
        "schedules.show",
        name_argument,
        deployment_needed,
        render="schedules:schedule_text",
        help="Show a schedule.",
        example="schedules show nightly -d shop",
    ),
    command_for(
        "schedules.update",
        name_argument,
        deployment_needed,
        workflow_option(is_needed=False),
        parameter_options,
        timing_options,
        render="schedules:schedule_text",
        help="Change what is given of a schedule.\n\nA later update of the deployment keeps what you have changed.",
        example="schedules update nightly -d shop --cron '0 3 * * *'",
    ),
    command_for(
        "schedules.enable",
        name_argument,
        deployment_needed,
        render="schedules:schedule_text",
        help="Enable a schedule from its next time on.",
        example="schedules enable nightly -d shop",
    ),
    command_for(
        "schedules.disable",
        name_argument,
        deployment_needed,
        click.option("--reason", metavar="TEXT", default="", help="Reason, shown with the schedule."),
        render="schedules:schedule_text",
        help="Disable a schedule until it is enabled again.",
        example='schedules disable nightly -d shop --reason "maintenance"',
    ),
    command_for(
        "schedules.delete",
        name_argument,
        deployment_needed,
        render="schedules:deleted_text",
        help="Delete a schedule.",
        example="schedules delete nightly -d shop",
    ),
    command_for(
        "schedules.preview",
        name_argument,
        deployment_needed,
        click.option(
            "--count", type=click.IntRange(1, 1000), default=5, show_default=True, help="Number of times to show."
        ),
        render="schedules:preview_text",
        help="Show the next times of a schedule, on its clock and in UTC.",
        example="schedules preview nightly -d shop --count 10",
    ),
    command_for(
        "schedules.history",
        name_argument,
        deployment_needed,
        click.option(
            "--count", type=click.IntRange(1, 1000), default=20, show_default=True, help="Number of entries to show."
        ),
        render="schedules:history_text",
        help="Show what became of the times of a schedule.",
        example="schedules history nightly -d shop",
    ),
    command_for(
        "schedules.timer",
        click.option("--print", "prints", is_flag=True, hidden=True, expose_value=False),
        click.option("--install-user", is_flag=True, help="Write the units into the folder of systemd for this user."),
        render="timer_units:units_text",
        help="Print units of systemd that start each minute what is due.\n\nThey serve where no engine runs all the time.",
        example="schedules timer --install-user",
    ),
)
for _command in COMMANDS:
    schedules.add_command(_command)
