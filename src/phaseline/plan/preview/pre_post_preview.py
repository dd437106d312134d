"""Preview what runs before and after a workflow, for its plan: hook classes, and tasks of packages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.packages.package import POST, PRE

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.task_listing import TaskRow

BOTH, ONLY_PRE, ONLY_POST = "before and after", "before", "after"


@frozen
class HookForeseen:
    """The preview of one hook class: when it is called, and what it would answer.

    ``says`` is ``agrees``, ``refuses`` with the reason in ``message``, or ``silent`` if the class has no
    ``do_preview_op``. ``decisions`` is {instance id: what the class would decide for it}; ``nodes`` is {instance id:
    its node}.
    """

    name: str
    called: str = BOTH
    says: Literal["silent", "agrees", "refuses"] = "silent"
    message: str = ""
    warnings: Sequence[str] = ()
    decisions: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)


@frozen
class PrePostPreview:
    """All hooks and tasks that run before and after a workflow, in the order of their calls before the workflow."""

    hooks: Sequence[HookForeseen] = ()
    tasks: Sequence[TaskRow] = ()

    @property
    def refusals(self) -> Sequence[HookForeseen]:
        """The hook classes that would refuse."""
        return [hook for hook in self.hooks if hook.says == "refuses"]


def around_text(text: str, around: PrePostPreview) -> str:
    """Return the text of a plan, with the hooks and tasks before and after it."""
    before = [*_block("hooks", _hook_rows(around.hooks)), *_block("tasks before", _task_rows(around.tasks, PRE))]
    after = _block("tasks after", _task_rows(around.tasks, POST))
    return "\n".join([*before, text, *(["", *after[:-1]] if after else [])])


def _block(title: str, rows: Sequence[tuple[str, str]]) -> Sequence[str]:
    if not rows:
        return []
    width = max(len(name) for name, _ in rows)
    return [f"{title}:", *(f"    {name:{width}}  {told}".rstrip() for name, told in rows), ""]


def _hook_rows(hooks: Sequence[HookForeseen]) -> Sequence[tuple[str, str]]:
    return [(hook.name if first else "", line) for hook in hooks for first, line in _first(_rendered_lines(hook))]


def _first(lines: Iterator[str]) -> Iterator[tuple[bool, str]]:
    for place, line in enumerate(lines):
        yield place == 0, line


def _rendered_lines(hook: HookForeseen) -> Iterator[str]:
    """Yield the lines that show what a hook class would answer, at least one line.

    >>> list(_rendered_lines(HookForeseen("racks", says="agrees", decisions={"w_1": {"rack": "r1"}}, nodes={"w_1": "w"})))
    ['decides for w × 1: {"rack": "r1"}']
    """
    if hook.says == "refuses":
        yield f"would be refused: {hook.message}"
    yield from (f"warns: {text}" for text in hook.warnings)
    alike = Counter(
        (hook.nodes.get(one, one), json.dumps(decided, sort_keys=True)) for one, decided in hook.decisions.items()
    )
    yield from (f"decides for {node} × {count:,}: {decided}" for (node, decided), count in sorted(alike.items()))
    if hook.says == "silent":
        yield f"is called {hook.called}; has no preview"
    elif hook.says == "agrees" and not (hook.warnings or hook.decisions):
        yield "agrees"


def _task_rows(tasks: Sequence[TaskRow], stage: str) -> Sequence[tuple[str, str]]:
    return [(task.task, _whom(task)) for task in tasks if task.stage == stage]


def _whom(task: TaskRow) -> str:
    """Return a text with the package of a task, its roles and the number of its instances.

    If no instance runs the task, the text gives the reason instead of the roles.
    """
    package = f"{task.package}-{task.version}"
    title = f" ({task.title})" if task.title not in {"", package} else ""
    said = f"{package}{title}, {task.written or 'deployment_tasks.yaml'}"
    if task.skipped:
        return f"{said}; left out: {task.skipped}"
    return f"{said}, on {task.roles}" + (f" × {task.instances:,}" if task.instances is not None else "")
