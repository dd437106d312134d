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
    """One step of a sequence: an operation of the node.

    ``enter`` and ``leave`` are the states that the instance gets before and after the call. Instances that are in one
    of the states ``unless`` when the graph is planned skip the operation. With ``until_true``, the operation is called
    again without limit until it returns a true value. ``only`` marks the instances that call it, bool indexed by
    instance number; None means all.
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
    """One step of a sequence: an operation on both sides of the instance's relationships.

    The relationships are grouped by target, in the order of the blueprint (W6), or in the opposite order with
    ``reverse``. Instances that are in one of the states ``unless`` when the graph is planned skip the step. ``only``
    marks the relationship instances that call it, bool indexed by relationship number; None means all.
    """

    operation: str
    unless: frozenset[InstanceState] = ALWAYS
    reverse: bool = False
    only: np.ndarray | None = None


@frozen
class Become:
    """One step of a sequence: the instance reaches a state, without calling an operation.

    ``state`` is a number if the state belongs to a state path. Instances that are in one of the states ``unless`` when
    the graph is planned skip the step. With ``with_calls``, only instances with at least one call reach the state.
    """

    state: InstanceState | int
    unless: frozenset[InstanceState] = ALWAYS
    with_calls: bool = False


Sequence = tuple[Call | Relate | Become, ...]
