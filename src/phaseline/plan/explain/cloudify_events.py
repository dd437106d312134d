"""Turn the history of an instance in a graph into Cloudify events (W12, W20, W23).

The events are computed when they are read, and never stored. A *tale* is a script of messages: the operations of a
workflow in order, each with the sentences shown before and after it. ``TALES`` maps the verb of a graph, such as
``install``, to the function that chooses the tales of an instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.graph.status import Mark
from phaseline.plan.explain.cloudify_event_lines import CallSpan, Entries, GraphOutcome, InstanceStory, StoryLine
from phaseline.plan.explain.cloudify_messages import (
    CHECK_DRIFT_TALE,
    CHECK_STATUS_TALE,
    CLEAN_UP_TALE,
    HALF_STARTED_TALE,
    HALF_THERE_TALE,
    INSTALL_TALE,
    LIFE_CYCLE_AGAIN_TALE,
    RESUME_TALE,
    SUSPEND_TALE,
    UNINSTALL_TALE,
    UPDATE_TALE,
    MessageScript,
    heal_tale,
    operation_tale,
    reinstall_tale,
    uninstall_tale,
)
from phaseline.plan.graph.operation_arguments import given_inputs
from phaseline.plan.workflows import check as checking
from phaseline.plan.workflows import execute_operation, heal, install, rollback, scale, start_stop, uninstall
from phaseline.plan.workflows import suspend_resume as freezing
from phaseline.plan.workflows.apply_revision import UPDATE
from phaseline.plan.workflows.lifecycle_retries import AGAIN

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import NoteRow

Teller = Callable[[InstanceStory, State | None], Iterable[MessageScript]]
"""Function that returns the tales of an instance, given its story and its state before the graph (None if unknown)."""


def narrate(
    topology: Topology,
    graph: Graph,
    statuses: np.ndarray,
    instance: int,
    *,
    calls: Mapping[int, Sequence[CallSpan]] | None = None,
    notes: Mapping[int, NoteRow] | None = None,
    present: State | None = None,
    workflow: str = "",
    parameters: Mapping[str, Value] | None = None,
    with_tasks: bool = False,
) -> list[StoryLine]:
    """Return the event lines of one instance in order, up to what it is doing at present.

    The list is empty for an instance that only keeps the order between other instances. ``statuses`` (uint8), ``calls``
    and ``notes`` are indexed by entry position. ``present`` is the state of the instance before the graph; with it, an
    uninstall can report the steps that it skips. ``workflow`` and ``parameters`` are those of the execution; an empty
    ``workflow`` means the graph's name. ``with_tasks`` adds a line for the begin and the end of each call (W12).
    """
    name = topology.blueprint.meaning(workflow or graph.name)
    known = GraphOutcome(
        topology, graph, statuses, calls or {}, notes or {}, name, parameters or {}, with_tasks=with_tasks
    )
    ((_, lines),) = narrate_all(known, [instance], present={} if present is None else {instance: present})
    return lines


def narrate_all(
    known: GraphOutcome,
    instances: Iterable[int],
    *,
    present: Mapping[int, State] | None = None,
    entries: Entries | None = None,
) -> Iterator[tuple[int, list[StoryLine]]]:
    """Yield (instance number, its event lines) for each instance.

    Faster than calling ``narrate`` for each instance, because the entries are sorted by instance only once. ``present``
    is {instance number: its state before the graph}. ``entries`` are the graph's entries, if the caller has sorted them
    already.
    """
    entries = entries or Entries(known.topology, known.graph)
    teller = TALES.get(known.graph.verb, _own)
    for instance in instances:
        story = InstanceStory(known, entries, entries.of(instance))
        if story.has_begun and story.is_on_path:
            yield instance, story.tell_stays()
            continue
        tales = teller(story, (present or {}).get(instance)) if story.has_begun else ()
        yield instance, [line for tale in tales for line in story.tell(tale)]


def _if_called(script: MessageScript) -> Teller:
    return lambda story, _: (script,) if story.is_called else ()


def _if_reaching(state: State, script: MessageScript) -> Teller:
    return lambda story, _: (script,) if story.reaches(state) else ()


def _install(story: InstanceStory, _: State | None) -> Iterable[MessageScript]:
    if story.reaches(State.STARTED):
        yield INSTALL_TALE if story.is_called else INSTALL_TALE.nothing


def _uninstall(story: InstanceStory, present: State | None) -> Iterable[MessageScript]:
    if story.reaches(State.DELETED) or present is State.DELETED:
        if story.known.workflow == heal.HEAL and _diagnosis(story):
            yield reinstall_tale(_diagnosis(story))
        yield UNINSTALL_TALE if present is None else uninstall_tale(present)


def _again(story: InstanceStory, present: State | None) -> Iterable[MessageScript]:
    """Yield the tales of an instance that is uninstalled because its life cycle is repeated after a failure (W5)."""
    yield LIFE_CYCLE_AGAIN_TALE
    yield from _uninstall(story, present)


def _own(story: InstanceStory, _: State | None) -> Iterable[MessageScript]:
    """Yield, for each phase with a call, in order, a tale that reports only the start and the end of the phase.

    Used for graphs whose verb is not in ``TALES``.
    """
    for phase, positions in story.positions.items():
        if phase not in story.stops and any(
            not int(story.graph.marks[position]) & Mark.ABSENT for position in positions
        ):
            yield operation_tale(phase, phase, {})


def _roll_back(story: InstanceStory, _: State | None) -> Iterable[MessageScript]:
    if story.reaches(State.CONFIGURED):
        yield HALF_STARTED_TALE
    elif story.reaches(State.UNINITIALIZED):
        yield HALF_THERE_TALE


def _heal(story: InstanceStory, _: State | None) -> Iterable[MessageScript]:
    if story.is_called:
        yield heal_tale(_diagnosis(story))


def _diagnosis(story: InstanceStory) -> str:
    """Return the reason that the user gave for a heal; empty if none was given."""
    found = str(story.known.parameters.get(heal.DIAGNOSE_VALUE) or "")
    return "" if found == heal.NO_DIAGNOSIS else found


def _operate(story: InstanceStory, _: State | None) -> Iterable[MessageScript]:
    """Yield the tale of ``execute_operation``: its one operation, with the name that the user gave."""
    known = story.known
    for phase in story.positions if story.is_called else ():
        named = str(known.parameters.get(execute_operation.OPERATION, phase))
        yield operation_tale(phase, named, given_inputs(known.workflow, phase, known.parameters))


TALES: Mapping[str, Teller] = {
    scale.ESTABLISH: lambda _story, _: (),  # only their relationships take part
    install.INSTALL: _install,
    install.CLEAN_UP: _if_called(CLEAN_UP_TALE),
    uninstall.UNINSTALL: _uninstall,
    install.TAKE_BACK.partition(" ")[0]: _uninstall,
    UPDATE: _if_called(UPDATE_TALE),
    AGAIN: _again,
    rollback.ROLLBACK: _roll_back,
    checking.CHECK_STATUS: _if_called(CHECK_STATUS_TALE),
    checking.CHECK_DRIFT: _if_called(CHECK_DRIFT_TALE),
    heal.HEAL: _heal,
    freezing.SUSPEND: _if_reaching(State.SUSPENDED, SUSPEND_TALE),
    freezing.RESUME: _if_reaching(State.STARTED, RESUME_TALE),
    execute_operation.EXECUTE_OPERATION: _operate,
    **{item.graph: _operate for rounds in start_stop.INVOCATIONS.values() for item in rounds},
}
"""{verb of a graph, such as ``install``: function that returns the tales of an instance}"""
