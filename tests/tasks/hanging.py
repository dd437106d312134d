"""An engine's process that is in the middle of a command: run a text on a place, until somebody kills it."""

from __future__ import annotations

import asyncio
import json
import sys

from phaseline.tasks.host_keys import HostKeys
from phaseline.tasks.local_host import Here
from phaseline.tasks.remote_shell import CommandHost, run
from phaseline.tasks.shell_scripts import lived
from phaseline.tasks.ssh_host import Address, Host, SshConnections


async def main(told: dict[str, str]) -> None:
    """Begin, and hang."""
    place: CommandHost = Here(told["root"])
    if "port" in told:
        address = Address("127.0.0.1", told["user"], int(told["port"]), told["key"])
        place = Host("vm", address, SshConnections(HostKeys("any")))
    text = lived(told["command"], mark=f"hanging-{told['root']}.", folder=told["root"])
    await run(place, text, log=lambda _, line: print(line, flush=True))


asyncio.run(main(json.loads(sys.argv[1])))
