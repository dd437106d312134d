"""Parts of a store in a database that few commands need: they are imported and made when first used."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.ports.clock import Clock
    from phaseline.store.codec.topologies import KnownTopologies
    from phaseline.store.database.tenant_rows import TenantRows
    from phaseline.store.relational.connections import ReadSnapshot, Transaction
    from phaseline.store.relational.filling import FillingSteps
    from phaseline.store.sql.definition_files import SqlDefinitions
    from phaseline.store.sql.estate.causes import SqlCauses
    from phaseline.store.sql.estate.dependencies import SqlDependencies
    from phaseline.store.sql.estate.group_runs import SqlRuns
    from phaseline.store.sql.estate.groups import SqlGroups
    from phaseline.store.sql.estate.schedules import SqlSchedules
    from phaseline.store.sql.hook_switches import SqliteSwitches
    from phaseline.store.sql.labels import SqliteLabels
    from phaseline.store.sql.listings import SqliteListings
    from phaseline.store.sql.orders import SqliteOrders
    from phaseline.store.sql.packages import SqlitePackages
    from phaseline.store.sql.secrets import SqliteSecrets
    from phaseline.store.sql.stack_documents import SqliteDocuments
    from phaseline.store.sql.stored_blueprints import SqliteBlueprints
    from phaseline.store.sql.stored_plans import SqlitePlans


class DeferredParts:
    """Base class with the parts of a store that are imported and made when first used."""

    _clock: Clock
    _topologies: KnownTopologies
    _rows: TenantRows

    if TYPE_CHECKING:

        def _reading(self) -> ReadSnapshot: ...

        def _writing(self, *, asks: bool = False) -> Transaction: ...

        def _damaged(self, reason: str) -> ProblemsError: ...

    @cached_property
    def _steps(self) -> FillingSteps:
        """Steps of what an upgrade has left."""
        from phaseline.store.relational.filling import FillingSteps

        return FillingSteps()

    @cached_property
    def packages(self) -> SqlitePackages:
        """Plugin packages that are installed."""
        from phaseline.store.sql.packages import SqlitePackages

        return SqlitePackages(self._reading, self._writing, self._clock, self._rows)

    @cached_property
    def stack_documents(self) -> SqliteDocuments:
        """Stack documents: deployments as JSON."""
        from phaseline.store.sql.stack_documents import SqliteDocuments

        return SqliteDocuments(self._reading, self._rows)

    @property
    def orders(self) -> SqliteOrders:
        """Orders that were given with a request id."""
        from phaseline.store.sql.orders import SqliteOrders

        return SqliteOrders(self._reading, self._rows)

    @cached_property
    def hook_switches(self) -> SqliteSwitches:
        """Hook classes that are switched off."""
        from phaseline.store.sql.hook_switches import SqliteSwitches

        return SqliteSwitches(self._reading, self._writing, self._clock, self._rows)

    @cached_property
    def schedules(self) -> SqlSchedules:
        """Schedules of deployments."""
        from phaseline.store.sql.estate.schedules import SqlSchedules

        return SqlSchedules(self._reading, lambda: self._writing(asks=True), self._clock, self._rows)

    @cached_property
    def groups(self) -> SqlGroups:
        """Deployment groups."""
        from phaseline.store.sql.estate.groups import SqlGroups

        return SqlGroups(self._reading, self._writing, self._clock, self._rows)

    @cached_property
    def group_runs(self) -> SqlRuns:
        """Runs of workflows over deployment groups."""
        from phaseline.store.sql.estate.group_runs import SqlRuns

        return SqlRuns(self._reading, self._writing, self._clock, self._rows)

    @cached_property
    def listings(self) -> SqliteListings:
        """Rows for lists of many deployments."""
        from phaseline.store.sql.listings import SqliteListings

        return SqliteListings(self._reading, self._topologies.find, self._damaged, self._rows)

    @cached_property
    def stored_plans(self) -> SqlitePlans:
        """Plans that users have stored."""
        from phaseline.store.sql.stored_plans import SqlitePlans

        return SqlitePlans(self._reading, self._writing, self._rows)

    @cached_property
    def labels(self) -> SqliteLabels:
        """Labels of deployments."""
        from phaseline.store.sql.labels import SqliteLabels

        return SqliteLabels(self._reading, self._writing, self._rows)

    @cached_property
    def dependencies(self) -> SqlDependencies:
        """Records of what deployments read of one another."""
        from phaseline.store.sql.estate.dependencies import SqlDependencies

        return SqlDependencies(self._reading, self._writing, self._rows)

    @cached_property
    def secrets(self) -> SqliteSecrets:
        """Secrets, encrypted."""
        from phaseline.store.sql.secrets import SqliteSecrets

        return SqliteSecrets(self._reading, self._writing, self._rows)

    @cached_property
    def stored_blueprints(self) -> SqliteBlueprints:
        """Blueprints that users have stored."""
        from phaseline.store.sql.stored_blueprints import SqliteBlueprints

        return SqliteBlueprints(self._reading, self._writing, self._rows)

    @cached_property
    def definitions(self) -> SqlDefinitions:
        """Definition files of plugins."""
        from phaseline.store.sql.definition_files import SqlDefinitions

        return SqlDefinitions(self._reading, self._writing, self._rows)

    @cached_property
    def causes(self) -> SqlCauses:
        """What made deployments and executions, and which executions entries wait for."""
        from phaseline.store.sql.estate.causes import SqlCauses

        return SqlCauses(self._reading, self._rows)
