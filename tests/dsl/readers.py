"""Blueprints from texts: a source in memory, and short ways to read and to list what is wrong."""

import textwrap
from collections.abc import Mapping

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.reader import read_blueprint
from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.problems.problem import Problem, ProblemsError

MAIN = "blueprint.yaml"
TYPES = "imports: [cloudify/types/types.yaml]\n"


class Texts:
    """A ``Source`` of texts by path; ``scripts`` exist, built-in types come from the package."""

    def __init__(self, files: Mapping[str, str], scripts: tuple[str, ...] = ()) -> None:
        self.files = dict(files)
        self.scripts = scripts
        self.reads: list[str] = []
        self.rules: list[tuple[str, str]] = []

    def find(self, name: str, importer: str) -> str | None:
        folder = importer.rpartition("/")[0]
        for path in (name, f"{folder}/{name}" if folder else name):
            if path in self.files:
                return path
        return None

    def read(self, path: str) -> str | None:
        self.reads.append(path)
        return self.files.get(path)

    def fetch(self, url: str) -> str | None:
        self.reads.append(url)
        return self.files.get(url)

    def bundled(self, name: str) -> str | None:
        return BlueprintFiles(MAIN).bundled(name)

    def replacements(self, target: str, minor: int) -> list[str]:
        return [new + target[len(old) :] for old, new in self.rules if target.startswith(old)] + [target]

    def uploaded(self, blueprint: str) -> str | None:
        path = f"uploaded/{blueprint}/blueprint.yaml"
        return path if path in self.files else None

    def plugin(self, name: str, version: str, distribution: str, minor: int) -> str | None:
        path = f"plugins/{name}{version}{distribution}.yaml"
        return path if path in self.files else None

    def exists(self, path: str) -> bool:
        return path in self.scripts


def whole(text: str, *, minor: int = 4, types: bool = True) -> str:
    """A main file: version and built-in types before ``text``, unless it has a version itself."""
    text = textwrap.dedent(text).lstrip("\n")
    if "tosca_definitions_version" in text:
        return text
    head = f"tosca_definitions_version: cloudify_dsl_1_{minor}\n"
    return head + (TYPES if types and "imports:" not in text else "") + text


def read(
    text: str,
    *,
    minor: int = 4,
    types: bool = True,
    scripts: tuple[str, ...] = (),
    others: Mapping[str, str] | None = None,
) -> Blueprint:
    """The blueprint in ``text``; ``others`` {path: text} may be imported."""
    more = {path: textwrap.dedent(other) for path, other in (others or {}).items()}
    return read_blueprint(MAIN, Texts({MAIN: whole(text, minor=minor, types=types), **more}, scripts))


def problems(
    text: str,
    *,
    minor: int = 4,
    types: bool = True,
    scripts: tuple[str, ...] = (),
    others: Mapping[str, str] | None = None,
) -> tuple[Problem, ...]:
    """What is wrong with the blueprint, without what is only odd; nothing if it can be read."""
    try:
        read(text, minor=minor, types=types, scripts=scripts, others=others)
    except ProblemsError as error:
        return tuple(problem for problem in error.problems if problem.severity == "error")
    return ()


def codes(text: str, *, minor: int = 4, types: bool = True, others: Mapping[str, str] | None = None) -> list[str]:
    """The codes of ``problems``."""
    return [problem.code for problem in problems(text, minor=minor, types=types, others=others)]


def numbers(
    text: str, *, minor: int = 4, types: bool = True, others: Mapping[str, str] | None = None
) -> list[int | None]:
    """The ancestor's numbers of ``problems``."""
    return [problem.cloudify_code for problem in problems(text, minor=minor, types=types, others=others)]
