"""``cloudify_types.blueprint`` as the types file names it (CO19)."""

from phaseline import operation
from phaseline.compat.cloudify.types import blueprint


@operation(bulk=True, repeatable=True)
def upload(batch):
    blueprint.upload(batch)


@operation(bulk=True, repeatable=True)
def delete(batch):
    blueprint.delete(batch)
