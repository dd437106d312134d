"""Remove packages from the store, unless a deployment uses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.use_cases.loading import type_catalog
from phaseline.use_cases.lookup.installed_packages import collect, installed_rows
from phaseline.use_cases.lookup.running_engine import request_reload
from phaseline.use_cases.queries.packages.find_package import find_package, read_name

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.packages.installed import PackageRow, PackageUser
    from phaseline.use_cases.loading.type_catalog import TypesView


def remove(ctx: RequestContext, name: str) -> PackageRow:
    """Remove the package ``NAME==VERSION`` from the store. Files in the folder of its origin are not touched.

    Raises: PL-F062 if it is not installed or no version is given, PL-F065 naming each deployment that uses it.
    """
    row = find_package(ctx, name, whole=True)
    users = ctx.store.packages.remove(row.number)
    if users:
        raise in_use(row, users)
    collect(ctx)
    request_reload(ctx)
    return row


def remove_any(ctx: RequestContext, name: str, version: str = "") -> PackageRow | TypesView:
    """Remove the package with this name; if there is none, the type definitions with this name.

    Raises: for a package the errors of ``remove``, for definitions the errors of ``remove_definitions``; PL-B127 if
    there is neither.
    """
    named = read_name(name) or (name, "")
    wanted = named[1] or version
    is_package = any(row.name == named[0] and wanted in {"", row.version} for row in installed_rows(ctx))
    has_types = bool(type_catalog.find_definitions(ctx, named[0], wanted))
    if is_package and (wanted or not has_types):
        return remove(ctx, f"{named[0]}=={wanted}" if wanted else named[0])
    if has_types or (not named[1] and type_catalog.find_definitions(ctx, named[0])):
        return type_catalog.remove_definitions(ctx, named[0], wanted)
    if is_package or named[1]:
        return remove(ctx, name)
    text = f"there is neither a package nor type definitions of '{name}'"
    hint = did_you_mean(named[0], sorted({row.name for row in installed_rows(ctx)}))
    raise problem_error("PL-B127", text, f"{hint} list them: phaseline plugins list".strip(), subject=name)


def in_use(row: PackageRow, users: Sequence[PackageUser]) -> ProblemsError:
    """Return an error with the problem PL-F065 for each deployment that uses a package."""
    return ProblemsError(_used(row, user) for user in users)


def _used(row: PackageRow, user: PackageUser) -> Problem:
    if user.is_enabled:
        message = f"{row} is enabled for the deployment '{user.deployment}'"
        mend = f"disable it first: phaseline deployments plugins disable {user.deployment} {row.name}"
    else:
        message = f"the blueprint of the deployment '{user.deployment}' imports types of {row}"
        mend = f"delete it first: phaseline deployments delete {user.deployment}"
    return Problem("PL-F065", message, mend, Place(subject=str(row)))
