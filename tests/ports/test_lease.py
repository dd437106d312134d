"""The lease's port and its implementations."""

from __future__ import annotations

import pytest
from tests.ports.signatures import differences
from tests.run.leases import ScriptedLease

from phaseline.ports.lease import Lease
from phaseline.store.memory.lease import MemoryLease
from phaseline.store.postgres.lease import ServerLease
from phaseline.store.sqlite.owner_lock import FileLease


@pytest.mark.parametrize("kind", [MemoryLease, FileLease, ServerLease, ScriptedLease])
def test_every_lease_takes_the_arguments_of_its_port(kind: type) -> None:
    assert differences(Lease, kind) == []
