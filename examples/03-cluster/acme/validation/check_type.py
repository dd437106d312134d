"""Acme.CheckType: the list of types is fetched once and kept for five minutes."""

import acme


def handle(handler):
    types = handler.cache.get_or_make("types", lambda: acme.call("describe_types"))
    for node in handler.getResources():
        if node.getAsString("MachineType") in types:
            handler.setCompleted(node)
        else:
            handler.setFailed(node, "acme has no machine type " + node.getAsString("MachineType"))
