"""Operations on machines and networks of the simulated cloud. Those with ``bulk`` get all that are ready in one call."""

import json
import urllib.request

from phaseline import operation


@operation(bulk=True, repeatable=True, batch_key="properties.cloud")
def create(batch):
    """Make one resource for each item.

    The token of an item is the same if the call is repeated after a crash, so the cloud makes nothing twice.
    """
    wanted = [
        {"token": item.token, "name": f"{item.deployment_id}/{item.instance_id}", "kind": item.node_id}
        for item in batch
    ]
    made = ask(batch, "create", requests=wanted)["resources"]
    for item, resource in zip(batch, made, strict=True):
        if resource["state"] == "refused":
            item.fail(resource["reason"])  # this one alone; the others have theirs
        else:
            item.runtime_properties["resource"] = resource["id"]


@operation(bulk=True, repeatable=True, batch_key="properties.cloud")
def start(batch):
    """Wait until the machines have booted: those that have not are asked for again, and hold no thread meanwhile."""
    found = ask(batch, "describe", ids=[item.runtime_properties["resource"] for item in batch])["resources"]
    for item, resource in zip(batch, found, strict=True):
        if resource["state"] == "running":
            item.complete()
        elif resource["state"] == "booting":
            item.again(after_s=0.25, message="booting")
        else:
            item.fail(f"{resource['id']} is {resource['state']}")


@operation(bulk=True, repeatable=True, batch_key="properties.cloud")
def delete(batch):
    """Delete what was made; an item that has nothing needs nothing."""
    made = [item for item in batch if "resource" in item.runtime_properties]
    if made:
        ask(batch, "delete", ids=[item.runtime_properties["resource"] for item in made])
    for item in made:
        del item.runtime_properties["resource"]


def ask(batch, verb, **body):
    """The cloud's answer. All items of a batch have the same cloud: it is their ``batch_key``."""
    url = next(iter(batch)).properties["cloud"]
    request = urllib.request.Request(f"{url}/{verb}", data=json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)
