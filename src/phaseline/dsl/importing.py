"""All files of a blueprint, the main one first, in breadth-first order of their imports (B3, B6)."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from phaseline.dsl.builtin import bundled_name
from phaseline.dsl.documents import Document, read_document
from phaseline.dsl.report import Report, Spot
from phaseline.dsl.source import Source
from phaseline.dsl.versions import LATEST, minor_version
from phaseline.model.blueprint import Value
from phaseline.model.problem import Problem, ProblemsError

MAX_FILES = 500
"""Files that one blueprint may import, directly or not."""
NAMESPACE = "--"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_VERSION_MEND = f"Add 'tosca_definitions_version: cloudify_dsl_1_{LATEST}' (or an older one) at the top."


class Files(NamedTuple):
    """The documents of a blueprint and the minor version of the main one (None: unknown, then nothing is gated)."""

    documents: list[Document]
    minor: int | None


def read_files(main: str, source: Source, report: Report, *, validate_version: bool = True) -> Files:
    """The main file and everything it imports. A file reached twice is read once, so that cycles do no harm."""
    document = _read_main(main, source, report)
    if document is None:
        return Files([], None)
    minor = minor_version(document, report)
    root = document.root
    if isinstance(root, dict) and "tosca_definitions_version" not in root:
        report.add("PL-B010", "The version of the language is missing", _VERSION_MEND, Spot(document, ()))
    elif not isinstance(root, dict):
        report.add(
            "PL-B015",
            "A blueprint must be a mapping",
            "Begin with 'tosca_definitions_version: cloudify_dsl_1_4'.",
            Spot(document, ()),
        )
    importer = _Importer(source, report, LATEST if minor is None else minor, minor if validate_version else None)
    return Files(importer.follow(document), minor)


def _read_main(main: str, source: Source, report: Report) -> Document | None:
    try:
        text = source.read(main)
    except ProblemsError as error:
        for problem in error.problems:
            report.add_ready(problem)
        return None
    if text is None:
        mend = "Check the path; it is relative to the folder you are in."
        if "://" in main:
            mend = "Save it as a file, and name that; only what a blueprint imports may be an address in the web."
        report.add_ready(
            Problem(
                "PL-B001",
                f"There is no file '{main}'",
                mend,
                cloudify_code=30,
                cloudify_class="DSLParsingLogicException",
            )
        )
        return None
    document = read_document(main, text, report)
    if document is not None and document.root is None:
        document.root = {}
    return document


class _Importer:
    """Follows imports breadth first."""

    def __init__(self, source: Source, report: Report, minor: int, gated: int | None) -> None:
        """``minor`` chooses among files, ``gated`` refuses elements of later versions (None: nothing is gated)."""
        self._source = source
        self._report = report
        self._minor = minor
        self._gated = gated
        self._loaded: set[str] = set()

    def follow(self, main: Document) -> list[Document]:
        """``main`` and all it imports."""
        self._loaded.add(main.name)
        documents = [main]
        waiting = deque([main])
        while waiting:
            for spot, name in self._imports(waiting.popleft()):
                imported = self._load(name, spot)
                if imported is None:
                    continue
                if len(documents) >= MAX_FILES:
                    self._report.add(
                        "PL-B026",
                        f"The blueprint imports more than {MAX_FILES} files",
                        "Put them together into fewer.",
                        spot,
                    )
                    return documents
                documents.append(imported)
                waiting.append(imported)
        return documents

    def _imports(self, document: Document) -> list[tuple[Spot, str]]:
        """The import strings of a file with their places; whatever is no string is reported."""
        entries = document.root.get("imports") if isinstance(document.root, dict) else None
        if not isinstance(entries, list):
            return []
        found: dict[str, Spot] = {}
        for number, entry in enumerate(entries):
            spot = Spot(document, ("imports", number))
            name = self._import_name(entry, spot)
            if name is None:
                continue
            if name in found:
                self._report.add(
                    "PL-B022", f"'{name}' is imported twice in this file", "Remove one of the two lines.", spot
                )
                continue
            found[name] = spot
        return [(spot, name) for name, spot in found.items()]

    def _import_name(self, entry: Value, spot: Spot) -> str | None:
        if isinstance(entry, str):
            return entry
        if isinstance(entry, dict) and len(entry) == 1:
            if not self._report.gate("properties on an import line", self._gated, 5, spot):
                return None
            self._report.add(
                "PL-B017",
                "Plugin properties on an import line are not supported yet",
                "Write only the name of the file.",
                spot,
            )
        else:
            self._report.add(
                "PL-B023", "An import must be text: the name of a file", "Write '- NAME' with the file's path.", spot
            )
        return None

    def _load(self, name: str, spot: Spot) -> Document | None:
        builtin = bundled_name(name, self._minor) or (_part_of_builtin(name) if spot.document.is_bundled else None)
        if builtin is not None:
            return self._load_builtin(builtin, name, spot)
        address = _address(name, spot.document.name)
        path = address or self._local_path(name, spot)
        if path is None or path in self._loaded:
            return None
        self._loaded.add(path)
        try:
            text = self._source.read(path) if address is None else self._source.fetch(address)
        except ProblemsError as error:
            self._pass_on(error, spot)
            return None
        if text is None:
            self._not_found(name, spot)
            return None
        return self._checked(read_document(path, text, self._report), spot)

    def _load_builtin(self, builtin: str, name: str, spot: Spot) -> Document | None:
        shown = f"cloudify/types/{builtin}"
        if shown in self._loaded:
            return None
        text = self._source.bundled(builtin)
        if text is None:
            self._not_found(name, spot)
            return None
        self._loaded.add(shown)
        return self._checked(read_document(shown, text, self._report, is_bundled=True), spot)

    def _local_path(self, name: str, spot: Spot) -> str | None:
        """The path of a local file, the sibling for the main version first; None and a report if there is none."""
        scheme = _SCHEME.match(name)
        if NAMESPACE in name:
            self._report.add(
                "PL-B017",
                f"The import '{name}' has a namespace; namespaces are not supported yet",
                "Import the file without 'NAME--'.",
                spot,
            )
            return None
        if scheme is not None and scheme[1] != "file":
            self._report.add(
                "PL-B017",
                f"The import '{name}' is not a local file; imports of '{scheme[1]}:' are not supported yet",
                "Save the file beside the blueprint and import it by its name.",
                spot,
            )
            return None
        wanted = re.sub(r"^file:(//)?", "", name)
        stem, dot, ending = wanted.rpartition(".")
        candidates = [f"{stem}_1_{self._minor}{dot}{ending}", wanted] if dot and "/" not in ending else [wanted]
        try:
            for candidate in candidates:
                path = self._source.find(candidate, spot.document.name)
                if path is not None:
                    return path
        except ProblemsError as error:
            self._pass_on(error, spot)
            return None
        self._not_found(name, spot)
        return None

    def _not_found(self, name: str, spot: Spot) -> None:
        mend = self._report.suggest(
            name, ["cloudify/types/types.yaml"], "Check the path; it is relative to the file that imports it."
        )
        self._report.add("PL-B020", f"There is no file '{name}' to import", mend, spot)

    def _pass_on(self, error: ProblemsError, spot: Spot) -> None:
        """What the source says about a file, at the line that imports it."""
        for problem in error.problems:
            self._report.add(problem.code, problem.message, problem.mend, spot, number=problem.cloudify_code)

    def _checked(self, document: Document | None, spot: Spot) -> Document | None:
        """The document if it is a mapping whose version is not above the main file's."""
        if document is None or document.root is None:
            return None
        if not isinstance(document.root, dict):
            self._report.add(
                "PL-B015",
                "An imported file must be a mapping",
                "Write sections such as 'node_types:' in it.",
                Spot(document, ()),
            )
            return None
        minor = minor_version(document, self._report)
        if minor is not None and minor > self._minor:
            self._report.add(
                "PL-B012",
                f"'{document.name}' is written in cloudify_dsl_1_{minor}, the main file in cloudify_dsl_1_{self._minor}",
                f"Write 'tosca_definitions_version: cloudify_dsl_1_{minor}' in the main file.",
                spot,
            )
        return document


def _address(name: str, importer: str) -> str | None:
    """The address in the web that an import means; None for a local file. Files of the web know only the web."""
    if _WEB.match(name):
        return name
    if not _WEB.match(importer) or _SCHEME.match(name) or NAMESPACE in name:
        return None
    scheme, _, rest = importer.partition("://")
    server, _, path = rest.partition("?")[0].partition("/")
    folder = path.rpartition("/")[0]
    steps = [] if name.startswith("/") else [step for step in folder.split("/") if step]
    for step in name.split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in {"", "."}:
            steps.append(step)
    return f"{scheme}://{server}/{'/'.join(steps)}"


def _part_of_builtin(name: str) -> str | None:
    """A file that the built-in types are made of."""
    return name if re.fullmatch(r"parts/[a-z_0-9]+\.yaml", name) else None
