"""Find open executions that call other hook classes than this process knows.

An execution calls the classes that were known to the process that created it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.prepare import pre_post

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.app.app_context import RequestContext
    from phaseline.model.execution.pre_post import PrePost


@frozen
class HookDifference:
    """Differences of one execution: classes that only this process knows, and those that only the execution calls."""

    execution: str
    created_by: str
    not_asked: tuple[str, ...]
    not_known: tuple[str, ...]

    def __str__(self) -> str:
        """Return the difference as one clause of a sentence."""
        who = f"{self.execution}, started by {self.created_by},"
        told = [f"does not ask {', '.join(self.not_asked)}"] if self.not_asked else []
        told += [f"asks {', '.join(self.not_known)}, which is not known here"] if self.not_known else []
        return f"{who} {' and '.join(told)}"


def hook_differences(ctx: RequestContext) -> Iterator[HookDifference]:
    """Yield the open executions that would call other hook classes if this process created them now."""
    store = ctx.store
    for row in store.executions(only_open=True):
        try:
            here = _classes(pre_post.pre_post_for(ctx, row.request, row.deployment))
        except ProblemsError:
            continue  # an unusable class is reported by ``hooks list``, and blocks actions that are started here
        there = _classes(store.around(row.number) if row.request.is_surrounded else None)
        missing, strange = here.keys() - there.keys(), there.keys() - here.keys()
        if missing or strange:
            yield HookDifference(
                row.id,
                row.created_by,
                tuple(sorted(here[key] for key in missing)),
                tuple(sorted(there[key] for key in strange)),
            )


def _classes(around: PrePost | None) -> dict[str, str]:
    """Return {key: name} of all hook classes of an execution."""
    return {} if around is None else {hook.key: hook.name for hook in (*around.hooks, *around.taking_back)}
