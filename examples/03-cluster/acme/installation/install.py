"""Example.Install: starts a script on each machine and comes back to see how it went, without waiting for it."""

import acme


def handle(handler):
    new, started = [], []
    for node in handler.getResources():
        phase_data = handler.getResourcePhaseData(node)
        if not phase_data.isDefined("CommandId"):
            new.append(node)
        else:
            started.append(node)
    if new:
        start(handler, new)
    if started:
        check(handler, started)


def start(handler, nodes):
    requests = [
        {
            "token": handler.operationToken(node),
            "name": node.getAsString("Name"),
            "instance": node.getAsString("InstanceId"),
            "command": "nohup ./install.sh",
        }
        for node in nodes
    ]
    for node, command in zip(nodes, acme.create("commands", requests), strict=True):
        handler.getResourcePhaseData(node).setString("CommandId", command["id"])
        handler.setMessage(node, "install.sh runs")


def check(handler, nodes):
    ids = [handler.getResourcePhaseData(node).getAsString("CommandId") for node in nodes]
    for node, command in zip(nodes, acme.describe("commands", ids), strict=True):
        if command["state"] == "failed":
            handler.setFailed(node, command["error"])
        elif command["state"] == "ready":
            handler.setCompleted(node)
