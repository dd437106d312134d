"""Move the modules as docs/layout/map.txt says, and rewrite every mention of them (issue 16, step A).

``python tools/move_modules.py`` renames modules and the tests of their names, makes the new packages with the docstrings of
docs/layout/folders.txt, and rewrites imports, dotted names, paths and names in backticks in every text file; then ruff puts
the imports in order. ``--check`` names modules that the map lacks or that are gone, and moves nothing.

A line of the map is a target folder: ``target/ < source.room: old→new, same; other.room: ...``. What has moved is left alone.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

LAYOUT = Path("docs/layout")
SOURCE = Path("src/phaseline")
Moves = dict[str, str]
"""{old dotted name without ``phaseline.``: the new one}."""
NOT_MOVED = ("__main__", "ports", "planning")
NOT_WALKED = ("compat/cloudify/shim/", "compat/cloudify/program/", "use_cases/starter/")
HIDDEN = (".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".import_linter_cache")
TEXTS = (".py", ".toml", ".md", ".yaml", ".yml", ".cfg", ".txt", ".sh", ".json", ".rec")
LEFT = re.compile(r"docs/layout/|tools/|CHANGELOG|tests/store/data|tests/corpus/|tests/cases/.*\.json")
"""Texts that keep old names: what was stored or released under them."""
DOTTED = re.compile(r"\bphaseline((?:\.[a-z_][a-z_0-9]*)+)")
IN_TEXT = re.compile(r"from phaseline\.([a-z_.]+) import ([a-z_0-9]+(?:, [a-z_0-9]+)*)")
HERE = r"(Path\(__file__\)(?:\.resolve\(\))?)"
GONE = ("use_cases/packages", "use_cases/resources")
"""Folders of which nothing is left."""
BY_HAND = (
    ("src/phaseline/catalog/code/search_path.py", 'parents[1] / "compat"', 'parents[2] / "compat"'),
    (
        "src/phaseline/catalog/files/blueprint_files.py",
        '__file__).parent.parent / "dsl"',
        '__file__).parents[2] / "dsl"',
    ),
    (
        "src/phaseline/catalog/code/declarations.py",
        '"phaseline.model.blueprint.operation_declaration.operation"',
        '"phaseline.model.declaration.operation", "phaseline.model.blueprint.operation_declaration.operation"',
    ),
    (
        "src/phaseline/catalog/code/declarations.py",
        '"phaseline.model.phases.decorator.phase"',
        '"phaseline.model.phase_mark.phase", "phaseline.model.phases.decorator.phase"',
    ),
    (
        "src/phaseline/catalog/phases/decorated_phases.py",
        '"phaseline.model.phases.decorator.phase"',
        '"phaseline.model.phase_mark.phase", "phaseline.model.phases.decorator.phase"',
    ),
    (
        "src/phaseline/catalog/code/declarations.py",
        '"phaseline.tasks.decorator.task"',
        '"phaseline.tasks.declaring.task", "phaseline.tasks.decorator.task"',
    ),
    (
        "src/phaseline/cli/shell/terminal_capture.py",
        "folder = Path(__file__).parents[2]",
        "folder = Path(__file__).parents[3]",
    ),
    ("src/phaseline/hooks/caller.py", '"phaseline.run.", ', '"phaseline.calls.", "phaseline.run.", '),
    ("src/phaseline/use_cases/tools/scaffold.py", 'files("phaseline.use_cases")', 'files("phaseline.use_cases.tools")'),
)
"""Places that know how deep they lie, or under which names code of others may have been written: file, old text, new."""


def read_map() -> Moves:
    """Every module of the map, those that stay where they are too."""
    moves = {}
    for line in filter(str.strip, (LAYOUT / "map.txt").read_text("utf-8").splitlines()):
        target, rest = line.strip().split(" < ")
        for group in rest.split("; "):
            source, names = group.split(": ", 1)
            for name in names.split(","):
                old, _, new = name.strip().partition("→")
                moves[f"{source}.{old}"] = f"{target.rstrip('/').replace('/', '.')}.{new or old}"
    return moves


def read_folders() -> dict[str, str]:
    """{new folder: its docstring}."""
    lines = (LAYOUT / "folders.txt").read_text("utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line.strip())


def check(moves: Moves) -> list[str]:
    """What the map lacks, and what it names though it is not there."""
    found = set()
    for file in SOURCE.rglob("*.py"):
        short = file.relative_to(SOURCE).as_posix()
        if file.name != "__init__.py" and not short.startswith(NOT_WALKED):
            found.add(short.removesuffix(".py").replace("/", "."))
    lacking = sorted(found - set(moves) - set(moves.values()) - set(NOT_MOVED))
    gone = sorted(old for old, new in moves.items() if not {old, new} & found)
    return [*(f"not in the map: {name}" for name in lacking), *(f"not there: {name}" for name in gone)]


def rename(pairs: dict[Path, Path]) -> None:
    """In two steps, since names may swap."""
    for old in pairs:
        old.rename(f"{old}.moving")
    for old, new in pairs.items():
        new.parent.mkdir(parents=True, exist_ok=True)
        if new.exists():
            sys.exit(f"{new} is there already")
        Path(f"{old}.moving").rename(new)


def move_sources(moves: Moves) -> int:
    """Rename the modules and make the new packages; how many were renamed."""

    def file(name: str) -> Path:
        return SOURCE / f"{name.replace('.', '/')}.py"

    pairs = {file(old): file(new) for old, new in moves.items() if file(old).exists()}
    rename(pairs)
    told = read_folders()
    for folder in {parent for new in moves.values() for parent in file(new).parents if SOURCE in parent.parents}:
        init = folder / "__init__.py"
        if not init.exists():
            init.write_text(f'"""{told[folder.relative_to(SOURCE).as_posix()]}"""\n', "utf-8")
    for name in GONE:
        (SOURCE / name / "__init__.py").unlink(missing_ok=True)
    starter = SOURCE / "use_cases/starter"
    if starter.is_dir():
        starter.rename(SOURCE / "use_cases/tools/starter")
    return len(pairs)


def move_tests(moves: Moves) -> dict[str, str]:
    """Move each test that has a module's name to where the module is; {old path: new path}."""
    pairs = {}
    for old, new in moves.items():
        (room, _, name), (new_room, _, new_name) = old.rpartition("."), new.rpartition(".")
        file = f"tests/{room.replace('.', '/')}/test_{name}.py"
        target = f"tests/{new_room.replace('.', '/')}/test_{new_name}.py"
        if file != target and Path(file).exists():
            pairs[file] = target
    rename({Path(old): Path(new) for old, new in pairs.items()})
    return pairs


def imports_of(package: str, names: list[tuple[str, str]], moves: Moves) -> list[str]:
    """``from phaseline.package import names`` as lines of the new house; names are (name, alias), aliases keep bodies as they are."""
    out, rest = [], []
    for name, alias in names:
        new = moves.get(f"{package}.{name}")
        where, _, own = new.rpartition(".") if new else (package, ".", name)
        said = own if alias == own else f"{own} as {alias}"
        if new is None:
            rest.append(said)
        else:
            out.append(f"from phaseline.{where} import {said}")
    return [*out, f"from phaseline.{package} import {', '.join(rest)}"] if rest else out


def rewrite_imports(text: str, moves: Moves) -> tuple[list[str], set[int]]:
    """The lines with imports of modules by name rewritten, and the numbers of those that are done."""
    lines = text.split("\n")
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return lines, set()
    edits = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("phaseline."):
            package = node.module.removeprefix("phaseline.")
            if any(f"{package}.{each.name}" in moves for each in node.names):
                names = [(each.name, each.asname or each.name) for each in node.names]
                new = [" " * node.col_offset + line for line in imports_of(package, names, moves)]
                edits.append((node.lineno, node.end_lineno or node.lineno, new))
    for begin, end, new in sorted(edits, reverse=True):
        lines[begin - 1 : end] = [f"\0{line}" for line in new]
    done = {number for number, line in enumerate(lines) if line.startswith("\0")}
    return [line.removeprefix("\0") for line in lines], done


class Mentions:
    """Rewrites what a line says of modules and of tests that have moved."""

    def __init__(self, moves: Moves, tests: dict[str, str]) -> None:
        """``tests``: {old path: new path}."""
        self.moves = moves
        self.paths = {old.replace(".", "/"): new.replace(".", "/") for old, new in moves.items()}
        self.tests = {old.removeprefix("tests/"): new.removeprefix("tests/") for old, new in tests.items()}
        self.tests |= {
            old.removesuffix(".py").replace("/", "."): new.removesuffix(".py").replace("/", ".")
            for old, new in tests.items()
        }
        rooms = "|".join(sorted({old.split(".")[0] for old in moves}))
        longest_first = sorted(self.tests, key=len, reverse=True)
        self._test = re.compile(r"\b(?:" + "|".join(map(re.escape, longest_first)) + r")\b" if self.tests else r"\0")
        self._path = re.compile(rf"\b((?:{rooms})(?:/[a-z_0-9]+)+)(?=\.py\b)")
        self._quoted = re.compile(rf"(`+)((?:{rooms})(?:[./][a-z_0-9]+)+)([^`]*`+)")

    def rewrite(self, line: str) -> str:
        """The line as it is in the new house."""
        if "from phaseline." in line:
            line = IN_TEXT.sub(self._import_in_text, line)
        if "phaseline." in line:
            line = DOTTED.sub(self._dotted, line)
        line = self._test.sub(lambda match: self.tests[match[0]], line)
        if ".py" in line:
            line = self._path.sub(lambda match: self.paths.get(match[1], match[1]), line)
        return self._quoted.sub(self._in_backticks, line) if "`" in line else line

    def _import_in_text(self, match: re.Match[str]) -> str:
        names = match[2].split(", ")
        if not any(f"{match[1]}.{name}" in self.moves for name in names):
            return match[0]
        return "; ".join(imports_of(match[1], [(name, name) for name in names], self.moves))

    def _dotted(self, match: re.Match[str]) -> str:
        parts = match[1][1:].split(".")
        for size in range(len(parts), 0, -1):
            new = self.moves.get(".".join(parts[:size]))
            if new is not None:
                return ".".join(["phaseline", new, *parts[size:]])
        return match[0]

    def _in_backticks(self, match: re.Match[str]) -> str:
        mark = "/" if "/" in match[2] else "."
        parts = re.split(r"[./]", match[2])
        for size in range(len(parts), 1, -1):
            new = self.paths.get("/".join(parts[:size]))
            if new is not None:
                return match[1] + mark.join([*new.split("/"), *parts[size:]]) + match[3]
        return match[0]


def texts() -> Iterator[Path]:
    """The files in which modules may be mentioned."""
    for folder, below, files in os.walk("."):
        below[:] = [each for each in below if each not in HIDDEN and not each.startswith(".venv")]
        for name in files:
            file = Path(os.path.relpath(Path(folder, name)))
            if (name.endswith(TEXTS) or name in {"Makefile", "run"}) and not LEFT.match(file.as_posix()):
                yield file


def rewrite(moves: Moves, tests: dict[str, str]) -> int:
    """Rewrite every mention; how many files changed."""
    mentions, count = Mentions(moves, tests), 0
    for file in texts():
        try:
            text = file.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        has_imports = file.suffix == ".py" and "phaseline" in text
        lines, done = rewrite_imports(text, moves) if has_imports else (text.split("\n"), set())
        new = "\n".join(line if number in done else mentions.rewrite(line) for number, line in enumerate(lines))
        if new != text:
            file.write_text(new, "utf-8")
            count += 1
    return count


def deepen(old: str, new: str) -> None:
    """A moved test finds what lies above it as before."""
    deeper = new.count("/") - old.count("/")
    file = Path(new)
    text = file.read_text("utf-8")
    text = re.sub(HERE + r"\.parents\[(\d)\]", lambda match: f"{match[1]}.parents[{int(match[2]) + deeper}]", text)
    file.write_text(re.sub(HERE + r"\.parent / \"data\"", rf'\1.parents[{deeper}] / "data"', text), "utf-8")


def rewrite_tables(moves: Moves) -> None:
    """Tables of ``module:name``: the public names, and the commands, whose modules are named below theirs."""
    homes = SOURCE / "__init__.py"
    text = homes.read_text("utf-8")
    homes.write_text(
        re.sub(r'"([a-z_]+(?:\.[a-z_]+)+)(?=:)', lambda match: f'"{moves.get(match[1], match[1])}', text), "utf-8"
    )
    below = "cli.commands."
    for file in SOURCE.glob("cli/**/*.py"):
        text = file.read_text("utf-8")
        if "COMMANDS = {" in text or "ELSEWHERE = {" in text:
            new = re.sub(
                r'"([a-z_]+)(?=:[a-z_]+")',
                lambda match: f'"{moves.get(below + match[1], below + match[1]).removeprefix(below)}',
                text,
            )
            file.write_text(new, "utf-8")


def edit_by_hand() -> list[str]:
    """Make the edits that no rule covers; those whose place is not found."""
    missed = []
    for name, old, new in BY_HAND:
        file = Path(name)
        text = file.read_text("utf-8")
        if old not in text:
            missed.append(f"{name}: {old!r} is not there")
        file.write_text(text.replace(old, new), "utf-8")
    return missed


def fill_table_of_packages() -> None:
    """The table of packages that are nothing but a docstring (``cli/startup/module_finder.py``)."""
    found: dict[str, list[str]] = {}
    for file in sorted(SOURCE.rglob("*/__init__.py")):
        parts = file.relative_to(SOURCE).parts[:-1]
        is_plain = len(ast.parse(file.read_text("utf-8")).body) == 1
        if is_plain and not {"shim", "starter"} & {*parts}:
            found.setdefault(".".join(["phaseline", *parts[:-1]]), []).append(parts[-1])
    table = ""
    for name, each in sorted(found.items()):
        words = "\n        ".join(textwrap.wrap(", ".join(f'"{own}"' for own in each) + ",", 110))
        table += f'    "{name}": (\n        {words}\n    ),\n'
    file = SOURCE / "cli/startup/module_finder.py"
    text = file.read_text("utf-8")
    begin = text.index("PLAIN: dict")
    end = text.index("}  # fmt: skip", begin)
    file.write_text(text[:begin] + f"PLAIN: dict[str, tuple[str, ...]] = {{\n{table}{text[end:]}", "utf-8")


def main() -> int:
    """Check or move; 1 if something has to be looked at."""
    moves = read_map()
    wrong = check(moves)
    if wrong or "--check" in sys.argv:
        print("\n".join(wrong) or "the map names every module")
        return int(bool(wrong))
    moves = {old: new for old, new in moves.items() if old != new}
    count = move_sources(moves)
    if not count:
        print("everything has moved already")
        return 0
    tests = move_tests(moves)
    changed = rewrite(moves, tests)
    for old, new in tests.items():
        deepen(old, new)
    rewrite_tables(moves)
    missed = edit_by_hand()
    fill_table_of_packages()
    for words in (["check", "--quiet", "--select", "I,F401", "--fix"], ["format", "--quiet"]):
        subprocess.run([sys.executable, "-m", "ruff", *words, "src", "tests", "bench"], check=True)
    print(f"{count} modules and {len(tests)} tests moved, {changed} files rewritten", *missed, sep="\n")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
