"""Shell completion for names of deployments, executions, instances, clusters, resources, secrets and blueprints.

It offers no names if there is no readable store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from phaseline.cli.shell.cli_context import CliContext
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    import click

    from phaseline.use_cases.tools.completion import Named


def offered_items(
    ctx: click.Context, kind: Named, incomplete: str, *, may_be_file: bool = False
) -> list[CompletionItem]:
    """Return names of a kind that begin with the typed text, without names that contain control characters.

    ``may_be_file``: offer files, too.
    """
    words = ctx.find_root().params
    cli = CliContext(words.get("config"), {"store.url": words["store"]} if words.get("store") else {})
    more = [CompletionItem(incomplete, type="file")] if may_be_file else []
    try:
        with cli.open() as client:
            names = client.completion.names(kind, incomplete)
            return [*(CompletionItem(name) for name in names if name.isprintable()), *more]
    except ProblemsError:
        return more
