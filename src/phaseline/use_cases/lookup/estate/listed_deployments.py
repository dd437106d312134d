"""What lists compute for each deployment: its statuses with those of all below it, and counts of its checks (LB9, LB10)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.health.checks import ILL, CheckKind, CheckResult
from phaseline.model.rows.deployment_statuses import DeploymentStatuses, own_status
from phaseline.model.rows.deployment_summaries import DeploymentSummary

if TYPE_CHECKING:
    from phaseline.model.rows.deployment_statuses import Families
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.records.values import Value

MISSING = DeploymentSummary("", flaw="a row of it is missing")


@frozen
class ListedStatuses:
    """The summaries of some deployments, and their statuses: by number."""

    summaries: Mapping[int, DeploymentSummary]
    statuses: Mapping[int, DeploymentStatuses]

    def attributes(self) -> Mapping[int, Mapping[str, Value]]:
        """Return {deployment: attributes of its row in a filter}; what is empty is undefined."""
        return {
            number: {
                "status": self.summaries[number].status or None,
                **{name: None if value == "" else value for name, value in asdict(one).items()},
            }
            for number, one in self.statuses.items()
        }


def statuses_of(store: TenantStore, rows: Sequence[DeploymentRow], families: Families) -> ListedStatuses:
    """Return the summaries and statuses of these deployments, by one reading of the summaries of all that they need."""
    below = {name for row in rows for name in families.below(row.name)} if families.children else set()
    numbers = {families.known[name].number for name in below} | {row.number for row in rows}
    summaries = store.listings.summaries(sorted(numbers))
    own = {
        one.name: own_status(one.kind, summaries[one.number])
        for one in (families.known[name] for name in below)
        if one.number in summaries
    }
    found = {row.number: summaries.get(row.number, MISSING) for row in rows}
    statuses = {row.number: families.statuses(row.name, row.kind, found[row.number], own) for row in rows}
    return ListedStatuses(found, statuses)


def check_counts(store: TenantStore, checked: Collection[int]) -> Mapping[int, tuple[int, int]]:
    """Return {deployment: (number of its instances that have drifted, of those that are not healthy)}.

    ``checked``: the deployments with results of checks. Instances that are removed do not count.
    """
    if not checked:
        return {}
    found = {}
    for number, roster in store.listings.rosters(sorted(checked)).items():
        size = len(roster.states)
        drift = roster.checks.column(CheckKind.DRIFT, size)[roster.is_there]
        status = roster.checks.column(CheckKind.STATUS, size)[roster.is_there]
        ill = sum(int((status == result).sum()) for result in ILL)
        found[number] = int((drift == CheckResult.DRIFTED).sum()), ill
    return found
