"""The policy of placement: chooses a rack with enough free capacity for each machine and its volumes.

The machines of one node are spread over several racks. The operation that creates the machine reads the chosen rack
from its decisions (``item.decisions["rack"]``, ``ctx.decisions``). During an install, ``do_pre_op`` opens the ledger,
groups machines with their attached volumes, chooses a rack for each group, reserves the capacity, and stores the
decision. ``do_post_op`` releases the capacity of all instances that do not exist, whether the install succeeded or
failed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from phaseline import LifecycleHook
from phaseline.policies.ledgers import Books, Ledger, Share

MACHINES = "machines"
"""Kind of capacity of which every machine needs one."""
TAKES_AWAY = frozenset({"DELETE", "ROLLBACK"})
COMPUTE = "cloudify.nodes.Compute"
VOLUME = "cloudify.nodes.Volume"


class Group(NamedTuple):
    """A machine and the volumes attached to it.

    ``node``: the machine's node; ``shares``: {instance: {kind: amount needed}}.
    """

    node: str
    shares: Mapping[str, Mapping[str, float]]

    @property
    def needs(self) -> Mapping[str, float]:
        """The amounts that the machine and its volumes need in total."""
        found: Counter[str] = Counter()
        for needs in self.shares.values():
            found.update(needs)
        return found


class Racks(LifecycleHook):
    """Places machines (type ``machine``) and the volumes attached to them on racks.

    ``racks``: the capacity of each rack, {rack: {"machines": n, kind: amount}}. A machine uses one of ``machines``.
    ``needs``: {kind: property}, such as ``{"gb": "size_gb"}``: how much of this kind a machine or volume uses is in the
    named property. ``spread``: on how many racks, at least, the machines of one node are placed, if there are enough
    machines. ``ledger``: the file that stores the used capacity. ``key``: the key of the decision that holds the rack.
    Groups are placed one after the other, the largest first; so a plan may be refused although another placement would
    fit. Instances of an abandoned deployment keep their capacity.
    """

    actions: Sequence[str] = (
        "CREATE", "DELETE", "UPDATE", "SCALE", "HEAL", "REINSTALL", "ROLLBACK", "RESTORE",
    )  # fmt: skip

    def __init__(
        self,
        racks: Mapping[str, Mapping[str, float]],
        ledger: str,
        spread: int = 1,
        needs: Mapping[str, str] | None = None,
        machine: str = COMPUTE,
        volume: str = VOLUME,
        key: str = "rack",
    ) -> None:
        """Check the options. Raises ``ValueError`` for invalid ones."""
        if not racks:
            raise ValueError("'racks' names none")
        if not 1 <= spread <= len(racks):
            raise ValueError(f"'spread' asks for {spread} of {len(racks)} racks")
        self.racks = {name: dict(room) for name, room in racks.items()}
        self.ledger, self.spread, self.needs = Ledger(ledger), spread, dict(needs or {})
        self.machine, self.volume, self.key = machine, volume, key

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Reserve capacity for all machines and volumes, and decide their racks.

        Raises ``ValueError`` for the first group that fits on no rack; then nothing is reserved.
        """
        if cnxt.action in TAKES_AWAY:
            return
        with self.ledger.open() as books:
            self._place(cnxt, books, stack.id, self._groups(current_stack or stack))

    def do_preview_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Decide the racks as ``do_pre_op`` would, but reserve nothing."""
        if cnxt.action in TAKES_AWAY:
            return
        with self.ledger.open() as books:
            trial = {name: dict(shares) for name, shares in books.items()}
        self._place(cnxt, trial, stack.id, self._groups(current_stack or stack))

    def do_post_op(
        self,
        cnxt: Any,
        stack: Any,
        current_stack: Any = None,
        action: Any = None,
        is_stack_failure: bool = False,  # noqa: FBT001, FBT002 - Heat's signature
    ) -> None:
        """Release the capacity of all instances that do not exist: those that were deleted or never created."""
        stands = {name for name, one in stack.resources.items() if one.state not in {"uninitialized", "deleted"}}
        with self.ledger.open() as books:
            shares = books.get(stack.id, {})
            books[stack.id] = {name: share for name, share in shares.items() if name in stands}

    def _groups(self, stack: Any) -> list[Group]:
        """Return the machines with their volumes as groups, those with the largest needs first."""
        resources = stack.resources
        attached: dict[str, dict[str, Mapping[str, float]]] = {
            name: {name: {MACHINES: 1, **self._needs(one)}} for name, one in resources.items() if one.is_a(self.machine)
        }
        for name, one in resources.items():
            for tie in one.relationships:
                if one.is_a(self.volume) and tie.target in attached:
                    attached[tie.target][name] = self._needs(one)
                elif name in attached and resources[tie.target].is_a(self.volume):
                    attached[name][tie.target] = self._needs(resources[tie.target])
        groups = [Group(resources[name].node, shares) for name, shares in attached.items()]
        return sorted(groups, key=lambda group: (sorted(group.needs.items()), next(iter(group.shares))), reverse=True)

    def _needs(self, one: Any) -> dict[str, float]:
        return {need: one.properties[name] for need, name in self.needs.items() if one.properties.get(name)}

    def _place(self, cnxt: Any, books: Books, deployment: str, groups: Sequence[Group]) -> None:
        own = books.setdefault(deployment, {})
        on_racks: dict[str, Counter[str]] = defaultdict(Counter)
        homeless = []
        for group in groups:
            known = next((own[name].place for name in group.shares if name in own), None)
            if known is None:
                homeless.append(group)
                continue
            self._settle(cnxt, own, group, known)
            on_racks[group.node][known] += 1
        free = self._free(books)
        wanted = {node: min(self.spread, count) for node, count in Counter(group.node for group in groups).items()}
        for group in homeless:
            rack = self._rack_for(group, free, on_racks[group.node], wanted[group.node])
            for need, much in group.needs.items():
                free[rack][need] = free[rack].get(need, 0) - much
            self._settle(cnxt, own, group, rack)
            on_racks[group.node][rack] += 1
        for node, racks in sorted(wanted.items()):
            if len(on_racks[node]) < racks:
                there = ", ".join(sorted(on_racks[node]))
                raise ValueError(f"machines of {node} are to be on {racks} racks, and only {there} had room")

    def _settle(self, cnxt: Any, own: dict[str, Share], group: Group, rack: str) -> None:
        for name, needs in group.shares.items():
            own[name] = Share(rack, needs)
            cnxt.decide(name, {self.key: rack})

    def _free(self, books: Books) -> dict[str, dict[str, float]]:
        found = {name: dict(room) for name, room in self.racks.items()}
        for shares in books.values():
            for place, needs in shares.values():
                for need, much in needs.items() if place in found else ():
                    found[place][need] = found[place].get(need, 0) - much
        return found

    def _rack_for(self, group: Group, free: Mapping[str, Mapping[str, float]], used: Counter[str], wanted: int) -> str:
        """Return a rack with enough room for a group.

        While fewer than ``wanted`` racks have a machine of this node, a rack without one is preferred. Among several
        racks, the fullest is chosen. Raises ``ValueError`` if no rack has enough room.
        """
        needs = group.needs
        fitting = [rack for rack in free if all(free[rack].get(need, 0) >= much for need, much in needs.items())]
        if len(used) < wanted:
            fitting = [rack for rack in fitting if not used[rack]] or fitting
        if fitting:
            return min(fitting, key=lambda rack: (sorted(free[rack].items()), rack))
        most = max(free, key=lambda rack: min(free[rack].get(need, 0) / much for need, much in needs.items()))
        raise ValueError(
            f"{' with '.join(_listed(group))} needs {_needs_text(needs)} on one rack; {most} has most room, and that is "
            f"{_needs_text({need: free[most].get(need, 0) for need in needs})}"
        )


def _listed(group: Group) -> list[str]:
    first, *others = group.shares
    return [first, ", ".join(sorted(others))] if others else [first]


def _needs_text(needs: Mapping[str, float]) -> str:
    """Return needs as a text for users.

    >>> _needs_text({"machines": 1, "gb": 200.5})
    '200.5 gb and 1 machines'
    """
    return " and ".join(f"{needs[need]:g} {need}" for need in sorted(needs))
