"""A file of a blueprint: its text, its plain values, and the problems if it is not valid YAML."""

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
"""The most colons without a following space in one file; each is found by reading again up to it."""
_UNEXPECTED = "found unexpected ':'"
_OPENING = frozenset("[]{},")
_NO_MARKS: Mapping[str, tuple[int, int]] = {}


class ImportLine(NamedTuple):
    """One import as it is written: ``namespace--target``, with ``values`` for the properties of its plugins."""

    spot: ElementPath
    namespace: str
    target: str
    values: Mapping[str, Value]


@mutable
class Document:
    """One file of a blueprint: its text, its values, and where the elements of its sections begin.

    ``marks``: {section: {element: (line, column)}}, counted from 1. ``namespace``: the prefix of its elements' names
    (B8); ``line``: the import line of the file, None for the main file. ``is_lenient``: the tags
    ``!!set``, ``!!omap`` and ``!!pairs`` are understood, plain keys are text, ``on`` and ``5`` too, and the last one of
    duplicate keys wins, with a warning (PL-F059). ``is_definition``: a file of a plugin or from the web, which the importing
    user cannot change: the last one of duplicate keys wins, with a warning (PL-B005). ``spaced``: the text with a space at each of the ``gaps``,
    (line, column), where the C reader wants one and the ancestor's does not.
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
        """The text as the reader takes it; marks and places are those of it."""
        return self.spaced or self.text

    def own_column(self, line: int, column: int) -> int:
        """The column in the text as it was written."""
        return column - sum(at[0] == line and at[1] < column for at in self.gaps)

    def mark(self, section: str, name: str) -> tuple[int, int]:
        """Where an element begins, (0, 0) if its section is written elsewhere: an alias."""
        line, column = self.marks.get(section, _NO_MARKS).get(self.own_name(name), (0, 0))
        return line, self.own_column(line, column)

    def own_name(self, name: str) -> str:
        """The name of an element as the file has it, without the namespace."""
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
    """The document in ``text``; None when it cannot be used, with the reasons in ``report``."""
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
    """True where a text can be read once a space is put behind the colon at which the C reader gave up.

    In ``{concat:[a]}`` it finds an unexpected colon, where the ancestor's reader, which is written in Python, finds a key and a list.
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
    """What is probably missing where the reader gave up."""
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
