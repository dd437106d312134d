"""A lease whose fate a test decides."""

from dataclasses import dataclass

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.sql.errors import lease_lost


@dataclass
class ScriptedLease:
    """``ports.lease.Lease``: late or lost as soon as the test says so.

    ``asked`` counts questions whether it is late; with ``lost_after`` it is lost after so many of them.
    """

    epoch: int = 1
    holder: str = "holder"
    late: bool = False
    lost: bool = False
    asked: int = 0
    lost_after: int = 0

    def is_late(self) -> bool:
        self.asked += 1
        self.lost |= 0 < self.lost_after < self.asked
        return self.late or self.lost

    def is_lost(self) -> bool:
        return self.lost

    def loss(self) -> ProblemsError:
        return lease_lost("a test")
