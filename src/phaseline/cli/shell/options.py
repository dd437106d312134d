"""Options that several commands share, with the same words and the same help everywhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk

if TYPE_CHECKING:
    from phaseline.model.execution.execution import IfBusy
    from phaseline.use_cases.prepare.options import OnFailure

F = TypeVar("F", bound=Callable[..., Any])


def _remember_json(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    ctx.ensure_object(Desk).as_json |= value


save_option = click.option("--save", is_flag=True, help="Keep the plan, to be applied later: phaseline plans apply ID.")
json_option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_remember_json,
    help="Answer with one JSON document on stdout.",
)


SETTLED = "settled"
"""What a watchable command returns when nothing that it shows will change any more."""


def watchable(function: F) -> F:
    """``--watch`` of a command that looks and answers: it looks again and again."""

    @wraps(function)
    def with_watch(*args: object, every_s: float | None, **others: object) -> object:
        if every_s is None:
            return function(*args, **others)
        from phaseline.cli.shell.watch_and_follow import watch

        desk = click.get_current_context().ensure_object(Desk)
        watch(desk, lambda: function(*args, **others) != SETTLED, every_s)
        return None

    option = click.option(
        "--watch",
        "every_s",
        type=click.FloatRange(min=0.1),
        metavar="[S]",
        is_flag=False,
        flag_value=2.0,
        help="Show it again every S seconds (2 if S is left out), until Ctrl-C; in a pipe when it has changed.",
    )
    return cast("F", option(with_watch))


def _deployment(*, is_needed: bool) -> Callable[[F], F]:
    return click.option(
        "-d",
        "--deployment",
        metavar="NAME",
        shell_complete=completing.deployments,
        help="The deployment, or a unique beginning of its name.",
        required=is_needed,
    )


deployment_option = _deployment(is_needed=False)
deployment_needed = _deployment(is_needed=True)
deployment_argument = click.argument("name", shell_complete=completing.deployments)
execution_argument = click.argument("id", required=False, shell_complete=completing.executions)
limit_option = click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Show at most so many."
)
data_option = click.option(
    "--data", metavar="JSON", default="null", help="What is said; YAML is understood as well, a text needs quotes."
)
plugins_option = click.option(
    "--plugins", "plugin_folders", metavar="DIR", multiple=True, help="Folder with modules of plugins; repeatable."
)
open_types_option = click.option(
    "--open-types",
    is_flag=True,
    help="Go on where the definition file of a plugin is not at hand: its types are taken as open, with a warning each.",
)
detach_option = click.option(
    "--detach",
    is_flag=True,
    help="Leave as soon as the engine has taken it up; see how it goes on with executions follow.",
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask first. Nothing is asked but on a terminal.")


def _remember_form(ctx: click.Context, _parameter: click.Parameter, value: str) -> None:
    ctx.ensure_object(Desk).plan_form = value


def plan_options(function: F) -> F:
    """How every plan is answered: its exit code and its form."""
    code = click.option(
        "--exit-code",
        "tells",
        is_flag=True,
        help="Exit code 0 if there is nothing to do, 3 if something would be done.",
    )
    form = click.option(
        "--format",
        type=click.Choice(("text", "mermaid", "dot")),
        default="text",
        show_default=True,
        expose_value=False,
        callback=_remember_form,
        help="As text, or as a diagram.",
    )
    return code(form(function))


inputs_option = click.option(
    "--inputs",
    "input_files",
    metavar="FILE",
    multiple=True,
    help="File with inputs in YAML or JSON; before all of -i; later files win; repeatable.",
)


blueprint_argument = click.argument("file", metavar="BLUEPRINT", shell_complete=completing.blueprints)


def given_values(_ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Inputs or parameters as they were given: each is ``name=value``, a mapping in JSON or YAML, or a file that is there."""
    for text in values:
        name, equals, _ = text.partition("=")
        is_pair = bool(equals) and bool(name.strip())
        if not (is_pair or text.lstrip().startswith("{") or Path(text).is_file()):
            message = f"'{text}' is not of the form name=value, such as port=8080, no mapping such as '{{port: 8080}}'"
            raise click.BadParameter(f"{message}, and no file", param=parameter)
    return values


def pairs(_ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """{name: value} of an option that is given as ``name=value`` several times."""
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"'{text}' is not of the form name=value, such as port=8080", param=parameter)
        found[name.strip()] = value
    return found


input_option = click.option(
    "-i",
    "--input",
    "inputs_given",
    metavar="NAME=VALUE",
    multiple=True,
    callback=given_values,
    help="One input, its value read as YAML; or several as '{JSON}', or a file of them. Later ones win; repeatable.",
)


parameter_option = click.option(
    "-p",
    "--parameter",
    "parameters_given",
    metavar="NAME=VALUE",
    multiple=True,
    callback=given_values,
    help="One parameter, its value read as YAML; or several as '{JSON}', or a file of them. Later ones win; repeatable.",
)


yes_many_option = click.option(
    "--yes-many", is_flag=True, help="Yes, more than a million calls for relationships are meant."
)
runtime_only_option = click.option(
    "--runtime-only-evaluation",
    "runtime_only",
    is_flag=True,
    help="Evaluate functions when their values are needed, so that inputs that change later take effect.",
)
label_option = click.option(
    "--label", "labels", metavar="KEY=VALUE", multiple=True, help="A label beside those of the blueprint. Repeatable."
)


def blueprint_options(function: F) -> F:
    """The options of every command that reads a blueprint with inputs."""
    for option in (plugins_option, input_option, inputs_option):
        function = option(function)
    return function


def order_options(function: F) -> F:
    """The options of every command that makes a deployment of a blueprint; the command gets them together, as its ``order``."""

    @wraps(function)
    def with_order(
        *args: object,
        file: str,
        name: str | None,
        plugin_folders: tuple[str, ...],
        input_files: tuple[str, ...],
        inputs_given: tuple[str, ...],
        labels: tuple[str, ...],
        yes_many: bool,
        runtime_only: bool,
        **others: object,
    ) -> object:
        from phaseline.use_cases.loading.input_files import gather_inputs
        from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec

        inputs = gather_inputs(input_files, inputs_given)
        order = DeploymentSpec(file, name, inputs, plugin_folders, yes_many, runtime_only, labels)
        return function(*args, order=order, **others)

    name = click.option(
        "-d",
        "--deployment",
        "name",
        metavar="NAME",
        help="Name of the deployment; otherwise that of the blueprint's folder.",
    )
    more = label_option(yes_many_option(runtime_only_option(with_order)))
    return cast("F", blueprint_argument(name(blueprint_options(more))))


def start_options(function: F) -> F:
    """The options of every command that starts or plans a workflow by its name.

    The command gets them together, as its ``start_of``: what makes the start of the names of a workflow and a deployment.
    """

    @wraps(function)
    def with_start(
        *args: object,
        parameter_files: tuple[str, ...],
        parameters_given: tuple[str, ...],
        allow_custom: bool,
        force: bool,
        **others: object,
    ) -> object:
        from phaseline.use_cases.loading.input_files import gather_inputs
        from phaseline.use_cases.prepare.workflow_start import WorkflowStart

        def start_of(workflow: str, deployment: str) -> WorkflowStart:
            parameters = gather_inputs(parameter_files, parameters_given)
            return WorkflowStart(workflow, deployment, parameters, allow_custom, force)

        return function(*args, start_of=start_of, **others)

    files = click.option(
        "--params",
        "parameter_files",
        metavar="FILE",
        multiple=True,
        help="File with parameters in YAML or JSON; before all of -p; later files win; repeatable.",
    )
    custom = click.option(
        "--allow-custom-parameters",
        "allow_custom",
        is_flag=True,
        help="Hand on parameters that the workflow does not declare; plugins can read them.",
    )
    forced = click.option(
        "--force", is_flag=True, help="Although the blueprint says that the workflow is not available now."
    )
    return cast("F", files(parameter_option(custom(forced(with_start)))))


def running_options(function: F) -> F:
    """The options of every command that runs operations; the command gets them together, as its ``manner``."""

    @wraps(function)
    def with_manner(
        *args: object,
        task_retries: int | None,
        on_failure: OnFailure,
        stop_after: str | None,
        if_busy: IfBusy,
        timeout: str | None,
        subgraph_retries: int | None,
        breaks: tuple[str, ...],
        break_timeout: str | None,
        **others: object,
    ) -> object:
        from phaseline.cli.shell.run_output import read_manner

        manner = read_manner(
            task_retries, on_failure, stop_after, if_busy,
            timeout=timeout, subgraph_retries=subgraph_retries, breaks=breaks, break_timeout=break_timeout,
        )  # fmt: skip
        return function(*args, manner=manner, **others)

    return cast("F", _of_failures(_of_time(with_manner)))


def _of_failures(function: Callable[..., object]) -> Callable[..., object]:
    retries = click.option(
        "--task-retries",
        type=click.IntRange(min=-1),
        metavar="N",
        help="Tries again after a failure; -1: without end. [default: 3, or 60 in cloudify_dsl_*]",
    )
    failure = click.option(
        "--on-failure",
        type=click.Choice(["continue", "stop", "rollback"]),
        default="continue",
        show_default=True,
        help="After a failure: let independent branches go on, begin nothing new, or take away again what was made.",
    )
    limit = click.option(
        "--stop-after",
        metavar="LIMIT",
        help="Begin nothing new once more than N calls (3) or N % of a node's calls (10%) have failed, "
        "or N seconds after the first failure (30s).",
    )
    busy = click.option(
        "--if-busy",
        type=click.Choice(["wait", "refuse", "force"]),
        default="wait",
        show_default=True,
        help="While another execution has a claim on the same instances: wait for it, refuse, or run beside it.",
    )
    again = click.option(
        "--subgraph-retries",
        type=click.IntRange(min=-1),
        metavar="N",
        help="How often an instance whose life cycle has failed is taken away and goes through it again; -1: without end. [default: 0]",
    )
    return retries(failure(limit(busy(again(function)))))


def _of_time(function: Callable[..., object]) -> Callable[..., object]:
    time = click.option(
        "--timeout",
        metavar="SPAN",
        help="Cancel it when it takes longer: 90s, 10m, 2h; calls that run have 4 minutes more.",
    )
    return time(_of_breaks(function))


def stopping_options(function: F) -> F:
    """The options that say where something stops; the command gets them together, as its ``breakpoints``."""

    @wraps(function)
    def with_breakpoints(*args: object, breaks: tuple[str, ...], break_timeout: str | None, **others: object) -> object:
        from phaseline.cli.shell.run_output import read_breaks

        return function(*args, breakpoints=read_breaks(breaks, break_timeout), **others)

    return cast("F", _of_breaks(with_breakpoints))


def _of_breaks(function: Callable[..., object]) -> Callable[..., object]:
    stops = click.option(
        "--break",
        "breaks",
        metavar="POINT=NAMES",
        multiple=True,
        help="Instances of these nodes, or these resources (* for any part of a name), stop there until they are cleared: pre-create=app_*, "
        "post-PHASE=node-1; repeatable.",
    )
    waits = click.option(
        "--break-timeout", metavar="SPAN", help="What stops at a --break and is not cleared so long has failed."
    )
    return stops(waits(function))
