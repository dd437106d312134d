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
    """An operation of the node, between the states the instance enters before it and leaves it with.

    ``unless``: states at planning time that make it superfluous. ``until_true``: called again without
    limit until it returns a true value. ``only``: bool by instance number, the instances that call it.
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
    """An operation of both sides of the instance's relationships, grouped by target in the template's order (W6).

    ``only``: bool by relationship number, the relationships that call it.
    """

    operation: str
    unless: frozenset[InstanceState] = ALWAYS
    reverse: bool = False
    only: np.ndarray | None = None


@frozen
class Become:
    """A state (of a path: its number) that belongs to no operation. ``with_calls``: only for instances with at least one call."""

    state: InstanceState | int
    unless: frozenset[InstanceState] = ALWAYS
    with_calls: bool = False


Sequence = tuple[Call | Relate | Become, ...]
