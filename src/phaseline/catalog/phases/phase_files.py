"""Reads plugins from the files of one folder: pairs of ``.cfg`` and ``.py``, modules with ``@phase``, and files of
records.
"""

from __future__ import annotations

import re
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from phaseline.catalog.code.search_path import find_spec
from phaseline.catalog.phases.decorated_phases import decorated
from phaseline.catalog.phases.definitions import WrittenDefinition, define
from phaseline.catalog.phases.module_source import ModuleSource, missing_imports, read_source
from phaseline.catalog.phases.package_records import PLUGIN, RESOURCE_TYPE, STATE_PATH, path_of, type_of, written_of
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.state_paths import ResourceType, StatePath
from phaseline.model.phases.definitions import PhasePlugin
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.records.formats.cfg_text import parse_definition
from phaseline.records.formats.record_text import parse_placed
from phaseline.records.record import Record
from phaseline.records.text_errors import SHOWN_LINE, place_at

Folder: TypeAlias = "Path | zipfile.Path"
"""A folder or file on disk or in a zip file."""
MAX_DEFINITION_BYTES = 1 << 18
TELLING = re.compile(r"^[ \t]*(HandlesStates|ResourceStateListener)[ \t]*[:=]", re.IGNORECASE | re.MULTILINE)
"""Pattern of the attributes by which a definition is recognized among other ``.cfg`` files."""
ATTRIBUTE = re.compile(r"[ \t]*+(?P<name>'[^']*+'[ \t]*+|[^=:#'][^=:]*+)[:=]")
"""Pattern of the beginning of a line that gives an attribute a value."""
MENTIONS = re.compile(rb"\bphase\b")
NOT_PAIRS = frozenset({"setup", "conftest"})
NAME = re.compile(r"[^.\s/]+")
"""Pattern of a part of a module's dotted name."""


@frozen
class PhaseFileOrigin:
    """The origin of plugin files. ``package`` is their package, ``folders`` are the folders from which their modules
    are imported.

    ``names`` and ``modules`` are the first parts of the dotted names of the plugins and of the modules in these files.
    """

    package: str = ""
    names: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def below(self, name: str) -> PhaseFileOrigin:
        """Return the origin of the files in a subfolder of this name."""
        return altered(self, names=(*self.names, name), modules=(*self.modules, name))


@frozen
class PhaseFileContents:
    """What one file, or one pair of ``.cfg`` and ``.py``, defines. ``place`` is its path."""

    place: str
    plugins: tuple[PhasePlugin, ...] = ()
    types: tuple[ResourceType, ...] = ()
    paths: tuple[StatePath, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_folder(entries: Iterable[Folder], origin: PhaseFileOrigin) -> Iterator[PhaseFileContents]:
    """Yield what the files of one folder define, sorted by name; files that define nothing are skipped."""
    files = {entry.name: entry for entry in entries}
    for name in sorted(files):
        stem, _, suffix = name.rpartition(".")
        if not stem or stem in NOT_PAIRS or suffix not in READERS:
            continue
        try:
            found = READERS[suffix](files[name], files.get(f"{stem}.py"), stem, origin)
        except OSError as error:
            found = PhaseFileContents(
                str(files[name]), problems=(_unreadable(files[name], error.strerror or str(error)),)
            )
        if found.plugins or found.types or found.paths or found.problems:
            yield found


def _pair(file: Folder, module: Folder | None, stem: str, origin: PhaseFileOrigin) -> PhaseFileContents:
    """Return what a ``.cfg`` file and the module of the same name define."""
    content = file.read_bytes()
    text = content.decode("utf-8-sig", "replace")
    if module is None and not TELLING.search(text):
        return PhaseFileContents(str(file))
    if len(content) > MAX_DEFINITION_BYTES:
        return PhaseFileContents(
            str(file), problems=(_unreadable(file, f"it has more than {MAX_DEFINITION_BYTES:,} bytes"),)
        )
    if "\ufffd" in text:
        return PhaseFileContents(str(file), problems=(_unreadable(file, "it is not UTF-8 text"),))
    record, problems = _definition(text, str(file))
    name = ".".join((*origin.names, stem))
    source: ModuleSource | None = None
    if module is None:
        mend = f"put its code into {stem}.py beside it"
        problems.append(Problem("PL-D001", f"there is no module {stem}.py for this definition", mend, Place(str(file))))
    else:
        source = read_source(module.read_bytes(), str(module), ".".join(origin.modules))
        problems += _of_module(source, stem, origin)
    written = WrittenDefinition(
        name,
        record,
        Place(str(file)),
        _places(text, str(file)),
        origin.package,
        ".".join((*origin.modules, stem)) if module is not None else "",
        "",
        origin.folders,
        source,
        tuple(problems),
    )
    return PhaseFileContents(str(file), (define(written),))


def _definition(text: str, file: str) -> tuple[Record, list[Problem]]:
    """Return (record, problems) of a definition. Lines with errors are left out of the record.

    A phase with a broken definition must still be known, so that its resources wait for it instead of passing it (PD8).
    """
    try:
        return parse_definition(text, file=file), []
    except ProblemsError as error:
        problems = list(error.problems)
    broken = {problem.place.line for problem in problems}
    lines = text.split("\n")
    rest = "\n".join("" if number in broken else line for number, line in enumerate(lines, 1))
    try:
        return parse_definition(rest, file=file), problems
    except ProblemsError:
        return Record(), problems


def _places(text: str, file: str) -> dict[str, Place]:
    """Return {attribute in lower case: its place} of a definition."""
    found: dict[str, Place] = {}
    offset = 0
    for line in text.split("\n"):
        if (match := ATTRIBUTE.match(line)) is not None:
            place = place_at(text, offset + match.start("name"), file=file)
            found.setdefault(match["name"].replace(" ", "").strip("'\t").lower(), place)
        offset += len(line) + 1
    return found


def _module(file: Folder, _pair_module: Folder | None, stem: str, origin: PhaseFileOrigin) -> PhaseFileContents:
    """Return what the decorated functions of a module define; a module that does not mention the decorator is not
    parsed.
    """
    content = file.read_bytes()
    if b"phaseline" not in content or not MENTIONS.search(content):
        return PhaseFileContents(str(file))
    own = () if stem == "__init__" and origin.modules else (stem,)
    source = read_source(content, str(file), ".".join(origin.modules))
    module, name = ".".join((*origin.modules, *own)), ".".join((*origin.names, *own))
    named = list(
        decorated(
            source, WrittenDefinition(name, Record(), Place(str(file)), {}, origin.package, module, "", origin.folders)
        )
    )
    if named:
        extra = tuple(_of_module(source, stem, origin))
        named[0] = altered(named[0], problems=(*named[0].problems, *extra))
    return PhaseFileContents(str(file), tuple(define(one) for one in named), problems=source.problems)


def _of_module(source: ModuleSource, stem: str, origin: PhaseFileOrigin) -> list[Problem]:
    """Return the problems of a module itself: missing imports, and a file name that cannot be imported."""
    problems = list(missing_imports(source, origin.folders))
    odd = next((part for part in (*origin.modules, stem) if not NAME.fullmatch(part)), None)
    if odd is not None:
        message = f"'{odd}' cannot be part of the name of a module"
        problems.append(
            Problem("PL-D052", message, "leave dots and spaces out of it; dots come from folders", Place(source.file))
        )
    return problems


def _records(file: Folder, _pair_module: Folder | None, _stem: str, origin: PhaseFileOrigin) -> PhaseFileContents:
    """Return what a file of records in formal text defines; records of unknown types are skipped."""
    text = file.read_bytes().decode("utf-8-sig", "replace")
    plugins: list[PhasePlugin] = []
    types: list[ResourceType] = []
    paths: list[StatePath] = []
    problems: list[Problem] = []
    try:
        records = parse_placed(text, file=str(file))
    except ProblemsError as error:
        return PhaseFileContents(str(file), problems=error.problems)
    at = _placer(text, str(file))
    for placed in records:
        record = placed.record
        place = altered(at(placed.offset), path=str(record.stored("Name") or ""))
        if record.type_name == PLUGIN:
            places = {name: at(offset) for name, offset in placed.offsets.items()}
            one = written_of(record, place, places=places, package=origin.package, folders=origin.folders)
            plugins.append(define(with_source(one)))
        elif record.type_name == RESOURCE_TYPE:
            kind, wrong = type_of(record, place)
            types += [kind] if kind is not None else []
            problems += wrong
        elif record.type_name == STATE_PATH:
            path, wrong = path_of(record, place)
            paths += [path] if path is not None else []
            problems += wrong
    return PhaseFileContents(str(file), tuple(plugins), tuple(types), tuple(paths), tuple(problems))


def _placer(text: str, file: str) -> Callable[[int], Place]:
    """Return a function that turns a character's offset in a text into a place.

    It is fast for many offsets in long texts.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(offset: int) -> Place:
        number = bisect_right(starts, offset)
        start = starts[number - 1]
        end = starts[number] if number < len(starts) else len(text)
        return Place(file, number, offset - start + 1, text=text[start : min(end, start + SHOWN_LINE)].rstrip("\r\n"))

    return place


READERS = {"cfg": _pair, "py": _module, "rec": _records}
"""Functions that read the files of plugins: {suffix: function}."""


def with_source(written: WrittenDefinition) -> WrittenDefinition:
    """Return the definition with the text of its module added.

    The module is searched where an import would find it, but it is not imported.
    """
    if not written.module:
        return written
    spec = find_spec(written.module, written.folders) or find_spec(written.module, None)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        mend = "correct Code, or put the module where the package's modules are"
        problem = Problem("PL-D005", f"the module '{written.module}' is not found", mend, written.where)
        return altered(written, problems=(*written.problems, problem))
    source = read_source(Path(spec.origin).read_bytes(), spec.origin, written.module.rpartition(".")[0])
    return altered(written, source=source)


def _unreadable(file: Folder, why: str) -> Problem:
    return Problem(
        "PL-D050", f"the file cannot be read: {why}", "correct the file or its permissions", Place(str(file))
    )
