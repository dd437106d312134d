"""Functions for blueprints that third parties wrote for Cloudify's parser, with ``parse_args``, ``validate``,
``evaluate``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

from phaseline.dsl.functions.scope import NotYetKnown
from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.dsl.functions.scope import Scope
    from phaseline.model.blueprint.blueprint import Value

RUNTIME = 2
"""Cloudify's number for functions that can only be evaluated while an execution runs."""


@frozen
class AncestorFunction:
    """A third-party function written for Cloudify's parser; implements ``dsl.functions.third_party.AnnouncedFunction``.

    ``make`` is the function's class. ``guarded`` makes a context manager in which plugin code runs, from two texts for
    errors: the name of the code, and how to mend the error.
    """

    name: str
    make: Callable[..., Any]
    guarded: Callable[[str, str], AbstractContextManager[None]]

    def check(self, written: Mapping[str, Value]) -> None:
        """Check the arguments by making an object of the class, whose constructor calls ``parse_args``."""
        with self.guarded(f"'{self.name}'", "Correct what it is given."):
            self._made(written, {})

    def check_in(self, written: Mapping[str, Value], plan: Mapping[str, object]) -> None:
        """Check the function within its blueprint, by the class's method ``validate``."""
        with self.guarded(f"'{self.name}'", "Correct what it is given."):
            self._made(written, {}).validate(Plan(plan))

    def evaluate(self, written: Mapping[str, Value], scope: Scope) -> Value:
        """Return the function's value from its method ``evaluate``, or at run time from ``evaluate_runtime`` if the
        class, written for an older Cloudify, has that method.
        """
        if getattr(self.make, "func_eval_type", None) == RUNTIME and not scope.is_running:
            raise NotYetKnown(self.name)
        with self.guarded(f"'{self.name}'", "Correct what it is given."):
            made = self._made(written, {"name": scope.own_name} if scope.own_name else {})
            older = getattr(made, "evaluate_runtime", None)
            evaluate = older if older is not None and scope.is_running else made.evaluate
            found = evaluate(LookUps(scope))
        if found == written:
            raise NotYetKnown(self.name)  # an unchanged function asks for a later evaluation
        return cast("Value", found)

    def _made(self, written: Mapping[str, Value], context: Mapping[str, object]) -> Any:
        given: dict[str, object] = {"scope": None, "context": context, "path": self.name, "raw": dict(written)}
        if "type" in written:
            given["return_type"] = written["type"]
        return self.make(written[self.name], **given)


class Plan(dict[str, Any]):
    """The plan of a blueprint as Cloudify's functions see it: a mapping whose keys are also attributes."""

    def __getattr__(self, name: str) -> Any:
        """Return ``plan["inputs"]`` for ``plan.inputs`` and so on.

        The nodes are ``plan.nodes`` and ``plan.node_templates``.
        """
        key = "nodes" if name == "node_templates" else name
        if key not in self:
            raise AttributeError(name)
        return Version(self[key]) if key == "version" else self[key]


class Version(dict[str, Any]):
    """The version of the blueprint language of a plan, ``plan.version``."""

    @property
    def definitions_version(self) -> tuple[int, ...]:
        """The version of the language as (major, minor)."""
        return tuple(self["definitions_version"])


class LookUps:
    """The argument of a function's ``evaluate``: Cloudify's look-up methods on one of Phaseline's scopes."""

    def __init__(self, scope: Scope) -> None:
        """Look up values in ``scope``, the scope in which the function is evaluated."""
        self._scope = scope

    @property
    def runtime_only_evaluation(self) -> bool:
        """True if the function is evaluated while an execution runs."""
        return self._scope.is_running

    def get_input(self, input_name: str) -> Value:
        """Return the value of an input."""
        return self._scope.input(input_name)

    def get_node(self, node_name: str) -> dict[str, object]:
        """Return a node with its properties."""
        properties, _ = self._scope.node(node_name)
        return {"id": node_name, "name": node_name, "properties": dict(properties)}

    def get_node_instances(self, node_id: str) -> list[dict[str, Value]]:
        """Return the instances of a node."""
        return [{**instance, "node_id": node_id} for instance in self._scope.instances_of(node_id)]

    def get_node_instance(self, node_instance_id: str) -> dict[str, Value]:
        """Return the instance with this id. Raises ``KeyError`` if there is none."""
        node = node_instance_id.rpartition("_")[0]
        for instance in self.get_node_instances(node):
            if instance["id"] == node_instance_id:
                return instance
        raise KeyError(node_instance_id)

    def get_secret(self, secret_key: str) -> str:
        """Return the value of a secret."""
        return self._scope.secret(secret_key)

    def get_label(self, label_key: str, values_list_index: int | None = None) -> Value:
        """Return the values of a label, or the value at one index of this list."""
        values = list(self._scope.label(label_key))
        return values if values_list_index is None else values[values_list_index]

    def get_sys(self, entity: str, prop: str) -> Value:
        """Return a property of the deployment or its tenant."""
        return self._scope.system(entity, prop)

    def get_capability(self, capability_path: Value) -> Value:
        """Return a capability of another deployment."""
        return self._scope.elsewhere("get_capability", capability_path)

    def get_group_capability(self, capability_path: Value) -> Value:
        """Return a capability of a group of deployments."""
        return self._scope.elsewhere("get_group_capability", capability_path)

    def get_environment_capability(self, capability_path: Value) -> Value:
        """Return a capability of the environment."""
        return self._scope.elsewhere("get_environment_capability", capability_path)

    def get_consumers(self, prop: Value) -> Value:
        """Return a fact about the deployments that use this one, such as their number. ``prop`` names the fact."""
        return self._scope.elsewhere("get_consumers", prop)
