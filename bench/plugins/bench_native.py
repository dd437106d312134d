"""Empty native operations that tell the bench when they were called."""

from bench.marks import note, polled
from phaseline import operation


@operation(bulk=True, repeatable=True)
def bulk(batch):
    """One call for all that are ready."""
    note()


@operation(repeatable=True)
def each(item):
    """One call for each instance."""
    note()


@operation(repeatable=True)
def alone(item):
    """One call for each instance, of which nobody is told: it may run in a process of its own."""


@operation(bulk=True, repeatable=True, max_batch=1_000_000)
def poll(batch):
    """Asks for another call until the bench has polled often enough."""
    pause_s = polled(len(batch))
    if pause_s is not None:
        batch.again(None, pause_s)
