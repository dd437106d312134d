"""What one reader of blueprints says of files: a line of JSON for each path that comes on the standard input.

Run by ``differences.py``, once by the Python that has Phaseline, once by the one that has the ancestor's parser::

    python answers.py (phaseline|ancestor) DEFINITIONS.json < paths

``DEFINITIONS.json`` holds {plugin: {file name: path}} of definition files that imports of plugins and of the web may mean.
"""

from __future__ import annotations

import copy
import json
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

LIMIT_S = 60
"""A file that takes longer has no answer."""
SOURCES = Path(__file__).resolve().parents[2] / "src"
DEFINITIONS: dict[str, dict[str, str]] = {}
_REQUIRED = re.compile(r'"required": (true|false), |, "required": (true|false)')
_VERSION = re.compile(r"\d+(\.\d+)+")
_NAMED = re.compile(
    r"(?:cloudify-)?([a-z0-9]+(?:-[a-z0-9]+)*?)-(?:cloudify-)?plugin\b|^plugin:(?:cloudify-)?([a-z0-9-]+)"
)


def definition(target: str, minor: int) -> str | None:
    """The definition file that an import of a plugin means, of whatever version it asks for; None for any other import."""
    if not target.startswith(("plugin:", "http:", "https:")):
        return None
    for found in _NAMED.finditer(target):
        files = DEFINITIONS.get(found[1] or found[2].removesuffix("-plugin"), {})
        for name in (
            *of_version(target[found.end() :], files, minor),
            f"plugin_1_{minor}.yaml",
            "plugin.yaml",
            *sorted(files),
        ):
            if name in files:
                return files[name]
    return None


def of_version(asked: str, files: dict[str, str], minor: int) -> Iterator[str]:
    """Files ``plugin@VERSION.yaml`` of tags, best first: of the version asked for or the next before it.

    Where none is asked for, languages without ``availability_rules`` have the newest file that does not use them.
    """
    tagged = {numbers(name): name for name in files if name.startswith("plugin@")}
    version = _VERSION.search(asked)
    if version is not None:
        most = numbers(version[0])
        yield from (tagged[one] for one in sorted(tagged, reverse=True) if one <= most)
    elif minor < 4 and not re.search("plugin_1_[45]", asked):
        for one in sorted(tagged, reverse=True):
            if "availability_rules" not in Path(files[tagged[one]]).read_text("utf-8"):
                yield tagged[one]


def numbers(text: str) -> tuple[int, ...]:
    """The numbers in a version."""
    return tuple(map(int, re.findall(r"\d+", text)))


def of_phaseline() -> Callable[[str], Any]:
    """Reads with this project."""
    from phaseline.catalog.files.blueprint_files import BlueprintFiles
    from phaseline.dsl.documents.merged_plan import plan_document
    from phaseline.dsl.reader import read_whole

    class Files(BlueprintFiles):
        """The files of a folder, and definition files of the corpus."""

        def plugin(self, name: str, _version: str, _distribution: str, minor: int) -> str | None:
            """As it is at hand."""
            return definition(f"plugin:{name}", minor)

        def read(self, path: str) -> str | None:
            """Definition files lie anywhere."""
            return super().read(path)

        def replacements(self, target: str, minor: int) -> list[str]:
            """An address of a plugin means its definition file."""
            return [f"file:{found}"] if (found := definition(target, minor)) else [target]

        def _is_allowed(self, _path: Path) -> bool:
            return True

    return lambda path: plan_document(*read_whole(path, Files(path)))


def of_ancestor() -> Callable[[str], Any]:
    """Reads with the ancestor's parser; the built-in types are those of this project."""
    sys.path.append(str(SOURCES))
    from dsl_parser import exceptions, parser, utils  # type: ignore[import-not-found]  # in its own environment only
    from dsl_parser.import_resolver.abstract_import_resolver import (  # type: ignore[import-not-found]  # as above
        AbstractImportResolver,
        read_import,
    )

    from phaseline.dsl.imports.builtin_types import bundled_name

    types = SOURCES / "phaseline" / "dsl" / "types"

    class Resolver(AbstractImportResolver):  # type: ignore[misc]  # as above
        """Finds what this project finds."""

        def __init__(self, minor: int) -> None:
            self._minor = minor

        def resolve(self, import_url: str) -> Any:
            """The text, or what was parsed of it, of what an import means."""
            name = bundled_name(import_url, self._minor)
            if name is not None:
                return copy.deepcopy(held(name, has_required=self._minor >= 2))
            found = definition(import_url, self._minor)
            if found is None:
                raise exceptions.DSLParsingLogicException(13, f"{import_url} is not at hand")
            return Path(found).read_text("utf-8-sig")

        def fetch_import(self, import_url: str, **_more: Any) -> Any:
            """Likewise; nothing is asked for in the web."""
            import_url = import_url.removeprefix("resource:")
            if import_url.startswith("file:"):
                return str(read_import(import_url))
            return self.resolve(import_url)

        def retrieve_plugin(self, _import_url: str, **_more: Any) -> None:
            """None is installed."""

    @cache
    def held(name: str, *, has_required: bool) -> Any:
        """Built-in types, parsed: that takes the ancestor a second. ``has_required``: older versions have no such word."""
        text = in_one_file(types, name)
        return utils.load_yaml(text if has_required else _REQUIRED.sub("", text), "", name)

    def read(path: str) -> Any:
        text = Path(path).read_text("utf-8-sig")
        found = re.search(r"cloudify_dsl_1_(\d)", text)
        return parser.parse_from_path(path, resolver=Resolver(int(found[1]) if found else 5))

    return read


@cache
def in_one_file(types: Path, name: str) -> str:
    """Built-in types without imports: the ancestor finds no basic types in a file that only imports them."""
    import yaml

    whole: dict[str, Any] = {}
    for part in (name, *yaml.safe_load((types / name).read_text("utf-8")).get("imports", ())):
        for section, value in yaml.safe_load((types / part).read_text("utf-8")).items():
            if section == "tosca_definitions_version" and part == name:
                whole[section] = value
            elif isinstance(value, dict):
                whole.setdefault(section, {}).update(value if section != "metadata" or not whole.get(section) else {})
    return json.dumps(whole)


def answer(read: Callable[[str], Any], path: str) -> Mapping[str, Any]:
    """{verdict, plan} or {verdict, code, kind, message}."""
    signal.alarm(LIMIT_S)
    try:
        return {"verdict": "read", "plan": read(path)}
    except Exception as error:  # noqa: BLE001 - whatever it says is its answer
        problems = [one for one in getattr(error, "problems", ()) if one.severity == "error"]
        if problems:
            numbers = [one.cloudify_code for one in problems]
            return {
                "verdict": "refused",
                "code": numbers[0],
                "codes": numbers,
                "kind": problems[0].cloudify_class,
                "message": "\n".join(f"{one} -- {one.mend}" for one in problems[:5]),
            }
        kind, code = type(error).__name__, getattr(error, "err_code", None)
        return {"verdict": "refused", "code": code, "kind": kind, "message": str(error)[:2_000]}
    finally:
        signal.alarm(0)


def main() -> None:
    """Answer until there is nothing more to read."""
    DEFINITIONS.update(json.loads(Path(sys.argv[2]).read_text("utf-8")))
    read = of_phaseline() if sys.argv[1] == "phaseline" else of_ancestor()

    def late(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"no answer within {LIMIT_S} s")

    signal.signal(signal.SIGALRM, late)
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        said = answer(read, line.rstrip("\n"))
        out.write(json.dumps(said, default=_plain, sort_keys=True) + "\n")
        out.flush()


def _plain(value: object) -> object:
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


if __name__ == "__main__":
    main()
