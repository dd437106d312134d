"""Commands about the deployment that ``-d`` names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

SEE_NAMES = "see the names with: phaseline deployments list"
FILES = {".yaml", ".yml"}


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
        return with_deployment(self, ctx, words)


def with_deployment(command: click.Command, ctx: click.Context, words: Sequence[str]) -> str:
    """What to type instead of these words of a command that lacks ``-d``."""
    import shlex

    own = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    path = ctx.command_path
    try:
        found, rest, _ = command.make_parser(ctx).parse_args(list(words))
    except click.UsageError:
        found, rest = {}, []
    for argument in own:
        value = found.get(argument.name or "")
        path += f" {shlex.quote(value)}" if isinstance(value, str) else f" {argument.make_metavar(ctx)}"
    if not rest:
        return f"Name the deployment: {path} -d NAME; {SEE_NAMES}"
    word = rest[0]
    if Path(word).suffix in FILES or Path(word).is_file():
        return f"'{word}' is a file, and this is about a deployment that was made of one: {path} -d NAME; {SEE_NAMES}"
    return f"A deployment is named with -d: {path} -d {shlex.quote(word)}"
