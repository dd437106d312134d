"""Evaluate functions that read other deployments, such as ``get_capability`` (rules DP1 to DP3, DP13).

A capability is evaluated where it is declared: its functions see the nodes, inputs and labels of the provider, that is
of the deployment that declares it. The rest of the path is then followed in the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, cast

from phaseline.dsl.functions.errors import fail
from phaseline.dsl.functions.scope import Scope, descend, shown
from phaseline.dsl.text.value_words import quoted_list, suggest, word_for
from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Output, Value

NOT_THERE = "PL-B170"
"""Code of problems about a deployment, group or environment that does not exist."""
BY_ID = "deployment_id:"
"""What a name of ``get_group_capability`` begins with to get a mapping {deployment: value} instead of a list."""
CONSUMERS_SHOWN: Mapping[str, int] = {"ids": 0, "names": 1}
"""{argument of ``get_consumers``: index in a consumer of ``Beyond.consumers``}."""

Inner: TypeAlias = "Callable[[Value, Scope], Value]"
Reading = Literal["capability", "environment", "group"]
"""How a function finds the deployments that it reads: by name, by the label ``csys-obj-parent``, or by their group."""


class Provider(Protocol):
    """A deployment whose capabilities can be read."""

    @property
    def name(self) -> str:
        """Return the name of the deployment."""
        ...

    @property
    def capabilities(self) -> Mapping[str, Output]:
        """Return the capabilities that the blueprint declares, with their functions."""
        ...

    def scope(self, others: CapabilityReads) -> Scope:
        """Return a new scope for one evaluation in this deployment. ``others`` reads further deployments from there."""
        ...


class Beyond(Protocol):
    """What one deployment may see of the others, as the shell provides it."""

    def names(self) -> Sequence[str]:
        """Return the names of all deployments that may be read."""
        ...

    def provider(self, name: str) -> Provider | None:
        """Return the deployment of this name, or None."""
        ...

    def environment(self) -> str | None:
        """Return the name of the deployment to which this one belongs (``csys-obj-parent``); the oldest of several."""
        ...

    def members(self, group: str) -> Sequence[str] | None:
        """Return the names of the deployments of a group, or None if there is no such group."""
        ...

    def groups(self) -> Sequence[str]:
        """Return the names of all groups of deployments."""
        ...

    def consumers(self) -> Sequence[tuple[str, str]]:
        """Return (name, display name) of the deployments that use this one."""
        ...

    def once(self, provider: str, capability: str, compute: Callable[[], tuple[Value, bool]]) -> tuple[Value, bool]:
        """Return what ``compute`` returns: the value of a capability, and whether it was computed from a secret.

        The result may be kept and returned again for the same capability, so that all that runs together sees one value.
        """
        ...

    def uses(self, reading: Reading, written: Mapping[str, Value], providers: Sequence[str]) -> None:
        """Note that a function, as the blueprint has it in ``written``, has read these deployments."""
        ...

    def seen_from(self, provider: Provider) -> Beyond:
        """Return what a provider sees of the others."""
        ...


@frozen
class CapabilityReads:
    """Reads capabilities for one deployment. ``trail`` are the (provider, capability) under evaluation, outermost first."""

    beyond: Beyond
    trail: tuple[tuple[str, str], ...] = ()

    def read(self, written: Mapping[str, Value], function: str, arguments: Value, scope: Scope, inner: Inner) -> Value:
        """Return the value of a function that reads other deployments.

        ``arguments`` are its evaluated arguments, ``written`` is the function as the blueprint has it. Raises
        ``ProblemsError``: PL-B170 (no such deployment, group or environment), PL-B074 (capability or path), PL-B075.
        """
        match function:
            case "get_consumers":
                return self._consumers(str(arguments))
            case "get_capability":
                name, capability, *path = cast("list[Value]", arguments)
                provider = self._provider(name)
                self.beyond.uses("capability", written, [provider.name])
                return self._walked(provider, capability, path, scope, inner)
            case "get_environment_capability":
                capability, *path = cast("list[Value]", arguments if isinstance(arguments, list) else [arguments])
                provider = self._environment()
                self.beyond.uses("environment", written, [provider.name])
                return self._walked(provider, capability, path, scope, inner)
            case _:
                return self._of_group(written, cast("list[Value]", arguments), scope, inner)

    def _consumers(self, asked: str) -> Value:
        found = sorted(self.beyond.consumers())
        if asked == "count":
            return len(found)
        if asked not in CONSUMERS_SHOWN:
            raise fail("PL-B074", f"'get_consumers' knows no '{asked}'", "write ids, names or count")
        return [one[CONSUMERS_SHOWN[asked]] for one in found]

    def _provider(self, name: Value) -> Provider:
        if not isinstance(name, str):
            message = f"{word_for(name)} is no name of a deployment"
            raise fail("PL-B074", message, "let the first argument of the function be the name of a deployment")
        found = self.beyond.provider(name)
        if found is None:
            known = self.beyond.names()
            there_is = f"there {'is' if len(known) == 1 else 'are'} {quoted_list(known)}" if known else "there is none"
            raise fail(NOT_THERE, f"there is no deployment '{name}'", suggest(name, known, there_is))
        return found

    def _environment(self) -> Provider:
        name = self.beyond.environment()
        if name is None:
            mend = "create it with --label csys-obj-parent=NAME, or add the label: phaseline deployments labels"
            raise fail(NOT_THERE, "the deployment belongs to no environment", mend)
        return self._provider(name)

    def _of_group(
        self, written: Mapping[str, Value], arguments: list[Value], scope: Scope, inner: Inner
    ) -> list[Value] | dict[str, Value]:
        """Return the capabilities of a group's deployments, sorted by name.

        With several names, each value is a list, with None for a capability that the deployment lacks. Deployments that
        have none of the capabilities are left out.
        """
        group, asked, *path = arguments
        members = self.beyond.members(group) if isinstance(group, str) else None
        if members is None:
            known = self.beyond.groups()
            there_are = f"there {'is' if len(known) == 1 else 'are'} {quoted_list(known)}" if known else "there is none"
            raise fail(NOT_THERE, f"there is no group of deployments '{group}'", suggest(str(group), known, there_are))
        self.beyond.uses("group", written, sorted(members))
        names, is_mapping = _names(asked)
        found: dict[str, Value] = {}
        for name in sorted(members):
            provider = self._provider(name)
            has = [one in provider.capabilities for one in names]
            if not any(has):
                continue
            values = [
                self._walked(provider, one, path, scope, inner) if is_there else None
                for one, is_there in zip(names, has, strict=True)
            ]
            found[name] = values if isinstance(asked, list) else values[0]
        return found if is_mapping else list(found.values())

    def _walked(self, provider: Provider, capability: Value, path: list[Value], scope: Scope, inner: Inner) -> Value:
        """Return the value of a capability at ``path``."""
        name = str(capability)
        if not isinstance(capability, str) or name not in provider.capabilities:
            known = provider.capabilities
            mend = suggest(name, known, f"it has {quoted_list(known)}" if known else "it has none")
            raise fail("PL-B074", f"the deployment '{provider.name}' has no capability '{name}'", mend)
        value = self._evaluated(provider, name, scope, inner)
        found, rest = descend(value, cast("list[str | int]", path))
        if rest:
            message = f"the capability '{name}' of '{provider.name}' has no {shown(rest[0])}"
            raise fail("PL-B074", message, "correct the path, or the capability in the blueprint of that deployment")
        return found

    def _evaluated(self, provider: Provider, capability: str, scope: Scope, inner: Inner) -> Value:
        here = (provider.name, capability)
        if here in self.trail:
            circle = " → ".join(".".join(step) for step in (*self.trail[self.trail.index(here) :], here))
            mend = "let one of these capabilities do without the next"
            raise fail("PL-B075", f"capabilities need one another in a circle: {circle}", mend)

        def compute() -> tuple[Value, bool]:
            others = CapabilityReads(self.beyond.seen_from(provider), (*self.trail, here))
            within = provider.scope(others)
            value = inner(provider.capabilities[capability].value, within)
            return value, within.watcher is not None and within.watcher.is_touched

        value, is_secret = self.beyond.once(*here, compute)
        if is_secret and scope.watcher is not None:
            scope.watcher.touch()
        return value


def _names(asked: Value) -> tuple[list[str], bool]:
    """Return (the names of capabilities that ``get_group_capability`` is asked for, whether a mapping is wanted)."""
    given = [str(one) for one in asked] if isinstance(asked, list) else [str(asked)]
    return [one.removeprefix(BY_ID) for one in given], any(one.startswith(BY_ID) for one in given)
