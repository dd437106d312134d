"""Decide which staying instances of an update are updated and which reinstalled, from the results of checks (W61).

The planner knows earlier rounds of the update only by their effects: instance states, results of checks and
``Topology.started``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.deployment.index_ranges import numbers_of, ranges_of
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.health.checks import UPDATE_RELATIONSHIP, CheckKind, CheckResult
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.plan.graph import operation_names as op
from phaseline.plan.workflows import heal
from phaseline.plan.workflows.check import implementing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.plan.transforms.pipeline import Asked

SKIP_REINSTALL = "skip_reinstall"
SKIP_DRIFT_CHECK = "skip_drift_check"
FORCE_REINSTALL = "force_reinstall"
REINSTALL_LIST = "reinstall_list"
"""Names of the parameters of an update that influence which instances are updated and which reinstalled."""
AGAIN = "again"
"""Key of stored data: instances to reinstall because an interrupted update, or its first half, left them half made."""
OWN_UPDATES = (op.LIFECYCLE + ".update", op.LIFECYCLE + ".update_config", op.LIFECYCLE + ".update_apply")
"""Operations that update an instance. An instance without any of them is reinstalled instead."""


@frozen
class Sorted:
    """The decision for the staying instances: updated or reinstalled.

    ``own`` are the instances that are updated themselves; ``again`` are the instances that are reinstalled, together
    with their content; both are bool by instance number. ``rows`` are numbers of relationships that are updated.
    """

    topology: Topology
    own: np.ndarray
    rows: np.ndarray
    again: np.ndarray

    @property
    def updated(self) -> np.ndarray:
        """Instances that are updated themselves, or that are the source of a relationship to update; bool by number."""
        found: np.ndarray = self.own | at_source(self.topology, self.rows)
        return found

    def without(self, asked: Asked, sick: np.ndarray) -> Sorted:
        """Return the decision in which the instances ``sick`` are not updated.

        They are reinstalled instead, unless reinstalls are skipped.
        """
        more = np.zeros_like(sick) if is_confirmed(asked, SKIP_REINSTALL) else heal.with_contained(self.topology, sick)
        kept = ~(sick | more)
        rows = self.rows[kept[self.topology.source[self.rows]]]
        return altered(self, own=self.own & kept, rows=rows, again=self.again | more)

    def as_kept(self) -> dict[str, Value]:
        """Return the decision in the form in which it is stored until the end of the update."""
        own, again = (ranges_of(column.nonzero()[0]) for column in (self.own, self.again))
        return {"updated": own, "tied": ranges_of(self.rows), "reinstalled": again}


def candidates(asked: Asked) -> np.ndarray:
    """Return the started instances that this update has not added; bool by number (W61)."""
    topology, paths = asked.topology, asked.history.paths
    names = () if paths is None else sorted(paths.numbers, key=paths.numbers.__getitem__)
    states = as_life_cycle(topology, asked.history.states, tuple(names)) if names else asked.history.states
    found: np.ndarray = (states == State.STARTED) & topology.is_there
    found &= ~kept_instances(asked, "added")
    return found


def sort_out(asked: Asked) -> Sorted:
    """Return which instances are updated and which reinstalled, because of drift or a failed check (W61).

    Instances have drifted if a drift check reports it, or if the new blueprint changes their node and they have no
    drift check.
    """
    topology, checks = asked.topology, asked.history.checks
    here, is_checked = candidates(asked), not is_confirmed(asked, SKIP_DRIFT_CHECK)
    changed = kept_instances(asked, "changed") & here
    own = changed
    failed = np.zeros_like(own)
    if is_checked:
        asks = implementing(topology, op.CHECK_DRIFT) & here
        drift = checks.column(CheckKind.DRIFT, len(topology))
        is_foreseen = not asked.history.execution  # a plan counts changed instances as drifted: no check ran yet
        own = (asks & (drift == CheckResult.DRIFTED)) | (changed & (~asks | is_foreseen))
        failed = asks & (drift == CheckResult.FAILED)
    rows, lost = _drifted_rows(asked, here, is_checked=is_checked)
    failed |= lost
    by_name = _named(asked) | kept_instances(asked, AGAIN)
    hopeless = failed | (own & ~_having_any(topology, OWN_UPDATES))
    if is_confirmed(asked, FORCE_REINSTALL):
        hopeless |= own | at_source(topology, rows)
    again = heal.with_contained(topology, by_name if is_confirmed(asked, SKIP_REINSTALL) else by_name | hopeless)
    gone = again | hopeless
    return Sorted(topology, own & ~gone, rows[~gone[topology.source[rows]]], again & topology.is_there)


def _drifted_rows(asked: Asked, here: np.ndarray, *, is_checked: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return (numbers of drifted relationships that can be updated, instances with a failed check of a relationship).

    The instances are bool by number.
    """
    topology, checks = asked.topology, asked.history.checks
    lost = np.zeros(len(topology), bool)
    is_drifted = np.zeros(len(topology.link), bool)
    is_drifted[kept(asked, "retied")] = True
    for side, kind in (("source_operations", CheckKind.SOURCE_DRIFT), ("target_operations", CheckKind.TARGET_DRIFT)):
        asks = _rows_with(topology, (side,), op.CHECK_RELATIONSHIP_DRIFT)
        if is_checked and asks.any():
            column = checks.column(kind, len(topology.link))
            is_drifted |= asks & (column == CheckResult.DRIFTED)
            lost[topology.source[asks & (column == CheckResult.FAILED)]] = True
    is_drifted &= _rows_with(topology, ("source_operations", "target_operations"), UPDATE_RELATIONSHIP)
    if len(topology.link):
        is_drifted &= here[topology.source] & here[topology.target]
    return is_drifted.nonzero()[0].astype(np.int32), lost & here


def _rows_with(topology: Topology, sides: Sequence[str], operation: str) -> np.ndarray:
    """Return the relationships with the operation implemented on one of the sides, bool by number."""
    by_link = [
        not link.is_cut
        and any(
            (found := getattr(link.relationship, side).get(operation)) is not None and found.is_implemented
            for side in sides
        )
        for link in topology.links
    ]
    return np.array(by_link, bool)[topology.link] if by_link else np.zeros(len(topology.link), bool)


def _having_any(topology: Topology, operations: Iterable[str]) -> np.ndarray:
    found = np.zeros(len(topology), bool)
    for operation in operations:
        found |= implementing(topology, operation)
    return found


def has_any(topology: Topology, chosen: np.ndarray, operations: Iterable[str]) -> bool:
    """Return True if at least one chosen instance implements one of the operations."""
    return bool((chosen & _having_any(topology, operations)).any())


def _named(asked: Asked) -> np.ndarray:
    """Return the instances that the user asked to reinstall, bool by number."""
    said = asked.request.parameters.get(REINSTALL_LIST)
    names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    found = np.zeros(len(asked.topology), bool)
    found[[asked.topology.number_of[str(name)] for name in names if name in asked.topology.number_of]] = True
    found &= asked.topology.is_there
    return found


def is_confirmed(asked: Asked, parameter: str) -> bool:
    """Return True if the user has set a parameter to true."""
    return asked.request.parameters.get(parameter) is True


def assumes(asked: Asked) -> bool:
    """Return True if instances without a check count as healthy, which is the default for updates."""
    return asked.request.parameters.get(heal.ASSUME_HEALTHY) is not False


def kept(asked: Asked, what: str) -> np.ndarray:
    """Return the numbers that the update has stored under the key ``what``; empty if there are none."""
    started = asked.topology.started
    return numbers_of(started.kept.get(what)) if started is not None else np.empty(0, np.int32)


def kept_instances(asked: Asked, what: str) -> np.ndarray:
    """Return the instances that the update has stored under the key ``what`` and that still exist, bool by number."""
    started = asked.topology.started
    found = np.zeros(len(asked.topology), bool)
    if started is not None:
        found[started.added if what == "added" else numbers_of(started.kept.get(what))] = True
    found &= asked.topology.is_there
    return found


def who_again(asked: Asked, own: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the instances to reinstall, with their content; bool by number.

    They are those that the decision names, and those whose update has failed.
    """
    topology, count = asked.topology, len(asked.topology)
    found = kept_instances(asked, "reinstalled")
    if not is_confirmed(asked, SKIP_REINSTALL):
        failed = own & (asked.history.checks.column(CheckKind.DRIFT, count) == CheckResult.FAILED)
        for kind in (CheckKind.SOURCE_DRIFT, CheckKind.TARGET_DRIFT):
            column = asked.history.checks.column(kind, len(topology.link))
            failed[topology.source[rows[column[rows] == CheckResult.FAILED]]] = True
        gone = asked.history.states == State.DELETED  # by the first half of this reinstall
        found |= failed | (gone & (own | at_source(topology, rows)))
    found = heal.with_contained(topology, found)
    found &= topology.is_there
    return found


def at_source(topology: Topology, rows: np.ndarray) -> np.ndarray:
    """Return the sources of these relationships, bool by instance number."""
    found = np.zeros(len(topology), bool)
    found[topology.source[rows]] = True
    return found
