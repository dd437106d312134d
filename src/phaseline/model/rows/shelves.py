"""The shelves of a store: what it stores besides deployments and executions, one shelf for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from phaseline.model.blueprint.labels import LabelShelf
    from phaseline.model.blueprint.stored_blueprints import BlueprintShelf
    from phaseline.model.deployment.stack_documents import DocumentShelf
    from phaseline.model.execution.stored_plans import PlanShelf
    from phaseline.model.packages.installed import DefinitionShelf, PackageShelf
    from phaseline.model.rows.causes import CauseShelf
    from phaseline.model.rows.dependencies import DependencyShelf
    from phaseline.model.rows.groups import GroupShelf, RunShelf
    from phaseline.model.rows.hook_switches import SwitchShelf
    from phaseline.model.rows.listings import Listings
    from phaseline.model.rows.orders import OrderShelf
    from phaseline.model.rows.schedules import ScheduleShelf
    from phaseline.model.rows.secrets import SecretShelf


class Shelves(Protocol):
    """The shelves of a store."""

    @property
    def secrets(self) -> SecretShelf:
        """The secrets of this store, encrypted."""
        ...

    @property
    def listings(self) -> Listings:
        """Queries for lists, answered without reading blueprints."""
        ...

    @property
    def stored_blueprints(self) -> BlueprintShelf:
        """Blueprints that were uploaded."""
        ...

    @property
    def definitions(self) -> DefinitionShelf:
        """Definition files of plugins."""
        ...

    @property
    def stored_plans(self) -> PlanShelf:
        """Plans that are kept."""
        ...

    @property
    def orders(self) -> OrderShelf:
        """Orders that were given with a request id."""
        ...

    @property
    def stack_documents(self) -> DocumentShelf:
        """Documents of deployments: snapshots, and documents of abandoned deployments."""
        ...

    @property
    def labels(self) -> LabelShelf:
        """Labels of deployments."""
        ...

    @property
    def dependencies(self) -> DependencyShelf:
        """Records of what deployments read of one another."""
        ...

    @property
    def has_dependencies(self) -> bool:
        """False if no deployment has a record of reading another one, so that searching can be skipped."""
        ...

    @property
    def has_schedules(self) -> bool:
        """False if no deployment has a schedule, so that looking for them can be skipped."""
        ...

    @property
    def packages(self) -> PackageShelf:
        """Plugin packages that are installed."""
        ...

    @property
    def has_packages(self) -> bool:
        """False if no package is or was installed, so that searching can be skipped."""
        ...

    @property
    def schedules(self) -> ScheduleShelf:
        """Schedules of deployments."""
        ...

    @property
    def groups(self) -> GroupShelf:
        """Deployment groups."""
        ...

    @property
    def group_runs(self) -> RunShelf:
        """Runs of workflows over deployment groups."""
        ...

    @property
    def hook_switches(self) -> SwitchShelf:
        """Hook classes that are switched off."""
        ...

    @property
    def causes(self) -> CauseShelf:
        """What made deployments and executions, and which executions entries wait for."""
        ...
