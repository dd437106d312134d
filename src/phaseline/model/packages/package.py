"""Plugin packages as one shipped unit: the tasks, roles, settings and components in it.

A package is read and checked by ``phaseline.packages``; these values obey every rule of its format. Conditions are
kept as their text (``phaseline.packages.format.condition_language`` evaluates them), stage numbers as exact decimals.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.packages import installed as package_rows

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

PRE, POST = "pre_deployment", "post_deployment"
STAGES: Final = (PRE, POST)
"""The stages of packages, in the order in which they run: before and after the deployment's own work."""
WORKFLOWS: Final = ("install", "update", "scale", "heal")
"""Workflows in which the tasks of a package run unless a native package names others."""
NATIVE: Final = package_rows.NATIVE
"""The package version of our own packages; those of Fuel are 1.0.0 to 5.0.0."""

Scope: TypeAlias = Literal["named", "all", "master", "self", "sync"]
Action: TypeAlias = Literal["disable", "hide", "enable", "none"]


@frozen
class Roles:
    """The instances that run a task. ``names`` and ``patterns`` are used if the scope is ``named``.

    ``patterns``: regular expressions, matched from the start. Other scopes: ``all``: every instance of the deployment
    (``*``); ``master``: the machine of the engine. A dependency may also have ``self``: the task's own instance, or
    ``sync``: the points between stages, which belong to no instance.
    """

    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    scope: Scope = "named"

    def __str__(self) -> str:
        """As people read it."""
        if self.scope != "named":
            return {"all": "*", "sync": "null"}.get(self.scope, self.scope)
        return ", ".join((*self.names, *(f"/{pattern}/" for pattern in self.patterns)))


NOBODY: Final = Roles()
"""No role is named at all."""
EVERYBODY: Final = Roles(scope="all")


@frozen
class StageTask:
    """One task of ``tasks.yaml``. ``index``: its place in the file, from 0; ``written``: its stage as the file has it.

    ``plugin`` and ``version`` are those of its package. ``parameters`` are as the file has them: ``timeout`` is always
    there (0: without limit). ``on``: the workflows in which it runs. ``id`` and ``diagnostic_name`` may be empty.
    """

    stage: str
    number: Decimal
    plugin: str
    version: str
    index: int
    type: str
    roles: Roles
    parameters: Mapping[str, Value]
    written: str
    fail_on_error: bool = True
    condition: str = ""
    id: str = ""
    diagnostic_name: str = ""
    reexecute_on: tuple[str, ...] = ()
    on: tuple[str, ...] = WORKFLOWS


@frozen
class CrossDependency:
    """Tasks of other instances that a task needs, or that need it. ``name`` is a regular expression where ``is_pattern``."""

    name: str
    roles: Roles = EVERYBODY
    policy: Literal["all", "any"] = "all"
    is_pattern: bool = False


@frozen
class Strategy:
    """How many instances may run a task at once; ``amount`` None: all of them."""

    type: Literal["parallel", "one_by_one"] = "parallel"
    amount: int | None = None


@frozen
class GranularTask:
    """One task of ``deployment_tasks.yaml``. ``task_version`` below (2, 0, 0) is the old form, with groups and stages.

    ``requires`` and ``required_for`` name tasks of the same instance. ``roles`` is ``NOBODY`` where the file names none.
    ``tasks``: the tasks of a group in the old form. ``fault_tolerance`` of a group: a number, a share such as ``20%``, or a negative
    number: that many must succeed; None if not given. ``stage``: the stage as written, in the old form. ``yaql``: {key of the
    file: the expression in its place}, of a condition or of dependencies.
    """

    id: str
    type: str
    plugin: str
    version: str
    index: int
    task_version: tuple[int, int, int] = (1, 0, 0)
    roles: Roles = NOBODY
    requires: tuple[str, ...] = ()
    required_for: tuple[str, ...] = ()
    cross_depends: tuple[CrossDependency, ...] = ()
    cross_depended_by: tuple[CrossDependency, ...] = ()
    tasks: tuple[str, ...] = ()
    stage: str = ""
    condition: str = ""
    reexecute_on: tuple[str, ...] = ()
    refresh_on: tuple[str, ...] = ()
    strategy: Strategy = Strategy()
    fault_tolerance: int | str | None = None
    fail_on_error: bool = True
    parameters: Mapping[str, Value] = {}
    on: tuple[str, ...] = WORKFLOWS
    yaql: Mapping[str, str] = {}


@frozen
class Restriction:
    """The ``action`` on a setting or a role while a condition is true, with a message for the user."""

    condition: str
    message: str = ""
    action: Action = "disable"


@frozen
class LimitOverride:
    """Limits that count instead of the usual ones while its condition is true."""

    condition: str
    min: int | str | None = None
    max: int | str | None = None
    recommended: int | str | None = None
    message: str = ""


@frozen
class InstanceLimits:
    """How many instances may have a role: numbers, or expressions of the condition language that give one."""

    min: int | str | None = None
    max: int | str | None = None
    recommended: int | str | None = None
    condition: str = ""
    overrides: tuple[LimitOverride, ...] = ()


@frozen
class NodeRole:
    """A role that instances may have by the label ``role``. ``conflicts``: ``*`` stands for all others."""

    id: str
    name: str
    description: str
    conflicts: tuple[str, ...] = ()
    has_primary: bool = False
    public_ip_required: bool = False
    update_required: tuple[str, ...] = ()
    update_once: tuple[str, ...] = ()
    weight: int = 0
    limits: InstanceLimits = InstanceLimits()
    restrictions: tuple[Restriction, ...] = ()
    tasks: tuple[str, ...] = ()


@frozen
class Choice:
    """One of the values that a setting may have."""

    data: str
    label: str
    description: str = ""
    restrictions: tuple[Restriction, ...] = ()


@frozen
class PackageSetting:
    """One element of a form. ``value``: its default; ``generator``: how a value is generated."""

    id: str
    type: str
    label: str
    weight: int
    value: Value
    generator: str = ""
    description: str = ""
    choices: tuple[Choice, ...] = ()
    pattern: str = ""
    pattern_error: str = ""
    min: int | None = None
    max: int | None = None
    restrictions: tuple[Restriction, ...] = ()

    @property
    def is_secret(self) -> bool:
        """True if its values are hidden and stored encrypted."""
        return self.type == "password"


@frozen
class Form:
    """The settings of a package for one deployment, in the order of their weights."""

    settings: tuple[PackageSetting, ...] = ()
    label: str = ""
    weight: int = 0
    is_toggleable: bool = True
    is_enabled: bool = False
    group: str = ""
    restrictions: tuple[Restriction, ...] = ()


@frozen
class RelatedComponents:
    """Components with which another one is compatible, which it requires, or which it excludes.

    The name may end in ``*``.
    """

    name: str
    message: str = ""


@frozen
class Component:
    """A part of the environment that a package provides, such as ``network:neutron:contrail``."""

    name: str
    label: str
    description: str = ""
    compatible: tuple[RelatedComponents, ...] = ()
    requires: tuple[RelatedComponents, ...] = ()
    incompatible: tuple[RelatedComponents, ...] = ()
    bind: tuple[Value, ...] = ()


@frozen
class Release:
    """A system that a package supports, and the folders of its scripts and packages."""

    version: str
    os: str
    mode: tuple[str, ...]
    scripts: str = ""
    repository: str = ""


@frozen
class PackageHookClass:
    """A class of lifecycle hooks that a native package brings: ``module:Class``, and its options, as in the settings."""

    target: str
    name: str = ""
    options: Mapping[str, Value] = {}
    is_optional: bool = False


@frozen
class PackageCode:
    """The Python code of a native package. ``paths``: folders of it that are importable; all paths are relative to it.

    ``phases``: folders and files with definitions of phases. ``operations``: modules whose operations blueprints map.
    ``types``: files with node types. ``entry_points``: {group: {name: ``module:attribute``}}.
    """

    paths: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    hooks: tuple[PackageHookClass, ...] = ()
    entry_points: Mapping[str, Mapping[str, str]] = {}


@frozen
class Package:
    """One plugin package. ``format``: the version of the format; ``requires_product``: versions of Phaseline (PEP 440).

    ``documents``: {file: its whole content}, of every file that was read, with what has no field of its own: volumes,
    network roles, forms of network interfaces, bonds and nodes. ``components`` are what it brings.
    """

    name: str
    version: str
    format: str
    title: str
    description: str = ""
    groups: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    licenses: tuple[str, ...] = ()
    homepage: str = ""
    fuel_versions: tuple[str, ...] = ()
    releases: tuple[Release, ...] = ()
    is_hotpluggable: bool = False
    build_version: str = ""
    requires_product: str = ""
    stage_tasks: tuple[StageTask, ...] = ()
    granular_tasks: tuple[GranularTask, ...] = ()
    form: Form = Form()
    node_roles: tuple[NodeRole, ...] = ()
    components: tuple[Component, ...] = ()
    code: PackageCode = PackageCode()
    documents: Mapping[str, Value] = {}

    def __str__(self) -> str:
        """As people name it."""
        return f"{self.name}-{self.version}"
