"""The tree of commands. The module of a command is imported only when the command is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import StringIO
from typing import Any

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.streams.output import answer_json, echo_err
from phaseline.model.problems import problem

COMMANDS = {
    "install": "executions.install:install",
    "uninstall": "executions.uninstall:uninstall",
    "suspend": "plans.stack:suspend",
    "resume": "plans.stack:resume",
    "check": "plans.stack:check",
    "restore": "plans.stack:restore",
    "adopt": "plans.stack:adopt",
    "abandon": "plans.stack:abandon",
    "export": "plans.stack:export",
    "plan": "plans.plan:plan",
    "plans": "plans.plans:plans",
    "blueprints": "blueprints.blueprints:blueprints",
    "deployments": "deployments.deployments:deployments",
    "groups": "estate.groups:groups",
    "schedules": "estate.schedules:schedules",
    "snapshots": "snapshots:snapshots",
    "abandoned": "abandoned:abandoned",
    "instances": "deployments.instances:instances",
    "executions": "executions.executions:executions",
    "breakpoints": "breakpoints:breakpoints",
    "engine": "engine:engine",
    "status": "status:status",
    "doctor": "doctor:doctor",
    "store": "store:store",
    "secrets": "secrets:secrets",
    "plugins": "plugins.plugins:plugins",
    "resources": "deployments.resources:resources",
    "phases": "phases:phases",
    "hooks": "hooks:hooks",
    "records": "records:records",
    "init": "init:init",
    "demo": "demo:demo",
    "docs": "docs:docs",
    "completion": "completion:completion",
    "version": "version:version",
}
"""{command: module and name in ``phaseline.cli.commands``}, in the order in which the help shows them."""


class CommandTree(click.Group):
    """A group that imports a command only when it is needed, and suggests a name for a mistyped one."""

    def __init__(self, *, table: Mapping[str, str], **settings: Any) -> None:
        """``table``: {command: "module:name"}."""
        super().__init__(**settings)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import the command and return it."""
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name].partition(":")
        command = getattr(import_module(f"phaseline.cli.commands.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the commands in groups; click would write one list and import all commands for it."""
        from phaseline.cli.help_groups import write

        write(formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as click does; the suggestion for a mistyped one needs no import."""
        if args[0] not in self.table and not args[0].startswith("-"):
            from phaseline.lang.did_you_mean import did_you_mean

            hint = did_you_mean(args[0], self.table)
            raise click.UsageError(f"There is no command '{args[0]}'. {hint[:1].upper()}{hint[1:]}".rstrip(), ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print mistakes of the user as problems, with exit code 1."""
        try:
            return super().invoke(ctx)
        except problem.ProblemsError as error:  # its module is loaded when there is an error
            ctx.ensure_object(CliContext).show_problems(error.problems)
            ctx.exit(1)

    def main(  # type: ignore[override]  # click overloads it by standalone_mode; here one form serves both
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run as click does, but print usage errors as a JSON document when ``--json`` is among the words."""
        words = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(words, prog_name, standalone_mode=False, **extra)
        except click.ClickException as error:
            code = _show_usage(error, words)
        except click.Abort:
            echo_err("Interrupted.")
            code = 1
        if standalone_mode:
            sys.exit(code if isinstance(code, int) else 0)
        return code


def _show_usage(error: click.ClickException, words: Sequence[str]) -> int:
    """Print a usage error. If an option of the program itself was given after the command, name the right position."""
    from phaseline.cli.usage_hints import mended

    if isinstance(error, click.NoSuchOption) and error.option_name in _own_options():
        place = f"{error.message} It belongs before the command: phaseline {error.option_name} ..."
        error = click.UsageError(place, error.ctx)
    elif meant := mended(error, words):
        error = click.UsageError(meant, error.ctx if isinstance(error, click.UsageError) else None)
    if "--json" in words:
        from phaseline.cli.render.problems import usage_document

        answer_json(usage_document(error.format_message()))
    else:
        shown = StringIO()
        error.show(shown)
        echo_err(shown.getvalue().removesuffix("\n"))
    return error.exit_code


def _own_options() -> set[str]:
    """Return the names of the options of the program itself."""
    return {word for parameter in root.params for word in (*parameter.opts, *parameter.secondary_opts)}


def _echo_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Print the version as the command ``version`` does, for users of ``--version``."""
    if value:
        from phaseline import __version__

        click.echo(f"phaseline {__version__}")
        ctx.exit()


@click.command(
    cls=CommandTree,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: phaseline install blueprint.yaml -i port=8080",
)
@click.option("--config", metavar="FILE", help="Settings file. [default: ./phaseline.toml, or the user's own]")
@click.option("--store", metavar="URL", help="URL of the store, such as sqlite:///phaseline.db.")
@click.option(
    "--request-id",
    metavar="ID",
    help="Id of a request that is carried out once, even if it is sent repeatedly.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only answers and problems, no progress or notices.")
@click.option("-v", "--verbose", is_flag=True, help="Print logs and events while an execution runs.")
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_echo_version,
    help="Show the version of Phaseline.",
)
@click.pass_context
def root(
    ctx: click.Context, config: str | None, store: str | None, request_id: str | None, quiet: bool, verbose: bool
) -> None:
    """Install, resume and remove applications described by blueprints."""
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other", ctx)
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    given = {"store.url": store} if store else {}
    ctx.obj = CliContext(config, given, is_quiet=quiet, is_verbose=verbose, request_id=request_id)
