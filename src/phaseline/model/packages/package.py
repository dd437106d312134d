"""Plugin packages: the tasks, roles, settings and components that a package contains.

``phaseline.packages`` reads and checks packages, so these values obey all rules of the format. Conditions are stored as
text (``phaseline.packages.format.condition_language`` evaluates them), numbers of stages as exact decimals.
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
"""The stages in which tasks of packages run: before and after the deployment's own work."""
WORKFLOWS: Final = ("install", "update", "scale", "heal")
"""Workflows in which the tasks of a package run unless a native package names others."""
NATIVE: Final = package_rows.NATIVE
"""Format version of Phaseline's own packages; Fuel's packages have 1.0.0 to 5.0.0."""

Scope: TypeAlias = Literal["named", "all", "master", "self", "sync"]
Action: TypeAlias = Literal["disable", "hide", "enable", "none"]


@frozen
class Roles:
    """The instances that run a task, given by ``scope``. ``names`` and ``patterns`` are used if the scope is ``named``.

    ``patterns`` are regular expressions, matched from the start of a role's name. The scope ``all`` (``*``) means every
    instance, ``master`` the machine of the engine. In a dependency, ``self`` means the task's own instance, and
    ``sync`` the points between stages, which belong to no instance.
    """

    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    scope: Scope = "named"

    def __str__(self) -> str:
        """Return the roles as text for people."""
        if self.scope != "named":
            return {"all": "*", "sync": "null"}.get(self.scope, self.scope)
        return ", ".join((*self.names, *(f"/{pattern}/" for pattern in self.patterns)))


NOBODY: Final = Roles()
"""The value for a task that names no role."""
EVERYBODY: Final = Roles(scope="all")


@frozen
class StageTask:
    """One task of ``tasks.yaml``. ``index`` is its index in the file, from 0; ``written`` is its stage as the file has it.

    ``plugin`` and ``version`` are those of its package. ``parameters`` are as in the file, and always contain
    ``timeout`` (0: no limit). ``on`` has the workflows in which it runs. ``id`` and ``diagnostic_name`` may be empty.
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
    """Tasks of other instances that a task needs, or that need it. ``is_pattern``: ``name`` is a regular expression."""

    name: str
    roles: Roles = EVERYBODY
    policy: Literal["all", "any"] = "all"
    is_pattern: bool = False


@frozen
class Strategy:
    """How many instances may run a task at the same time; ``amount`` None means all of them."""

    type: Literal["parallel", "one_by_one"] = "parallel"
    amount: int | None = None


@frozen
class GranularTask:
    """One task of ``deployment_tasks.yaml``. A ``task_version`` below (2, 0, 0) means the old form, with groups and stages.

    ``requires`` and ``required_for`` name tasks of the same instance. ``roles`` is ``NOBODY`` if the file names none.
    ``tasks`` are the tasks of a group in the old form. ``fault_tolerance`` of a group is a number or share (``20%``) of
    instances that may fail, a negative number of instances that must succeed, or None. ``stage`` is the stage as
    written, in the old form. ``yaql`` is {key of the file: YAQL expression}, for a condition or dependencies that are
    expressions.
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
    """A restriction: the ``action`` applies to a setting or role while the condition is true; ``message`` is for the user."""

    condition: str
    message: str = ""
    action: Action = "disable"


@frozen
class LimitOverride:
    """Limits that replace the usual ones while the condition is true."""

    condition: str
    min: int | str | None = None
    max: int | str | None = None
    recommended: int | str | None = None
    message: str = ""


@frozen
class InstanceLimits:
    """How many instances may have a role. Each limit is a number, or an expression of the condition language."""

    min: int | str | None = None
    max: int | str | None = None
    recommended: int | str | None = None
    condition: str = ""
    overrides: tuple[LimitOverride, ...] = ()


@frozen
class NodeRole:
    """A role that instances get by the label ``role``. ``conflicts`` may be ``*``, which means all other roles."""

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
    """One setting of a form. ``value`` is its default; ``generator`` describes how a value is generated."""

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
        """True if values of the setting are secrets: hidden and stored encrypted."""
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
    """The names of components with which a component is compatible, which it requires, or which it excludes.

    A name may end in ``*``, which matches any text.
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
    """A system that a package supports, and the folders of the package's scripts and repositories for it."""

    version: str
    os: str
    mode: tuple[str, ...]
    scripts: str = ""
    repository: str = ""


@frozen
class PackageHookClass:
    """A hook class in a native package: ``module:Class`` and its options, as in the settings of hooks."""

    target: str
    name: str = ""
    options: Mapping[str, Value] = {}
    is_optional: bool = False


@frozen
class PackageCode:
    """The Python code of a native package. ``paths`` are its folders from which modules are imported. All paths are relative.

    ``phases`` are folders and files with definitions of phases. ``operations`` are modules with operations for
    blueprints. ``types`` are files with node types. ``entry_points`` is {group: {name: ``module:attribute``}}.
    """

    paths: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    hooks: tuple[PackageHookClass, ...] = ()
    entry_points: Mapping[str, Mapping[str, str]] = {}


@frozen
class Package:
    """One plugin package. ``format`` is the format's version; ``requires_product`` is versions of Phaseline (PEP 440).

    ``documents`` is {file: its whole content} for every file that was read. It has also what no field contains:
    volumes, network roles, and forms of network interfaces, bonds and nodes. ``components`` are those that the package
    provides.
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
        """Return the name by which people refer to the package."""
        return f"{self.name}-{self.version}"
