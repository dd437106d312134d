"""Read the lines under ``imports``: the imported file, its namespace, and values for its plugins (B6, B8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.text.document import NAMESPACE, ImportLine
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name

if TYPE_CHECKING:
    from phaseline.dsl.text.document import Document

_NAMESPACE = re.compile(r"([^:/]+?)--(.+)", re.DOTALL)
_TWO = r"[^:/]*--"
_PLUGIN_VALUES = (str, int, float, bool, list)


def import_lines(document: Document, report: ProblemReport, minor: int | None) -> list[ImportLine]:
    """Return the imports of a file and report entries that are not imports.

    ``minor`` is the minor version of the language; with None, elements of all versions are allowed.
    """
    entries = document.root.get("imports") if isinstance(document.root, dict) else None
    found: dict[str, ImportLine] = {}
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        spot = ElementPath(document, ("imports", number))
        text, values = _split(entry, spot, report, minor)
        if text is None:
            continue
        if text in found:
            report.add("PL-B022", f"'{text}' is imported twice in this file", "remove one of the two lines", spot)
            continue
        line = _line(text, values, spot, report)
        if line is not None:
            found[text] = line
    return list(found.values())


def _split(
    entry: Value, spot: ElementPath, report: ProblemReport, minor: int | None
) -> tuple[str | None, Mapping[str, Value]]:
    """Return the text of an entry and the values that are written below it."""
    if isinstance(entry, str):
        return entry, {}
    if not isinstance(entry, dict) or len(entry) != 1:
        mend = "write '- NAME' with the file's path, or one name with values for the plugin's properties under it"
        what = f"it has {len(entry)} keys" if isinstance(entry, dict) else "it is neither text nor a mapping"
        report.add("PL-B023", f"an import names one file, but {what}", mend, spot)
        return None, {}
    ((text, values),) = entry.items()
    if isinstance(values, str):
        report.add("PL-B023", "an import is written without a key", f"write '- {values}'", spot)
        return None, {}
    if not report.gate("properties on an import line", minor, 5, spot):
        return None, {}
    if values is not None and not isinstance(values, dict):
        report.add(
            "PL-B023",
            "the value under an import must be a mapping of plugin properties",
            "write 'property: value' lines",
            spot.at(text),
        )
        return text, {}
    return text, {name: value for name, value in (values or {}).items() if _is_usable(name, value, spot, text, report)}


def _is_usable(name: str, value: Value, spot: ElementPath, text: str, report: ProblemReport) -> bool:
    if isinstance(value, _PLUGIN_VALUES) or is_function(value):
        return True
    mend = "give text, a number, true or false, a list or a function"
    report.add("PL-B023", f"the plugin property '{name}' cannot have this value", mend, spot.at(text, name))
    return False


def _line(text: str, values: Mapping[str, Value], spot: ElementPath, report: ProblemReport) -> ImportLine | None:
    """Split the namespace off an import line. Text before ``--`` that contains ``/`` or ``:`` is no namespace."""
    parts = _NAMESPACE.fullmatch(text)
    if parts is None:
        return ImportLine(spot, "", text, values)
    if re.match(_TWO, parts[2]):
        report.add(
            "PL-B086",
            f"the namespace of the import '{text}' contains '{NAMESPACE}'",
            f"write one namespace: '{parts[1]}{NAMESPACE}…'; a file imported within it may have one of its own",
            spot,
            number=212,
        )
        return None
    why = why_no_name(parts[1])
    if why:
        report.add("PL-B130", f"the namespace '{shown_name(parts[1])}' {why}", MEND, spot)
        return None
    return ImportLine(spot, parts[1], parts[2], values)
