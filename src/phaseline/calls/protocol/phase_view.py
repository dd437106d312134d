"""The view of a phase that the plugin and the caller of its call get."""

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
    """The rule by which a resource that failed a phase is tried again automatically (X2). Times are in ms.

    ``jitter`` is the random part of a delay, 0.0-1.0. With ``clears``, data that the phase keeps with the resource is
    deleted before the next try, as by a user's retry.
    """

    base_ms: int
    factor: float
    most_ms: int
    jitter: float = 0.0
    clears: bool = False

    @classmethod
    def of(cls, policy: PhasePolicy) -> SecondTries:
        """Return the rule from the attributes of the phase."""
        base, most = round(policy.backoff_base_s * 1000), round(policy.backoff_max_s * 1000)
        return cls(base, policy.backoff_factor, most, policy.backoff_jitter, policy.retry_clears)

    def delay_ms(self, attempt: int, chance: float) -> int:
        """Return the delay in ms before the next try, after ``attempt`` others; ``chance`` is a random number 0.0-1.0.

        >>> ways = SecondTries(1_000, 2.0, 5_000, jitter=0.5)
        >>> [ways.delay_ms(attempt, 0.5) for attempt in range(5)], ways.delay_ms(0, 0.0), ways.delay_ms(0, 1.0)
        ([1000, 2000, 4000, 5000, 5000], 500, 1500)
        """
        longest = float(self.base_ms)
        for _ in range(attempt):
            longest = min(longest * self.factor, float(self.most_ms))
        return round(min(longest, self.most_ms) * (1 + self.jitter * (2 * chance - 1)))


def target_of(policy: Policy, execution: ExecutionContext) -> str:
    """Return the target state of resources with this policy, or '' if it is unknown."""
    return policy.target or str(execution.parameters.get("target") or "")


@frozen
class PhaseContext:
    """The view of a called phase that its plugin gets. ``attributes`` are the attributes of the phase's record.

    ``state`` is the state of the resources, empty if they are in different states; ``target`` is the state that they
    are to reach. ``sleep_delay_ms`` is the time after which pending resources are given to the plugin again, -1 for the
    policy's interval. With ``second_tries`` failures are retried. With ``halves`` a run that raised an exception is
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
        """Return the view of a phase in one of its states."""
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
