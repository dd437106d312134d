"""Commands about the deployment that ``-d`` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

SEE_NAMES = "see the names with: phaseline deployments list"


class OfDeployment(click.Command):
    """A command about the deployment that ``-d`` names; who gives the name, or a file, without it is told what to type."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's; a missing ``-d`` is told with the whole command."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if error.param is None or error.param.name != "deployment":
                raise
            raise click.UsageError(f"{error.format_message()} {self.meant(ctx, words)}", ctx) from error

    def meant(self, ctx: click.Context, words: Sequence[str]) -> str:
        """What to type instead of these words."""
        from phaseline.cli.usage_hints import with_deployment

        return with_deployment(self, ctx, words)
