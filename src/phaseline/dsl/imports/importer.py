"""Read all files of a blueprint: the main file, then its imports in breadth-first order (B3, B6, B8)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import field

from phaseline.dsl.imports.builtin_types import bundled_name, is_basic
from phaseline.dsl.imports.import_lines import import_lines
from phaseline.dsl.text.document import NAMESPACE, Document, ImportLine, read_document
from phaseline.dsl.text.dsl_versions import LATEST, read_version
from phaseline.dsl.text.file_source import FileSource
from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error

MAX_FILES = 500
"""Largest number of files that one blueprint may import, directly or through other files."""
MAX_TEXT = 256 * 1024 * 1024
"""Largest number of characters in all files together. A file counts again for every further namespace."""
UPLOADED = "blueprint:"
"""Prefix of an import that names an uploaded blueprint."""
PLUGIN = "plugin:"
NOT_AT_HAND = frozenset({"PL-B020", "PL-B028", "PL-B029", "PL-B092"})
"""Problem codes of missing files without which a blueprint can still be examined."""
GO_ON = "continue without it: --open-types"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_VERSION_MEND = f"add 'tosca_definitions_version: cloudify_dsl_1_{LATEST}' (or an older one) at the top"
_WRONG_VERSION_MEND = f"write one of cloudify_dsl_1_0 … cloudify_dsl_1_{LATEST}, for example 'tosca_definitions_version: cloudify_dsl_1_4'"


@mutable
class Files:
    """The documents of a blueprint, and the minor version of the main file.

    ``minor`` is None if the version is unknown; then elements of all versions are allowed. ``uploaded`` is {namespace:
    id of the uploaded blueprint imported under it}. ``is_whole`` is False if an imported file was not available.
    """

    documents: list[Document]
    minor: int | None
    uploaded: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True


def read_files(
    main: str, source: FileSource, report: ProblemReport, *, validate_version: bool = True, may_miss: bool = False
) -> Files:
    """Return the main file and everything it imports.

    A file that is reached twice under one namespace is read once, so that cycles do no harm. With ``may_miss``, a
    missing definition file of a plugin or a missing file in the web causes a warning, not an error.
    """
    document = _read_main(main, source, report)
    if document is None:
        return Files([], None)
    minor = minor_version(document, report)
    root = document.root
    if isinstance(root, dict) and "tosca_definitions_version" not in root:
        report.add("PL-B010", "the version of the language is missing", _VERSION_MEND, ElementPath(document, ()))
    elif not isinstance(root, dict):
        report.add(
            "PL-B015",
            "a blueprint must be a mapping",
            "begin with 'tosca_definitions_version: cloudify_dsl_1_4'",
            ElementPath(document, ()),
        )
    importer = _Importer(source, report, LATEST if minor is None else minor, minor if validate_version else None)
    importer.may_miss = may_miss
    return Files(importer.follow(document), minor, importer.uploaded, importer.is_whole)


def _read_main(main: str, source: FileSource, report: ProblemReport) -> Document | None:
    try:
        text = source.read(main)
    except ProblemsError as error:
        for problem in error.problems:
            report.add_ready(problem)
        return None
    if text is None:
        mend = "check the path; it is relative to the folder you are in"
        if "://" in main:
            mend = "save it as a file, and name that; only what a blueprint imports may be an address in the web"
        report.add_ready(
            Problem(
                "PL-B001",
                f"there is no file '{main}'",
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
    """Follows the imports of a blueprint, breadth first."""

    def __init__(self, source: FileSource, report: ProblemReport, minor: int, gated: int | None) -> None:
        """Prepare to read imports; ``follow`` reads them.

        ``minor``: the minor DSL version by which built-in types files and files such as ``NAME_1_4.yaml`` are chosen.
        ``gated``: the latest minor version whose elements are allowed; None allows all, else later ones are reported.
        """
        self.uploaded: dict[str, str] = {}
        self.may_miss = False
        self.is_whole = True
        self._source = source
        self._report = report
        self._minor = minor
        self._gated = gated
        self._read: dict[str, Document | None] = {}
        self._loaded: set[tuple[str, str, str]] = set()

    def follow(self, main: Document) -> list[Document]:
        """Return ``main`` and all files that it imports, directly or through other files."""
        self._read[main.name] = main
        self._loaded.add(("", main.name, ""))
        documents = [main]
        size = len(main.text)
        waiting = deque([main])
        while waiting:
            importer = waiting.popleft()
            for line, imported in self._imported(importer):
                size += len(imported.text)
                if len(documents) >= MAX_FILES or size > MAX_TEXT:
                    what = f"more than {MAX_FILES} files" if size <= MAX_TEXT else f"more than {MAX_TEXT:,} characters"
                    message = f"the blueprint imports {what}"
                    self._report.add("PL-B026", message, "put them together into fewer", line.spot)
                    return documents
                documents.append(imported)
                if not imported.is_bundled:
                    waiting.append(imported)
        return documents

    def _imported(self, importer: Document) -> Iterator[tuple[ImportLine, Document]]:
        """Yield (import line, document) for each import of a file.

        After a built-in types file, yield the files that it imports, before the next import line.
        """
        for line in import_lines(importer, self._report, self._gated):
            imported = self._load(line, importer)
            if imported is not None:
                yield line, imported
                if imported.is_bundled:
                    yield from self._imported(imported)

    def _load(self, line: ImportLine, importer: Document) -> Document | None:
        """Return the imported document under its namespace, or None if it is not available or already loaded."""
        document = self._document(line, importer)
        if document is None:
            return None
        namespace = NAMESPACE.join(part for part in (importer.namespace, line.namespace) if part)
        if is_basic(document):
            if line.namespace:
                self._wrong_namespace(line, 214, "the basic types cannot be imported under a namespace")
                return None
            namespace = ""
        key = (importer.name if importer.is_bundled else "", document.name, namespace)  # parts count for each set
        if key in self._loaded:
            return None
        if document.name in _importers(importer):
            message = f"'{document.name}' imports itself, under ever new namespaces: '{namespace}'"
            self._report.add("PL-B086", message, "leave the namespace out; then the circle does no harm", line.spot)
            return None
        self._loaded.add(key)
        if line.target.startswith(UPLOADED):
            self.uploaded[namespace] = line.target.removeprefix(UPLOADED)
        return Document(
            document.name,
            document.text,
            document.root,
            document.marks,
            document.is_bundled,
            namespace,
            line,
            spaced=document.spaced,
            gaps=document.gaps,
            is_definition=document.is_definition,
        )

    def _document(self, line: ImportLine, importer: Document) -> Document | None:
        """Return the document that an import line names, read and checked once for all files that import it.

        Return None and report the problem if the document is not available or invalid.
        """
        tries = self._source.replacements(line.target, self._minor)
        for number, target in enumerate(tries, 1):
            try:
                path, builtin = self._path(target, line, importer)
                if path is not None:
                    found = self._read_once(path, line, builtin=builtin)
                    if found is not None or path in self._read:
                        return found
            except ProblemsError as error:
                if number == len(tries):
                    self._pass_on(error, line)
                    return None
        self._not_found(line.target, line, importer)
        return None

    def _path(self, target: str, line: ImportLine, importer: Document) -> tuple[str | None, str | None]:
        """Return (path or address of the import or None, name of the built-in file or None)."""
        builtin = bundled_name(target, self._minor) or (_part_of_builtin(target) if importer.is_bundled else None)
        if builtin is not None:
            return f"cloudify/types/{builtin}", builtin
        return _address(target, importer.name) or self._local_path(target, line, importer), None

    def _pass_on(self, error: ProblemsError, line: ImportLine) -> None:
        """Report a problem that the file source raised, at the line with the import."""
        for problem in error.problems:
            self._unresolved(line, problem.code, problem.message, problem.mend, problem.cloudify_code)

    def _read_once(self, path: str, line: ImportLine, *, builtin: str | None = None) -> Document | None:
        """Return the document at a path or address, or None if there is none. Report its problems only once."""
        if path not in self._read:
            if builtin is not None:
                text = self._source.bundled(builtin)
            else:
                text = self._source.fetch(path) if _WEB.match(path) else self._source.read(path)
            if text is None:
                return None
            is_definition = (
                line.target.startswith(PLUGIN)
                or _WEB.match(line.target) is not None
                or line.spot.document.is_definition
            )
            document = read_document(
                path, text, self._report, is_bundled=builtin is not None, is_definition=is_definition
            )
            self._read[path] = self._checked(document, line.spot)
        return self._read[path]

    def _local_path(self, target: str, line: ImportLine, importer: Document) -> str | None:
        """Return the path that an import means, or None. A variant for the main file's version (``NAME_1_4.yaml``) comes first.

        Raises: ``ProblemsError`` for a file that may not be imported or is not available.
        """
        scheme = _SCHEME.match(target)
        if target.startswith(UPLOADED):
            return self._uploaded_path(target, line, importer)
        if target.startswith(PLUGIN):
            name, _, query = target.removeprefix(PLUGIN).partition("?")
            wanted = dict(part.split("=", 1) for part in query.split("&") if "=" in part)
            version, distribution = (_decoded(wanted.get(key, "")) for key in ("version", "distribution"))
            return self._source.plugin(name, version, distribution, self._minor)
        if scheme is not None and scheme[1] != "file":
            message = f"'{target}' cannot be fetched: nothing is imported by '{scheme[1]}:'"
            raise problem_error("PL-B029", message, "save the file beside the blueprint and import it by its name")
        wanted_name = re.sub(r"^file:(//)?", "", target)
        stem, dot, ending = wanted_name.rpartition(".")
        candidates = (
            [f"{stem}_1_{self._minor}{dot}{ending}", wanted_name] if dot and "/" not in ending else [wanted_name]
        )
        for candidate in candidates:
            path = self._source.find(candidate, importer.name)
            if path is not None:
                return path
        return None

    def _uploaded_path(self, target: str, line: ImportLine, importer: Document) -> str | None:
        """Return the main file of an uploaded blueprint, which needs a namespace of its own, or None."""
        name = target.removeprefix(UPLOADED)
        namespace = NAMESPACE.join(part for part in (importer.namespace, line.namespace) if part)
        if not namespace:
            self._wrong_namespace(line, 213, f"the blueprint '{name}' is imported without a namespace")
        elif self.uploaded.get(namespace, name) != name:
            self._wrong_namespace(
                line, 214, f"the namespace '{namespace}' holds the blueprint '{self.uploaded[namespace]}' already"
            )
        else:
            return self._source.uploaded(name)
        raise ProblemsError([])

    def _wrong_namespace(self, line: ImportLine, number: int, message: str) -> None:
        mends = {213: f"write 'NAME{NAMESPACE}{line.target}'", 214: "leave the namespace out"}
        mend = "choose another one" if number == 214 and line.target.startswith(UPLOADED) else mends[number]
        self._report.add("PL-B086", message, mend, line.spot, number=number)

    def _not_found(self, target: str, line: ImportLine, importer: Document) -> None:
        """Report an import that was not found, with advice for its kind: uploaded blueprint, plugin or file."""
        if target.startswith(UPLOADED):
            name = target.removeprefix(UPLOADED)
            mend = f"upload it: phaseline blueprints upload FILE {name}"
            self._unresolved(line, "PL-B091", f"there is no uploaded blueprint '{name}'", mend)
        elif target.startswith(PLUGIN):
            name = target.removeprefix(PLUGIN).partition("?")[0]
            mend = f"add it: phaseline plugins install --definition-only FILE, or {GO_ON}"
            self._unresolved(line, "PL-B092", f"the definition file of the plugin '{name}' is not available", mend)
        else:
            beside = f"'{importer.name}'" if importer.line is not None else "the file that imports it"
            mend = self._report.suggest(
                target, ["cloudify/types/types.yaml"], f"check the path; it is relative to {beside}"
            )
            self._unresolved(line, "PL-B020", f"there is no file '{target}' to import", mend)

    def _unresolved(self, line: ImportLine, code: str, message: str, mend: str, number: int | None = None) -> None:
        """Report an import whose file is missing or unusable."""
        self.is_whole = False
        if self.may_miss and code in NOT_AT_HAND and (line.target.startswith(PLUGIN) or _WEB.match(line.target)):
            self._report.warn(code, message, mend.removesuffix(f", or {GO_ON}"), line.spot, point="value")
        else:
            self._report.add(code, message, mend, line.spot, number=number)

    def _checked(self, document: Document | None, spot: ElementPath) -> Document | None:
        """Return the document, or None if it is no mapping. Report a version above that of the main file."""
        if document is None or document.root is None:
            return None
        if not isinstance(document.root, dict):
            self._report.add(
                "PL-B015",
                "an imported file must be a mapping",
                "write sections such as 'node_types:' in it",
                ElementPath(document, ()),
            )
            return None
        minor = minor_version(document, self._report)
        if minor is not None and minor > self._minor and self._gated is not None:
            self._report.add(
                "PL-B012",
                f"'{document.name}' is written in cloudify_dsl_1_{minor}, the main file in cloudify_dsl_1_{self._minor}",
                f"write 'tosca_definitions_version: cloudify_dsl_1_{minor}' in the main file",
                spot,
            )
        return document


def _importers(document: Document) -> list[str]:
    """Return the names of a file, of the file that imports it, and so on up to the main file."""
    names = [document.name]
    while document.line is not None:
        document = document.line.spot.document
        names.append(document.name)
    return names


def _address(name: str, importer: str) -> str | None:
    """Return the web address that an import means, or None for a local file.

    A file from the web can import only files from the web.
    """
    if _WEB.match(name):
        return name
    if not _WEB.match(importer) or _SCHEME.match(name):
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


def _decoded(text: str) -> str:
    """Return ``text`` with escapes such as %3E decoded.

    >>> _decoded("%3E=3.0,<4")
    '>=3.0,<4'
    """
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), text)


def _part_of_builtin(name: str) -> str | None:
    """Return the name if it means one of the files that built-in types import, or None."""
    return name if re.fullmatch(r"parts/[a-z_0-9]+\.yaml", name) else None


def minor_version(document: Document, report: ProblemReport) -> int | None:
    """Return the minor version that a file declares, or None if it declares none or a wrong one. Report a wrong one."""
    root = document.root
    if not isinstance(root, dict) or "tosca_definitions_version" not in root:
        return None
    value = root["tosca_definitions_version"]
    found = read_version(value)
    if isinstance(found, int):
        return found
    message, number = found
    report.add(
        "PL-B011", message, _WRONG_VERSION_MEND, ElementPath(document, ("tosca_definitions_version",)), number=number
    )
    return None
