"""Check functions before inputs are given: the form of their arguments, and the names they use (B40, B41)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import field
from typing import Literal, TypeAlias, cast

from phaseline.dsl.functions.argument_forms import SYSTEM
from phaseline.dsl.functions.lookup_functions import repeated
from phaseline.dsl.functions.registry import FUNCTIONS, REFERENCES, SELF, function_name, meant_function
from phaseline.dsl.functions.third_party import ANNOUNCED, AnnouncedFunctionError
from phaseline.dsl.text.dsl_versions import PHASELINE
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import quoted_list
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.blueprint.blueprint import Value

Standing: TypeAlias = Literal["node", "relationship", "deployment", "policy"]
"""What a value belongs to: a node, a relationship, the deployment (inputs, outputs), or a policy.

Functions in policies are not evaluated.
"""

_PLACES = {
    "node": "SELF or the name of a node",
    "relationship": "SOURCE, TARGET or the name of a node",
    "deployment": "the name of a node",
}


@mutable
class DeferredCheck:
    """Checks of functions in a type's default value, postponed until a template uses the default (B16)."""

    wrong: list[tuple[str, str, ElementPath]] = field(default_factory=list)
    inputs: list[tuple[Value, ElementPath]] = field(default_factory=list)
    named: list[tuple[str, list[Value], ElementPath, str | None]] = field(default_factory=list)


_USUAL = ("get_input", "get_property", "get_attribute", "get_secret", "concat")


class FunctionCheck:
    """Finds functions in values, and checks the names in them once all nodes and inputs are known."""

    def __init__(self, report: ProblemReport, minor: int | None, inputs: Collection[str]) -> None:
        """Start a check. ``minor`` is the minor DSL version of the main file; ``inputs`` are the declared inputs."""
        self._report = report
        self._minor = minor
        self._inputs = inputs
        self._named: list[tuple[str, list[Value], ElementPath, str | None]] = []
        self._announced: list[tuple[str, Mapping[str, Value], ElementPath]] = []
        self._later: DeferredCheck | None = None

    def scan_default(self, value: Value, spot: ElementPath, standing: Standing) -> tuple[bool, DeferredCheck | None]:
        """Scan the default value of a type's property, and postpone the checks of its functions.

        Return (True if it has functions, the postponed checks for ``use`` or None if there are none).
        """
        later = self._later = DeferredCheck()
        found = self.scan(value, spot, standing)
        self._later = None
        return found, later if later.wrong or later.inputs or later.named else None

    def use(self, later: DeferredCheck) -> None:
        """Make the postponed checks of a default value, because a template uses it, and report the problems found.

        A repeated call for the same checks does nothing.
        """
        for name, complaint, spot in later.wrong:
            self._complain(name, complaint, spot)
        later.wrong = []
        inputs, later.inputs = later.inputs, []
        self._named += later.named
        later.named = []
        for given, spot in inputs:
            self._check_input(given, spot)

    def scan(self, value: Value, spot: ElementPath, standing: Standing, own: str | None = None) -> bool:
        """Check the functions in ``value``, and return True if there are any. ``own`` is the node that SELF means."""
        if value.__class__ is dict:
            mapping = value
            name = function_name(mapping)
            if name in FUNCTIONS:
                self._check(name, mapping[name], spot, standing, own)
            elif name is not None:
                self._check_announced(name, mapping, spot)
            else:
                self._doubt(mapping, spot)
            found = False
            for key, item in mapping.items():
                if (item.__class__ is dict or item.__class__ is list) and self.scan(item, spot.at(key), standing, own):
                    found = True
            return found or name is not None
        if value.__class__ is list:
            found = False
            for place, item in enumerate(value):
                if (item.__class__ is dict or item.__class__ is list) and self.scan(
                    item, spot.at(place), standing, own
                ):
                    found = True
            return found
        return False

    def _doubt(self, mapping: Mapping[str, Value], spot: ElementPath) -> None:
        """Warn of a mapping that looks like a misspelt function, because it would be passed on as plain data."""
        meant = meant_function(mapping)
        if meant is not None:
            (key,) = mapping
            mend = (
                f"did you mean '{meant}'?"
                if meant
                else f"there are {quoted_list(_USUAL)} and {len(FUNCTIONS) - len(_USUAL)} more"
            )
            message = f"'{key}' looks like a function, and there is none of this name: the value stays as it is written"
            self._report.warn("PL-B085", message, mend, spot.at(key))

    def _check(self, name: str, argument: Value, spot: ElementPath, standing: Standing, own: str | None) -> None:
        function = FUNCTIONS[name]
        since = PHASELINE if function.is_extension else function.since
        self._report.gate(name, self._minor, since, spot, kind="FunctionValidationError")
        complaint = function.complaint(argument)
        if complaint is not None:
            if self._later is None:
                self._complain(name, complaint, spot)
            else:
                self._later.wrong.append((name, complaint, spot))
            return
        if name == "get_input":
            self._check_input(argument[0] if isinstance(argument, list) else argument, spot)
        elif name == "get_sys":
            self._check_system(cast("list[Value]", argument), spot.at(name))
        elif function.names_node:
            if name == "get_attributes_dict":
                self._check_repeated(cast("list[Value]", argument), spot.at(name))
            self._check_reference(name, cast("list[Value]", argument), spot, standing, own)

    def _complain(self, name: str, complaint: str, spot: ElementPath) -> None:
        function = FUNCTIONS[name]
        mend = f"for example: {function.example}"
        self._report.add("PL-B070", f"'{name}' {complaint}", mend, spot, kind=function.raises)

    def _check_announced(self, name: str, written: Mapping[str, Value], spot: ElementPath) -> None:
        """Let a third-party function check its arguments, and report what is wrong."""
        self._announced.append((name, written, spot))
        self._ask(spot, lambda: ANNOUNCED.function(name).check(written))

    @property
    def announced(self) -> tuple[str, ...]:
        """Return the names of the third-party functions that were found, sorted."""
        return tuple(sorted({name for name, _, _ in self._announced}))

    def check_announced_in(self, plan: Mapping[str, object]) -> None:
        """Let third-party functions check their arguments against the plan of the whole blueprint."""
        for name, written, spot in self._announced:
            self._ask(spot, lambda name=name, written=written: ANNOUNCED.function(name).check_in(written, plan))  # type: ignore[misc]  # bound at once

    def _ask(self, spot: ElementPath, ask: Callable[[], None]) -> None:
        try:
            ask()
        except AnnouncedFunctionError as error:
            self._report.add("PL-B070", error.message, error.mend, spot, kind=error.kind)

    def _check_system(self, argument: list[Value], spot: ElementPath) -> None:
        """Check the entity and the property that ``get_sys`` asks for."""
        entity, name = argument[:2]
        if not isinstance(entity, str):
            return
        if entity not in SYSTEM:
            mend = self._report.suggest(entity, SYSTEM, f"it knows {quoted_list(SYSTEM)}")
            message = f"'get_sys' knows nothing of '{entity}'"
            self._report.add("PL-B077", message, mend, spot.at(0), kind="UnknownSysEntityError")
        elif isinstance(name, str) and name not in SYSTEM[entity]:
            mend = self._report.suggest(name, SYSTEM[entity], f"it has {quoted_list(SYSTEM[entity])}")
            message = f"'get_sys' knows no '{name}' of the {entity}"
            self._report.add("PL-B077", message, mend, spot.at(1), kind="UnknownSysPropertyError")

    def _check_repeated(self, argument: list[Value], spot: ElementPath) -> None:
        """Report paths of ``get_attributes_dict`` that occur twice, because the paths are keys of its result."""
        names = [".".join(map(str, path)) if isinstance(path, list) else str(path) for path in argument[1:]]
        for name in repeated(names):
            message = f"'get_attributes_dict' is asked for '{name}' more than once"
            self._report.add("PL-B074", message, "leave one of them out", spot)

    def _check_input(self, name: Value, spot: ElementPath) -> None:
        if isinstance(name, str) and name not in self._inputs:
            if self._later is not None:
                self._later.inputs.append((name, spot))
                return
            otherwise = (
                f"declared are {quoted_list(self._inputs)}"
                if self._inputs
                else f"declare it: 'inputs: {{{name}: {{}}}}'"
            )
            self._report.add(
                "PL-B071",
                f"there is no input '{name}'",
                self._report.suggest(name, self._inputs, otherwise),
                spot.at("get_input"),
            )

    def _check_reference(
        self, name: str, argument: list[Value], spot: ElementPath, standing: Standing, own: str | None
    ) -> None:
        reference = argument[0]
        if not isinstance(reference, str):
            return
        if reference in REFERENCES:
            if standing == "policy":
                return
            if (standing == "node") != (reference == SELF) or standing == "deployment":
                self._report.add(
                    "PL-B072", f"'{reference}' means nothing here", f"write {_PLACES[standing]}", spot.at(name)
                )
                return
            if reference != SELF or own is None:
                return
            argument = [own, *argument[1:]]
        (self._named if self._later is None else self._later.named).append((name, argument, spot, own))

    def check_names(
        self, nodes: Mapping[str, Mapping[str, Value]], is_known: Collection[str] = (), otherwise: str = ""
    ) -> None:
        """Check that the nodes and properties named by the scanned functions exist.

        ``is_known`` has the names of nodes that exist but have errors, so that their properties are not checked.
        ``otherwise`` is the advice for an unknown node if no existing name is similar.
        """
        for name, argument, spot, _ in self._named:
            node, key = str(argument[0]), argument[1]
            if node not in nodes:
                if node not in is_known:
                    self._report.add(
                        "PL-B073",
                        f"there is no node '{node}'",
                        self._report.suggest(node, nodes, otherwise or "name a node of 'node_templates'"),
                        spot.at(name),
                    )
            elif name == "get_property" and isinstance(key, str | int) and key not in nodes[node]:
                mend = self._report.suggest(
                    str(key), nodes[node], f"it has {quoted_list(nodes[node])}" if nodes[node] else "it has none"
                )
                self._report.add("PL-B074", f"'{node}' has no property '{key}'", mend, spot.at(name))
