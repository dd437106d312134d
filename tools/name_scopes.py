"""The scopes of a Python file, and every place in it where a name stands: what ``rename_symbols`` edits."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

GENERIC = ("dict", "list", "tuple", "type", "set", "frozenset")
"""Builtins whose brackets hold types; of other lower-case names they hold keys."""
Symbol = tuple[str, str]
"""The module, and the name in it."""


@dataclass(eq=False, slots=True)
class Scope:
    """Names bound in a module, class, function or comprehension. ``bound``: {name: what each binding imports, or None}."""

    kind: str
    parent: Scope | None
    bound: dict[str, list[Symbol | None]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    uses: list[tuple[str, int, int]] = field(default_factory=list)

    def home(self, name: str) -> Scope | None:
        """The scope that binds what the name means here; None: a builtin."""
        at: Scope | None = self
        while at is not None:
            if name in at.bound and name not in at.outer and (at is self or at.kind != "class"):
                return at
            at = at.parent
        return None


class Names(ast.NodeVisitor):
    """Visits a module once. ``texts`` with whether they stand where a type is meant; ``exported``: the texts of ``__all__``."""

    def __init__(self, tree: ast.Module, lines: list[bytes]) -> None:
        self.lines = lines
        self.scope = self.top = Scope("module", None)
        self.scopes = [self.top]
        self.imports: list[tuple[Scope, ast.alias, Symbol]] = []
        self.attributes: list[tuple[Scope, ast.Attribute]] = []
        self.texts: list[tuple[Scope, ast.Constant, bool]] = []
        self.exported: list[ast.Constant] = []
        self._types = 0
        self.visit(tree)

    def bind(self, name: str, imported: Symbol | None = None) -> None:
        scope = self.scope
        while scope.kind == "comprehension" and imported is None and scope.parent and name not in scope.bound:
            scope = scope.parent  # a walrus binds outside
        scope.bound.setdefault(name, []).append(imported)

    def use(self, name: str, line: int, column: int) -> None:
        self.scope.uses.append((name, line, column))

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bind(node.id)
        self.use(node.id, node.lineno, node.col_offset)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.texts.append((self.scope, node, self._types > 0))

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self.bind(each.asname or each.name.split(".")[0], (each.name if each.asname else "", ""))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for each in node.names:
            symbol = (node.module or "", each.name)
            self.bind(each.asname or each.name, symbol)
            self.imports.append((self.scope, each, symbol))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.attributes.append((self.scope, node))
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        line = self.lines[node.lineno - 1]
        for name in node.names:
            self.scope.outer.add(name)
            found = re.search(rb"\b" + name.encode() + rb"\b", line)
            if found:
                self.use(name, node.lineno, found.start())

    visit_Nonlocal = visit_Global  # noqa: N815

    def _named(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bind(node.name)
        found = re.compile(rb"(?:class|def)\s+").search(self.lines[node.lineno - 1], node.col_offset)
        if found:
            self.use(node.name, node.lineno, found.end())

    def _inside(self, kind: str, *parts: ast.AST) -> None:
        outside, types = self.scope, self._types
        self.scope, self._types = Scope(kind, outside), 0
        self.scopes.append(self.scope)
        for part in parts:
            self.visit(part)
        self.scope, self._types = outside, types

    def _type(self, node: ast.AST | None) -> None:
        if node is not None:
            self._types += 1
            self.visit(node)
            self._types -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._named(node)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._inside("class", *node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._named(node)
        for part in node.decorator_list:
            self.visit(part)
        self._signature(node.args)
        self._type(node.returns)
        self._inside("function", *parameters(node.args), *node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def _signature(self, args: ast.arguments) -> None:
        for each in parameters(args):
            self._type(each.annotation)
        for default in (*args.defaults, *args.kw_defaults):
            if default is not None:
                self.visit(default)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._signature(node.args)
        self._inside("function", *parameters(node.args), node.body)

    def visit_arg(self, node: ast.arg) -> None:
        self.bind(node.arg)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        self.visit(node.generators[0].iter)
        outside = self.scope
        self.scope = Scope("comprehension", outside)
        self.scopes.append(self.scope)
        for place, each in enumerate(node.generators):
            for name in ast.walk(each.target):
                if isinstance(name, ast.Name):
                    self.scope.bound.setdefault(name.id, []).append(None)
            for part in (*([each.iter] if place else []), each.target, *each.ifs):
                self.visit(part)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        self.scope = outside

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension  # noqa: N815

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.bind(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs  # noqa: N815

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bind(node.rest)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._type(node.annotation)
        self.visit(node.target)
        if "TypeAlias" in ast.unparse(node.annotation):
            self._type(node.value)
        elif node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(each, ast.Name) and each.id == "__all__" for each in node.targets):
            self.exported += [each for each in ast.walk(node.value) if isinstance(each, ast.Constant)]
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = last_name(node.func)
        self.visit(node.func)
        for place, part in enumerate(node.args):
            (self._type if called in {"cast", "assert_type"} and part is node.args[place and -1] else self.visit)(part)
        for each in node.keywords:
            (self._type if called == "TypeVar" and each.arg == "bound" else self.visit)(each.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        base = last_name(node.value)
        is_type = ((base[:1].isupper() and not base.isupper()) or base in GENERIC) and base != "Literal"
        outside = self._types
        self._types = outside + 1 if is_type else 0 if base == "Literal" else outside
        self.visit(node.slice)
        self._types = outside


def last_name(node: ast.AST) -> str:
    """``b`` of ``a.b`` and of ``b``; empty of anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def parameters(args: ast.arguments) -> list[ast.arg]:
    """All parameters of a function."""
    some = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [each for each in some if each is not None]
