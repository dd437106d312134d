"""Making a deployment of a blueprint without installing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problem import fail
from phaseline.use_cases.deployments import show_deployment
from phaseline.use_cases.installing import load_order
from phaseline.use_cases.loading import deployment_name
from phaseline.use_cases.storing import new_deployment
from phaseline.use_cases.watching import Nobody

if TYPE_CHECKING:
    from phaseline.use_cases.installing import Order
    from phaseline.use_cases.values import DeploymentDetails
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace


def create(place: Workplace, order: Order, *, watcher: Watcher | None = None) -> DeploymentDetails:
    """Store a deployment with all its instances, uninitialized; nothing is called.

    Raises: ``ProblemsError`` with everything that is wrong with blueprint and inputs, PL-S010 if the name is taken.
    """
    name = deployment_name(order.file, order.name)
    loaded = load_order(place, order)
    if place.store.deployment(name) is not None:
        mend = f"Choose another name with -d, or forget the old one: phaseline deployments delete {name}"
        raise fail("PL-S010", f"there is a deployment '{name}' already", mend, subject=name)
    for warning in loaded.warnings:
        (watcher or Nobody()).noticed(f"warning {warning}; {warning.mend}")
    place.store.create_deployment(new_deployment(place, name, loaded))
    return show_deployment(place, name)
