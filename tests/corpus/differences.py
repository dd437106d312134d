"""Hold the reader of blueprints against the ancestor's own parser, over a folder of files: see README.md beside this file."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_BLUEPRINT = re.compile(r"^\s*[\"']?tosca_definitions_version\b", re.MULTILINE)
_REPOSITORY = re.compile(r"(?:.*__)?(?:cloudify-)?(.+?)-plugin")
AT_ONCE = 100
"""Files after which the ancestor's answers are kept: a run that was ended goes on from there."""
_KNOWN = re.compile(
    r"has_intrinsic_functions:|\.available only ours: true|\.name only ours:|\.required only theirs: true|^\.data_types\.cloudify\.\S+ only theirs"
    r"|^\.nodes\[\d+\]\.(interfaces|instances|relationships\[\d+\]\.\w+_interfaces) only theirs|^\.metadata\.cloudify_types"
    r"|operations\..*\.inputs\.[^.]+\.type only theirs|operations\..*\.inputs_types(\.\S+)? only theirs"
    r"|^\.workflows\..*\.parameters\.script_(path|source)\.description only theirs"
)
"""What plans of the ancestor have and ours have not, or have in another place (docs/departures.md, "plan" and "typed input")."""

_ONCE = ".requirements."
"""Where we say each thing once, and also what values on import lines ask for."""


def blueprints(folder: Path) -> Iterator[Path]:
    """Files that say a version of the language."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".yaml", ".yml", ".json"} and path.is_file():
            text = path.read_text("utf-8", "replace")
            if _BLUEPRINT.search(text):
                yield path


def definitions(folder: Path) -> dict[str, dict[str, str]]:
    """{plugin: {file name: path}} of the repositories of plugins in a folder, each named ``OWNER__cloudify-NAME-plugin``."""
    found: dict[str, dict[str, str]] = {}
    for top in sorted(folder.iterdir()):
        named = _REPOSITORY.fullmatch(top.name)
        if named is not None:
            files = {path.name: str(path) for path in sorted(top.glob("*plugin*.yaml"))}
            found.setdefault(named[1], {}).update(files)
    return found


def kept(file: Path | None, ancestor: str, known: Path, paths: Sequence[str]) -> list[Any]:
    """What the ancestor says of each path; what a file has of an earlier run is not asked again, for it takes long."""
    answers: dict[str, Any] = json.loads(file.read_text("utf-8")) if file is not None and file.exists() else {}
    lacking = [path for path in paths if path not in answers]
    for start in range(0, len(lacking), AT_ONCE):
        some = lacking[start : start + AT_ONCE]
        answers.update(zip(some, ask(ancestor, "ancestor", known, some), strict=True))
        if file is not None:
            file.write_text(json.dumps(answers), "utf-8")
    return [answers[path] for path in paths]


def ask(python: str, who: str, known: Path, paths: Sequence[str]) -> list[Any]:
    """What a reader says of each path."""
    command = [python, str(HERE / "answers.py"), who, str(known)]
    done = subprocess.run(command, input="\n".join(paths) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def unlike(ours: Any, theirs: Any) -> Iterator[str]:
    """Where two plans say different things, but for what is a row of docs/departures.md."""
    return (line for line in _unlike(ours, theirs, "") if not _KNOWN.search(line))


def _unlike(ours: Any, theirs: Any, at: str) -> Iterator[str]:
    if not ours and not theirs and ours is not False and theirs is not False:
        return
    if at.startswith(_ONCE) and isinstance(ours, list) and isinstance(theirs, list):
        theirs = [item for number, item in enumerate(theirs) if item not in theirs[:number]]
        ours = [item for item in ours if item in theirs]
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            here = f"{at}.{key}"
            if not ours.get(key) and not theirs.get(key) and ours.get(key, theirs.get(key)) not in (False, 0):
                continue
            if key not in ours:
                yield f"{here} only theirs: {json.dumps(theirs[key])[:120]}"
            elif key not in theirs:
                yield f"{here} only ours: {json.dumps(ours[key])[:120]}"
            else:
                yield from _unlike(ours[key], theirs[key], here)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        if sorted(map(json.dumps, ours)) != sorted(map(json.dumps, theirs)):
            for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
                yield from _unlike(mine, other, f"{at}[{number}]")
    elif ours != theirs or type(ours) is not type(theirs):
        yield f"{at}: ours {json.dumps(ours)[:120]} theirs {json.dumps(theirs)[:120]}"


def verdict(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """One word for two answers."""
    if ours["verdict"] != theirs["verdict"]:
        return "refused by us alone" if ours["verdict"] == "refused" else "read by us alone"
    if ours["verdict"] == "refused":
        same = theirs["code"] in ours.get("codes", ()) or ours["kind"] == theirs["kind"]
        return "refused alike" if same else "refused for another reason"
    return "read alike" if not any(unlike(ours["plan"], theirs["plan"])) else "read differently"


def main() -> None:
    """Print a count of each verdict, and what is behind those that differ."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("folder", type=Path)
    said.add_argument("--ancestor", required=True, help="the Python of an environment that has cloudify-common")
    said.add_argument("--definitions", type=Path, help="folder of repositories of plugins; default: the folder itself")
    said.add_argument("--kept", type=Path, help="file with the ancestor's answers, written by the first run")
    said.add_argument("--shown", type=int, default=5, help="differences shown of each file")
    said.add_argument("--only", default="", help="show files of this verdict alone")
    given = said.parse_args()
    files = [str(path) for path in blueprints(given.folder)]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as known:
        json.dump(definitions(given.definitions or given.folder), known)
        known.flush()
        ours = ask(sys.executable, "phaseline", Path(known.name), files)
        theirs = kept(given.kept, given.ancestor, Path(known.name), files)
    counts: Counter[str] = Counter()
    for file, mine, other in zip(files, ours, theirs, strict=True):
        word = verdict(mine, other)
        counts[word] += 1
        if word.endswith("alike") or (given.only and word != given.only):
            continue
        print(f"\n{word}: {file}")
        if mine["verdict"] == other["verdict"] == "read":
            for number, line in zip(range(given.shown), unlike(mine["plan"], other["plan"]), strict=False):
                print(f"  {number + 1} {line}")
            continue
        for who, one in (("ours", mine), ("theirs", other)):
            told = one.get("message", "reads it").replace("\n", "\n    ")[:600]
            print(f"  {who}: {one.get('code')} {one.get('kind')} {told}")
    print("\n" + "\n".join(f"{count:6} {word}" for word, count in counts.most_common()))


if __name__ == "__main__":
    main()
