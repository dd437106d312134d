"""Convert YAML text to plain values, in one pass over the events of the C parser.

Without a tree of nodes this is several times faster than loading. The position of a value in the
text is found by a second pass, only if there is a problem (``positions``).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, Final, cast

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from phaseline.dsl.text.scalars import MAX_DEPTH, MERGE, TAGS, PlainScalars, UnusableScalar, as_key, tagged_value

if TYPE_CHECKING:
    from phaseline.dsl.text.document import Document
    from phaseline.dsl.text.problem_report import ProblemReport
    from phaseline.model.blueprint.blueprint import Value

MAX_ALIASED = 1_000_000
"""Largest number of values that aliases (``*name``) may add to a file. It stops YAML bombs."""

Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DISCARD: Final = object()
"""Replacement for an unusable key that was reported; its value is dropped."""
_UNUSUAL: Final = frozenset({UnusableScalar, type(MERGE)})
_FRAME: Final = frozenset({StreamStartEvent, DocumentEndEvent, StreamEndEvent})
_PLAIN_TAGS: Final = frozenset({None, "!", f"{TAGS}map", f"{TAGS}seq"})


def _pairs(rows: Any) -> list[Value]:
    """Return ``[a: 1, b: 2]`` as a list of lists [key, value]."""
    if not isinstance(rows, list):
        raise TypeError
    return [[key, value] for ((key, value),) in (row.items() for row in rows)]


COLLECTIONS: Final[dict[str | None, Callable[[Any], Value]]] = {
    f"{TAGS}set": lambda mapping: list(mapping.keys()),
    f"{TAGS}pairs": _pairs,
    f"{TAGS}omap": lambda rows: dict(cast("Any", _pairs(rows))),
}
"""{tag: conversion of the mapping or list that has the tag}, for lenient documents."""


class UnusableText(Exception):
    """Raised if reading cannot continue; the reason is in the report."""


class YamlText:
    """Reads one text. ``_mapping`` and ``_list`` are called often and must be fast; the others are not.

    ``_count`` is the number of values read, ``_aliased`` the number of values that aliases add. ``_sizes`` is {anchor:
    number of values in it}. ``_begun`` are the anchors whose values are not complete yet.
    """

    def __init__(self, document: Document, report: ProblemReport) -> None:
        """Start reading. Problems are added to ``report``; values and marks are stored in ``document``."""
        self._document = document
        self._report = report
        self._next: Any = None
        self._plain = PlainScalars()
        self._depth = 0
        self._count = 0
        self._aliased = 0
        self._anchors: dict[str, Value] = {}
        self._sizes: dict[str, int] = {}
        self._begun: set[str] = set()

    def read(self) -> None:
        """Store the values of the text in the document. Raises ``UnusableText`` and ``yaml.YAMLError``."""
        self._next = Loader(self._document.readable).get_event
        documents_count = 0
        for event in iter(self._next, None):
            if event.__class__ is DocumentStartEvent:
                documents_count += 1
                if documents_count > 1:
                    what = "not valid YAML: a second document begins here"
                    self._complain("PL-B004", what, "remove the line '---'", event)
                    raise UnusableText
            elif event.__class__ not in _FRAME:
                self._document.root = self._value(event)

    def _mapping(self, places: dict[str, tuple[int, int]] | None) -> dict[str, Value]:
        """Read the rest of a mapping whose start event was read, and return the mapping.

        Store {key: (line, column)}, counted from 1, in ``places``.
        """
        following, plain = self._next, self._plain
        found: dict[Any, Any] = {}
        merged: list[dict[str, Value]] = []
        while True:
            event = following()
            if event.__class__ is ScalarEvent and event.anchor is None and event.tag is None:
                key = plain[event.value] if event.implicit[0] else event.value
            elif event.__class__ is MappingEndEvent:
                break
            else:
                key = self._scalar(event) if event.__class__ is ScalarEvent else self._value(event)
            if key.__class__ is not str or key in found:
                key = self._unusual_key(event, key, found)
            elif places is not None:
                mark = event.start_mark
                places[key] = (mark.line + 1, mark.column + 1)
            event = following()
            if event.__class__ is ScalarEvent and event.anchor is None and event.tag is None:
                value = plain[event.value] if event.implicit[0] else event.value
                if value.__class__ in _UNUSUAL:
                    value = self._value(event)
            else:
                value = self._value(event, key)
            if key is MERGE:
                merged += self._sources(event, value)
            else:
                found[key] = value
        self._count += 2 * len(found)
        found.pop(_DISCARD, None)
        return _merged(merged, found) if merged else found

    def _list(self) -> list[Value]:
        """Read the rest of a list whose start event was read, and return the list."""
        following = self._next
        found: list[Value] = []
        while True:
            event = following()
            if event.__class__ is SequenceEndEvent:
                self._count += len(found)
                return found
            found.append(self._value(event))

    def _value(self, event: Any, key: object = None) -> Any:
        """Return the whole value that begins with an event; ``key`` is the key to which it belongs."""
        if event.__class__ is ScalarEvent:
            value = self._scalar(event)
            return "<<" if value is MERGE else value
        if event.__class__ is AliasEvent:
            return self._alias(event)
        collect = COLLECTIONS.get(event.tag) if self._document.is_lenient else None
        if event.tag not in _PLAIN_TAGS and collect is None:
            what = f"the tag '{event.tag.replace(TAGS, '!!')}' has no meaning here"
            self._complain("PL-B008", what, "leave the tag out", event)
        begun_at = self._count + self._aliased
        if event.anchor is not None:
            self._check_anchor(event)
            self._begun.add(event.anchor)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            what = f"mappings and lists are nested more than {MAX_DEPTH} levels deep"
            self._complain("PL-B007", what, "flatten the structure", event)
            raise UnusableText
        if event.__class__ is MappingStartEvent:
            is_section = self._depth == 2 and key.__class__ is str
            value = self._mapping(self._document.marks.setdefault(key, {}) if is_section else None)
        else:
            value = self._list()
        self._depth -= 1
        if collect is not None:
            value = self._collected(collect, value, event)
        if event.anchor is not None:
            self._begun.discard(event.anchor)
            self._anchors[event.anchor] = value
            self._sizes[event.anchor] = self._count + self._aliased - begun_at + 1
        return value

    def _collected(self, collect: Callable[[Any], Value], value: Value, event: Any) -> Value:
        """Convert a mapping or list as its tag requires."""
        try:
            return collect(value)
        except (AttributeError, TypeError, ValueError):
            what = f"not valid YAML: this is no {event.tag.replace(TAGS, '!!')}"
            self._complain("PL-B004", what, "leave the tag out", event)
            return value

    def _check_anchor(self, event: Any) -> None:
        """Report an anchor that is used for a second value: YAML allows it, but Cloudify's parser does not."""
        if event.anchor in self._anchors or event.anchor in self._begun:
            what = f"not valid YAML: the anchor '&{event.anchor}' is given twice"
            self._complain("PL-B004", what, "rename one of the two", event)

    def _alias(self, event: Any) -> Value:
        """Return the value of an anchor for an alias, and count the values that the alias adds."""
        if event.anchor not in self._anchors:
            inside = event.anchor in self._begun
            what = f"'*{event.anchor}' contains itself" if inside else f"'*{event.anchor}' has no anchor before it"
            mend = f"put '&{event.anchor}' before the value to repeat; anchors do not cross files"
            self._complain("PL-B004", f"not valid YAML: {what}", mend, event)
            raise UnusableText
        self._aliased += self._sizes[event.anchor]
        if self._aliased > MAX_ALIASED:
            what = f"aliases expand the file to more than {MAX_ALIASED:,} values"
            self._complain("PL-B007", what, "use fewer aliases within anchors: they multiply the values", event)
            raise UnusableText
        return self._anchors[event.anchor]

    def _scalar(self, event: Any) -> object:
        """Return the value of a scalar event; report an unusable number, and store the value if it has an anchor."""
        value: object = self._plain[event.value] if event.implicit[0] else event.value
        if event.tag is not None:
            value = tagged_value(event.tag, event.value)
        if isinstance(value, UnusableScalar):
            reason = value.reason
            self._complain("PL-B008", reason, "put it into quotes if it is text", event)
            value = event.value
        if event.anchor is not None:
            self._check_anchor(event)
            self._anchors[event.anchor] = "<<" if value is MERGE else value  # type: ignore[assignment]  # scalars are values
            self._sizes[event.anchor] = 1
        return value

    def _unusual_key(self, event: Any, value: object, found: Container[object]) -> object:
        """Handle a key that merges mappings (``<<``), is not text, or is a duplicate; return the key to use."""
        if value is MERGE:
            return MERGE
        if self._document.is_lenient and event.__class__ is ScalarEvent and event.tag is None:
            value = event.value
            if value in found:
                mark: Any = event.start_mark
                what, mend = (
                    f"the key '{value}' is given twice in one mapping",
                    "remove one of the two; the last counts",
                )
                self._report.warn_at("PL-F059", what, mend, self._document, mark.line, mark.column)
            return value
        if event.__class__ is ScalarEvent and event.tag is None:
            value = as_key(value)
            if value.__class__ is str and (value not in found or self._document.is_definition):
                if value in found:
                    what, mend = f"the key '{value}' is given twice in one mapping", "the last counts"
                    mark = event.start_mark
                    self._report.warn_at("PL-B005", what, mend, self._document, mark.line, mark.column)
                return value
        if isinstance(value, str):
            what, mend = f"the key '{value}' is given twice in one mapping", "remove one of the two"
            self._complain("PL-B005", what, mend, event)
        elif event.__class__ is ScalarEvent:
            what, mend = (
                f"a key must be text, this one is {event.value or 'empty'!r}",
                f'write "{event.value}" in quotes',
            )
            self._complain("PL-B006", what, mend, event)
        else:
            mend = "put a value that begins with { or [ into quotes"
            self._complain("PL-B006", "a key must be text, this one is a mapping or list", mend, event)
        return _DISCARD

    def _sources(self, event: Any, value: object) -> list[dict[str, Value]]:
        """Return the mappings that ``<<`` merges."""
        sources: list[Any] = value if isinstance(value, list) else [value]
        if all(isinstance(source, dict) for source in sources):
            return sources
        what = "not valid YAML: '<<' merges mappings only"
        self._complain("PL-B004", what, "name a mapping, as in '<<: *anchor'", event)
        return []

    def _complain(self, code: str, message: str, mend: str, event: Any) -> None:
        """Report a problem at the position where the event begins."""
        mark = event.start_mark
        self._report.add_at(code, message, mend, self._document, mark.line, mark.column)


def _merged(sources: list[dict[str, Value]], own: dict[str, Value]) -> dict[str, Value]:
    """Merge the sources of ``<<`` below the mapping's own keys; for a key in several sources, the first one counts."""
    whole: dict[str, Value] = {}
    for source in (*reversed(sources), own):
        whole.update(source)
    return whole
