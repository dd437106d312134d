"""Prints the records of a cluster: ``python3 nodes.py > nodes.rec``."""

import os
import sys

GROUPS = (
    # name, how many, machine type, zones in turn, size of a volume (0: none)
    ("web", 60, "small", ("north", "south"), 20),
    ("batch", 100, "large", ("north", "south"), 50),
    ("gpu", 40, "gpu", ("north", "south"), 0),
)


def records():
    """The lines of all of them."""
    for name, count, machine, zones, gb in GROUPS:
        for number in range(1, count + 1):
            yield 'AdType = "Cloud.Node"'
            yield f'Name = "{name}-{number:03}"'
            yield 'TargetState = "Started"'
            yield 'Provider = "acme"'
            yield f'MachineType = "{machine}"'
            yield f'Zone = "{zones[number % len(zones)]}"'
            if gb:
                yield f"VolumeGb = {gb}"
            yield ""


try:
    print(*records(), sep="\n", flush=True)
except BrokenPipeError:  # whoever reads them, such as head, has seen enough
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
