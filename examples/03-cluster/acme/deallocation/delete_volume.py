"""Acme.DeleteVolume: all volumes in one call, when no instance uses them any more."""

import acme


def handle(handler):
    acme.delete("volumes", [node.getAsString("VolumeId") for node in handler.getResources()])
    handler.setCompleted(handler.getResources())
