"""``cloudify_types.component`` as the types file names it; what the functions do is in ``phaseline.compat`` (CO1)."""

from phaseline import operation
from phaseline.compat.cloudify.types import component, component_checks


@operation(bulk=True, repeatable=True)
def upload_blueprint(batch):
    component.upload_blueprint(batch)


@operation(bulk=True, repeatable=True)
def create(batch):
    component.create(batch)


@operation(bulk=True, repeatable=True)
def execute_start(batch):
    component.execute_start(batch)


@operation(bulk=True, repeatable=True)
def delete(batch):
    component.delete(batch)


@operation(bulk=True, repeatable=True)
def refresh(batch):
    component.refresh(batch)


@operation(bulk=True, repeatable=True)
def check_drift(batch):
    component_checks.check_drift(batch)


@operation(bulk=True, repeatable=True)
def check_status(batch):
    component_checks.check_status(batch)


@operation(bulk=True, repeatable=True)
def heal(batch):
    component_checks.heal(batch)


@operation(bulk=True, repeatable=True)
def update(batch):
    component.not_yet(batch, "update")
