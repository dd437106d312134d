"""Acme.CreateInstance: one call for all nodes whose volume is there, or that need none."""

import acme


def handle(handler):
    nodes = handler.getResources()
    requests = [
        {
            # The same at every try until a user retries: acme makes nothing twice, even if we die before we hear of it.
            "token": handler.operationToken(node),
            "name": node.getAsString("Name"),
            "type": node.getAsString("MachineType"),
            "zone": node.getAsString("Zone"),
            "volume": node.getAsString("VolumeId"),
        }
        for node in nodes
    ]
    for node, answer in zip(nodes, acme.create("instances", requests), strict=True):
        if "error" in answer:
            handler.setFailed(node, answer["error"])
        else:
            node.setString("InstanceId", answer["id"])
            handler.setCompleted(node)
