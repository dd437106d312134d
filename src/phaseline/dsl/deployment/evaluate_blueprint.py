"""Combine a blueprint with inputs: evaluate every function whose value is known before run time (B41)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.plan_and_runtime_scopes import StaticScope
from phaseline.dsl.functions.registry import contains_functions
from phaseline.dsl.functions.scope import NotYetKnown
from phaseline.dsl.nodes.scaling import Counts, check_counts
from phaseline.dsl.text.document import Document
from phaseline.dsl.text.file_source import FileSource
from phaseline.dsl.text.positions import Positions, dotted
from phaseline.dsl.text.problem_report import Path
from phaseline.lang.fast_dataclasses import altered
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.blueprint import Blueprint, Node, Operation, Output, Relationship, Value
from phaseline.model.blueprint.groups import ScalingGroup
from phaseline.model.deployment.sealed_values import hidden_inputs
from phaseline.model.problems.problem import Place, Problem, ProblemsError

PLANNED = ("connection_type", "operation")
"""Properties of relationships that decide how instances are connected and in which order they start."""


def with_inputs(
    blueprint: Blueprint, inputs: Mapping[str, Value], source: FileSource | None = None, *, runtime_only: bool = False
) -> Blueprint:
    """Return the blueprint with all functions evaluated whose value is known now; the others are evaluated at run time.

    ``inputs`` must be complete, as ``complete_inputs`` returns them. In the result, counts of instances are numbers,
    ``has_functions`` marks elements with remaining functions, and nodes without functions are the objects of
    ``blueprint``. With ``runtime_only`` only counts and connections of instances are evaluated; each execution
    evaluates all other functions, with the inputs of that time. A secret input is not evaluated, so that nothing made
    from the blueprint shows its value (decision 30).

    Raises: ``ProblemsError`` with all functions that cannot be evaluated, located in the texts of ``source`` if given.
    """
    return _Deploying(blueprint, inputs, source, runtime_only=runtime_only).blueprint()


class _Where(NamedTuple):
    """Position of an element: the place of its node or file, and its path in that file."""

    base: Place
    path: Path

    def at(self, *more: str | int) -> _Where:
        """Return the position of an element inside this one."""
        return _Where(self.base, self.path + more)


class PlainInputs(dict[str, Value]):
    """The inputs that are not secret; reading a secret input raises ``NotYetKnown``."""

    def __init__(self, inputs: Mapping[str, Value], hidden: Collection[str]) -> None:
        """Take all inputs; ``hidden`` are the names of the inputs that are secrets."""
        super().__init__((name, value) for name, value in inputs.items() if name not in hidden)
        self._hidden = frozenset(hidden) & inputs.keys()

    def __missing__(self, name: str) -> Value:
        """Raise ``NotYetKnown`` for a secret input, ``KeyError`` for an undeclared one."""
        if name in self._hidden:
            raise NotYetKnown
        raise KeyError(name)


class SecretsLater:
    """Stands for the store of secrets before run time: no secret can be read, so functions that need one stay unevaluated."""

    def get(self, name: str) -> str:
        """Raise ``NotYetKnown`` for every name."""
        raise NotYetKnown(name)

    def missing(self, names: Collection[str]) -> Sequence[str]:  # noqa: ARG002 - the protocol's signature
        """Return (): no secret counts as missing before run time."""
        return ()


class _Deploying:
    """Evaluates one blueprint. Node properties come first, so that functions that read a property get its evaluated value."""

    def __init__(
        self, blueprint: Blueprint, inputs: Mapping[str, Value], source: FileSource | None, *, runtime_only: bool
    ) -> None:
        self._blueprint = blueprint
        self._runtime_only = runtime_only
        self._source = source
        self._problems: list[tuple[Problem, _Where]] = []
        self._properties: dict[str, Mapping[str, Value]] = {
            name: node.properties for name, node in blueprint.nodes.items()
        }
        is_open = frozenset(blueprint.open_types).intersection
        open_nodes = frozenset(name for name, node in blueprint.nodes.items() if is_open(node.type_hierarchy))
        plain = PlainInputs(inputs, hidden_inputs(blueprint))
        self._scope = StaticScope(plain, self._properties, open_nodes=open_nodes)

    def blueprint(self) -> Blueprint:
        """Return the evaluated blueprint, or raise all problems at once."""
        nodes = dict(self._blueprint.nodes)
        waiting = [node for node in nodes.values() if node.has_functions]
        for node in waiting:
            if contains_functions(dict(node.properties)):
                scope = altered(self._scope, own=node.name)
                self._properties[node.name] = self._mapping(node.properties, scope, _where(node).at("properties"))
        for node in waiting:
            nodes[node.name] = self._node(node)
        blueprint = altered(
            self._blueprint,
            nodes=nodes,
            outputs=self._outputs("outputs", self._blueprint.outputs),
            capabilities=self._outputs("capabilities", self._blueprint.capabilities),
            scaling_groups={name: self._group(group) for name, group in self._blueprint.scaling_groups.items()},
            labels=self._labels(),
            deployment_settings=self._settings(),
            runtime_only=self._runtime_only,
        )
        if self._problems:
            raise ProblemsError(self._placed())
        return blueprint

    def _placed(self) -> list[Problem]:
        """Return the problems with positions: exact ones if the file's text is available, otherwise those of their nodes."""
        positions: dict[str, Positions | None] = {}
        placed: list[Problem] = []
        for problem, where in self._problems:
            file = where.base.file
            if file not in positions:
                text = self._source.read(file) if self._source is not None else None
                positions[file] = Positions(Document(file, text)) if text is not None else None
            found = positions[file]
            place = found.place(where.path, "value") if found else altered(where.base, path=dotted(where.path))
            placed.append(altered(problem, place=place))
        return placed

    def _node(self, node: Node) -> Node:
        scope, where = altered(self._scope, own=node.name), _where(node)
        properties = self._properties[node.name]
        operations = self._operations(node.operations, scope, where.at("interfaces"))
        relationships = tuple(
            self._relationship(item, node, where.at("relationships", number)) if item.has_functions else item
            for number, item in enumerate(node.relationships)
        )
        counts = Counts(node.default_instances, node.min_instances, node.max_instances)
        if not all(isinstance(count, int) for count in counts):
            counts = self._counts(counts, scope, where.at("capabilities", "scalable", "properties"))
        return altered(
            node,
            properties=properties,
            operations=operations,
            relationships=relationships,
            default_instances=counts.default,
            min_instances=counts.least,
            max_instances=counts.most,
            has_functions=contains_functions(dict(properties))
            or any(operation.has_functions for operation in operations.values())
            or any(item.has_functions for item in relationships),
        )

    def _relationship(self, item: Relationship, node: Node, where: _Where) -> Relationship:
        scope = altered(self._scope, source=node.name, target=item.target)
        properties = self._mapping(item.properties, scope, where.at("properties"))
        for name in PLANNED:
            if name in properties:
                properties[name] = self._known(item.properties[name], scope, where.at("properties", name))
        source = self._operations(item.source_operations, scope, where.at("source_interfaces"))
        target = self._operations(item.target_operations, scope, where.at("target_interfaces"))
        left = any(operation.has_functions for operation in (*source.values(), *target.values()))
        return altered(
            item,
            properties=properties,
            source_operations=source,
            target_operations=target,
            connection_type=str(properties.get("connection_type", "all_to_all")),
            has_functions=left or contains_functions(properties),
        )

    def _operations(
        self, operations: Mapping[str, Operation], scope: StaticScope, where: _Where
    ) -> Mapping[str, Operation]:
        changed: dict[str, Operation] = {}
        for name, operation in operations.items():
            if operation.has_functions:
                interface, _, bare = name.rpartition(".")
                inputs = self._mapping(operation.inputs, scope, where.at(interface, bare, "inputs"))
                changed[name] = altered(operation, inputs=inputs, has_functions=contains_functions(inputs))
        return {**operations, **changed} if changed else operations

    def _counts(self, counts: Counts, scope: StaticScope, where: _Where) -> Counts:
        values = [self._known(value, scope, where) for value in counts]
        if any(contains_functions(value) for value in values):
            message = "the number of instances must be known before anything runs"
            mend = "use get_input or get_property here"
            self._problems.append((Problem("PL-B050", message, mend, cloudify_code=210), where))
            return Counts()
        checked, complaints = check_counts(Counts(*values))
        for item in complaints:
            problem = Problem(
                item.code,
                item.message,
                item.mend,
                cloudify_code=item.number,
                cloudify_class="DSLParsingLogicException",
            )
            self._problems.append((problem, where.at(item.name)))
        return checked

    def _group(self, group: ScalingGroup) -> ScalingGroup:
        counts = Counts(group.default_instances, group.min_instances, group.max_instances)
        if all(isinstance(count, int) for count in counts):
            return group
        counts = self._counts(counts, self._scope, _Where(group.place, ("groups", group.name)))
        return altered(group, default_instances=counts.default, min_instances=counts.least, max_instances=counts.most)

    def _labels(self) -> dict[str, Sequence[Value]]:
        where = _Where(Place(self._blueprint.file), ("labels",))
        return {
            name: [self._label(name, value, where.at(name, "values", place)) for place, value in enumerate(values)]
            for name, values in self._blueprint.labels.items()
        }

    def _label(self, key: str, value: Value, where: _Where) -> Value:
        """Return the value of a label as it is stored (LB1). Only a value that was computed need be checked here."""
        found = self._value(value, self._scope, where)
        if isinstance(value, str) or not isinstance(found, str):
            return found
        from phaseline.model.blueprint.label_rules import InvalidLabelError, valid_value  # few labels are computed

        try:
            return valid_value(found, key)
        except InvalidLabelError as error:
            message = f"a value of the label '{key}' is not valid: {error}"
            self._problems.append((Problem("PL-B158", message, "change what it is computed from"), where))
            return found

    def _settings(self) -> Mapping[str, Value]:
        settings = self._blueprint.deployment_settings
        if not contains_functions(dict(settings)):
            return settings
        where = _Where(Place(self._blueprint.file), ("deployment_settings",))
        return self._mapping(settings, self._scope, where)

    def _mapping(self, values: Mapping[str, Value], scope: StaticScope, where: _Where) -> dict[str, Value]:
        return {name: self._value(value, scope, where.at(name)) for name, value in values.items()}

    def _value(self, value: Value, scope: StaticScope, where: _Where) -> Value:
        """Evaluate a value that planning does not need; with ``runtime_only`` return it unchanged."""
        return value if self._runtime_only else self._known(value, scope, where)

    def _known(self, value: Value, scope: StaticScope, where: _Where) -> Value:
        if value.__class__ is not dict and value.__class__ is not list:
            return value
        try:
            return evaluate(value, scope)
        except ProblemsError as error:
            self._problems.extend((problem, where) for problem in error.problems)
            return value

    def _outputs(self, section: str, outputs: Mapping[str, Output]) -> dict[str, Output]:
        where = _Where(Place(self._blueprint.file), (section,))
        return {
            name: altered(output, value=self._value(output.value, self._scope, where.at(name, "value")))
            for name, output in outputs.items()
        }


def _where(node: Node) -> _Where:
    return _Where(node.place, ("node_templates", node.name))
