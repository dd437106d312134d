"""Acme.Boot: looks at all machines that boot, in one call. Those that are not ready are called again later."""

import acme


def handle(handler):
    nodes = handler.getResources()
    found = acme.describe("instances", [node.getAsString("InstanceId") for node in nodes])
    for node, instance in zip(nodes, found, strict=True):
        if instance["state"] == "ready":
            node.setString("PrivateIp", instance["ip"])
            handler.setCompleted(node)
