"""The sequence of one instance in a workflow, as data: operations, relationship operations and states in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.deployment.instance_states import InstanceState

ALWAYS: frozenset[InstanceState] = frozenset()


@frozen
class Call:
    """An operation of the node. ``enter``: states of the instance before it; ``leave``: states after it.

    ``unless``: states at planning time in which the operation is not needed. ``until_true``: it is called again
    without limit until it returns a true value. ``only``: the instances that call it, bool by instance number; None:
    all.
    """

    operation: str
    enter: tuple[InstanceState, ...] = ()
    leave: tuple[InstanceState, ...] = ()
    unless: frozenset[InstanceState] = ALWAYS
    hosts_only: bool = False
    until_true: bool = False
    only: np.ndarray | None = None


@frozen
class Relate:
    """An operation of both sides of the instance's relationships, grouped by target in the order of the blueprint (W6).

    ``only``: the relationship instances that call it, bool by their number; None: all.
    """

    operation: str
    unless: frozenset[InstanceState] = ALWAYS
    reverse: bool = False
    only: np.ndarray | None = None


@frozen
class Become:
    """A state that the instance reaches without an operation; on a state path, its number.

    ``with_calls``: only instances with at least one call reach it.
    """

    state: InstanceState | int
    unless: frozenset[InstanceState] = ALWAYS
    with_calls: bool = False


Sequence = tuple[Call | Relate | Become, ...]
