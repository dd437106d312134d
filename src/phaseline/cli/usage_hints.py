"""Suggestions for mistyped commands: the command that was probably intended."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import click

QUOTED = "'([^']+)'"
NO_COMMAND = "(?:No such|There is no) command "
EXTRA = r"Got unexpected extra argument \(([^()]+)\)$"
BLUEPRINTS = {"-b", "--blueprint", "--blueprint-id"}
"""The options of Cloudify's command line that name a blueprint."""


CFY = {
    "events": "phaseline executions events ID",
    "logs": "phaseline executions logs ID",
    "node-instances": "phaseline instances list -d NAME",
    "nodes": "phaseline instances list -d NAME",
    "local": "phaseline install FILE",
    "profiles": "phaseline --store URL …, for no login is needed",
    "executions get": "phaseline executions show ID",
    "instances get": "phaseline instances show ID",
    "deployments get": "phaseline deployments show NAME",
    "blueprints get": "phaseline blueprints show ID",
    "blueprints download": "phaseline blueprints package ID",
    "blueprints inputs": "phaseline blueprints plan ID",
    "plugins upload": "phaseline plugins install --definition-only plugin.yaml for its types, --plugins DIR for its code",
}
"""{words of Cloudify's command line: words of Phaseline's}; docs/coming-from-cfy.md has the whole list."""


ELSEWHERE = {
    "apply": "phaseline install FILE for a new deployment, phaseline deployments update NAME FILE for an existing one",
    "destroy": "phaseline uninstall -d NAME",
    "run": "phaseline executions start WORKFLOW -d NAME",
    "ls": "phaseline deployments list",
    "graph": "phaseline deployments graph NAME; of a file: phaseline blueprints graph FILE",
    "help": "phaseline --help, and of each command: phaseline COMMAND --help",
}
"""{words of other tools: words of Phaseline's}"""


def _as_workflow(name: str) -> str | None:
    """Return the command to type if a user has typed a workflow as a command; None for other words."""
    from phaseline.client.local import LocalClient

    if not LocalClient(None).executions.is_built_in(name):
        return None
    return f"There is no command '{name}': it is a workflow. phaseline executions start {name} -d NAME"


def mended(error: click.ClickException, words: Sequence[str]) -> str | None:
    """Return the message of a usage error with the words to type instead; None if no suggestion is known."""
    if isinstance(error, click.NoSuchOption):
        return _without_option(error, words)
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return None
    message = error.message
    quoted = re.search(QUOTED, message)
    if re.match(NO_COMMAND, message) and quoted is not None:
        key = " ".join([*error.ctx.command_path.split()[1:], quoted[1]])
        if quoted[1] in ELSEWHERE and key not in CFY:
            return f"There is no command '{quoted[1]}'. {_elsewhere(error.ctx, quoted[1])}"
        if key not in CFY:
            return _as_workflow(key)
        return f"There is no command '{quoted[1]}'. Instead of this cfy command, type: {CFY[key]}"
    extra = re.match(EXTRA, message)
    if extra is not None and any(parameter.name == "deployment" for parameter in error.ctx.command.params):
        return f"{message}. A deployment is named with -d: {error.ctx.command_path} -d {shlex.quote(extra[1])}"
    return None


def _elsewhere(ctx: click.Context, word: str) -> str:
    """Return Phaseline's command for words of other tools.

    Below a group of commands, return the list or help of the group if it has one.
    """
    path, command = ctx.command_path, ctx.command
    if ctx.parent is not None and word == "help":
        return f"Type: {path} --help"
    if ctx.parent is not None and word == "ls" and isinstance(command, click.Group):
        names = command.list_commands(ctx)
        return f"Type: {path} list" if "list" in names else f"Type: {path} --help"
    return f"Type: {ELSEWHERE[word]}"


def _too_early(error: click.NoSuchOption, ctx: click.Context, words: Sequence[str]) -> str | None:
    """Return the words to type if an option was typed before its command; None if no typed command has the option."""
    command, path = ctx.command, [ctx.command_path]
    for word in words:
        if isinstance(command, click.Group) and (found := command.get_command(ctx, word)) is not None:
            command = found
            path.append(word)
    if not any(error.option_name in parameter.opts for parameter in command.params):
        return None
    return f"{error.message} It belongs after the command: {' '.join(path)} {error.option_name} ..."


def _as_blueprint(error: click.NoSuchOption, ctx: click.Context, words: Sequence[str]) -> str:
    """Return the words to type if a blueprint was given with Cloudify's option ``-b``."""
    before = (
        " NAME" if any(one.name == "name" and isinstance(one, click.Argument) for one in ctx.command.params) else ""
    )
    after = list(words[words.index(error.option_name) + 1 :]) if error.option_name in words else []
    file = shlex.quote(after[0]) if after else "BLUEPRINT"
    return f"{error.message} Give the blueprint (a file or the id of a stored one) without an option: {ctx.command_path}{before} {file}"


def _without_option(error: click.NoSuchOption, words: Sequence[str]) -> str | None:
    """Return the words to type if a deployment was given with ``-d`` but is an argument; None for other mistakes."""
    ctx = error.ctx
    if ctx is not None and ctx.parent is None:
        return _too_early(error, ctx, words)
    if ctx is not None and error.option_name in BLUEPRINTS and any(one.name == "file" for one in ctx.command.params):
        return _as_blueprint(error, ctx, words)
    if ctx is None or error.option_name not in {"-d", "--deployment"}:
        return None
    names = [parameter for parameter in ctx.command.params if isinstance(parameter, click.Argument)]
    if not any(parameter.name == "name" for parameter in names):
        return None
    after = list(words[words.index(error.option_name) + 1 :]) if error.option_name in words else []
    name = shlex.quote(after[0]) if after else "NAME"
    return f"{error.message} Give the name without an option: {ctx.command_path} {name}"
