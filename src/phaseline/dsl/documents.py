"""YAML text as plain values, made in one pass over the events of the C parser.

Keeping no tree of nodes makes this several times faster than loading; where a value stands in the
text is found by a second pass, only when there is something to complain about (``positions``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from phaseline.dsl.report import Report
from phaseline.dsl.scalars import MERGE, TAGS, PlainScalars, UnusableScalar, tagged_value
from phaseline.model.blueprint import Value
from phaseline.model.frozen import changeable

if TYPE_CHECKING:
    from phaseline.dsl.import_lines import ImportLine

NAMESPACE = "--"
"""Stands between a namespace and a name."""
MAX_DEPTH = 100
"""Levels of mappings and lists within one another."""
MAX_ALIASED = 1_000_000
"""Values that aliases (``*name``) may add to a file when written out: what makes a YAML bomb."""

Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NO_KEY: Final = object()
_DISCARD: Final = object()
"""The key of a value that is read over, because its real key was reported."""
_PENDING: Final = object()
"""Stands for a key while a mapping or list is read that stands where a key must be."""
_UNUSUAL: Final = frozenset({UnusableScalar, type(MERGE)})


@changeable
class Document:
    """One file of a blueprint: its text, its values, and where the elements of its sections begin.

    ``marks``: {section: {element: (line, column)}}, counted from 1. ``namespace`` stands before the names of the
    elements for whoever uses them (B8); ``line``: what imported the file, None for the main one.
    """

    name: str
    text: str
    root: Value = None
    marks: dict[object, dict[str, tuple[int, int]]] = field(default_factory=dict)
    is_bundled: bool = False
    namespace: str = ""
    line: ImportLine | None = None

    def own_name(self, name: str) -> str:
        """The name of an element as the file has it, without the namespace."""
        return name.removeprefix(f"{self.namespace}{NAMESPACE}") if self.namespace else name


class _UnusableText(Exception):
    """Reading on makes no sense; why stands in the report."""


def read_document(name: str, text: str, report: Report, *, is_bundled: bool = False) -> Document | None:
    """The document in ``text``; None when it cannot be used, with the reasons in ``report``."""
    document = Document(name, text, is_bundled=is_bundled)
    if text.startswith(("{", "\n{", " {")):
        from phaseline.dsl.json_text import NotPlainJson, read_json

        try:
            document.root, document.marks = read_json(text, MAX_DEPTH)
            return document
        except NotPlainJson:
            pass
    try:
        _Builder(document, report).build()
    except yaml.YAMLError as error:
        _report_yaml_error(error, document, report)
        return None
    except _UnusableText:
        return None
    return document


class _Builder:
    """One pass over the events of one text. ``build`` and ``take`` are hot; the rest happens rarely."""

    def __init__(self, document: Document, report: Report) -> None:
        self.document = document
        self.report = report
        self.stack: list[tuple[Any, object]] = []
        self.target: Any = None
        self.key: object = _NO_KEY
        self.values_count = 0
        self.aliased_count = 0
        self.documents_count = 0
        self.anchors: dict[str, Value] = {}
        self.sizes: dict[str, int] = {}
        self.anchored: dict[int, tuple[str, int]] = {}
        self.merges: dict[int, list[Value]] = {}
        self.has_discarded = False

    def build(self) -> None:
        """Put the values of the text into the document."""
        plain = PlainScalars()
        take = self.take
        for event in iter(Loader(self.document.text).get_event, None):
            if event.__class__ is ScalarEvent:
                value = plain[event.value] if event.implicit[0] else event.value
                if event.tag is not None or event.anchor is not None or value.__class__ in _UNUSUAL:
                    take(event, self.unusual(event, value))
                elif self.key.__class__ is str:  # the commonest case of take, without the call
                    self.target[self.key] = value
                    self.key = _NO_KEY
                    self.values_count += 1
                else:
                    take(event, value)
            else:
                handle = self.HANDLERS.get(event.__class__)
                if handle is not None:
                    handle(self, event)

    def take(self, event: Any, value: object) -> None:
        """Put a complete value where it belongs: it is the next key, or the value of the last key."""
        self.values_count += 1
        target, key = self.target, self.key
        if target.__class__ is dict:
            if key is _NO_KEY:
                if value.__class__ is not str or value in target:
                    value = self.unusual_key(event, value)
                self.key = value
                if len(self.stack) == 2 and value.__class__ is str:
                    mark = event.start_mark
                    self.document.marks.setdefault(self.stack[1][1], {})[value] = (mark.line + 1, mark.column + 1)
                return
            if key is MERGE:
                self.merge(event, value)
            else:
                target[key] = value if value is not MERGE else "<<"
            self.key = _NO_KEY
        elif target is None:
            self.document.root = value if value is not MERGE else "<<"  # type: ignore[assignment]  # only values arrive here
        else:
            target.append(value if value is not MERGE else "<<")

    def begin(self, event: Any) -> None:
        """Enter a mapping or list."""
        new: Any = {} if event.__class__ is MappingStartEvent else []
        if event.tag is not None and event.tag not in {"!", f"{TAGS}map", f"{TAGS}seq"}:
            self.complain(
                "PL-B008",
                f"The tag '{event.tag.replace(TAGS, '!!')}' has no meaning in a blueprint",
                "Leave the tag out.",
                event,
            )
        if event.anchor is not None:
            self.check_anchor(event)
            self.anchored[id(new)] = (event.anchor, self.values_count + self.aliased_count)
        if self.target.__class__ is dict and self.key is _NO_KEY:
            self.unusual_key(event, new)
            self.key = _PENDING
        self.stack.append((self.target, self.key))
        if len(self.stack) > MAX_DEPTH:
            self.complain(
                "PL-B007", f"Mappings and lists lie more than {MAX_DEPTH} levels deep", "Flatten the structure.", event
            )
            raise _UnusableText
        self.target, self.key = new, _NO_KEY

    def end(self, event: Any) -> None:
        """Leave a mapping or list and put it where it belongs."""
        value = self.target
        if id(value) in self.merges:
            self.apply_merges(value)
        if self.has_discarded and value.__class__ is dict:
            value.pop(_DISCARD, None)
        self.target, self.key = self.stack.pop()
        if id(value) in self.anchored:
            anchor, begun_at = self.anchored.pop(id(value))
            self.anchors[anchor] = value
            self.sizes[anchor] = self.values_count + self.aliased_count - begun_at + 1
        if self.key is _PENDING:
            self.key = _DISCARD
        else:
            self.take(event, value)

    def check_anchor(self, event: Any) -> None:
        """An anchor names one value: the ancestor's reader insists on it, although YAML itself does not."""
        if event.anchor in self.anchors or any(anchor == event.anchor for anchor, _ in self.anchored.values()):
            what = f"Not valid YAML: the anchor '&{event.anchor}' is given twice"
            self.complain("PL-B004", what, "Rename one of the two.", event)

    def alias(self, event: Any) -> None:
        """Put the value of an anchor where it is used, counting how much it is."""
        if event.anchor not in self.anchors:
            inside = any(anchor == event.anchor for anchor, _ in self.anchored.values())
            what = f"'*{event.anchor}' contains itself" if inside else f"'*{event.anchor}' has no anchor before it"
            mend = f"Put '&{event.anchor}' before the value that is meant; anchors do not cross files."
            self.complain("PL-B004", f"Not valid YAML: {what}", mend, event)
            raise _UnusableText
        self.aliased_count += self.sizes[event.anchor]
        if self.aliased_count > MAX_ALIASED:
            self.complain(
                "PL-B007",
                f"Aliases blow the file up to more than {MAX_ALIASED:,} values",
                "Repeat less: an alias within an anchor multiplies.",
                event,
            )
            raise _UnusableText
        self.take(event, self.anchors[event.anchor])

    def begin_document(self, event: Any) -> None:
        """A blueprint is one document."""
        self.documents_count += 1
        if self.documents_count > 1:
            self.complain("PL-B004", "Not valid YAML: a second document begins here", "Remove the line '---'.", event)
            raise _UnusableText

    def unusual(self, event: Any, value: object) -> object:
        """The value of a scalar that has a tag or anchor, or that cannot be kept."""
        if event.tag is not None:
            value = tagged_value(event.tag, event.value)
        if isinstance(value, UnusableScalar):
            reason = value.reason
            self.complain("PL-B008", reason[0].upper() + reason[1:], "Put it into quotes if it is text.", event)
            value = event.value
        if event.anchor is not None:
            self.check_anchor(event)
            self.anchors[event.anchor] = "<<" if value is MERGE else value  # type: ignore[assignment]  # scalars are values
            self.sizes[event.anchor] = 1
        return value

    def unusual_key(self, event: Any, value: object) -> object:
        """What to do with a key that is a merge, not text, or there already."""
        if value is MERGE:
            return MERGE
        self.has_discarded = True
        if not isinstance(value, str):
            shown = event.value if event.__class__ is ScalarEvent else "a mapping or list"
            self.complain(
                "PL-B006",
                f"A key must be text, this one is {shown!r}"
                if event.__class__ is ScalarEvent
                else f"A key must be text, this one is {shown}",
                f'Write "{shown}" in quotes.'
                if event.__class__ is ScalarEvent
                else "Put a value that begins with { or [ into quotes.",
                event,
            )
        else:
            self.complain(
                "PL-B005", f"The key '{value}' is given twice in one mapping", "Remove one of the two.", event
            )
        return _DISCARD

    def merge(self, event: Any, value: object) -> None:
        """Keep what ``<<`` names until the mapping is complete."""
        sources: list[Any] = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            self.complain(
                "PL-B004", "Not valid YAML: '<<' merges mappings only", "Name a mapping, as in '<<: *anchor'.", event
            )
            return
        self.merges.setdefault(id(self.target), []).extend(sources)

    def apply_merges(self, target: dict[str, Value]) -> None:
        """Put what ``<<`` named under the mapping's own keys; of several the first wins."""
        own = dict(target)
        target.clear()
        for source in reversed(self.merges.pop(id(target))):
            target.update(source)  # type: ignore[arg-type]  # merge() let only mappings in
        target.update(own)

    def complain(self, code: str, message: str, mend: str, event: Any) -> None:
        """Report a problem where the event begins."""
        mark = event.start_mark
        self.report.add_at(code, message, mend, self.document, mark.line, mark.column)

    HANDLERS: ClassVar[dict[type, Callable[[_Builder, Any], None]]] = {
        MappingStartEvent: begin,
        SequenceStartEvent: begin,
        MappingEndEvent: end,
        SequenceEndEvent: end,
        AliasEvent: alias,
        DocumentStartEvent: begin_document,
    }


def _report_yaml_error(error: yaml.YAMLError, document: Document, report: Report) -> None:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.problem, error.context) if part)
        line, column = (mark.line, mark.column) if mark else (0, 0)
    else:
        position = getattr(error, "position", 0) or 0
        character = getattr(error, "character", None)
        what = "a character that text must not contain" + (
            f" (code {character:#x})" if isinstance(character, int) else ""
        )
        before = document.text[:position]
        line, column = before.count("\n"), position - (before.rfind("\n") + 1)
    mend = _yaml_mend(error, document.text.splitlines(), line, column)
    report.add_at("PL-B004", f"Not valid YAML: {what}", mend, document, line, column)


def _yaml_mend(error: yaml.YAMLError, lines: list[str], line: int, column: int) -> str:
    """What is probably missing where the reader gave up."""
    if line < len(lines) and "\t" in lines[line][: column + 1]:
        return "Indent with spaces, not with tabs."
    problem, context = getattr(error, "problem", None) or "", getattr(error, "context", None) or ""
    begun = getattr(error, "context_mark", None)
    if "could not find expected ':'" in problem and begun is not None:
        return f"Perhaps line {begun.line + 1} lacks a colon: '{lines[begun.line].strip()}:'."
    if "flow" in context and begun is not None:
        return f"Close the bracket that is opened in line {begun.line + 1}, column {begun.column + 1}."
    above = next((number for number in range(min(line, len(lines)) - 1, -1, -1) if lines[number].strip()), None)
    if "mapping values are not allowed" in problem and above is not None and ":" not in lines[above]:
        return f"Perhaps line {above + 1} lacks a colon: '{lines[above].strip()}:'."
    if "mapping values are not allowed" in problem and line < len(lines) and lines[line].count(": ") > 1:
        return "Put a text with ': ' in it into quotes."
    return "Correct the YAML here or just above."
