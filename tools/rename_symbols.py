"""Rename classes, functions, constants and type aliases as docs/layout/renames.txt says, and every use of them (issue 16, step D).

``python tools/rename_symbols.py`` renames definitions, imports, names that refer to them, names inside quoted annotations and
programs, attributes of modules, dotted texts, and mentions in backticks; then ruff puts imports and lines in order.
``--check`` names what is still to be renamed, and changes nothing. What has been renamed is left alone, so that it may run again.

A line of the table is ``phaseline.module:Old -> New``. Names are resolved by Python's scopes: a parameter or a variable of the
same name stays. Nothing is written if a new name has another meaning in one of the places that would use it.
"""

from __future__ import annotations

import ast
import builtins
import io
import os
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from name_scopes import Names, Scope, Symbol

TABLE = Path("docs/layout/renames.txt")
LINE = re.compile(r"(phaseline(?:\.\w+)+):(\w+) -> (\w+)")
FOLDERS = ("src", "tests", "bench", "tools", "examples", "docs")
FOREIGN = ("tests/corpus/data", "examples/wheels")
LEFT = re.compile(
    r"docs/layout/|CHANGELOG|tests/store/data|tests/cases/.*\.json|tools/rename_symbols|tools/move_modules"
)
"""Texts that keep old names: what was stored or released under them."""
PUBLIC = re.compile(r"phaseline(\.(planning|policies|testing)(\..+)?)?$")
"""Modules whose ``__all__`` is for others."""
PROMPT = re.compile(r"\s*(>>>|\.\.\.) ")
CODE_SPAN = re.compile(r"(`+)([^`\n]+)\1")
Renames = dict[Symbol, str]


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace ``old`` by ``new`` at a line (from 1) and a column (in bytes)."""

    line: int
    column: int
    old: str
    new: str


@dataclass(eq=False, slots=True)
class Program:
    """A Python file. ``module``: its dotted name."""

    path: Path
    module: str
    text: str
    names: Names = field(init=False)

    def __post_init__(self) -> None:
        """Find the names."""
        self.names = Names(ast.parse(self.text), self.text.encode().split(b"\n"))


def read_table() -> Renames:
    """The table as it is written."""
    renames: Renames = {}
    for number, line in enumerate(TABLE.read_text("utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            match = LINE.fullmatch(line.strip())
            if match is None or (match[1], match[2]) in renames:
                sys.exit(f"{TABLE}:{number}: not a line of the table, or said before: {line}")
            renames[match[1], match[2]] = match[3]
    return renames


def files(*endings: str) -> Iterator[Path]:
    """The files in which symbols may be mentioned."""
    yield from (
        file for file in map(Path, ("README.md", "CONTRIBUTING.md")) if file.suffix in endings and file.exists()
    )
    for top in FOLDERS:
        for folder, below, names in os.walk(top):
            below[:] = sorted(each for each in below if each[0] not in "._" or each == "_")
            for name in sorted(names):
                file = Path(folder, name)
                is_foreign = file.as_posix().startswith(FOREIGN)
                if file.suffix in endings and not is_foreign and not LEFT.match(file.as_posix()):
                    yield file


def read_programs() -> list[Program]:
    """All Python files that can be parsed."""
    found = []
    for file in files(".py"):
        parts = file.with_suffix("").parts[1 if file.parts[0] == "src" else 0 :]
        try:
            text = file.read_bytes().decode("utf-8")
            found.append(Program(file, ".".join(part for part in parts if part != "__init__"), text))
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
    return found


def with_passed_on(renames: Renames, programs: Iterable[Program]) -> Renames:
    """The table, and the symbols under the names of modules that import them, for those who take them from there."""
    found, before = dict(renames), 0
    while before != len(found):
        before = len(found)
        for program in programs:
            for scope, alias, symbol in program.names.imports:
                if symbol in found and not alias.asname and scope is program.names.top:
                    found[program.module, alias.name] = found[symbol]
    return found


class Rewriter:
    """Finds the edits of one program."""

    def __init__(self, program: Program, renames: Renames) -> None:
        """``renames``: passed-on names too."""
        self.program, self.renames, self.names = program, renames, program.names
        self.edits: set[Edit] = set()
        self.faults: list[str] = []

    def meaning(self, scope: Scope, name: str) -> str:
        """The new name of what ``scope`` binds under this name; empty if it stays."""
        bound = scope.bound.get(name, [])
        own = self.renames.get((self.program.module, name), "") if scope is self.names.top else ""
        new = {(self.renames.get(each, "") if each[1] == name else "") if each else own for each in bound}
        if len(new) > 1:
            self.faults.append(f"{self.program.path}: '{name}' has several meanings in one scope")
        return new.pop() if len(new) == 1 else ""

    def run(self) -> str:
        """The text with all edits made."""
        for scope, alias, symbol in self.names.imports:
            self._import(scope, alias, symbol)
        for scope in self.names.scopes:
            for name, line, column in scope.uses:
                self._use(scope, name, line, column)
        for scope, attribute in self.names.attributes:
            self._attribute(scope, attribute)
        for scope, constant, is_type in self.names.texts:
            self._text(scope, constant, is_type=is_type)
        for constant in self.names.exported:
            name = str(constant.value)
            new = self.meaning(self.names.top, name)
            if new and PUBLIC.match(self.program.module):
                self.faults.append(f"{self.program.path}: '{name}' is public")
            elif new:
                self.edits.add(Edit(constant.lineno, constant.col_offset + 1, name, new))
        return apply(self.program.text, self.edits)

    def _import(self, scope: Scope, alias: ast.alias, symbol: Symbol) -> None:
        new = self.renames.get(symbol)
        if new is None:
            return
        line, column = alias.lineno, alias.col_offset
        self.edits.add(Edit(line, column, f"{alias.name} as {new}" if alias.asname == new else alias.name, new))
        if alias.asname is None:
            self._look(scope, scope, alias.name, new)

    def _use(self, scope: Scope, name: str, line: int, column: int) -> None:
        home = scope.home(name)
        new = self.meaning(home, name) if home else ""
        if home and new:
            self._look(scope, home, name, new)
            self.edits.add(Edit(line, column, name, new))

    def _look(self, scope: Scope, home: Scope, name: str, new: str) -> None:
        """Note a fault if ``new`` means something else between a use and its home."""
        same = {(symbol[0], new) for symbol in home.bound.get(name, []) if symbol}
        at: Scope | None = scope
        while at is not None:
            others = {*at.bound.get(new, [])} - same if at is scope or at is home or at.kind != "class" else set()
            if others and not self.meaning(at, new):
                self.faults.append(f"{self.program.path}: '{new}' (for '{name}') is there already")
            at = None if at is home else at.parent
        twins = [each for each in home.bound if each != name and self.meaning(home, each) == new]
        if twins:
            self.faults.append(f"{self.program.path}: '{name}' and '{twins[0]}' both become '{new}'")

    def _attribute(self, scope: Scope, node: ast.Attribute) -> None:
        if not isinstance(node.value, ast.Name):
            return
        home = scope.home(node.value.id)
        for bound in home.bound.get(node.value.id, []) if home else []:
            module = ".".join(filter(None, bound)) if bound else ""
            new = self.renames.get((module, node.attr))
            if new:
                column = (node.end_col_offset or 0) - len(node.attr.encode())
                self.edits.add(Edit(node.end_lineno or 0, column, node.attr, new))

    def _text(self, scope: Scope, node: ast.Constant, *, is_type: bool) -> None:
        """Rename inside a quoted annotation, or in a program that is written as a text."""
        value = str(node.value)
        if ("\n" in value and "from phaseline" in value) or "import phaseline" in value:
            self._program(node, value)
            return
        if not is_type or node.lineno != node.end_lineno:
            return
        try:
            tree = ast.parse(value, mode="eval")
        except SyntaxError:
            return
        for each in ast.walk(tree):
            if isinstance(each, ast.Name):
                self._use(scope, each.id, node.lineno, node.col_offset + 1 + each.col_offset)

    def _program(self, node: ast.Constant, value: str) -> None:
        lines = self.program.text.split("\n")[node.lineno - 1 : node.end_lineno]
        source = "\n".join(lines)
        above = "if 1:\n" if value.lstrip("\n")[:1].isspace() else ""
        try:
            inner = Program(self.program.path, "", above + value)
        except SyntaxError:
            return
        rewriter = Rewriter(inner, self.renames)
        rewriter.run()
        self.faults += rewriter.faults
        if source.count(value) != 1:  # it has escapes: each name that is renamed everywhere in it is found by itself
            self._escaped(lines, node.lineno, rewriter.edits)
            return
        head = source[: source.index(value)]
        first = node.lineno + head.count("\n")
        for edit in rewriter.edits:
            line = edit.line - above.count("\n")
            column = edit.column + (len(head.rpartition("\n")[2].encode()) if line == 1 else 0)
            self.edits.add(Edit(first + line - 1, column, edit.old, edit.new))

    def _escaped(self, lines: Sequence[str], first: int, edits: Iterable[Edit]) -> None:
        for (old, new), count in Counter((edit.old, edit.new) for edit in edits).items():
            places = [(at, found) for at, line in enumerate(lines) for found in re.finditer(rf"(?<!\\)\b{old}\b", line)]
            if len(places) == count:
                self.edits |= {
                    Edit(first + at, len(lines[at][: each.start()].encode()), old, new) for at, each in places
                }


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits made; ``ValueError`` if one does not find what it replaces."""
    lines = text.encode().split(b"\n")
    for edit in sorted(edits, reverse=True):
        line, old = lines[edit.line - 1], edit.old.encode()
        if line[edit.column : edit.column + len(old)] != old:
            raise ValueError(f"line {edit.line}, column {edit.column}: no '{edit.old}' in {line.decode()!r}")
        lines[edit.line - 1] = line[: edit.column] + edit.new.encode() + line[edit.column + len(old) :]
    return b"\n".join(lines).decode()


class Mentions:
    """Renames what texts say of symbols: ``module:Old`` and ``module.Old`` everywhere, names alone in backticks."""

    def __init__(self, renames: Renames, programs: Iterable[Program]) -> None:
        """``renames``: the table as written. A name alone is told apart by its case, if nothing else is called so."""
        self.renames = renames
        homes: dict[str, set[str]] = {}
        for program in programs:
            for name, bound in program.names.top.bound.items():
                if None in bound:
                    homes.setdefault(name, set()).add(program.module)
        self.sole: dict[str, str] = {}
        olds = Counter(old for _, old in renames)
        for (module, old), new in renames.items():
            if re.search("[a-z][A-Z]", old) and homes.get(old, set()) <= {module} and olds[old] == 1:
                self.sole[old] = new
        modules = sorted({module for module, _ in renames}, key=len, reverse=True)
        known = "|".join(re.escape(each.removeprefix("phaseline.")) for each in modules)
        self._dotted = re.compile(rf"(?<![\w.])(phaseline\.)?({known})([.:])([A-Za-z_]\w*)" if known else r"\0")
        self._sole = whole_words(self.sole)

    def dotted(self, text: str) -> str:
        """The text with dotted names renamed."""
        return self._dotted.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        new = self.renames.get((f"phaseline.{match[2]}", match[4]))
        is_path = "." in match[2] or match[1]
        return f"{match[1] or ''}{match[2]}{match[3]}{new}" if new and is_path else match[0]

    def in_page(self, text: str) -> str:
        """A page with the names in its backticks renamed."""
        return CODE_SPAN.sub(lambda span: f"{span[1]}{self._sole(span[2])}{span[1]}", self.dotted(text))

    def in_program(self, text: str, own: Mapping[str, str]) -> str:
        """A program with its comments and docstrings renamed; ``own``: {old name in this module: new name}."""
        in_span = whole_words({**self.sole, **{old: new for old, new in own.items() if old[0].isupper() or "_" in old}})
        shown, lines = (
            whole_words({old: new for old, new in own.items() if old[0].isupper()}, before="("),
            text.split("\n"),
        )
        for begin, end in prose(text):
            for number in range(begin - 1, end):
                line = self._sole(lines[number]) if begin == end and "#" in lines[number] else lines[number]
                line = in_example(line, own) if PROMPT.match(line) else shown(line)
                lines[number] = CODE_SPAN.sub(lambda span: f"{span[1]}{in_span(span[2])}{span[1]}", line)
        return self.dotted("\n".join(lines))


def whole_words(table: Mapping[str, str], *, before: str = "") -> Callable[[str], str]:
    """A function that replaces the words of a table, where they stand ``before`` this text."""
    words = "|".join(map(re.escape, table))
    pattern = re.compile(rf"(?<![\w.])({words})\b(?={re.escape(before)})" if table else r"\0")
    return lambda text: pattern.sub(lambda match: table[match[1]], text)


def in_example(line: str, own: Mapping[str, str]) -> str:
    """A line of an example in a docstring, with names of its module renamed, but for those it binds and those in texts."""
    found, last, begin = [], "", len(line) - len(PROMPT.sub("", line, count=1))
    try:
        for token in tokenize.generate_tokens(io.StringIO(line[begin:]).readline):
            found.append((token, last))
            last = token.string
    except tokenize.TokenError:
        pass  # it goes on in the next line
    following = [*(token.string for token, _ in found[1:]), ""]
    for (token, before), behind in reversed(list(zip(found, following, strict=True))):
        if token.type == tokenize.NAME and token.string in own and before != "." and behind != "=":
            at = begin + token.start[1]
            line = line[:at] + own[token.string] + line[at + len(token.string) :]
    return line


def prose(text: str) -> Iterator[tuple[int, int]]:
    """First and last line of each comment and of each text that stands alone."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        starts = before in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and starts):
            yield token.start[0], token.end[0]
        if token.type not in {tokenize.COMMENT, tokenize.NL}:
            before = token.type


def wrong_lines(renames: Renames, programs: Iterable[Program]) -> list[str]:
    """Lines of the table that name what is not there, or what is there twice."""
    bound = {program.module: program.names.top.bound for program in programs}
    faults = []
    for (module, old), new in renames.items():
        there = [name for name in (old, new) if None in bound.get(module, {}).get(name, [])]
        if len(there) != 1 or hasattr(builtins, new):
            faults.append(f"{module}:{old} -> {new}: {' and '.join(there) or 'neither'} defined there")
    return faults


def rewrite(renames: Renames) -> tuple[dict[Path, str], list[str]]:
    """{file: its new text}, and what stands in the way."""
    programs = read_programs()
    faults = wrong_lines(renames, programs)
    everything, mentions = with_passed_on(renames, programs), Mentions(renames, programs)
    new: dict[Path, str] = {}
    for program in programs:
        rewriter = Rewriter(program, everything)
        text = rewriter.run()
        top = program.names.top
        own = {old: new for (module, old), new in renames.items() if module == program.module and old not in top.bound}
        own |= {name: rewriter.meaning(top, name) for name in top.bound}
        text = mentions.in_program(text, {name: each for name, each in own.items() if each})
        faults += dict.fromkeys(rewriter.faults)
        if text != program.text:
            new[program.path] = text
    done = {program.path for program in programs}
    for file in files(".md", ".toml", ".yaml", ".txt", ".py"):
        if file not in done:
            old = file.read_text("utf-8", errors="surrogateescape")
            text = mentions.in_page(old) if file.suffix == ".md" else mentions.dotted(old)
            if text != old:
                new[file] = text
    return new, faults


def main() -> int:
    """Check or rename; 1 if something has to be looked at."""
    new, faults = rewrite(read_table())
    if faults or "--check" in sys.argv:
        print(*faults, *(f"to be rewritten: {file}" for file in sorted(new)), sep="\n")
        return int(bool(faults or new))
    for file, text in new.items():
        file.write_text(text, "utf-8", errors="surrogateescape")
    programs = [str(file) for file in new if file.suffix == ".py"]
    for words in ("check --quiet --select I --fix", "format --quiet --force-exclude") if programs else ():
        subprocess.run([sys.executable, "-m", "ruff", *words.split(), *programs], check=True)
    print(f"{len(new)} files rewritten")
    return 0


if __name__ == "__main__":
    sys.exit(main())
