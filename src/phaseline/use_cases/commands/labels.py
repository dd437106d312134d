"""Labels of deployments. A blueprint gives the initial labels; users add and remove labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.labels import PARENT, Label
from phaseline.model.execution import execution
from phaseline.model.problems.problem import problem_error
from phaseline.use_cases.commands import start_workflow, submission
from phaseline.use_cases.lookup.estate import parents
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.label_syntax import by_key, parse_labels
from phaseline.use_cases.prepare import breakpoints, pre_post, workflow_start

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.use_cases.commands.submission import SubmissionFor
    from phaseline.views.views import ExecutionView


@frozen
class Labels:
    """The labels of one deployment, {key: values}. ``added``, ``removed``: numbers of labels added and removed."""

    deployment: str
    labels: Mapping[str, Sequence[str]]
    added: int = 0
    removed: int = 0


def change_labels(
    ctx: RequestContext, name: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Labels | SubmissionFor[Labels]:
    """Add labels ``KEY=VALUE``, remove ``KEY=VALUE`` or all labels with ``KEY``, and return all labels.

    If there is a problem, nothing is changed. Raises: PL-C010 for an unknown deployment, PL-C068 for an invalid label,
    PL-P047 for labels that are breakpoints at which no instance would stop, PL-C158 for a deployment to which it cannot
    belong, PL-H022 if a hook class refuses.
    """
    given, unwanted = parse_labels(add, may_be_key=False), parse_labels(remove)
    row = find_deployment(ctx.store, name, to_change=bool(given or unwanted))
    if given:
        breakpoints.raise_if_unreachable(ctx, row, given)
        if any(label.key == PARENT for label in given):
            parents.raise_if_parents_unfit(ctx.store, row.name, by_key(given))
    shelf = ctx.store.labels
    before = set(shelf.of(row.number))
    if not given and not unwanted:
        return Labels(row.name, by_key(sorted(before)))
    gone = {one for one in before if any(one.key == key and value in {"", one.value} for key, value in unwanted)}

    def changed() -> Labels:
        return Labels(row.name, by_key(shelf.of(row.number)), len(set(given) - (before - gone)), len(gone))

    if _is_watched(ctx, row):
        return _ask_hooks(ctx, row, given, unwanted, changed)
    shelf.remove(row.number, unwanted)
    shelf.add(row.number, given)
    return changed()


def _is_watched(ctx: RequestContext, row: DeploymentRow) -> bool:
    """Return whether a hook class is called before labels of the deployment change."""
    around = pre_post.pre_post_for(ctx, execution.Request("relabel"), row.number)
    return around is not None and bool(around.hooks)


def _ask_hooks(
    ctx: RequestContext,
    row: DeploymentRow,
    given: Sequence[Label],
    unwanted: Sequence[Label],
    changed: Callable[[], Labels],
) -> SubmissionFor[Labels]:
    """Change labels by an execution, so that hook classes are called before and after the change.

    ``changed``: returns the labels after the change. Raises: PL-H022 if the execution does not complete.
    """
    said: dict[str, Value] = {
        "add": [f"{one.key}={one.value}" for one in given],
        "remove": [f"{one.key}={one.value}" for one in unwanted],
    }

    def answer(view: ExecutionView) -> Labels:
        if view.is_good:
            return changed()
        message = f"the labels of '{row.name}' were not changed: {view.id} is {view.status}"
        message += f": {view.reason}" if view.reason else ""
        raise problem_error("PL-H022", message, f"look at the reason: phaseline executions show {view.id}")

    return submission.SubmissionFor(
        start_workflow.start(ctx, workflow_start.WorkflowStart("relabel", row.name, said)), answer
    )
