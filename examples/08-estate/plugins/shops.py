"""What a shop does. The operations are ``bulk``: the shops of all deployments that are ready come in one call."""

from phaseline import operation


@operation(bulk=True, repeatable=True)
def start(batch):
    """Open the shops."""
    for item in batch:
        item.runtime_properties["version"] = item.properties["version"]
        item.runtime_properties["is_open"] = True


@operation(bulk=True, repeatable=True)
def update(batch):
    """Bring the shops to another version; one whose till is too old for it fails alone."""
    for item in batch:
        if item.properties["till"] < item.properties["version"]:
            item.fail(f"version {item.properties['version']} needs a till of that version", recoverable=False)
        else:
            item.runtime_properties["version"] = item.properties["version"]


@operation(bulk=True, repeatable=True)
def check_status(batch):
    """A shop is well while it is open."""
    for item in batch:
        if not item.runtime_properties.get("is_open"):
            item.fail("the shop is closed")


@operation(bulk=True, repeatable=True)
def stop(batch):
    """Close the shops."""
    for item in batch:
        item.runtime_properties["is_open"] = False
