"""A hall with racks: what is created is put where the placement hook has decided."""

from phaseline import operation


@operation
def create(item):
    """Put it on its rack."""
    item.runtime_properties["rack"] = item.decisions["rack"]


@operation
def start(item):
    """Switch it on, unless it is broken."""
    if item.properties["broken"]:
        item.fail("there is smoke")


@operation
def delete(item):
    """Take it away."""
    item.runtime_properties.pop("rack", None)
