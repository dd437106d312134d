"""Check a value of a blueprint against a shape, the grammar of its keys and types (B4, B5).

A check returns the value without its faulty parts, so that later steps can check the rest. A value without faults is
returned as the same object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.grammar.tables import ANYTHING, Each, Leaf, Shape, Sifted, Table, TableRows
from phaseline.dsl.text.dsl_versions import LATEST, PHASELINE
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import closest, quoted_list, word_for
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.name_rules import MEND as NAME_MEND
from phaseline.model.problems.name_rules import are_names, shown_name, why_no_name

BROKEN: Final = object()
"""Result of a check when the whole value is faulty."""

EXAMPLES: Final = {"executor": "central_deployment_agent"}
"""{key: the value that a message proposes when the key is missing}."""


class ShapeCheck:
    """Checks values written in ``cloudify_dsl_1_<minor>``; with ``minor`` None all versions are allowed."""

    def __init__(self, report: ProblemReport, minor: int | None) -> None:
        """Start a check that adds its problems to ``report``."""
        self._report = report
        self._minor = minor
        self._known: dict[Table, dict[str, Shape]] = {}
        self._names: set[str] = set()
        self._newest = PHASELINE if minor is None else max(minor, LATEST)

    def check(self, shape: Shape, value: Value, spot: ElementPath) -> object:
        """Return ``value`` without its faulty parts, or ``BROKEN``."""
        if self._is_good(shape, value):
            return value
        kind = shape.__class__
        if kind is Leaf:
            return self._leaf(shape, value, spot)  # type: ignore[arg-type]  # just tested
        if kind is Table:
            return self._table(shape, value, spot)  # type: ignore[arg-type]  # just tested
        if kind is Each:
            return self._each(shape, value, spot)  # type: ignore[arg-type]  # just tested
        return self._rows(shape, value, spot)  # type: ignore[arg-type]  # the last of four

    def _is_good(self, shape: Shape, value: Value) -> bool:
        """Return True for a value without problems. This is the usual case, and it needs no positions."""
        kind = shape.__class__
        if kind is Leaf:
            types, minimum = shape.types, shape.minimum  # type: ignore[union-attr]  # just tested
            return (types is None or value.__class__ in types) and (minimum is None or value >= minimum)  # type: ignore[operator]  # numbers
        if kind is not Table:
            of = shape.of  # type: ignore[union-attr]  # Each or Rows
            if value.__class__ is not (dict if kind is Each else list):
                return False
            if kind is Each and not (self._names.issuperset(value) or self._are_names(value)):  # type: ignore[arg-type]  # a mapping
                return False
            for item in value.values() if kind is Each else value:  # type: ignore[union-attr]  # noqa: SIM110 - a generator costs more than the check
                if not self._is_good(of, item):
                    return False
            return True
        if value.__class__ is not dict:
            return value.__class__ is str and bool(shape.short)  # type: ignore[union-attr]  # a table
        known = self._known.get(shape) or self._known_keys(shape)  # type: ignore[arg-type]  # a table
        for name, item in value.items():
            inner = known.get(name)
            if inner is None or item is None or not (inner is ANYTHING or self._is_good(inner, item)):
                return False
        for name in shape.required:  # type: ignore[union-attr]  # noqa: SIM110 - as above
            if value.get(name) is None:
                return False
        return True

    def _are_names(self, value: Mapping[str, Value]) -> bool:
        """Return True if every key is a valid name (decision 33)."""
        if not are_names(value):
            return False
        self._names.update(value)
        return True

    def _known_keys(self, table: Table) -> dict[str, Shape]:
        """Return {key: shape} for the keys of a table that exist in this version and are fully supported."""
        minor = self._minor
        known = self._known[table] = {
            name: key.shape
            for name, key in table.keys.items()
            if key.support == "now" and (minor is None or key.since <= minor)
        }
        return known

    def _leaf(self, leaf: Leaf, value: Value, spot: ElementPath) -> object:
        """Report a plain value of a wrong type, or a number that is too small."""
        if leaf.types is not None and value.__class__ not in leaf.types:
            return self._wrong(leaf.word, value, spot, leaf)
        self._report.add("PL-B065", f"{value} is less than {leaf.minimum:g}", f"give {leaf.word}", spot)
        return BROKEN

    def _wrong(self, expected: str, value: Value, spot: ElementPath, shape: Shape) -> object:
        from phaseline.dsl.grammar.shape_fixes import right_form

        shown = f"'{value}'" if isinstance(value, str | int | float) else word_for(value)
        if is_function(value):
            shown = "a function"
        self._report.add("PL-B015", f"expected {expected}, found {shown}", right_form(shape, value, expected), spot)
        return BROKEN

    def _each(self, shape: Each, value: Value, spot: ElementPath) -> object:
        if value is None:
            return {}
        if value.__class__ is not dict:
            return self._wrong("a mapping", value, spot, shape)
        of = shape.of
        changed: dict[str, object] | None = None
        document, path = spot
        for name, item in value.items():
            here = ElementPath(document, (*path, name))
            good = self.check(of, item, here) if self._is_name(name, here) else BROKEN
            if good is not item:
                if changed is None:
                    changed = dict(value)
                if good is BROKEN:
                    del changed[name]
                else:
                    changed[name] = good
        return value if changed is None else changed

    def _is_name(self, name: str, spot: ElementPath) -> bool:
        why = why_no_name(name)
        if why:
            self._report.add("PL-B130", f"the name '{shown_name(name)}' {why}", NAME_MEND, spot, point="key")
        return not why

    def _rows(self, shape: TableRows, value: Value, spot: ElementPath) -> object:
        if value is None:
            return []
        if value.__class__ is not list:
            return self._wrong("a list", value, spot, shape)
        document, path = spot
        items = [self.check(shape.of, item, ElementPath(document, (*path, place))) for place, item in enumerate(value)]
        kept = [place for place, item in enumerate(items) if item is not BROKEN]
        return Sifted([items[place] for place in kept], kept)

    def _table(self, table: Table, value: Value, spot: ElementPath) -> object:
        if value.__class__ is not dict:
            if value is not None:
                return self._wrong(
                    f"text or a mapping ({table.title})" if table.short else "a mapping", value, spot, table
                )
            value = {}
        elif table.likely and is_function(value):
            return self._wrong("a mapping", value, spot, table)
        keys = table.keys
        changed: dict[str, object] | None = None
        for name, item in value.items():
            key = keys.get(name)
            if (
                key is None
                or item is None
                or key.support != "now"
                or (self._minor is not None and key.since > self._minor)
            ):
                good = self._odd_key(table, name, item, spot)
            elif key.shape is ANYTHING:
                continue
            else:
                good = self.check(key.shape, item, ElementPath(spot.document, (*spot.path, name)))
            if good is not item:
                if changed is None:
                    changed = dict(value)
                if good is BROKEN:
                    del changed[name]
                else:
                    changed[name] = good
        for name in table.required if table.fragment is None or list(value) != [table.fragment] else ():
            if value.get(name) is None:
                self._missing(table, name, value, spot)
                return BROKEN
            if changed is not None and name not in changed:
                return BROKEN
        return value if changed is None else changed

    def _odd_key(self, table: Table, name: str, item: Value, spot: ElementPath) -> object:
        """Check a key that is unknown, belongs to a later version, has no value, or has no effect; return its checked value."""
        here = spot.at(name)
        key = table.keys.get(name)
        if key is None:
            known = [other for other, row in table.keys.items() if row.since <= self._newest]
            from phaseline.dsl.grammar.shape_fixes import right_key

            mend = right_key(known, name) or self._report.suggest(name, known, f"allowed are {quoted_list(known)}")
            self._report.add("PL-B014", f"'{name}' is not a key of {table.title}", mend, here, point="key")
            return BROKEN
        is_late = not self._report.gate(name, self._minor, key.since, here, point="key")
        if item is None:
            return item if key.shape is ANYTHING else BROKEN
        good = item if key.shape is ANYTHING else self.check(key.shape, item, here)
        if is_late:
            return good  # problems within the value are reported at once, too
        mend = key.note or "it may stay; nothing depends on it"
        self._report.warn("PL-B018", f"'{name}' of {table.title} has no effect yet", mend, here)
        return good

    def _missing(self, table: Table, name: str, value: Mapping[str, Value], spot: ElementPath) -> None:
        if any(closest(given, [name]) for given in value if given not in table.keys):
            return  # the misspelt key was reported with the right one
        example = EXAMPLES.get(name, "…")
        self._report.add(
            "PL-B016", f"'{name}' is missing in {table.title}", f"add '{name}: {example}'", spot, point="key"
        )
