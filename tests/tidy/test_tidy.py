"""House rules that a machine can check by reading the sources.

Each rule is a function from the text of a file to its findings. It is proven on a small sample that breaks it, and
then applied to the whole tree. What is exempt stands in the lists on top, with the reason.
"""

import ast
import gc
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, cast

import pytest
from tests.tidy.trees import tree

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "src/phaseline/"
PURE = tuple(SOURCE + room for room in ("lang/", "model/", "engine/", "plan/", "dsl/", "records/"))
"""Rooms without I/O, clock, randomness, threads and logging."""

FOREIGN = (SOURCE + "compat/cloudify/shim/",)
"""Reproduces the interface of an ancestor word by word: exempt from names, lengths, docstrings and broad excepts."""

BROAD_EXCEPTS: dict[str, str] = {
    SOURCE
    + "compat/cloudify/ctx_server.py": "a script's word leads into plugin code; what that raises is the script's to hear",
    SOURCE + "compat/cloudify/callers.py": "calls the functions and scripts of Cloudify plugins",
    SOURCE
    + "compat/fuel/worker.py": "evaluates expressions of strangers in a process of its own; what they raise is the answer",
    SOURCE + "calls/threads/guarded_calls.py": "calls and imports functions of plugins for everybody else",
}
"""Files that may catch any exception, each with the reason. Plugin code is called there, and nowhere else."""

REAL_PROCESSES = ("tests/processes/", "tests/kill/", "tests/ha/")
"""Tests of real processes: they wait for what no virtual clock can move."""

LOADED_BY_NAME = (
    SOURCE + "store/migrations/", SOURCE + "cli/commands/", SOURCE + "cli/reference_docs.py", SOURCE + "policies/",
    SOURCE + "compat/fuel/worker.py",
)  # fmt: skip
"""Alembic finds its own by their folder, the command line its commands by a table, users name policies in their settings; one writes the reference, one is run as a script."""

KNOW_PAGES = tuple(SOURCE + room for room in ("store/", "engine/", "model/", "testing/recorder.py"))
"""Where it is known how many entries a stored page has; the recorder reads turns before they are stored."""

FORBIDDEN_WORDS = {"util", "utils", "helper", "helpers", "common", "misc", "miscellaneous", "manager", "managers"}
"""Never a part of the name of a module or class."""

FORBIDDEN_ALONE = {"base", "handler", "handlers", "processor", "service", "services", "context", "data", "info", "lib"}
"""Never the whole name of a module or class."""

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
IMPURE_MODULES = {name for contract in CONTRACTS if contract["id"] == "pure" for name in contract["forbidden_modules"]}
"""As in the import contract; here with the line, and inside functions."""

IMPURE_CALLS = {"open", "input", "print", "exec", "eval", "__import__"}
IMPURE_EXCEPTIONS = {
    "src/phaseline/lang/fast_dataclasses.py": {"exec()"},
    "src/phaseline/lang/fast_namedtuples.py": {"eval()"},
}
"""What two files may do: compile a constructor from the names of a class's fields, as the standard library does (ADR 0010)."""
IMPURE_METHODS = {"now", "utcnow", "today", "read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "rglob"}

FUNCTION_LINES = 60
FILE_LINES = 500

Finding = str


class File(NamedTuple):
    """A Python file: its place below the root, its text, the nodes of its tree (the module first)."""

    path: str
    text: str
    nodes: list[ast.AST]

    @classmethod
    def of(cls, path: str, text: str) -> "File":
        return cls(path, text, list(ast.walk(ast.parse(text))))


Rule = Callable[[File], Iterator[Finding]]


def python_files() -> list[str]:
    """Every Python file of the repository, relative to its root, in order."""
    folders = ("src", "tests", "bench", "examples")
    return sorted(
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if not path.is_relative_to(ROOT / "tests/cases")
    )


def files() -> Iterator[File]:
    """All of them, each read once; the collector of garbage finds nothing in trees and takes half of the time."""
    gc.disable()
    try:
        for path in python_files():
            text = (ROOT / path).read_text("utf-8")
            ours = path.startswith("src/")  # which other rules read, too
            yield File(path, text, list(ast.walk(tree(ROOT / path)))) if ours else File.of(path, text)
    finally:
        gc.enable()


def text_files(root: Path = ROOT) -> list[str]:
    """Every text file that is or will be committed, whatever its kind."""
    ignored = {line.rstrip("/") for line in (ROOT / ".gitignore").read_text().split() if line.endswith("/")}
    unwanted = {".git", *ignored}
    found = []
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        folders = relative.parts[:-1]
        cached = any(part in unwanted or (part.startswith(".") and part != ".ci") for part in folders)
        if not cached and path.is_file() and path.suffix not in {".pyc", ".png", ".db", ".db-wal", ".db-shm", ".lock"}:
            found.append(relative.as_posix())
    return found


def test_what_the_demonstration_leaves_is_no_source(tmp_path: Path) -> None:
    for name in ("phaseline-demo/phaseline.toml", "docs/tutorial.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("")
    assert text_files(tmp_path) == ["docs/tutorial.md"]


def is_foreign(path: str) -> bool:
    return path.startswith(FOREIGN)


def words(name: str) -> list[str]:
    """The lower-case words of a snake_case or CamelCase name."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def is_forbidden_name(name: str) -> bool:
    parts = words(name)
    return bool(FORBIDDEN_WORDS.intersection(parts)) or (len(parts) == 1 and parts[0] in FORBIDDEN_ALONE)


# The rules


def names(file: File) -> Iterator[Finding]:
    """Modules, folders and classes say what they are for."""
    if is_foreign(file.path):
        return
    for part in Path(file.path).with_suffix("").parts:
        if part != "lib" and is_forbidden_name(part):
            yield f"{file.path}: '{part}' says nothing; which concept lacks its name?"
    for node in file.nodes:
        if isinstance(node, ast.ClassDef) and is_forbidden_name(node.name):
            yield f"{file.path}:{node.lineno}: class '{node.name}' says nothing; which concept lacks its name?"


def function_length(file: File) -> Iterator[Finding]:
    """No function is longer than 60 lines, its docstring not counted."""
    if is_foreign(file.path):
        return
    for node in file.nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
        if lines > FUNCTION_LINES:
            yield f"{file.path}:{node.lineno}: {node.name} has {lines} lines, {FUNCTION_LINES} are the ceiling"


def file_length(file: File) -> Iterator[Finding]:
    """No file is longer than 500 lines."""
    lines = file.text.count("\n")
    if lines > FILE_LINES and not is_foreign(file.path):
        yield f"{file.path}: {lines} lines, {FILE_LINES} are the ceiling; which second idea is in it?"


def module_docstring(file: File) -> Iterator[Finding]:
    """The first line of a module says what it is for."""
    if not is_foreign(file.path) and ast.get_docstring(cast(ast.Module, file.nodes[0])) is None:
        yield f"{file.path}:1: no docstring; what is this module for?"


def purity(file: File) -> Iterator[Finding]:
    """The pure rooms get clock, files and chance as values."""
    if not file.path.startswith(PURE):
        return
    for node in file.nodes:
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names if alias.name.split(".")[0] in IMPURE_MODULES]
        elif isinstance(node, ast.ImportFrom):
            found = [node.module] if node.module and node.module.split(".")[0] in IMPURE_MODULES else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found = [node.func.id + "()"] if node.func.id in IMPURE_CALLS else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found = [f".{node.func.attr}()"] if node.func.attr in IMPURE_METHODS else []
        else:
            found = []
        found = [what for what in found if what not in IMPURE_EXCEPTIONS.get(file.path, set())]
        yield from (
            f"{file.path}:{node.lineno}: {what} in a pure room; take the value as an argument" for what in found
        )


def broad_except(file: File) -> Iterator[Finding]:
    """Any exception is caught only where a plugin is called, or to be raised again."""
    if is_foreign(file.path) or file.path in BROAD_EXCEPTS or not file.path.startswith(SOURCE):
        return
    for node in file.nodes:
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        is_broad = any(
            kind is None or (isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"})
            for kind in caught
        )
        if is_broad and not isinstance(node.body[-1], ast.Raise):
            yield f"{file.path}:{node.lineno}: catches everything; name the exception or raise it again"


def module_state(file: File) -> Iterator[Finding]:
    """No function rebinds a variable of its module."""
    if is_foreign(file.path) or file.path.startswith(SOURCE + "compat/"):
        return
    for node in file.nodes:
        if isinstance(node, ast.Global):
            yield f"{file.path}:{node.lineno}: 'global {', '.join(node.names)}': state lives in the scheduler and the store"


def reasons(file: File) -> Iterator[Finding]:
    """What is left to do names its issue; what is ignored names code and reason."""
    if is_foreign(file.path) or file.path == "tests/tidy/test_tidy.py":
        return
    for number, line in enumerate(file.text.splitlines(), 1):
        if re.search(r"#.*\b(TODO|FIXME|XXX|HACK)\b", line) and not re.search(r"(#|issue )\d+", line):
            yield f"{file.path}:{number}: a thing to do without the number of its issue"
        if re.search(r"#\s*type:\s*ignore(?!\[[\w, -]+\]\s*#\s*\w)", line):
            yield f"{file.path}:{number}: write '# type: ignore[code]  # reason'"


def pages(file: File) -> Iterator[Finding]:
    """Only stores and the engine know how statuses and states are divided into pages; stores return whole columns."""
    if not file.path.startswith(SOURCE) or file.path.startswith(KNOW_PAGES):
        return
    for number, line in enumerate(file.text.splitlines(), 1):
        if found := re.search(r"\bPAGE_ENTRIES\b|frombuffer\(bytes\(.*store\.", line):
            yield f"{file.path}:{number}: {found.group()}: use Store.entry_statuses, statuses or states"


def real_waiting(file: File) -> Iterator[Finding]:
    """No test sleeps, none replaces an attribute of a module, none is skipped."""
    if not file.path.startswith("tests/") or file.path == "tests/tidy/test_tidy.py":
        return
    forbidden = [r"mock\.patch", r"monkeypatch\.setattr", r"\bpytest\.skip\(", r"mark\.(skip|skipif|xfail)\b"]
    if not file.path.startswith(REAL_PROCESSES):
        forbidden.append(r"\btime\.sleep\(|\basyncio\.sleep\((?!0\))|from time import .*\bsleep\b")
    for number, line in enumerate(file.text.splitlines(), 1):
        for pattern in forbidden:
            if found := re.search(pattern, line):
                yield f"{file.path}:{number}: {found.group()}: a port is missing"


def machine_names(path: str, text: str) -> Iterator[Finding]:
    """Nothing names a registry or a folder of the machine on which it was written."""
    if path == "LICENSE":
        return
    registries = (
        r"py[p]i\.org|python[h]osted|--(?:extra-)?index[-]url|npm[j]s\.|docker\.i[o]\b|quay\.i[o]\b|ghcr\.i[o]\b"
    )
    folders = r"(?<![\w.}$-])/(?:wor[k]|roo[t]|opt/py[p]i)(?:/|\b(?![\w-]))"
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.search(f"{registries}|{folders}", line):
            yield f"{path}:{number}: '{found.group()}' belongs to one machine or registry"


RULES: tuple[Rule, ...] = (
    names,
    function_length,
    file_length,
    module_docstring,
    purity,
    broad_except,
    module_state,
    reasons,
    pages,
    real_waiting,
)

LONG = "def f():\n" + "    a = 1\n" * FUNCTION_LINES
SAMPLES: list[tuple[Rule, str, str, int]] = [
    (names, "src/phaseline/run/utils.py", "", 1),
    (names, "src/phaseline/run/context.py", "", 1),
    (names, "src/phaseline/run/http_helpers.py", "", 1),
    (names, "src/phaseline/run/handler_call.py", "class StoreManager: ...", 1),
    (names, "src/phaseline/run/batch_context.py", "class PhaseHandler: ...", 0),
    (names, FOREIGN[0] + "cloudify/utils.py", "", 0),
    (function_length, "src/phaseline/a.py", LONG, 1),
    (function_length, "src/phaseline/a.py", LONG.replace("    a = 1\n", '    """One\n    two."""\n', 1), 0),
    (file_length, "src/phaseline/a.py", "\n" * FILE_LINES, 0),
    (file_length, "src/phaseline/a.py", "\n" * (FILE_LINES + 1), 1),
    (module_docstring, "src/phaseline/a.py", "import re\n", 1),
    (purity, PURE[1] + "a.py", "import time\nfrom os.path import join\nimport numpy\n", 2),
    (purity, PURE[2] + "a.py", "def f():\n    import random\n", 1),
    (purity, PURE[3] + "a.py", "text = open(name).read()\n", 1),
    (purity, PURE[0] + "a.py", "moment = datetime.now()\n", 1),
    (purity, "src/phaseline/run/a.py", "import time\n", 0),
    (broad_except, "src/phaseline/a.py", "try:\n    f()\nexcept Exception:\n    pass\n", 1),
    (broad_except, "src/phaseline/a.py", "try:\n    f()\nexcept (OSError, BaseException):\n    pass\n", 1),
    (broad_except, "src/phaseline/a.py", "try:\n    f()\nexcept:\n    pass\n", 1),
    (broad_except, "src/phaseline/a.py", "try:\n    f()\nexcept BaseException:\n    undo()\n    raise\n", 0),
    (broad_except, "src/phaseline/a.py", "try:\n    f()\nexcept OSError:\n    pass\n", 0),
    (module_state, "src/phaseline/a.py", "def f():\n    global g\n", 1),
    (reasons, "src/phaseline/a.py", "a = 1  # TODO make it two\n", 1),
    (reasons, "src/phaseline/a.py", "a = 1  # TODO #12 make it two\n", 0),
    (reasons, "src/phaseline/a.py", "f()  # type: ignore\ng()  # type: ignore[misc]\n", 2),
    (reasons, "src/phaseline/a.py", "f()  # type: ignore[misc]  # numpy has no stub for it\n", 0),
    (pages, SOURCE + "use_cases/a.py", "a = np.frombuffer(bytes(store.statuses(1)), np.uint8)\nb = PAGE_ENTRIES\n", 2),
    (pages, SOURCE + "engine/a.py", "b = PAGE_ENTRIES\n", 0),
    (real_waiting, "tests/a.py", "time.sleep(1)\nmonkeypatch.setattr(a, 'b', 1)\npytest.skip('x')\n", 3),
    (real_waiting, "tests/processes/a.py", "time.sleep(0.01)\n", 0),
    (real_waiting, "src/phaseline/run/a.py", "time.sleep(0.01)\n", 0),
    (machine_names, "docs/a.md", "cd /wor" + "k/main\nls /roo" + "t\n", 2),
    (
        machine_names,
        "docs/a.md",
        "./wor" + "k/main and https://example.org/wor" + "k/ and $TMP/wor" + "k and /works" + "pace",
        0,
    ),
    (machine_names, "Makefile", "pip install --index" + "-url https://py" + "pi.org/simple\n", 1),
]


@pytest.mark.parametrize(("rule", "path", "text", "count"), SAMPLES)
def test_rule_finds_what_breaks_it(rule: Rule, path: str, text: str, count: int) -> None:
    found = machine_names(path, text) if rule is machine_names else rule(File.of(path, text))
    assert len(list(found)) == count


def test_every_python_file_keeps_the_rules() -> None:
    found = [(rule, finding) for file in files() for rule in RULES for finding in rule(file)]
    broken = dict.fromkeys(rule for rule, _ in found)
    lines = [line for rule in broken for line in (f"{rule.__doc__}", *(what for of, what in found if of is rule))]
    assert not lines, "\n".join(lines)


def test_nothing_names_a_machine_or_registry() -> None:
    found = []
    for path in text_files():
        try:
            text = (ROOT / path).read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += machine_names(path, text)
    assert not found, "\n".join(found)


def test_every_exemption_is_still_needed() -> None:
    kept = [path for path in (*FOREIGN, *BROAD_EXCEPTS) if (ROOT / path).exists()]
    assert kept == [*FOREIGN, *BROAD_EXCEPTS]
    for path in BROAD_EXCEPTS:
        assert re.search(r"except\s*(\(.*)?\b(Base)?Exception\b|except:", (ROOT / path).read_text("utf-8")), path
    for path, calls in IMPURE_EXCEPTIONS.items():
        assert all(call.removesuffix(")") in (ROOT / path).read_text("utf-8") for call in calls), path


# A module that nothing imports


def dotted(path: str) -> str:
    """``src/phaseline/run/__init__.py`` → ``phaseline.run``."""
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def mentioned(text: str) -> set[str]:
    """Modules of ours that the text imports or names: in a lazy import, a process's command, or as the renderer of a command."""
    found = {match.rstrip(".") for match in re.findall(r"phaseline(?:\.\w+)+", text)}
    for module, several, one in re.findall(r"from (phaseline[\w.]*) import (?:\(([^)]*)\)|([^\n#]*))", text):
        found.update(f"{module}.{name.split()[0]}" for name in (several or one).split(",") if name.strip())
    found.update(f"phaseline.cli.render.{module}" for module in re.findall(r'"([a-z_]+(?:\.[a-z_]+)*):[a-z_]+"', text))
    return found


def test_every_module_is_imported_by_another() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    reached = {target.split(":")[0] for target in scripts.values()}
    public_kit = SOURCE + "testing/"
    modules = [path for path in python_files() if path.startswith(SOURCE) and not is_foreign(path)]
    for path in python_files():
        found = mentioned((ROOT / path).read_text("utf-8")) - {dotted(path)}
        inside = path.startswith(SOURCE)
        reached |= found if inside else {name for name in found if name.startswith("phaseline.testing")}
    lonely = [
        path
        for path in modules
        if dotted(path) not in reached
        and not path.endswith(("__init__.py", "__main__.py"))
        and not path.startswith(LOADED_BY_NAME)
    ]
    assert not lonely, "nothing imports:\n" + "\n".join(lonely) + f"\n(tests may keep {public_kit} alive, nothing else)"


def test_every_python_that_is_claimed_is_run_by_ci_and_no_other() -> None:
    claimed = set(
        re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    )
    run = set(re.findall(r"portable (3\.\d+)", (ROOT / ".ci" / "run").read_text("utf-8")))
    assert claimed == run | {"3.11"}  # the suite itself runs on the oldest one, which mypy and ruff are told of
