"""Warn of values that are named like secrets but written in clear text (decision 30)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, cast

from phaseline.dsl.functions.registry import is_function
from phaseline.dsl.imports.section_merge import MergedSections
from phaseline.dsl.text.document import Document
from phaseline.dsl.text.problem_report import Path, ProblemReport
from phaseline.model.blueprint.blueprint import PropertySchema, Value
from phaseline.model.deployment.sealed_values import is_hidden

_WORDS = "password|passwd|passphrase|pwd|pass|secret|token|credential"
_KEYS = "api|access|private|secret|auth|account|encryption|signing|master"
_SECRET = rf"(?:.*[^a-z])?(?:(?:{_WORDS})s?|(?:{_KEYS})[_-]?keys?)(?:[_-]?[0-9]+)?"
_HINTS = ("pass", "pwd", "secret", "token", "credential", "key")
_HUMP = r"(?<=[a-z0-9])(?=[A-Z])"
_COUNTS = frozenset({"integer", "float", "boolean"})
_INTERFACES = ("interfaces", "source_interfaces", "target_interfaces")


def looks_secret(name: str) -> bool:
    """Return True if a name usually denotes a secret itself, not data about a secret.

    >>> [looks_secret(name) for name in ("db_password", "apiKey", "aws_secret_access_key", "token_url", "compass")]
    [True, True, True, False, False]
    """
    secret, hump = _compiled()
    return secret.fullmatch(hump.sub("_", name).lower()) is not None


@cache
def _compiled() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the compiled patterns of secret names and of word limits in camelCase. Most blueprints never need them."""
    return re.compile(_SECRET), re.compile(_HUMP)


def warn_of_plain_secrets(
    sections: MergedSections, inputs: Mapping[str, PropertySchema], report: ProblemReport
) -> None:
    """Warn of inputs that are not hidden and of texts in templates, if they are named like a secret."""
    if not any(map(_may_name_some, sections.documents)):
        return
    for name, schema in inputs.items():
        spot = sections.spot("inputs", name)
        if looks_secret(name) and not is_hidden(schema) and schema.type not in _COUNTS and not spot.document.is_bundled:
            message = f"the input '{name}' is named like a secret, and all users can read its value"
            report.warn(
                "PL-B128", message, f"add 'hidden: true' and 'required: false', or use {{get_secret: {name}}}", spot
            )
    templates = cast("Mapping[str, dict[str, Any]]", sections.of("node_templates"))
    if not any(map(looks_secret, _names(cast("Iterable[Value]", templates.values())))):
        return
    for name, template in templates.items():
        for path in _plain(template):
            word = path[-1]
            message = f"'{word}' of '{name}' is named like a secret, and its value is readable here by all users"
            mend = f"store the value, phaseline secrets create NAME, and write '{word}: {{get_secret: NAME}}'"
            report.warn("PL-B128", message, mend, sections.spot("node_templates", name).at(*path))


def _may_name_some(document: Document) -> bool:
    """Return False if the text of a document contains no word that names of secrets contain: a quick first test."""
    text = "" if document.is_bundled else document.text.lower()
    return any(hint in text for hint in _HINTS)


def _names(values: Iterable[Value]) -> set[str]:
    """Return the set of all keys in values and their nested values. It is small, however many templates there are."""
    found: set[str] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value.__class__ is dict:
            found.update(value)
            waiting.extend(item for item in value.values() if item.__class__ is dict or item.__class__ is list)
        elif value.__class__ is list:
            waiting.extend(value)
    return found


def _plain(template: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """Yield the paths of texts whose keys are named like secrets, in properties and in the inputs of operations."""
    yield from _texts(template.get("properties"), (*path, "properties"))
    for interfaces in _INTERFACES:
        for interface, operations in (template.get(interfaces) or {}).items():
            for name, operation in (operations or {}).items():
                if isinstance(operation, dict):
                    yield from _texts(operation.get("inputs"), (*path, interfaces, interface, name, "inputs"))
    for place, relationship in enumerate(template.get("relationships") or ()):
        yield from _plain(relationship, (*path, "relationships", place))


def _texts(value: Value, path: Path) -> Iterator[Path]:
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _texts(item, (*path, place))
    elif isinstance(value, dict) and not is_function(value):
        for key, item in value.items():
            if isinstance(item, str):
                if item and looks_secret(key):
                    yield (*path, key)
            else:
                yield from _texts(item, (*path, key))
