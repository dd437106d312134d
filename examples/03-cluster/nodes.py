"""Prints the records of a cluster: ``python3 nodes.py > nodes.rec``."""

GROUPS = (
    # name, how many, machine type, zones in turn, size of a volume (0: none)
    ("web", 60, "small", ("north", "south"), 20),
    ("batch", 100, "large", ("north", "south"), 50),
    ("gpu", 40, "gpu", ("north", "south"), 0),
)

for name, count, machine, zones, gb in GROUPS:
    for number in range(1, count + 1):
        print('AdType = "Cloud.Node"')
        print(f'Name = "{name}-{number:03}"')
        print('TargetState = "Started"')
        print('Provider = "acme"')
        print(f'MachineType = "{machine}"')
        print(f'Zone = "{zones[number % len(zones)]}"')
        if gb:
            print(f"VolumeGb = {gb}")
        print()
