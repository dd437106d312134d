"""Check that the folders with a deployment's code still exist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.use_cases.loading import plugin_presence
from phaseline.use_cases.loading.stored_blueprint_files import restore_files
from phaseline.use_cases.lookup import installed_packages

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint, Operation
    from phaseline.model.rows.rows import DeploymentRow


def raise_if_folders_missing(ctx: RequestContext, row: DeploymentRow) -> None:
    """Raise PL-C024 for each missing folder of the deployment's code that operations need.

    Missing files of stored blueprints are written again. Contents of existing folders are not checked. Raises PL-C043
    for a cluster of resources, which has no workflows.
    """
    if row.kind == "resources":
        message = f"'{row.name}' is a cluster of resources, workflows are for deployments of blueprints"
        mend = f"give its resources a target: phaseline resources target Terminated --all -d {row.name}"
        raise problem_error("PL-C043", message, mend, subject=row.name)
    restore_files(ctx, [row.number])
    if ctx.store.has_packages:
        installed_packages.restore_packages(ctx)
    folder, *more = (row.code.blueprint_folder, *row.code.plugin_folders)
    gone = [path for path in (folder, *more) if not Path(path).is_dir()]
    if not gone:
        return

    blueprint = ctx.store.blueprint(row.number)
    if plugin_presence.missing_modules(ctx.catalog, blueprint, row.code):
        needed = gone
    elif any(_is_file(operation) for operation in _operations(blueprint)):
        needed = [path for path in gone if path == folder]
    else:
        return
    if needed:
        raise ProblemsError(_problem(row, path, is_own=path == folder) for path in needed)


def _operations(blueprint: Blueprint) -> Iterator[Operation]:
    for node in blueprint.nodes.values():
        yield from node.operations.values()
        for relationship in node.relationships:
            yield from relationship.source_operations.values()
            yield from relationship.target_operations.values()


def _is_file(operation: Operation) -> bool:
    """Return True if the operation runs a script in the blueprint's folder."""
    return operation.is_script and operation.form != "inline" and "://" not in operation.implementation


def _problem(row: DeploymentRow, path: str, *, is_own: bool) -> Problem:
    what = "its blueprint" if is_own else "its plugins"
    return Problem(
        "PL-C024",
        f"the deployment '{row.name}' needs the folder of {what}, which is not there any more: {path}",
        f"put the folder back, or link to its new place: ln -s NEW_FOLDER {path}; if it is lost, delete only "
        f"the records of the deployment: phaseline deployments delete {row.name} --force",
    )
