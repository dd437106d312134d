"""Views of installed packages: for the list of all plugins, and for one package with all its contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.deployment.sealed_values import HIDDEN
from phaseline.packages import task_order
from phaseline.use_cases.lookup.installed_packages import folder_of, installed_rows, read_all, read_stored
from phaseline.use_cases.queries.packages.find_package import find_package

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.installed import PackageRow, PackageUser
    from phaseline.model.packages.package import Package, PackageSetting


@frozen
class PackageView:
    """One installed package. ``format``: version of its file format. ``versions``: all installed versions of the name.

    ``tasks``: its tasks as ``plugins order`` prints them. ``settings``: its form. ``documents``: {file: content} of
    parts that have no field of their own: volumes, network roles, forms. ``code``: {kind: names}, for a package in
    Phaseline's own format.
    """

    name: str
    version: str
    title: str
    description: str
    format: str
    groups: Sequence[str]
    releases: Sequence[str]
    is_hotpluggable: bool
    enabled_in: Sequence[str]
    imported_by: Sequence[str]
    stages: Sequence[str]
    tasks: Sequence[str]
    settings: Sequence[PackageSetting]
    roles: Mapping[str, str]
    components: Sequence[str]
    code: Mapping[str, Sequence[str]]
    documents: Mapping[str, Value]
    versions: Sequence[str]
    digest: str
    folder: str
    origin: str
    file_count: int
    size_bytes: int
    installed_at: int
    installed_by: str


def list_packages(ctx: RequestContext) -> list[PackageView]:
    """Return all installed packages, by name and version."""
    known = installed_rows(ctx)
    read_all(ctx, known)
    users = ctx.store.packages.all_users() if known else {}
    return [_view(ctx, row, known, users.get(row.number, ())) for row in known]


def show_package(ctx: RequestContext, name: str) -> PackageView:
    """Return one package: for ``NAME`` the newest version, or ``NAME==VERSION``. Raises: PL-F062."""
    row = find_package(ctx, name)
    return _view(ctx, row, installed_rows(ctx), ctx.store.packages.users(row.number))


def _view(
    ctx: RequestContext, row: PackageRow, known: Sequence[PackageRow], users: Sequence[PackageUser]
) -> PackageView:
    package = read_stored(ctx, row)
    return PackageView(
        name=row.name,
        version=row.version,
        title=package.title,
        description=package.description,
        format=row.format,
        groups=package.groups,
        releases=[f"{each.os} {each.version} ({', '.join(each.mode)})" for each in package.releases],
        is_hotpluggable=package.is_hotpluggable,
        enabled_in=[user.deployment for user in users if user.is_enabled],
        imported_by=[user.deployment for user in users if not user.is_enabled],
        stages=list(stages_of(package)),
        tasks=list(_tasks(package)),
        settings=[_shown(setting) for setting in package.form.settings],
        roles={role.id: role.name for role in package.node_roles},
        components=[component.name for component in package.components],
        code=_code(package),
        documents={name: body for name, body in package.documents.items() if name in KEPT},
        versions=[other.version for other in known if other.name == row.name],
        digest=row.digest,
        folder=str(folder_of(ctx, row)),
        origin=row.origin,
        file_count=row.file_count,
        size_bytes=row.size_bytes,
        installed_at=row.installed_at,
        installed_by=row.installed_by,
    )


def _shown(setting: PackageSetting) -> PackageSetting:
    """Return the setting with its default value hidden if the setting is a secret, such as a password."""
    return altered(setting, value=HIDDEN) if setting.is_secret and setting.value else setting


KEPT = (
    "volumes.yaml",
    "network_roles.yaml",
    "nic_config.yaml",
    "bond_config.yaml",
    "node_config.yaml",
)
"""Files of a package that are stored and shown but have no effect."""


def stages_of(package: Package) -> Sequence[str]:
    """Return the stages of the package's tasks, as written and each once, in the order in which they run."""
    return tuple(dict.fromkeys(task.written for task in task_order.ordered([package])))


def _tasks(package: Package) -> list[str]:
    staged = [
        f"{task.written}  {task.type}  {task.id or task.index + 1}  for {task.roles}"
        for task in task_order.ordered([package])
    ]
    return staged + [f"{task.id}  {task.type}  for {task.roles}" for task in task_order.granular([package])]


def _code(package: Package) -> dict[str, Sequence[str]]:
    """Return {kind: names} of the package's code that other files may refer to, without kinds that have no names."""
    code = package.code
    found: dict[str, Sequence[str]] = {
        "types": code.types,
        "phases": code.phases,
        "hooks": [hook.target for hook in code.hooks],
        "python": code.paths,
        "entry points": [f"{group} {name}" for group, names in code.entry_points.items() for name in names],
    }
    return {what: names for what, names in found.items() if names}
