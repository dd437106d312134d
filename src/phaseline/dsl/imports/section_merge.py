"""Merge the sections of all files of a blueprint (B7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, cast

from phaseline.dsl.grammar.shape_check import BROKEN, ShapeCheck
from phaseline.dsl.grammar.tables import (
    BLUEPRINT,
    FIRST_WINS,
    FROM_MAIN,
    MERGED,
    MERGED_SINCE_3,
    OWN,
    Each,
    Leaf,
    Table,
)
from phaseline.dsl.imports.builtin_types import is_basic
from phaseline.dsl.imports.namespaces import Namespacing, names_of
from phaseline.dsl.text.document import Document
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.blueprint.blueprint import Value

IN_MISSING = "the import that is missing may declare it: see its problem"


@mutable
class MergedSections:
    """The merged sections of all files: ``elements`` is {section: {name: value}}, ``origins`` the file of each element.

    ``broken`` is {section: names} of elements that were dropped as invalid, so that they are not reported as unknown.
    ``is_whole`` is False if an imported file was not available. ``is_open`` is True if missing declarations are then
    replaced by open types, and ``open`` is {section: open types}. ``documents`` are all files, in load order.
    ``version`` is the minor version that decides which sections may occur in several files, even if ``minor`` is None.
    ``namespaces`` is {namespace of an imported file: the uploaded blueprint in it, or ""}.
    """

    main: Document
    minor: int | None
    elements: dict[str, dict[str, Value]] = field(default_factory=dict)
    origins: dict[str, dict[str, Document]] = field(default_factory=dict)
    broken: dict[str, set[str]] = field(default_factory=dict)
    single: dict[str, Value] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True
    is_open: bool = False
    version: int | None = None
    open: dict[str, set[str]] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()

    def of(self, section: str) -> dict[str, Value]:
        """Return {name: value} of the elements of a section."""
        return self.elements.get(section, {})

    def spot(self, section: str, name: str) -> ElementPath:
        """Return the position of an element."""
        return ElementPath(self.origins.get(section, {}).get(name, self.main), (section, name))

    def is_broken(self, section: str, name: str) -> bool:
        """Return True for an element that exists but was dropped as invalid."""
        return name in self.broken.get(section, ())


def merge_sections(
    documents: list[Document],
    minor: int | None,
    report: ProblemReport,
    uploaded: Mapping[str, str] = MappingProxyType({}),
    *,
    version: int | None = None,
) -> MergedSections:
    """Check and merge the sections of ``documents``, which are in load order, the main file first.

    ``uploaded`` is {namespace: the uploaded blueprint in it}. ``version`` is the minor version that decides which
    sections may occur in several files; None: ``minor`` decides.
    """
    sections = MergedSections(
        documents[0], minor, documents=tuple(documents), version=minor if version is None else version
    )
    for document in documents:
        if document.namespace:
            sections.namespaces[document.namespace] = uploaded.get(document.namespace, "")
    owners: dict[str, Document] = {}
    basics = {id(document) for document in documents if is_basic(document)}
    basic_names = _basic_names(documents, basics) if any(document.namespace for document in documents) else {}
    merger = _Merger(sections, owners, basics, report)
    for document in documents:
        check = ShapeCheck(report, None if document.is_bundled else minor)
        root = document.root
        if not isinstance(root, dict):
            continue  # reported when it was read
        checked = root if document.is_bundled else check.check(BLUEPRINT, root, ElementPath(document, ()))
        assert isinstance(checked, dict), "a blueprint requires no key, so something is always left of it"
        renaming = Namespacing(document.namespace, basic_names, names_of(root)) if document.namespace else None
        for section, value in root.items():
            if section in OWN or section not in BLUEPRINT.keys:
                continue
            good = checked.get(section)
            _note_broken(sections, section, value, good, renaming)
            if good is not None and good is not BROKEN:
                merger.take(document, section, renaming.section(section, good) if renaming else good)
    return sections


def _basic_names(documents: list[Document], basics: set[int]) -> dict[str, set[str]]:
    """Return {section: names of elements} of the basic types."""
    found: dict[str, set[str]] = {}
    for document in documents:
        if id(document) in basics:
            for section, names in names_of(document.root).items():
                found.setdefault(section, set()).update(names)
    return found


def _note_broken(
    sections: MergedSections, section: str, value: Value, good: object, renaming: Namespacing | None
) -> None:
    if good is not value and isinstance(value, dict):
        kept = good if isinstance(good, dict) else {}
        lost = [name for name in value if name not in kept]
        sections.broken.setdefault(section, set()).update(map(renaming.name, lost) if renaming else lost)


@mutable
class _Merger:
    """Merges sections file by file, in load order."""

    sections: MergedSections
    owners: dict[str, Document]
    basics: set[int]
    report: ProblemReport

    def take(self, document: Document, section: str, value: Value) -> None:
        """Add one section of one file."""
        shape = BLUEPRINT.keys[section].shape
        is_mapping = isinstance(shape, Each) or (isinstance(shape, Leaf) and isinstance(value, dict))
        if section in FROM_MAIN or not is_mapping or isinstance(shape, Table):
            self.sections.single.setdefault(section, value)
            return
        assert isinstance(value, dict)
        if section not in self.owners:
            self.owners[section] = document
            self.sections.elements[section] = dict(value)
            self.sections.origins[section] = dict.fromkeys(value, document)
            return
        minor = self.sections.version
        may_merge = section in MERGED or (section in MERGED_SINCE_3 and (minor is None or minor >= 3))
        if not may_merge:
            self._cannot_merge(document, section)
            return
        for name, item in value.items():
            self._merge_element(document, section, name, item)

    def _cannot_merge(self, document: Document, section: str) -> None:
        mend = "keep it in one file; from cloudify_dsl_1_3 on, some sections may be in several files"
        self.report.add(
            "PL-B024",
            f"the section '{section}' is in more than one file",
            mend,
            ElementPath(document, (section,)),
            point="key",
        )

    def _merge_element(self, document: Document, section: str, name: str, item: Value) -> None:
        elements, origins = self.sections.elements[section], self.sections.origins[section]
        if name not in elements:
            elements[name] = item
            origins[name] = document
            return
        if section == "workflows" and self._is_built_in(document, name):
            self.report.warn(
                "PL-B027",
                f"the workflow '{name}' replaces the built-in one",
                "rename it to keep the built-in one",
                ElementPath(origins[name], ("workflows", name)),
            )
        elif name.startswith("cloudify.") or id(document) in self.basics:
            elements[name] = item
            origins[name] = document
        elif section == "workflows":
            elements[name] = {**_with_fields(item), **_with_fields(elements[name])}
        elif section == "node_templates" and _is_fragment(item):
            self._extend_relationships(name, elements[name], item)
        elif section == "node_templates" and _is_fragment(elements[name]):
            self._extend_relationships(name, item, elements[name], is_first=True)
            origins[name] = document
        elif section not in FIRST_WINS:
            first = origins[name]
            self.report.add(
                "PL-B025",
                f"'{name}' of '{section}' is defined in '{first.name}' too",
                "rename or remove one of the two",
                ElementPath(document, (section, name)),
                point="key",
            )

    def _is_built_in(self, document: Document, name: str) -> bool:
        """Return True for a built-in workflow that a file of the user replaces (WD1)."""
        first = self.sections.origins["workflows"][name]
        return id(document) in self.basics and (first is self.sections.main or id(first) not in self.basics)

    def _extend_relationships(self, name: str, whole: Value, part: Value, *, is_first: bool = False) -> None:
        """Add the relationships of ``part`` to the template ``whole``; with ``is_first``, put them first."""
        template, more = cast("dict[str, Any]", whole), cast("dict[str, Any]", part)["relationships"] or []
        own = template.get("relationships") or []
        joined = [*more, *own] if is_first else [*own, *more]
        self.sections.elements["node_templates"][name] = {**template, "relationships": joined}


def _with_fields(workflow: Value) -> dict[str, Value]:
    """Return a workflow as a mapping; a workflow written as text is the value of ``mapping``."""
    return {"mapping": workflow} if isinstance(workflow, str) else cast("dict[str, Value]", workflow)


def _is_fragment(template: Value) -> bool:
    """Return True for a template that has relationships and nothing else."""
    return isinstance(template, dict) and list(template) == ["relationships"]
