"""What was probably meant by words that do not fit a command: the command to type instead."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

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
        own = [parameter for parameter in self.params if isinstance(parameter, click.Argument)]
        path = ctx.command_path
        try:
            found, rest, _ = self.make_parser(ctx).parse_args(list(words))
        except click.UsageError:
            found, rest = {}, []
        for argument in own:
            value = found.get(argument.name or "")
            path += f" {shlex.quote(value)}" if isinstance(value, str) else f" {argument.make_metavar(ctx)}"
        if not rest:
            return f"Name the deployment: {path} -d NAME; {SEE_NAMES}"
        word = rest[0]
        if Path(word).suffix in FILES or Path(word).is_file():
            return (
                f"'{word}' is a file, and this is about a deployment that was made of one: {path} -d NAME; {SEE_NAMES}"
            )
        return f"A deployment is named with -d: {path} -d {shlex.quote(word)}"


def without_option(error: click.NoSuchOption, words: Sequence[str]) -> str | None:
    """What to type where the name of a deployment was given with ``-d`` and stands by itself; None: that is not it."""
    ctx = error.ctx
    if ctx is None or error.option_name not in {"-d", "--deployment"}:
        return None
    names = [parameter for parameter in ctx.command.params if isinstance(parameter, click.Argument)]
    if not any(parameter.name == "name" for parameter in names):
        return None
    after = list(words[words.index(error.option_name) + 1 :]) if error.option_name in words else []
    name = shlex.quote(after[0]) if after else "NAME"
    return f"{error.message} The name stands by itself: {ctx.command_path} {name}"
