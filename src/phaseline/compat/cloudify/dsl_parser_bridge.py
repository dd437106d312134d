"""Reads blueprints for Cloudify's tools: returns the plan as Cloudify's parser would, and raises
Cloudify's exceptions.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.compat.cloudify.dsl_functions import Plan
from phaseline.dsl.documents.merged_plan import plan_document
from phaseline.dsl.reader import read_whole
from phaseline.model.problems.problem import Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.dsl.imports.section_merge import MergedSections
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.deployment.topology import Topology


class ReadPlan(Plan):
    """The plan of a blueprint, which also keeps the blueprint that it was made of."""

    def __init__(self, blueprint: Blueprint, sections: MergedSections) -> None:
        """Make the plan in the form of Cloudify's parser."""
        super().__init__(plan_document(blueprint, sections))
        self.made_of = (blueprint, sections)


class TextFiles(BlueprintFiles):
    """The files of a blueprint whose main file is given as a text."""

    def __init__(self, main: str, text: str) -> None:
        """Use ``text`` as the content of ``main``, a path that need not exist."""
        super().__init__(main)
        self._text = text

    def read(self, path: str) -> str | None:
        """Return the given text for the main file, and the content of any other file."""
        return self._text if path == self._main else super().read(path)


def read_plan(main: str, text: str | None = None, *, validate_version: bool = True) -> ReadPlan:
    """Return the plan of the blueprint file ``main``, or of ``text`` instead of this file.

    Raises Cloudify's exceptions.
    """
    files = BlueprintFiles(main) if text is None else TextFiles(main, text)
    try:
        return ReadPlan(*read_whole(main, files, validate_version=validate_version))
    except ProblemsError as error:
        raise as_exception(error) from error


def deployment_plan(
    plan: ReadPlan,
    inputs: Mapping[str, Value],
    *,
    runtime_only: bool,
    auto_correct: bool,
    get_secret: Callable[[str], object] | None,
) -> ReadPlan:
    """Return the plan with inputs, with functions replaced by known values, and with ``node_instances``.

    ``auto_correct`` and ``runtime_only`` are explained at ``complete_inputs`` and ``with_inputs``. ``get_secret``, if
    given, is called to check that each secret exists. Raises Cloudify's exceptions.
    """
    import os

    from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
    from phaseline.dsl.deployment.inputs import complete_inputs
    from phaseline.dsl.deployment.secret_names import secret_names
    from phaseline.dsl.functions.plan_and_runtime_scopes import no_secrets
    from phaseline.plan.topology.expansion import expand

    blueprint, sections = plan.made_of
    try:
        whole = complete_inputs(blueprint, inputs, auto_correct=auto_correct)
        missing = [name for name in secret_names(blueprint) if get_secret is not None and not _has(get_secret, name)]
        if missing:
            raise no_secrets(missing)
        evaluated = with_inputs(blueprint, whole, runtime_only=runtime_only)
        topology = expand(evaluated, suffixes=int.from_bytes(os.urandom(8)) >> 1)
    except ProblemsError as error:
        raise as_exception(error) from error
    made = ReadPlan(evaluated, sections)
    made["inputs"] = whole
    made["node_instances"] = list(_instances(topology))
    return made


def as_exception(error: ProblemsError) -> Exception:
    """Return Cloudify's exception for the first problem, with Cloudify's error number as ``err_code``.

    The exception's ``problems`` are all problems.
    """
    from dsl_parser import exceptions  # type: ignore[import-not-found]  # of the shim

    errors = [problem for problem in error.problems if problem.severity == "error"] or [*error.problems]
    first = next((one for one in errors if one.cloudify_code in _BEFORE_VERSIONS), errors[0])
    if errors[0].cloudify_code != _VERSION:
        first = errors[0]
    base: type[Exception] = exceptions.DSLParsingException
    name = first.cloudify_class or base.__name__
    kind = getattr(exceptions, name, None) or getattr(builtins, name, None) or base
    if not issubclass(kind, base):
        kind = type(name, (kind, base), {})  # so that a problem without a number of its own has its place, too
    found: Exception = kind.__new__(kind)
    found.args = (_text(error.problems),)
    vars(found).update(err_code=first.cloudify_code, element=first.place.path, problems=error.problems)
    return found


_VERSION = 102
_BEFORE_VERSIONS = frozenset({100, 103, 104})
"""Cloudify's error numbers that Cloudify reports first if a blueprint also has error 102: a section that its language
version lacks.
"""


def _text(problems: tuple[Problem, ...]) -> str:
    return "\n".join(f"{problem}; {problem.mend}" for problem in problems)


def _has(get_secret: Callable[[str], object], name: str) -> bool:
    try:
        return get_secret(name) is not None
    except Exception as error:
        if getattr(error, "status_code", 404) == 404:
            return False
        raise


def _instances(topology: Topology) -> Iterator[dict[str, object]]:
    tied: dict[tuple[int, int], list[int]] = {}
    for link, source, target in zip(
        topology.link.tolist(), topology.source.tolist(), topology.target.tolist(), strict=True
    ):
        tied.setdefault((source, link), []).append(target)
    links: dict[int, list[int]] = {}
    for number, one in enumerate(topology.links):
        links.setdefault(one.source, []).append(number)
    for instance, id in enumerate(topology.ids):
        node = int(topology.node[instance])
        found = []
        for number in sorted(links.get(node, ()), key=lambda number: topology.links[number].place):
            one = topology.links[number]
            every = topology.instances_of(one.target).tolist() if one.is_rule else tied.get((instance, number), [])
            name = topology.nodes[one.target].name
            found += [
                {"type": one.relationship.type, "target_name": name, "target_id": topology.ids[at]} for at in every
            ]
        host = int(topology.host[instance])
        yield {
            "id": id,
            "name": topology.nodes[node].name,
            "node_id": topology.nodes[node].name,
            "index": int(topology.index[instance]),
            "relationships": found,
            **({"host_id": topology.ids[host]} if host >= 0 else {}),
            "scaling_groups": [
                {"name": group, "id": topology.groups.ids[at]} for group, at in topology.groups_around(instance).items()
            ],
        }


def lying_in(folder: str | None, location: str | None) -> str:
    """Return a path for a blueprint that is given as a text; imports are searched beside this path."""
    if location:
        return location.removeprefix("file://")
    return str(Path(folder or ".") / "blueprint.yaml")
