"""The plugins that a blueprint declares, and the values that import lines give to their properties (B6, B22)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.document import Document
from phaseline.dsl.text.primitive_types import PRIMITIVES
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.dsl.text.value_words import quoted_list, word_for
from phaseline.dsl.type_system.operations import EXECUTORS
from phaseline.model.blueprint.blueprint import Plugin, Value

_ON_IMPORTS: dict[str, tuple[type, ...]] = {
    "string": (str, int),
    "integer": (int,),
    "float": (int, float),
    "boolean": (bool,),
    "list": (list,),
}
"""{type of a plugin property: Python types of the values that an import line may give it}."""


def read_plugins(sections: MergedSections, report: ProblemReport) -> dict[str, Plugin]:
    """Read the declared plugins. Their properties have the values that import lines give them."""
    found: dict[str, Plugin] = {}
    taken: dict[int, set[str]] = {}
    for name, raw in sections.of("plugins").items():
        spot = sections.spot("plugins", name)
        fields = cast("dict[str, Any]", raw)
        used = taken.setdefault(id(spot.document), set())
        found[name] = _plugin(
            name, fields, _properties(fields.get("properties") or {}, spot, used, report), spot, report
        )
    for document in sections.documents:
        if document.line is not None:
            _check_leftovers(document, taken.get(id(document), set()), report)
    return found


def _plugin(
    name: str,
    fields: Mapping[str, Any],
    properties: Mapping[str, Mapping[str, Value]],
    spot: ElementPath,
    report: ProblemReport,
) -> Plugin:
    executor = fields.get("executor")
    if executor not in EXECUTORS:
        mend = report.suggest(str(executor), EXECUTORS, f"write {EXECUTORS[0]} or {EXECUTORS[1]}")
        report.add("PL-B064", f"'{executor}' is not an executor", mend, spot.at("executor"), number=18)
        executor = EXECUTORS[0]
    install = fields.get("install") is not False
    if install and not fields.get("source") and not fields.get("package_name"):
        report.add(
            "PL-B068",
            f"the plugin '{name}' is to be installed but has neither source nor package_name",
            "add 'package_name: …', or write 'install: false'",
            spot,
            point="key",
        )
    return Plugin(
        name,
        cast("Any", executor),
        fields.get("source"),
        install,
        fields.get("package_name"),
        fields.get("package_version"),
        fields.get("install_arguments"),
        fields.get("supported_platform"),
        fields.get("distribution"),
        fields.get("distribution_version"),
        fields.get("distribution_release"),
        properties,
        fields.get("properties_description") or "",
    )


def _properties(
    declared: Mapping[str, Any], spot: ElementPath, used: set[str], report: ProblemReport
) -> dict[str, Mapping[str, Value]]:
    """Return the properties of one plugin, with values from the import line. Add all property names to ``used``."""
    line = spot.document.line
    found: dict[str, Mapping[str, Value]] = {}
    for name, raw in declared.items():
        fields = dict(cast("dict[str, Value]", raw or {}))
        kind = fields.get("type")
        if isinstance(kind, str) and kind not in PRIMITIVES:
            mend = report.suggest(kind, PRIMITIVES, f"write one of {quoted_list(_ON_IMPORTS)}")
            report.add("PL-B033", f"the type '{kind}' does not exist", mend, spot.at("properties", name, "type"))
        elif line is not None and name in line.values:
            value = line.values[name]
            if is_function(value) or _fits(kind, value):
                fields["value"] = value
            else:
                report.add(
                    "PL-B090",
                    f"the plugin property '{name}' is to be of type {kind}, not {word_for(value)}",
                    f"give a value of type {kind}",
                    _given(line.spot, name),
                )
        used.add(name)
        found[name] = fields
    return found


def _given(line: ElementPath, name: str) -> ElementPath:
    """Return the position in the document where an import line gives the value ``name``."""
    entry: Any = line.document.root
    for step in line.path:
        entry = entry[step]
    return line.at(next(iter(entry)), name)


def _fits(kind: Value, value: Value) -> bool:
    if not isinstance(kind, str):
        return True
    allowed = _ON_IMPORTS.get(kind, ())
    return isinstance(value, allowed) and (not isinstance(value, bool) or kind == "boolean")


def _check_leftovers(document: Document, used: set[str], report: ProblemReport) -> None:
    """Report values of an import line for which no plugin of the imported file declares a property."""
    assert document.line is not None, "only imported files have a line"
    for name in document.line.values:
        if name not in used:
            otherwise = f"it has {quoted_list(used)}" if used else "its plugins declare no properties"
            report.add(
                "PL-B090",
                f"no plugin of '{document.name}' has a property '{name}'",
                report.suggest(name, used, otherwise),
                _given(document.line.spot, name),
                point="key",
            )
