"""``cloudify_types.secrets`` as the types file names it (CO19)."""

from phaseline import operation
from phaseline.compat.cloudify.types import password_secret


@operation(bulk=True, repeatable=True)
def validate(batch):
    password_secret.validate(batch)


@operation(bulk=True, repeatable=True)
def create(batch):
    password_secret.create(batch)


@operation(bulk=True, repeatable=True)
def delete(batch):
    password_secret.delete(batch)
