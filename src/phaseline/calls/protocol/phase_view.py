"""The phase that a call is one of, as its plugin and its caller see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.calls.protocol.call import ExecutionContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.graph.graph import Policy
    from phaseline.model.phases.definitions import PhaseDefinition, PhasePolicy


@frozen
class SecondTries:
    """When a resource that failed a phase is handed over again by itself (X2). Times in ms; ``jitter`` 0.0-1.0 of a delay.

    ``clears``: the data kept by the phase is deleted, as by a user's retry.
    """

    base_ms: int
    factor: float
    most_ms: int
    jitter: float = 0.0
    clears: bool = False

    @classmethod
    def of(cls, policy: PhasePolicy) -> SecondTries:
        """The value from the phase's attributes."""
        base, most = round(policy.backoff_base_s * 1000), round(policy.backoff_max_s * 1000)
        return cls(base, policy.backoff_factor, most, policy.backoff_jitter, policy.retry_clears)

    def delay_ms(self, attempt: int, chance: float) -> int:
        """Until the try after so many others; ``chance`` 0.0-1.0.

        >>> ways = SecondTries(1_000, 2.0, 5_000, jitter=0.5)
        >>> [ways.delay_ms(attempt, 0.5) for attempt in range(5)], ways.delay_ms(0, 0.0), ways.delay_ms(0, 1.0)
        ([1000, 2000, 4000, 5000, 5000], 500, 1500)
        """
        longest = float(self.base_ms)
        for _ in range(attempt):
            longest = min(longest * self.factor, float(self.most_ms))
        return round(min(longest, self.most_ms) * (1 + self.jitter * (2 * chance - 1)))


def target_of(policy: Policy, execution: ExecutionContext) -> str:
    """The target state of resources with this policy; empty if unknown."""
    return policy.target or str(execution.parameters.get("target") or "")


@frozen
class PhaseContext:
    """What a call's plugin sees of the phase that is called. ``attributes``: the attributes of the phase's record.

    ``state``: the state of the resources; empty if they are in different states. ``target``: the state to which they are
    moved. ``sleep_delay_ms``: the time after which resources that are still pending are given to the plugin again, -1:
    after the policy's interval. ``second_tries``: failures are retried. ``halves``: a run that raised an exception is
    repeated with halves of its resources, until the resources that cause the exception are alone.
    """

    name: str
    state: str = ""
    sleep_delay_ms: int = -1
    attributes: Mapping[str, Value] = field(default_factory=dict)
    second_tries: SecondTries | None = None
    halves: bool = False
    target: str = ""

    @classmethod
    def of(cls, definition: PhaseDefinition, state: str, target: str = "") -> PhaseContext:
        """A phase in one of its states."""
        attributes: dict[str, Value] = {
            **definition.attributes,
            "Description": definition.description or definition.name,
            "HandlesStates": list(definition.states),
            "ResourceType": list(definition.resource_types),
            "Plugin": definition.plugin,
        }
        policy = definition.policy
        return cls(
            definition.name,
            state,
            round(policy.sleep_delay_s * 1000),
            attributes,
            SecondTries.of(policy) if policy.retry_limit else None,
            halves=policy.on_batch_failure == "bisect",
            target=target,
        )
