"""Reads a YAML file as values with their positions: safely, and with two frequent mistakes repaired to read the rest."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Final

from phaseline.dsl.text.document import Document, read_document
from phaseline.dsl.text.problem_report import ProblemReport
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import Place, Problem
from phaseline.packages.format.problem_report import FileElement, Findings, PackageFile

if TYPE_CHECKING:
    from phaseline.packages.format.yaml_repair import Mended

MAX_FILE_BYTES: Final = 5 * 1024 * 1024
"""Largest size of a package's YAML file, in bytes."""


def read_source(name: str, content: bytes, findings: Findings) -> PackageFile | None:
    """Return the file, or None if nothing of it can be used; the reason is added to the findings."""
    text = _text(name, content, findings)
    if text is None:
        return None
    document, problems, warnings = _read(name, text)
    mend = _mended(text) if problems else None
    if document is None and mend is not None:
        document, problems, warnings = _read(name, mend.text)
        warnings = tuple(
            altered(one, place=altered(one.place, line=mend.origin[one.place.line - 1])) for one in warnings
        )
    for problem in (*problems, *warnings):
        findings.keep_ready(problem)
    if document is None:
        return None
    if mend is None or document.text == text:
        return PackageFile(name, document)
    source = PackageFile(name, document, tuple(text.splitlines()), mend.origin)
    _say_inserted(mend, findings, source)
    return source


def _mended(text: str) -> Mended | None:
    from phaseline.packages.format.yaml_repair import mended

    return mended(text)


def _text(name: str, content: bytes, findings: Findings) -> str | None:
    place = Place(name)
    if len(content) > MAX_FILE_BYTES:
        message = f"{name} has more than {MAX_FILE_BYTES // 1024 // 1024} MiB"
        findings.keep_ready(
            Problem("PL-B003", message, "a file of a package is small; move large data elsewhere", place)
        )
        return None
    try:
        text = content.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        message = f"{name} (line {line}) is not UTF-8 text"
        findings.keep_ready(Problem("PL-B002", message, "save the file as UTF-8", altered(place, line=line, column=1)))
        return None
    return text


def _read(name: str, text: str) -> tuple[Document | None, tuple[Problem, ...], tuple[Problem, ...]]:
    """Return (values, errors, warnings); the values are None if the text cannot be read."""
    report = ProblemReport()
    document = read_document(name, text, report, is_lenient=True)
    errors, warnings = (
        tuple(
            altered(
                problem,
                message=f"{name} (line {problem.place.line}): {problem.message}",
                cloudify_code=None,
                cloudify_class=None,
            )
            for problem in found
        )
        for found in (report.problems(), report.problems("warning"))
    )
    return document, errors, warnings


def _say_inserted(mend: Mended, findings: Findings, source: PackageFile) -> None:
    for line, keys in mend.inserted:
        root = source.document.root if source.document is not None else None
        index = _item_at(source, line)
        if not isinstance(root, list) or index is None:
            continue
        mend_text = f"write 'parameters:' in a line before '{keys[0]}:', in the column of 'type':\n"
        mend_text += "\n".join(["    type: …", "    parameters:", *(f"      {key}: …" for key in keys)])
        FileElement(findings, source, (index, "parameters")).wrong(
            "PL-F005", "the key is missing", mend_text, point="key"
        )


def _item_at(source: PackageFile, line: int) -> int | None:
    """Return the index of the list item that contains a line of the repaired text, or None if no item does."""
    from phaseline.dsl.text.positions import Positions

    assert source.document is not None
    root = source.document.root
    if not isinstance(root, list):
        return None
    positions = Positions(source.document)
    begins = [positions.place((place,), "value").line for place in range(len(root))]
    return max((place for place, begin in enumerate(begins) if begin <= line), default=None)
