"""What the shell offers for names of deployments, executions, instances, clusters, resources, secrets and blueprints. Says nothing where it cannot look."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from phaseline.app.app_context import RequestContext


def deployments(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of deployments."""
    from phaseline.use_cases.tools.completion import deployment_names

    return _offered(ctx, lambda place: deployment_names(place, incomplete))


def executions(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids of executions."""
    from phaseline.use_cases.tools.completion import execution_ids

    return _offered(ctx, lambda place: execution_ids(place, incomplete))


def instances(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids of instances."""
    from phaseline.use_cases.tools.completion import instance_ids

    return _offered(ctx, lambda place: instance_ids(place, incomplete))


def clusters(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of clusters."""
    from phaseline.use_cases.tools.completion import cluster_names

    return _offered(ctx, lambda place: cluster_names(place, incomplete))


def resources(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of resources."""
    from phaseline.use_cases.tools.completion import resource_names

    return _offered(ctx, lambda place: resource_names(place, incomplete))


def secrets(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of secrets."""
    from phaseline.use_cases.tools.completion import secret_names

    return _offered(ctx, lambda place: secret_names(place, incomplete))


def stored_blueprints(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids of stored blueprints."""
    from phaseline.use_cases.tools.completion import blueprint_ids

    return _offered(ctx, lambda place: blueprint_ids(place, incomplete))


def blueprints(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, and ids of stored blueprints."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(id) for id in stored_blueprints(ctx, parameter, incomplete)] + [
        CompletionItem(incomplete, type="file")
    ]


def _offered(ctx: click.Context, look: Callable[[RequestContext], list[str]]) -> list[str]:
    """What is found in the store that the words typed so far name; the shell would print control characters as they are."""
    from phaseline.use_cases.tools.completion import may_look

    told = ctx.find_root().params
    desk = Desk(told.get("config"), {"store.url": told["store"]} if told.get("store") else {})
    try:
        if not may_look(desk.settings()):
            return []
        with desk.open() as place:
            return [name for name in look(place) if name.isprintable()]
    except ProblemsError:
        return []
