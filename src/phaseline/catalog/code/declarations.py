"""Declarations of plugin functions, read from their source text: nothing of a plugin is run or imported.

The reader understands three decorators, whatever name they are imported under: ``operation`` of ``phaseline`` (native),
``operation`` of ``cloudify.decorators`` (``resumable=`` means repeatable), and ``phase`` of ``phaseline``. Arguments
may be literals or constants of the module. If a module imports a function from another module, the declaration is read
from that other module.
"""

from __future__ import annotations

import ast
import os
from dataclasses import field
from typing import TYPE_CHECKING, Any

from phaseline.catalog.code.search_path import source_file, split
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.operation_declaration import LARGEST_BATCH, MAX_BATCH, Declaration, phase_declaration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.deployment.code_location import CodeLocation

MAX_PASSES = 8
"""Largest number of modules that are read to find a function, if each module only imports it from the next one; this
ends circular imports.
"""
NATIVE_NAMES = frozenset(
    {
        "phaseline.operation",
        "phaseline.model.declaration.operation",
        "phaseline.model.blueprint.operation_declaration.operation",
    }
)
PHASE_NAMES = frozenset(
    {"phaseline.phase", "phaseline.model.phase_mark.phase", "phaseline.model.phases.decorator.phase"}
)
TASK_NAMES = frozenset({"phaseline.tasks.declaring.task", "phaseline.tasks.decorator.task"})
CLOUDIFY_NAMES = frozenset({"cloudify.decorators.operation", "cloudify.decorators.task"})
PLAIN = Declaration(flavour="cloudify")
"""The declaration of a function without a decorator."""
NO_LITERAL = object()
"""Marker for an expression whose value cannot be known without running code."""


@frozen
class ModuleText:
    """What one module's source text declares: ``functions`` by name, and ``passed_on``, the names that the module
    re-exports.

    ``passed_on`` is {name: dotted name of the original}.
    """

    functions: Mapping[str, Declaration] = field(default_factory=dict)
    passed_on: Mapping[str, str] = field(default_factory=dict)


class DeclarationReader:
    """Reads the declarations in source files; a file is read once, and read again when it has changed on disk."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[tuple[int, int], ModuleText]] = {}
        self._known: dict[tuple[CodeLocation, str], Declaration] = {}

    def of(self, implementation: str, code: CodeLocation) -> Declaration | None:
        """Return the declaration of ``module.function``, or None if its source file is not found or does not define it.

        Found declarations are cached for the life of this reader, so make a new reader for each command.
        """
        key = (code, implementation)
        found = self._known.get(key)
        if found is None:
            found = self._search(implementation, code)
            if found is not None:
                self._known[key] = found
        return found

    def _search(self, implementation: str, code: CodeLocation) -> Declaration | None:
        for _ in range(MAX_PASSES):
            module, function = split(implementation)
            file = source_file(module, code) if module else None
            if file is None:
                return None
            text = self._read(file, module)
            if function in text.functions:
                return text.functions[function]
            if function not in text.passed_on:
                return None
            implementation = text.passed_on[function]
        return None

    def _read(self, file: str, module: str) -> ModuleText:
        try:
            stat = os.stat(file)  # noqa: PTH116 - one call for each function mapped, on text
            version = (stat.st_mtime_ns, stat.st_size)
            known = self._texts.get(file)
            if known is not None and known[0] == version:
                return known[1]
            with open(file, "rb") as stream:  # noqa: PTH123
                tree = ast.parse(stream.read(), file)
        except (OSError, SyntaxError, ValueError):
            return ModuleText()  # a plugin that cannot be read fails when it is called, with the whole story
        package = module if os.path.basename(file) == "__init__.py" else split(module)[0]  # noqa: PTH119
        text = read_module(tree, package)
        self._texts[file] = (version, text)
        return text


def read_module(tree: ast.Module, package: str = "") -> ModuleText:
    """Return the declarations in a parsed module; ``package`` is the package that relative imports start from."""
    statements = list(top_level(tree.body))
    origins: dict[str, str] = {}
    constants: dict[str, object] = {}
    functions: dict[str, Declaration] = {}
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            origins.update(imported_names(statement, package))
        elif isinstance(statement, ast.Assign):
            _assigned(statement, origins, constants, functions)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            declared = _declared(statement.decorator_list, origins, constants)
            functions[statement.name] = _called_as(statement) if declared.flavour == "phase" else declared
        elif isinstance(statement, ast.ClassDef):
            functions[statement.name] = PLAIN
    return ModuleText(functions, {name: origin for name, origin in origins.items() if "." in origin})


def top_level(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """Yield the statements of a module in the order of the text, including those inside ``if`` and ``try``."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If):
            yield from top_level([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            handlers = [line for handler in statement.handlers for line in handler.body]
            yield from top_level([*statement.body, *handlers, *statement.orelse, *statement.finalbody])


def imported_names(statement: ast.Import | ast.ImportFrom, package: str) -> dict[str, str]:
    """Return {local name: dotted name of the original} for the names that an import statement binds."""
    if isinstance(statement, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: alias.name if alias.asname else alias.name.partition(".")[0]
            for alias in statement.names
        }
    source = statement.module or ""
    if statement.level:
        parts = package.split(".")
        kept = parts[: len(parts) - (statement.level - 1)]
        source = ".".join([*kept, *([source] if source else [])])
    return {alias.asname or alias.name: f"{source}.{alias.name}" for alias in statement.names}


def _assigned(
    statement: ast.Assign, origins: dict[str, str], constants: dict[str, object], functions: dict[str, Declaration]
) -> None:
    """Record what an assignment binds: a constant, or a function.

    Constants may be arguments of later decorators. A function is bound by ``name = function`` or by
    ``name = operation(...)(function)``.
    """
    names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
    value = literal(statement.value, constants)
    for name in names:
        if value is not NO_LITERAL:
            constants[name] = value
        elif isinstance(statement.value, ast.Name) and statement.value.id in functions:
            functions[name] = functions[statement.value.id]
        elif isinstance(statement.value, ast.Call):
            functions[name] = _declared([statement.value, statement.value.func], origins, constants)


def _declared(
    decorators: Iterable[ast.expr], origins: Mapping[str, str], constants: Mapping[str, object]
) -> Declaration:
    for decorator in decorators:
        call = decorator if isinstance(decorator, ast.Call) else None
        name = dotted_name(call.func if call is not None else decorator, origins)
        arguments = _arguments(call, constants)
        if name in NATIVE_NAMES:
            return _native(arguments)
        if name in PHASE_NAMES:
            return Declaration(flavour="phase")
        if name in TASK_NAMES:
            return Declaration(flavour="task", repeatable=bool(arguments.get("repeatable", False)))
        if name in CLOUDIFY_NAMES:
            return Declaration(flavour="cloudify", repeatable=bool(arguments.get("resumable", False)))
    return PLAIN


def _called_as(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Declaration:
    """Return the declaration of a function decorated with ``@phase``. A function of two arguments is called for each
    resource, a function of one argument once for all resources.
    """
    return phase_declaration(len(function.args.posonlyargs) + len(function.args.args), function.name)


def _native(arguments: Mapping[str, Any]) -> Declaration:
    max_batch = arguments.get("max_batch", MAX_BATCH)
    concurrency = arguments.get("concurrency", 0)
    batch_key = arguments.get("batch_key")
    return Declaration(
        bulk=bool(arguments.get("bulk", False)),
        repeatable=bool(arguments.get("repeatable", False)),
        max_batch=max(1, min(max_batch, LARGEST_BATCH)) if isinstance(max_batch, int) else MAX_BATCH,
        batch_key=batch_key if isinstance(batch_key, str) else None,
        concurrency=concurrency if isinstance(concurrency, int) else 0,
    )


def _arguments(call: ast.Call | None, constants: Mapping[str, object]) -> dict[str, Any]:
    if call is None:
        return {}
    values = {word.arg: literal(word.value, constants) for word in call.keywords if word.arg is not None}
    return {name: value for name, value in values.items() if value is not NO_LITERAL}


def literal(expression: ast.expr, constants: Mapping[str, object]) -> object:
    """Return the value of a literal or of a named constant, or ``NO_LITERAL`` for any other expression."""
    if isinstance(expression, ast.Name):
        return constants.get(expression.id, NO_LITERAL)
    try:
        return ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return NO_LITERAL


def dotted_name(expression: ast.expr, origins: Mapping[str, str]) -> str:
    """Return the full dotted name of an expression such as ``alias.operation``, or an empty text if it is no dotted
    name.

    An imported first part is replaced by the name that it was imported from (``origins``).
    """
    words: list[str] = []
    while isinstance(expression, ast.Attribute):
        words.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return ""
    words.append(origins.get(expression.id, expression.id))
    return ".".join(reversed(words))
