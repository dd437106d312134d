"""Acme.CreateVolume: asks for all volumes in one call, then looks from time to time which of them are ready."""

import acme


def handle(handler):
    new = [node for node in handler.getResources() if not handler.getResourcePhaseData(node).isDefined("VolumeId")]
    asked = [node for node in handler.getResources() if handler.getResourcePhaseData(node).isDefined("VolumeId")]
    if new:
        ask(handler, new)
    if asked:
        look(handler, asked)


def ask(handler, nodes):
    requests = [
        {
            "token": handler.operationToken(node),
            "name": node.getAsString("Name"),
            "gb": node.getAsInteger("VolumeGb"),
        }
        for node in nodes
    ]
    for node, answer in zip(nodes, acme.create("volumes", requests), strict=True):
        handler.getResourcePhaseData(node).setString("VolumeId", answer["id"])
        handler.setMessage(node, "asked for a volume")


def look(handler, nodes):
    ids = [handler.getResourcePhaseData(node).getAsString("VolumeId") for node in nodes]
    for node, volume in zip(nodes, acme.describe("volumes", ids), strict=True):
        if volume["state"] == "ready":
            node.setString("VolumeId", volume["id"])
            handler.setCompleted(node)
