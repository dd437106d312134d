"""Find the schedule of a deployment by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.model.problems.problem import problem_error

if TYPE_CHECKING:
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.model.rows.schedules import ScheduleRow
    from phaseline.ports.tenant_store import TenantStore


def find_schedule(store: TenantStore, deployment: DeploymentRow, name: str) -> ScheduleRow:
    """Return the schedule of a deployment with this name. Raises: PL-C130."""
    found = store.schedules.find(deployment.number, name)
    if found is not None:
        return found
    known = [row.name for row in store.schedules.all(deployment.number)]
    hint = did_you_mean(name, known) or (f"there are: {', '.join(known[:20])}" if known else "it has none")
    raise problem_error("PL-C130", f"'{deployment.name}' has no schedule '{name}'", hint)
