"""Check to which deployments another one may belong by its labels ``csys-obj-parent`` (LB2, LB7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import suggestion
from phaseline.model.blueprint.labels import OBJECT_TYPE, PARENT, Label
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.model.rows.deployment_summaries import ENVIRONMENT, Families
from phaseline.model.rows.row_queries import DeploymentQuery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.ports.tenant_store import TenantStore

OFFERED_AMONG = 200
"""Largest number of names among which a mistyped one is looked for."""


def raise_if_parents_unfit(store: TenantStore, name: str, labels: Mapping[str, Sequence[Value]]) -> None:
    """Raise PL-C158 for each deployment to which the one with this name cannot belong.

    ``labels`` are those that it gets, {key: values}. A parent must exist and must not belong to the deployment itself,
    directly or through others.
    """
    parents = [value for value in labels.get(PARENT, ()) if isinstance(value, str)]
    if not parents:
        return
    families = Families(store.listings.facts([]).kin)
    problems = [problem for parent in parents if (problem := _problem(store, families, name, parent)) is not None]
    if problems:
        raise ProblemsError(problems)


def _problem(store: TenantStore, families: Families, name: str, parent: str) -> Problem | None:
    where = Place(subject=parent)
    if parent == name:
        return Problem("PL-C158", f"'{name}' cannot belong to itself", f"leave the label {PARENT}={name} out", where)
    if store.deployment(parent) is None:
        return Problem("PL-C158", f"there is no deployment '{parent}' to belong to", _mend(store, parent), where)
    below = families.above(parent)
    if name not in below:
        return None
    chain = [name]
    while chain[-1] != parent:
        chain.append(below[chain[-1]])
    shown = " → ".join([name, *reversed(chain)])
    message = f"'{name}' cannot belong to '{parent}', which belongs to it: {shown}"
    last = chain[1]
    mend = f"remove a label of the circle first: phaseline deployments labels {last} --remove {PARENT}={name}"
    return Problem("PL-C158", message, mend, where)


def _mend(store: TenantStore, parent: str) -> str:
    rows = store.listings.deployments(DeploymentQuery(limit=OFFERED_AMONG))
    return f"{suggestion(parent, [row.name for row in rows])}see: phaseline deployments list"


def raise_if_no_environment(store: TenantStore, name: str) -> None:
    """Raise PL-C158 if there is no deployment with this name, or if it is no environment."""
    row = store.deployment(name)
    if row is None:
        mend = f"{_mend(store, name)}; environments: phaseline environments list"
        problem = Problem("PL-C158", f"there is no environment '{name}'", mend, Place(subject=name))
        raise ProblemsError([problem])
    if Label(OBJECT_TYPE, ENVIRONMENT) not in store.labels.of(row.number):
        mend = f"make it one: phaseline deployments labels {name} --add {OBJECT_TYPE}={ENVIRONMENT}"
        raise ProblemsError([Problem("PL-C158", f"'{name}' is no environment", mend, Place(subject=name))])
