"""Find the tasks of the packages that are enabled for a deployment, in the form that an execution stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.packages.format.condition_language import holds
from phaseline.packages.task_serializer import SerializerInput, serialized
from phaseline.plan.stages import role_masks
from phaseline.use_cases.lookup.installed_packages import enabled, work_folder
from phaseline.use_cases.lookup.secret_settings import sealed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.stage_tasks import Stages
    from phaseline.use_cases.lookup.installed_packages import InstalledPackage

INSTANCES = "instances"
"""Name of the folder for files of instances on this machine, beside the folders of packages."""


def stages_of(ctx: RequestContext, workflow: str, deployment: int) -> Stages | None:
    """Return the task stages to be stored with an execution of this workflow, or None if there are none."""
    labels: dict[str, Value] = {}
    for label in ctx.store.labels.of(deployment):
        labels.setdefault(label.key, label.value)
    found = enabled(ctx, deployment)
    stored = {one.row.name: sealed(ctx, one.package.form, one.settings) for one in found}
    folder = str(work_folder(ctx) / INSTANCES)
    roles = roles_by_node(ctx, deployment, found)
    given = SerializerInput(workflow, holds, labels, folder, ctx.settings.allow_master, stored, ctx.app.judge, roles)
    return serialized(found, given) or None


def roles_by_node(ctx: RequestContext, deployment: int, chosen: Sequence[InstalledPackage]) -> dict[str, list[str]]:
    """Return {node: the role names that select its instances}: its own name, its label, its types and its groups.

    Return {} if no package uses roles.
    """
    if not any(task.yaql for one in chosen for task in one.package.granular_tasks):
        return {}

    blueprint = ctx.store.blueprint(deployment)
    groups = {name: role_masks.members_of(blueprint.groups, name) for name in blueprint.groups}
    return {
        node.name: [
            node.name,
            *role_masks.roles_of(node),
            *node.type_hierarchy,
            *(name for name in groups if node.name in groups[name]),
        ]
        for node in blueprint.nodes.values()
    }
