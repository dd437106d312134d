"""Read one file of a blueprint: its text, its plain values, and its problems if it is not valid YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.dsl.text.scalars import MAX_DEPTH
from phaseline.lang.fast_dataclasses import mutable
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.blueprint import Value

if TYPE_CHECKING:
    import yaml

    from phaseline.dsl.text.problem_report import ElementPath, ProblemReport

NAMESPACE = "--"
"""The separator between a namespace and a name."""
MAX_GAPS = 1_000
"""Largest number of colons without a following space in one file. For each of them the text is parsed once more."""
_UNEXPECTED = "found unexpected ':'"
_OPENING = frozenset("[]{},")
_NO_MARKS: Mapping[str, tuple[int, int]] = {}


class ImportLine(NamedTuple):
    """One written import: ``namespace--target``, with ``values`` for the properties of its plugins."""

    spot: ElementPath
    namespace: str
    target: str
    values: Mapping[str, Value]


@mutable
class Document:
    """One file of a blueprint: its text, its values, and where the elements of its sections begin.

    ``marks`` is {section: {element: (line, column)}}, counted from 1. ``namespace`` is the prefix of its elements'
    names (B8). ``line`` is the import line of the file, None for the main file. With ``is_lenient``, the tags
    ``!!set``, ``!!omap`` and ``!!pairs`` are understood, plain keys such as ``on`` and ``5`` are text, and the last of
    duplicate keys is used, with a warning (PL-F059). ``is_definition`` is True for a plugin's or web file, which the
    importing user cannot change: the last of duplicate keys is used, with a warning (PL-B005). ``spaced`` is the text
    with a space added at each of the ``gaps`` (line, column): the C parser requires a space there, Cloudify's parser
    does not.
    """

    name: str
    text: str
    root: Value = None
    marks: dict[object, dict[str, tuple[int, int]]] = field(default_factory=dict)
    is_bundled: bool = False
    namespace: str = ""
    line: ImportLine | None = None
    is_lenient: bool = False
    spaced: str = ""
    gaps: tuple[tuple[int, int], ...] = ()
    is_definition: bool = False

    @property
    def readable(self) -> str:
        """Return the text that the parser reads, with added spaces; marks and positions refer to this text."""
        return self.spaced or self.text

    def own_column(self, line: int, column: int) -> int:
        """Convert a column of ``readable`` to the column in the text as the user wrote it."""
        return column - sum(at[0] == line and at[1] < column for at in self.gaps)

    def mark(self, section: str, name: str) -> tuple[int, int]:
        """Return (line, column) where an element begins; (0, 0) if its section is a YAML alias, written in another place."""
        line, column = self.marks.get(section, _NO_MARKS).get(self.own_name(name), (0, 0))
        return line, self.own_column(line, column)

    def own_name(self, name: str) -> str:
        """Return the name of an element as the file writes it, without the namespace."""
        return name.removeprefix(f"{self.namespace}{NAMESPACE}") if self.namespace else name


def read_document(
    name: str,
    text: str,
    report: ProblemReport,
    *,
    is_bundled: bool = False,
    is_lenient: bool = False,
    is_definition: bool = False,
) -> Document | None:
    """Read the document in ``text``, or return None if it cannot be used; ``report`` then has the reasons."""
    document = Document(name, text, is_bundled=is_bundled, is_lenient=is_lenient, is_definition=is_definition)
    if text.startswith(("{", "\n{", " {")):
        from phaseline.dsl.text.json_reader import NotPlainJson, read_json

        try:
            document.root, document.marks = read_json(text, MAX_DEPTH)
            return document
        except NotPlainJson:
            pass
    import yaml  # a tenth of what a small command takes

    from phaseline.dsl.text.yaml_reader import UnusableText, YamlText

    while True:
        beginning = report.beginning()
        try:
            YamlText(document, report).read()
        except yaml.YAMLError as error:
            if _make_gap(error, document):
                report.forget(beginning)
                document.marks.clear()
                continue
            _report_yaml_error(error, document, report)
            return None
        except UnusableText:
            return None
        return document


def _make_gap(error: yaml.YAMLError, document: Document) -> bool:
    """Add a space after the colon at which the C parser failed. Return False if a missing space was not the cause.

    The C parser rejects ``{concat:[a]}``; Cloudify's parser, written in Python, reads a key and a list.
    """
    mark, begun = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if getattr(error, "problem", None) != _UNEXPECTED or mark is None or begun is None or mark.line != begun.line:
        return False
    text, behind = document.readable, mark.index + 1
    if len(document.gaps) >= MAX_GAPS or text[behind : behind + 1] not in _OPENING:
        return False
    document.spaced = f"{text[:behind]} {text[behind:]}"
    document.gaps += ((mark.line + 1, mark.column + 1),)
    return True


def _report_yaml_error(error: yaml.YAMLError, document: Document, report: ProblemReport) -> None:
    import yaml

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
        before = document.readable[:position]
        line, column = before.count("\n"), position - (before.rfind("\n") + 1)
    mend = _yaml_mend(error, document.readable.splitlines(), line, column)
    report.add_at("PL-B004", f"not valid YAML: {what}", mend, document, line, column)


def _yaml_mend(error: yaml.YAMLError, lines: list[str], line: int, column: int) -> str:
    """Return advice what is probably missing where the parser failed."""
    if line < len(lines) and "\t" in lines[line][: column + 1]:
        return "indent with spaces, not with tabs"
    problem, context = getattr(error, "problem", None) or "", getattr(error, "context", None) or ""
    begun = getattr(error, "context_mark", None)
    if "could not find expected ':'" in problem and begun is not None:
        return f"perhaps line {begun.line + 1} lacks a colon: '{lines[begun.line].strip()}:'"
    if "flow node" in context:
        return "close the bracket that is opened above, or write the missing value here"
    if "flow" in context and begun is not None:
        return f"close the bracket that is opened in line {begun.line + 1}, column {begun.column + 1}"
    above = next((number for number in range(min(line, len(lines)) - 1, -1, -1) if lines[number].strip()), None)
    if "mapping values are not allowed" in problem and above is not None and ":" not in lines[above]:
        return f"perhaps line {above + 1} lacks a colon: '{lines[above].strip()}:'"
    if "mapping values are not allowed" in problem and line < len(lines) and lines[line].count(": ") > 1:
        return "put a text with ': ' in it into quotes"
    return "correct the YAML here or just above"
