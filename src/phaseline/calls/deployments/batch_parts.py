"""The members of a batch that come from one graph, and the call for each of them, computed only when needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

from phaseline.calls.protocol.call import Outcome, PluginCall, Site
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.deployment.runtime_properties import SCALARS, copy, copy_mapping
from phaseline.model.execution.pre_post import DeploymentCallKind
from phaseline.model.graph.graph import SubjectKind, called_side, phase_of
from phaseline.model.graph.plugin_errors import NonRecoverableError
from phaseline.plan.graph.operation_arguments import given_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.protocol.call import Channel, ExecutionContext, Flavour
    from phaseline.dsl.functions.other_deployments import CapabilityReads
    from phaseline.model.blueprint.blueprint import Operation, Value
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.model.graph.graph import Policy
    from phaseline.model.phases.definitions import PhaseDefinition

FindPhase = Callable[[str], "PhaseDefinition | None"]
"""Function that returns the current definition of the phase with a name, or None if the phase cannot be used."""
SIDES: Mapping[SubjectKind, Literal["node", "source", "target"]] = {
    SubjectKind.INSTANCE: "node",
    SubjectKind.SOURCE: "source",
    SubjectKind.TARGET: "target",
}
"""{kind of subject: ``side`` of its calls}: the node, or the end of the relationship whose operation is called."""


@mutable
class CallTemplate:
    """What all calls of one operation of a node or relationship share: site, inputs as written in the blueprint, code.

    ``is_constant`` means that no input contains a function, ``is_flat`` that no input is a list or mapping.
    ``has_settings`` marks a task of a package, whose settings may be encrypted. The first call fills in ``function``,
    ``flavour`` and ``is_async``, or ``refusal`` if the code cannot be loaded.
    """

    site: Site
    inputs: Mapping[str, Value]
    policy: Policy
    is_constant: bool
    is_flat: bool
    has_settings: bool = False
    function: Callable[..., object] | None = None
    flavour: Flavour | None = None
    is_async: bool = False
    refusal: Outcome | None = None


class BatchPart:
    """One segment of a batch, with its members' deployment and execution. Columns become lists at the first use."""

    def __init__(
        self,
        segment: GraphSegment,
        first: int,
        phase: str,
        deployment: LoadedDeployment,
        execution: ExecutionContext,
        policies: tuple[Policy, ...],
        data: dict[int, Value],
        doubted: dict[int, int],
        find_phase: FindPhase,
    ) -> None:
        """Store the segment; its first member has the index ``first`` in the batch.

        ``data`` is {position: data that an earlier call left}. ``doubted`` is {position: number of calls whose end is
        unknown}. An entry of an instance is in ``doubted`` only if its last call is one of these.
        """
        self.segment = segment
        self.first = first
        self.phase = phase
        self.deployment = deployment
        self.execution = execution
        self.policies = policies
        self.data = data
        self.doubted = doubted
        self.find_phase = find_phase
        self.reads: Callable[[], CapabilityReads] | None = None
        """What reads other deployments for the members; None if the blueprint has no function that does."""
        self._spots: dict[tuple[int, int], CallTemplate] = {}

    @cached_property
    def subjects(self) -> list[int]:
        """Subject numbers, by index in the segment."""
        found: list[int] = self.segment.subjects.tolist()
        return found

    @cached_property
    def positions(self) -> list[int]:
        """Positions in the graph, by index in the segment."""
        found: list[int] = self.segment.positions.tolist()
        return found

    @cached_property
    def attempts(self) -> list[int]:
        """Numbers of retries so far, by index in the segment."""
        found: list[int] = self.segment.attempts.tolist()
        return found

    @cached_property
    def _owners(self) -> list[int]:
        """Number of each member's node, or of its relationship instance, by index in the segment.

        Members of one node share a number. Members of relationships do not, because each has its own ``relationship``.
        """
        segment = self.segment
        owners = segment.subjects
        if segment.kind is SubjectKind.INSTANCE:
            owners = self.deployment.owners(segment.kind, owners)
        found: list[int] = owners.tolist()
        return found

    @cached_property
    def _policy_numbers(self) -> list[int]:
        """Index of each member's policy. Members with equal ``_owners`` number and policy share a ``CallTemplate``."""
        found: list[int] = self.segment.policies.tolist()
        return found

    def _phase_spot(self, name: str, policy: Policy) -> CallTemplate:
        """Return the data that all calls of a phase share, from the phase's definition at the hand-over of the batch.

        Raises: ``NonRecoverableError`` if the phase cannot be used.
        """
        from phaseline.calls.protocol.phase_view import PhaseContext, target_of

        definition = self.find_phase(name)
        if definition is None or definition.code is None:
            raise NonRecoverableError(f"the phase '{name}' cannot be used (any more)")
        site = Site(
            self.phase,
            "function",
            str(definition.code),
            self.execution,
            self.deployment.view,
            max_retries=policy.max_retries,
            timeout_s=policy.timeout_ms / 1000,
            phase=PhaseContext.of(definition, "", target_of(policy, self.execution)),
            phase_code=definition.code,
        )
        return CallTemplate(site, {}, policy, is_constant=True, is_flat=True)

    def mapped(self, subject: int) -> Operation | None:
        """Return the operation that a phase calls for a subject, from the execution or else the blueprint, or None."""
        brought = self.execution.around.operation(self.phase)
        return brought or self.deployment.operation(self.segment.kind, subject, self.phase)

    def operation(self, place: int) -> Operation:
        """Return the operation to call. Raises: ``NonRecoverableError`` if no function is mapped any more."""
        found = self.mapped(self.subjects[place])
        if found is None or not found.is_implemented:
            raise NonRecoverableError(f"nothing is mapped to '{self.phase}' (any more)")
        return found

    def spot(self, place: int) -> CallTemplate:
        """Return what all calls of a member's operation share; ``place`` is the index of the member in this part.

        It is made once for all members with the same node and policy. Raises: ``NonRecoverableError`` if nothing is
        mapped to the operation any more.
        """
        key = self._owners[place], self._policy_numbers[place]
        found = self._spots.get(key)
        if found is None:
            found = self._spots[key] = self._make_spot(place, self.policies[key[1]])
        return found

    def _make_spot(self, place: int, policy: Policy) -> CallTemplate:
        name = phase_of(self.phase)
        if name is not None:
            return self._phase_spot(name, policy)
        operation = self.operation(place)
        kind, deployment = self.segment.kind, self.deployment
        relationship = None
        if kind is SubjectKind.SOURCE or kind is SubjectKind.TARGET:
            topology, subject = deployment.topology, self.subjects[place]
            ends = int(topology.source[subject]), int(topology.target[subject])
            relationship = deployment.relationship_view(int(topology.link[subject]), *ends, self.reads)
        assert operation.form != "none"
        site = Site(
            operation.name,
            operation.form,
            operation.implementation,
            self.execution,
            deployment.view_now(self.reads),
            plugin=deployment.blueprint.plugins.get(operation.plugin) if operation.plugin else None,
            side=SIDES.get(kind, "node"),
            relationship=relationship,
            max_retries=policy.max_retries,
            timeout_s=policy.timeout_ms / 1000,
            timeout_recoverable=policy.timeout_recoverable,
            hook=self.execution.around.hook(self.phase),
        )
        workflow = deployment.blueprint.meaning(self.execution.workflow)
        given = given_inputs(workflow, operation.name, self.execution.parameters)
        inputs = {**operation.inputs, **given} if given else operation.inputs
        is_flat = all(type(value) in SCALARS for value in inputs.values())
        stages = self.execution.around.stages
        has_settings = stages is not None and stages.operation(self.phase) is not None
        is_constant = not operation.has_functions and not (given and _contains_functions(given))
        return CallTemplate(site, inputs, policy, is_constant, is_flat, has_settings)

    def call(self, place: int, channel: Channel, site: Site | None = None) -> PluginCall:
        """Return the call of a member; ``site`` is its call site if the caller knows it already.

        Raises: ``NonRecoverableError`` if no function is mapped any more.
        """
        if site is None:
            site = self.spot(place).site
        deployment, subject = self.deployment, self.subjects[place]
        instance = source = target = None
        if self.segment.kind is SubjectKind.INSTANCE:
            instance = deployment.instance_view(subject)
        elif self.segment.kind is not SubjectKind.DEPLOYMENT:
            topology = deployment.topology
            source = deployment.instance_view(int(topology.source[subject]))
            target = deployment.instance_view(int(topology.target[subject]))
        if self.reads is not None:
            for view in (instance, source, target):
                if view is not None:
                    view.reads = self.reads
        data = copy(self.data.get(self.positions[place])) if self.data else None
        member = self.first + place
        made = PluginCall(site, member, self.attempts[place], channel, deployment, instance, source, target, data)
        if self.segment.kind is SubjectKind.DEPLOYMENT:
            made.why = DeploymentCallKind(subject)
            made.attempt += self.doubted.get(self.positions[place], 0)
        return made

    def take_doubt(self, place: int) -> bool:
        """Return True at the first request for a member whose last call has an unknown end; otherwise return False.

        A call of the deployment itself always gets False: its calls with an unknown end are added to ``attempt``
        instead.
        """
        if not self.doubted or self.segment.kind is SubjectKind.DEPLOYMENT:
            return False
        return self.doubted.pop(self.positions[place], 0) > 0

    def inputs(self, call: PluginCall) -> dict[str, Value]:
        """Return the evaluated inputs of a call, as a copy that it may change. Raises ``ProblemsError``."""
        spot = self.spot(call.member - self.first)
        if spot.is_flat:
            return dict(spot.inputs)
        inputs = copy_mapping(spot.inputs)
        if spot.has_settings:
            from phaseline.model.packages.task_inputs import SETTINGS

            inputs[SETTINGS] = self.deployment.package_settings(cast("dict[str, Value]", inputs[SETTINGS]))
        if spot.is_constant:
            return inputs
        return {key: call.world.evaluate(value, call) for key, value in inputs.items()}

    def instance(self, place: int) -> int:
        """Return the instance for log lines of a member; of a relationship, the instance on the called side."""
        return called_side(self.deployment.topology, self.segment.kind, self.subjects[place])


def _contains_functions(given: object) -> bool:
    from phaseline.dsl.functions.registry import (
        contains_functions,
    )  # most executions give their operations no inputs

    return contains_functions(given)
