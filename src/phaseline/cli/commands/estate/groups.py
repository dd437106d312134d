"""``phaseline groups …``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from phaseline.cli.shell.cli_context import command_for, counted
from phaseline.cli.shell.options import (
    blueprint_options,
    gathered,
    label_option,
    missing_providers_option,
    watchable,
)

name_argument = click.argument("name")


@click.group(epilog="Example: phaseline groups list")
def groups() -> None:
    """Create, list, change and run deployment groups: many deployments as one.

    Members made of one blueprint share their calls.
    """


def existing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name deployments."""
    named = click.option(
        "-d", "--deployment", "deployments", metavar="NAME", multiple=True, help="Deployment. [repeatable]"
    )
    others = click.option(
        "--from-group", "from_groups", metavar="NAME", multiple=True, help="All members of a group. [repeatable]"
    )
    return named(others(function))


def member_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which members a group gets."""

    @wraps(function)
    def with_inputs(
        *args: object, input_files: tuple[str, ...], inputs_given: tuple[str, ...], **others: object
    ) -> object:
        return function(*args, inputs=gathered(input_files, inputs_given) or None, **others)

    options: tuple[Callable[[Any], Any], ...] = (
        click.option("--blueprint", metavar="FILE|ID", help="File or stored blueprint of which new members are made."),
        click.option("--count", type=int, default=0, metavar="N", help="Number of new members with equal inputs."),
        click.option(
            "--each-inputs",
            metavar="FILE",
            default="",
            help="CSV, JSON lines or YAML list: the inputs of one new member in each line; 'id' is its name.",
        ),
    )
    found = blueprint_options(existing_options(label_option(missing_providers_option(with_inputs))))
    for option in reversed(options):
        found = option(found)
    return found


COMMANDS = (
    command_for(
        "groups.create",
        name_argument,
        member_options,
        click.option("--description", metavar="TEXT", default="", help="What the group is for."),
        render="groups:group_text",
        help="Store a group and make its new members.\n\nAll inputs are checked before anything is stored. To install "
        'the members: "groups run NAME install".',
        example="groups create shops --blueprint shop/blueprint.yaml --count 1000 -i port=8080",
    ),
    command_for(
        "groups.list",
        watchable,
        render="groups:group_list",
        answer=counted("groups"),
        help="List deployment groups.",
        example="groups list",
    ),
    command_for(
        "groups.show",
        name_argument,
        render="groups:group_text",
        help="Show a deployment group with its members.",
        example="groups show shops",
    ),
    command_for(
        "groups.extend",
        name_argument,
        member_options,
        render="groups:group_text",
        help="Add members to a group.\n\nNew ones are made of the group's blueprint and inputs, unless others are given.",
        example="groups extend shops --count 10",
    ),
    command_for(
        "groups.shrink",
        name_argument,
        existing_options,
        render="groups:group_text",
        help="Remove deployments from a group.\n\nThe deployments stay.",
        example="groups shrink shops -d shop-7",
    ),
    command_for(
        "groups.delete",
        name_argument,
        click.option("--delete-deployments", is_flag=True, help="Delete the members, too; none may be installed."),
        render="groups:deleted_text",
        help="Delete a group.\n\nIts members stay, unless --delete-deployments is given.",
        example="groups delete shops",
    ),
)
for _command in COMMANDS:
    groups.add_command(_command)
