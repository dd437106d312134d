"""Empty native operations that tell the bench when they were called."""

from bench.marks import note
from phaseline import operation


@operation(bulk=True, repeatable=True)
def bulk(batch):
    """One call for all that are ready."""
    note()


@operation(repeatable=True)
def each(item):
    """One call for each instance."""
    note()
