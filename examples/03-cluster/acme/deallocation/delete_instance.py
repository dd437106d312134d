"""Acme.DeleteInstance: all instances in one call."""

import acme


def handle(handler):
    acme.delete("instances", [node.getAsString("InstanceId") for node in handler.getResources()])
    handler.setCompleted(handler.getResources())
