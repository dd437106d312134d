"""The modules in which public names are defined: all that the pages of Python names need of the sources.

The builders read each module of the package that they are given, although a page shows the names of few. They are given
a copy with these few.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.website import pages


def copy(folder: Path, root: Path = pages.ROOT) -> int:
    """Write the modules of the public names into ``folder``, which is made anew; how many they are."""
    shutil.rmtree(folder, ignore_errors=True)
    found = public_files(root / "src")
    for file in found:
        target = folder / file.relative_to(root / "src")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return len(found)


def public_files(src: Path) -> set[Path]:
    """The modules with a page, those that define what they export, and the packages around them."""
    wanted: list[tuple[str, str]] = []
    for module in pages.API:
        wanted += [(module, name) for name in exported(file_of(src, module))]
        wanted += [(home, name) for home in modules_on(src, module) for name in exported(file_of(src, home))]
    seen: set[tuple[str, str]] = set()
    files: set[Path] = set()
    while wanted:
        module, name = one = wanted.pop()
        if one not in seen:
            seen.add(one)
            files.add(file := file_of(src, module))
            wanted += [(home, there) for home, there, here in imported(file) if here == name]
    return files | {
        package / "__init__.py"
        for file in files
        for package in file.parents
        if package.is_relative_to(src / "phaseline")
    }


def modules_on(src: Path, module: str) -> list[str]:
    """The modules that are shown on the page of a public module."""
    homes = [*pages.MODULES_OF.get(module, {}).values()]
    if module in pages.SHOWN_WHOLE:
        homes += [f"{module}.{file.stem}" for file in sorted(file_of(src, module).parent.glob("[!_]*.py"))]
    return [home for home in homes if file_of(src, home).exists()]


def file_of(src: Path, module: str) -> Path:
    """The file of a module."""
    path = src / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def exported(file: Path) -> list[str]:
    """The names in ``__all__``; if there is none, all that the module defines or imports."""
    for node in read(file).body:
        if isinstance(node, ast.Assign) and [ast.unparse(one) for one in node.targets] == ["__all__"]:
            return list(ast.literal_eval(node.value))
    return [here for _, _, here in imported(file)] + [""]


@cache
def read(file: Path) -> ast.Module:
    """The statements of a module."""
    return ast.parse(file.read_text("utf-8"))


def imported(file: Path) -> Iterator[tuple[str, str, str]]:
    """(module, name there, name here) of each import of a name from the package."""
    for node in ast.walk(read(file)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "phaseline":
            for alias in node.names:
                yield str(node.module), alias.name, alias.asname or alias.name
