"""Read wanted resources from files of records, and report all problems at once with their lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.lang.gc_pause import undisturbed
from phaseline.model.phases.phase_data import ENGINE_KEYS
from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.records.formats.json_codec import from_json, to_json, undefined_in
from phaseline.records.formats.record_text import parse_placed
from phaseline.records.text_errors import place_at
from phaseline.use_cases.loading.blueprint_loading import NAME
from phaseline.use_cases.loading.record_files import file_text, json_records

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.state_paths import ResourceTypes
    from phaseline.records.record import Record

TYPE, OWN_NAME, CLUSTER, TARGET = "AdType", "Name", "ClusterName", "TargetState"
SPOKEN = frozenset(name.lower() for name in (TYPE, OWN_NAME, CLUSTER, TARGET))
"""Attributes that name the resource and its target. A file may set no other attribute that the engine writes."""
OF_PLUGINS = frozenset({"Plugin", "ResourceType", "StatePath"})
"""Types of records that define phases, not resources."""


@frozen
class WantedResource:
    """One resource as a file requests it. An empty ``target`` leaves the target unchanged.

    ``attributes`` has the form of a stored document. ``removed`` are the attributes to be removed.
    """

    cluster: str
    name: str
    type: str
    target: str
    attributes: Mapping[str, Value]
    written: RecordText
    removed: Sequence[str] = ()

    @property
    def place(self) -> Place:
        """Return the position of the resource's record."""
        return self.written.place_of()


@frozen
class RecordText:
    """A record and its position in a file.

    The position is an offset in ``text``, or ``whole``, the number of the record in its file. Line numbers are computed
    only for problems, because this requires reading all of the text before them.
    """

    record: Record
    whole: Place
    file: str = ""
    text: str = ""
    offset: int = 0
    offsets: Mapping[str, int] = field(default_factory=dict)

    def place_of(self, attribute: str = "") -> Place:
        """Return the position of the attribute, or that of the record if the attribute's is unknown."""
        if not self.text:
            return self.whole
        return place_at(self.text, self.offsets.get(attribute.lower(), self.offset), file=self.file)


@undisturbed()
def read_wanted(
    files: Sequence[str], types: ResourceTypes, *, cluster: str = "", records: Sequence[Mapping[str, object]] = ()
) -> list[WantedResource]:
    """Return the resources of all files in order, followed by those of ``records``.

    ``cluster`` is used for a resource that names no cluster. Raises: ``ProblemsError`` with all problems of all
    resources.
    """
    problems: list[Problem] = []
    found: list[WantedResource] = []
    if cluster and not NAME.fullmatch(cluster):
        raise ProblemsError([_no_cluster_name(cluster, Place(subject="--cluster"))])
    readers: list[Callable[[], list[RecordText]]] = [partial(_placed, file, problems) for file in files]
    readers.append(partial(_in_json, records, "", problems))
    for read in readers:
        try:
            texts = read()
        except ProblemsError as error:
            problems.extend(error.problems)
            continue
        for text in texts:
            made = _Reader(text, types, cluster)
            problems.extend(made.problems)
            if not made.problems:
                found.append(made.wanted())
    problems.extend(_twice(found))
    if problems:
        raise ProblemsError(problems)
    return found


def _placed(file: str, problems: list[Problem]) -> list[RecordText]:
    text = file_text(file)
    ending = Path(file).suffix.lower()
    if ending == ".cfg":
        mend = "give a file of resources, which ends in .rec or .json; plugins belong into the folders of plugins.path"
        message = "it is the definition of a plugin, no file of resources"
        raise ProblemsError([Problem("PL-R013", message, mend, Place(file))])
    if ending != ".json":
        return [
            RecordText(one.record, Place(file), file, text, one.offset, one.offsets)
            for one in parse_placed(text, file=file)
        ]
    return _in_json(json_records(text, file), file, problems)


def _in_json(contents: Sequence[object], file: str, problems: list[Problem]) -> list[RecordText]:
    """Return the readable records of a JSON file; add the problems of other records to ``problems``."""
    found = []
    for at, one in enumerate(contents, 1):
        place = Place(file, path=f"record {at}") if file else Place(subject=f"record {at}")
        try:
            found.append(RecordText(from_json(one, file=file), place))
        except ProblemsError as error:
            problems.extend(altered(problem, place=place) for problem in error.problems)
    return found


class _Reader:
    """Converts one record to a ``WantedResource``, and collects all its problems."""

    def __init__(self, text: RecordText, types: ResourceTypes, cluster: str) -> None:
        self.problems: list[Problem] = []
        self._text = text
        self._type = self._word(TYPE)
        self._name = self._word(OWN_NAME)
        self._cluster = self._word(CLUSTER) if CLUSTER in text.record else cluster
        self._target = self._word(TARGET) if TARGET in text.record else ""
        self._check_name()
        self._check_cluster()
        self._check_type(types)
        self._check_engine_attributes()

    def wanted(self) -> WantedResource:
        """Return the wanted resource. Call it only if the record has no problems."""
        record = self._text.record
        removed = undefined_in(record)
        attributes: dict[str, Value] = {
            name: value for name, value in to_json(record).items() if name.lower() not in SPOKEN and name not in removed
        }
        return WantedResource(self._cluster, self._name, self._type, self._target, attributes, self._text, removed)

    def _say(self, code: str, message: str, mend: str, attribute: str = "") -> None:
        self.problems.append(Problem(code, message, mend, self._text.place_of(attribute)))

    def _word(self, attribute: str) -> str:
        value = self._text.record.stored(attribute)
        if isinstance(value, str) and value:
            return value
        example = {TYPE: "Cloud.Node", OWN_NAME: "node-1", CLUSTER: "night", TARGET: "Started"}[attribute]
        if attribute in self._text.record:
            self._say("PL-R020", f"{attribute} is to be a text", f'write {attribute} = "{example}"', attribute)
        else:
            self._say("PL-R020", f"the record has no {attribute}", f'add a line {attribute} = "{example}"')
        return ""

    def _check_name(self) -> None:
        why = why_no_name(self._name)
        if why:
            message = f"'{shown_name(self._name)}' cannot be the name of a resource: it {why}"
            self._say("PL-R021", message, MEND, OWN_NAME)

    def _check_cluster(self) -> None:
        if not self._cluster and CLUSTER not in self._text.record:
            mend = 'add a line ClusterName = "night", or name one for all: resources apply -d night FILE'
            self._say("PL-R022", "the record names no cluster", mend)
        elif self._cluster and not NAME.fullmatch(self._cluster):
            self.problems.append(_no_cluster_name(self._cluster, self._text.place_of(CLUSTER)))

    def _check_type(self, types: ResourceTypes) -> None:
        if not self._type:
            return
        if not types.is_known(self._type):
            known = dict.fromkeys([*types.types, *(owner for owner, _ in types.paths)])
            if self._type in OF_PLUGINS:
                mend = "put it into a file that ends in .rec, in a folder of plugins: docs/phase-plugins.md"
                self._say("PL-R023", f"the record of a {self._type} is no resource", mend, TYPE)
                return
            hint = did_you_mean(self._type, known) or f"there are: {', '.join(sorted(known))};"
            mend = f"correct the type; {hint} plugins can define types: docs/phase-plugins.md"
            self._say("PL-R023", f"there is no resource type '{self._type}'", mend, TYPE)
        elif self._target:
            self._check_target(types)

    def _check_target(self, types: ResourceTypes) -> None:
        if types.path(self._type, self._target) is None:
            problem = unreachable(self._type, self._target, types, self._text.place_of(TARGET))
            self.problems += [problem] if problem is not None else []

    def _check_engine_attributes(self) -> None:
        for name in self._text.record.get_attribute_names():
            if name.lower() in ENGINE_KEYS - SPOKEN:
                self._say("PL-R025", f"'{name}' is written by the engine alone", "leave it out", name)


def _no_cluster_name(name: str, place: Place) -> Problem:
    mend = "begin with a letter; then letters, digits, '_', '.' and '-', at most 128 in all"
    return Problem("PL-C021", f"'{name}' cannot be the name of a cluster", mend, place)


def unreachable(kind: str, target: str, types: ResourceTypes, place: Place) -> Problem | None:
    """Return the problem of a target without a path of states for a resource type, or None if there is a path."""
    if types.path(kind, target) is not None:
        return None
    targets = [path.target for path in types.paths_of(kind)]
    hint = did_you_mean(target, targets) or (f"there are: {', '.join(targets)};" if targets else "the type has none;")
    mend = f"correct the target; {hint} a StatePath record of a plugin can add one"
    return Problem("PL-R024", f"there is no path for resources of type '{kind}' to the state '{target}'", mend, place)


def _twice(found: Sequence[WantedResource]) -> list[Problem]:
    """Return a problem for each resource that is given more than once."""
    first: dict[tuple[str, str], WantedResource] = {}
    problems = []
    for one in found:
        before = first.setdefault((one.cluster, one.name), one)
        if before is not one:
            message = f"the resource '{one.name}' of the cluster '{one.cluster}' is given twice"
            problems.append(Problem("PL-R026", message, f"keep one of them; the first is at {before.place}", one.place))
    return problems
