"""Options that several commands share, with the same words and the same help everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.cli_context import json_option as json_option  # noqa: PLC0414 - options are imported from here

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.tools.completion import Named

F = TypeVar("F", bound=Callable[..., Any])


def completing(
    kind: Named, *, may_be_file: bool = False
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return the shell completion of names of this kind; its module is imported when a shell requests it."""

    def offered(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from phaseline.cli.shell.shell_completion import offered_items

        return offered_items(ctx, kind, incomplete, may_be_file=may_be_file)

    return offered


save_option = click.option(
    "--save", is_flag=True, help="Store the plan; apply it later with: phaseline plans apply ID."
)


SETTLED = "settled"
"""Result of a watchable command that means: what it shows will not change any more, so ``--watch`` can end."""


def watchable(function: F) -> F:
    """Add the option ``--watch`` to a query: repeat it and show its answer again."""

    @wraps(function)
    def with_watch(*args: object, every_s: float | None, **others: object) -> object:
        if every_s is None:
            return function(*args, **others)
        from phaseline.cli.shell.watch_and_follow import watch

        desk = click.get_current_context().ensure_object(CliContext)
        watch(desk, lambda: function(*args, **others) != SETTLED, every_s)
        return None

    option = click.option(
        "--watch",
        "every_s",
        type=click.FloatRange(min=0.1),
        metavar="[S]",
        is_flag=False,
        flag_value=2.0,
        help="Repeat the answer every S seconds (2 without S) until Ctrl-C; in a pipe, whenever it changes.",
    )
    return cast("F", option(with_watch))


def _deployment(*, is_needed: bool) -> Callable[[F], F]:
    return click.option(
        "-d",
        "--deployment",
        metavar="NAME",
        shell_complete=completing("deployments"),
        help="Name of the deployment, or a unique beginning of it.",
        required=is_needed,
    )


deployment_option = _deployment(is_needed=False)
deployment_needed = _deployment(is_needed=True)
deployment_named = click.argument("deployment", metavar="NAME", shell_complete=completing("deployments"))
deployment_argument = click.argument("name", shell_complete=completing("deployments"))
execution_argument = click.argument("id", required=False, shell_complete=completing("executions"))
row_filter_option = click.option(
    "--filter",
    metavar="EXPR|@NAME",
    default="",
    help="Only rows for which this expression is true, such as 'labels.env == \"prod\"'; or the name of a saved filter.",
)
rule_option = click.option(
    "--rule",
    "rules",
    metavar="RULE",
    multiple=True,
    help="Only rows for which this rule holds: env=prod, env=[a,b], env!=prod, env is null, id starts-with x. [repeatable]",
)
limit_option = click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Largest number of rows to show."
)


def _given_value(ctx: click.Context, _parameter: click.Parameter, text: str) -> Value:
    if ctx.resilient_parsing:
        return None
    from phaseline.client.input_files import read_said

    return read_said(text)


data_option = click.option(
    "--data",
    metavar="JSON",
    default="null",
    callback=_given_value,
    help="Data to send, as JSON or YAML; a text needs quotes. [default: null]",
)
plugins_option = click.option(
    "--plugins", metavar="DIR", multiple=True, help="Folder with plugin modules. [repeatable]"
)
open_types_option = click.option(
    "--open-types",
    is_flag=True,
    help="Treat types from missing plugin definition files as open types, with a warning for each.",
)
detach_option = click.option(
    "--detach",
    is_flag=True,
    help='Return once the engine has accepted the request; watch it with "executions follow".',
)
yes_option = click.option(
    "--yes", is_flag=True, help="Skip the confirmation question, which is asked only on a terminal."
)


def _remember_form(ctx: click.Context, _parameter: click.Parameter, value: str) -> None:
    ctx.ensure_object(CliContext).plan_form = value


def plan_options(function: F) -> F:
    """Add the options of every command that prints a plan: its exit code and format."""
    code = click.option(
        "--exit-code",
        "tells",
        is_flag=True,
        help="Exit with code 0 if the plan is empty, 3 if it contains work.",
    )
    form = click.option(
        "--format",
        type=click.Choice(("text", "mermaid", "dot")),
        default="text",
        show_default=True,
        expose_value=False,
        callback=_remember_form,
        help="Format of the plan: text or a diagram.",
    )
    return code(form(function))


inputs_option = click.option(
    "--inputs",
    "input_files",
    metavar="FILE",
    multiple=True,
    help="YAML or JSON file with inputs; later files win, and -i wins over files. [repeatable]",
)


blueprint_argument = click.argument(
    "file", metavar="BLUEPRINT", shell_complete=completing("blueprints", may_be_file=True)
)


def given_values(_ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Check inputs or parameters: each is ``name=value``, a mapping in JSON or YAML, or an existing file."""
    for text in values:
        name, equals, _ = text.partition("=")
        is_pair = bool(equals) and bool(name.strip())
        if not (is_pair or text.lstrip().startswith("{") or Path(text).is_file()):
            message = f"'{text}' is neither name=value, such as port=8080, nor a mapping, such as '{{port: 8080}}'"
            raise click.BadParameter(f"{message}, nor a file", param=parameter)
    return values


def pairs(_ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return {name: value} of an option that is given as ``name=value`` several times."""
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"'{text}' is not of the form name=value, such as port=8080", param=parameter)
        found[name.strip()] = value
    return found


def pairs_of_values(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, Value]:
    """Return {name: value} of an option given as ``name=value`` several times, each value parsed as YAML.

    Raises ``ProblemsError``.
    """
    from phaseline.client.input_files import read_value

    return {name: read_value(text, f"--set {name}") for name, text in pairs(ctx, parameter, values).items()}


def now_too(_words: dict[str, Any]) -> dict[str, Any]:
    """Return the present time as an argument for renderers that show ages."""
    import time

    return {"now": time.time_ns() // 1_000_000}


input_option = click.option(
    "-i",
    "--input",
    "inputs_given",
    metavar="NAME=VALUE",
    multiple=True,
    callback=given_values,
    help="Input with its value in YAML, or several as '{JSON}' or a file; later ones win. [repeatable]",
)


parameter_option = click.option(
    "-p",
    "--parameter",
    "parameters_given",
    metavar="NAME=VALUE",
    multiple=True,
    callback=given_values,
    help="Parameter with its value in YAML, or several as '{JSON}' or a file; later ones win. [repeatable]",
)


yes_many_option = click.option("--yes-many", is_flag=True, help="Confirm more than one million relationship calls.")
runtime_only_option = click.option(
    "--runtime-only-evaluation",
    is_flag=True,
    help="Evaluate functions only when their values are needed, so that later input changes take effect.",
)
missing_providers_option = click.option(
    "--allow-missing-providers",
    is_flag=True,
    help="Accept that deployments which the blueprint reads do not exist.",
)
label_option = click.option(
    "--label",
    "labels",
    metavar="KEY=VALUE",
    multiple=True,
    help="Label in addition to those of the blueprint. [repeatable]",
)


def gathered(files: tuple[str, ...], given: tuple[str, ...]) -> dict[str, Value]:
    """Return {name: value} from files and single values. Raises ``ProblemsError``."""
    if not files and not given:
        return {}
    from phaseline.client.input_files import gather_inputs

    return gather_inputs(files, given)


def blueprint_options(function: F) -> F:
    """Add the options of every command that reads a blueprint with inputs."""
    for option in (plugins_option, input_option, inputs_option):
        function = option(function)
    return function


def _place_options(function: F) -> F:
    """Add the options for the site and the environment of a new deployment."""
    site = click.option("--site", metavar="NAME", help="Site of the deployment.")
    environment = click.option(
        "--environment",
        metavar="NAME",
        help="Environment to which the deployment belongs, by the label csys-obj-parent.",
    )
    return site(environment(function))


def order_options(function: F) -> F:
    """Add the options of every command that makes a deployment from a blueprint."""

    @wraps(function)
    def with_inputs(
        *args: object, input_files: tuple[str, ...], inputs_given: tuple[str, ...], **others: object
    ) -> object:
        return function(*args, inputs=gathered(input_files, inputs_given), **others)

    name = click.option(
        "-d",
        "--deployment",
        metavar="NAME",
        help="Name of the deployment. [default: name of the blueprint's folder]",
    )
    with_places = _place_options(yes_many_option(runtime_only_option(missing_providers_option(with_inputs))))
    more = label_option(with_places)
    return cast("F", blueprint_argument(name(blueprint_options(more))))


def start_options(function: F) -> F:
    """Add the options of every command that starts or plans a workflow by its name."""

    @wraps(function)
    def with_parameters(
        *args: object, parameter_files: tuple[str, ...], parameters_given: tuple[str, ...], **others: object
    ) -> object:
        return function(*args, parameters=gathered(parameter_files, parameters_given), **others)

    return cast("F", of_a_start(with_parameters))


def of_a_start(function: F) -> F:
    """Add the options of every command that starts or plans a workflow, without reading the files and values given."""
    files = click.option(
        "--params",
        "parameter_files",
        metavar="FILE",
        multiple=True,
        help="YAML or JSON file with parameters; later files win, and -p wins over files. [repeatable]",
    )
    custom = click.option(
        "--allow-custom-parameters",
        is_flag=True,
        help="Accept parameters that the workflow does not declare; plugins can read them.",
    )
    forced = click.option("--force", is_flag=True, help="Run it although the blueprint or other deployments forbid it.")
    return files(parameter_option(custom(forced(function))))


def running_options(function: F) -> F:
    """Add the options of every command that runs operations."""

    @wraps(function)
    def with_checks(*args: object, **words: object) -> object:
        from phaseline.cli.shell.run_output import check_run

        check_run(words)
        return function(*args, **words)

    return cast("F", _of_failures(_of_time(with_checks)))


def _of_failures(function: Callable[..., object]) -> Callable[..., object]:
    retries = click.option(
        "--task-retries",
        type=click.IntRange(min=-1),
        metavar="N",
        help="Retries after a failure; -1: no limit. [default: 3, or 60 in cloudify_dsl_*]",
    )
    failure = click.option(
        "--on-failure",
        type=click.Choice(["continue", "stop", "rollback"]),
        default="continue",
        show_default=True,
        help="After a failure: continue independent branches, start nothing new, or roll back.",
    )
    limit = click.option(
        "--stop-after",
        metavar="LIMIT",
        help="Start nothing new after more than N failed calls (3), N % of a node's calls (10%), "
        "or N seconds since the first failure (30s).",
    )
    busy = click.option(
        "--if-busy",
        type=click.Choice(["wait", "refuse", "force"]),
        default="wait",
        show_default=True,
        help="If another execution has claimed the same instances: wait for it, refuse, or run beside it.",
    )
    again = click.option(
        "--subgraph-retries",
        type=click.IntRange(min=-1),
        metavar="N",
        help="Times to remove and recreate an instance whose life cycle failed; -1: no limit. [default: 0]",
    )
    return retries(failure(limit(busy(again(function)))))


def _of_time(function: Callable[..., object]) -> Callable[..., object]:
    time = click.option(
        "--timeout",
        metavar="SPAN",
        help="Time after which the execution is canceled: 90s, 10m, 2h; running calls get 4 more minutes.",
    )
    return time(_of_breaks(function))


def stopping_options(function: F) -> F:
    """Add the options that set breakpoints."""

    @wraps(function)
    def with_checks(*args: object, breakpoints: tuple[str, ...], break_timeout: str | None, **others: object) -> object:
        from phaseline.cli.shell.run_output import check_breaks

        check_breaks(breakpoints, break_timeout)
        return function(*args, breakpoints=breakpoints, break_timeout=break_timeout, **others)

    return cast("F", _of_breaks(with_checks))


def _of_breaks(function: Callable[..., object]) -> Callable[..., object]:
    stops = click.option(
        "--break",
        "breakpoints",
        metavar="POINT=NAMES",
        multiple=True,
        help="Breakpoint where these nodes or resources (* matches any part of a name) stop until cleared: pre-create=app_*, "
        "post-PHASE=node-1. [repeatable]",
    )
    waits = click.option("--break-timeout", metavar="SPAN", help="Fail what is still stopped at a --break after SPAN.")
    return stops(waits(function))


SEE_NAMES = "see the names with: phaseline deployments list"
FILES = {".yaml", ".yml"}


class OfDeployment(click.Command):
    """A command on the deployment that ``-d`` names. Without ``-d`` the usage error shows the command with ``-d``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does; the error for a missing ``-d`` names the whole command."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if error.param is None or error.param.name != "deployment":
                raise
            raise click.UsageError(f"{error.format_message()} {self.meant(ctx, words)}", ctx) from error

    def meant(self, ctx: click.Context, words: Sequence[str]) -> str:
        """Return the words to type in place of the typed words."""
        return with_deployment(self, ctx, words)


def with_deployment(command: click.Command, ctx: click.Context, words: Sequence[str]) -> str:
    """Return the words to type if a command was typed without ``-d``."""
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
        return f"'{word}' is a file; name the deployment that was created from it: {path} -d NAME; {SEE_NAMES}"
    return f"A deployment is named with -d: {path} -d {shlex.quote(word)}"
