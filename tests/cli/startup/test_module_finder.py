"""Our own modules are found without searching, and are the same as if they had been searched for."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import phaseline
from phaseline.cli.startup import module_finder as own_modules

ENDING = str(phaseline.__spec__.cached).rpartition("__init__")[2]


def _found(folder: Path, name: str) -> ModuleSpec:
    spec = own_modules.ModuleFinder(ENDING).find_spec(f"phaseline.{name}", [str(folder)])
    assert spec is not None
    return spec


def _loaded(folder: Path, name: str) -> ModuleType:
    spec = _found(folder, name)
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_modules_are_found_where_python_finds_them_and_know_the_same_of_themselves() -> None:
    root = Path(phaseline.__path__[0])
    folders = [root, *(file.parent for file in root.rglob("*/__init__.py") if "shim" not in file.parts)]
    modules = [file for folder in folders for file in folder.glob("*.py") if file.name != "__init__.py"]
    finder = own_modules.ModuleFinder(ENDING)
    assert len(modules) > 500
    for place in [*folders[1:], *modules]:
        name = ".".join(["phaseline", *place.relative_to(root).with_suffix("").parts])
        ours, pythons = (one.find_spec(name, [str(place.parent)]) for one in (finder, PathFinder))
        assert ours is not None, name
        assert pythons is not None, name
        assert _told(ours) == _told(pythons)


def plain_packages() -> dict[str, tuple[str, ...]]:
    """What the table has to be, read from the files."""
    root = Path(phaseline.__path__[0])
    found: dict[str, list[str]] = {}
    for file in sorted(root.rglob("*/__init__.py")):
        parts = file.relative_to(root).parts[:-1]
        if is_plain(file) and not {"shim", "starter"} & {*parts}:
            found.setdefault(".".join(["phaseline", *parts[:-1]]), []).append(parts[-1])
    return {name: tuple(each) for name, each in sorted(found.items())}


def is_plain(file: Path) -> bool:
    body = ast.parse(file.read_text("utf-8")).body
    return all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in body)


def test_the_table_of_plain_packages_is_true() -> None:
    assert plain_packages() == own_modules.PLAIN


KNOWN = """
import sys, phaseline
if sys.argv[1:]:
    from phaseline.cli.startup import module_finder as own_modules
    own_modules.find_directly()
    assert "__file__" not in vars(sys.modules["phaseline.model"]), "made before anything asks"
import phaseline.model as package
package.__file__
print({key: value for key, value in sorted(vars(package).items()) if key[:2] == "__" and key != '__builtins__' and not hasattr(value, "__dict__")})
print([getattr(package.__spec__, key) for key in ("name", "origin", "cached", "submodule_search_locations", "parent")])
print(package.__spec__.has_location, type(package.__spec__.loader), phaseline.model is package)
"""


def test_plain_packages_know_what_python_would_have_told_them_but_their_docstring() -> None:
    ours, pythons = (
        subprocess.run([sys.executable, "-c", KNOWN, *words], capture_output=True, text=True, check=True).stdout
        for words in (["find"], [])
    )
    docstring = ast.get_docstring(
        ast.parse(Path(phaseline.__path__[0], "model/__init__.py").read_text("utf-8")), clean=False
    )
    assert pythons.count(repr(docstring)) == 1
    assert ours == pythons.replace(repr(docstring), "None")


def _told(spec: ModuleSpec) -> list[object]:
    module = module_from_spec(spec)
    own = {
        name: one
        for name, one in vars(module).items()
        if name not in {"__spec__", "__loader__", "__getattr__"} and not isinstance(one, ModuleType)
    }
    return [spec.name, spec.origin, spec.cached, spec.submodule_search_locations, spec.has_location, spec.parent, own]


def test_what_is_not_ours_or_no_file_is_left_to_others(tmp_path: Path) -> None:
    (tmp_path / "there.py").touch()
    (tmp_path / "folder").mkdir()
    finder = own_modules.ModuleFinder(ENDING)

    assert finder.find_spec("phaseline.there", [str(tmp_path)]) is not None
    assert finder.find_spec("phaseline.folder", [str(tmp_path)]) is None
    assert finder.find_spec("phaseline.missing", [str(tmp_path)]) is None
    assert finder.find_spec("others.there", [str(tmp_path)]) is None
    assert finder.find_spec("phaseline", None) is None


def test_a_source_without_byte_code_is_compiled_and_its_byte_code_written(tmp_path: Path) -> None:
    (tmp_path / "fresh.py").write_text("word = 'fresh'")
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        module = _loaded(tmp_path, "fresh")
    finally:
        sys.dont_write_bytecode = kept

    assert module.word == "fresh"
    written = Path(str(module.__cached__))
    assert written.parent == tmp_path / "__pycache__"
    # And it is what is taken from now on, as long as the source seems to be the same.
    old = (tmp_path / "fresh.py").stat()
    (tmp_path / "fresh.py").write_text("word = 'other'")
    os.utime(tmp_path / "fresh.py", ns=(old.st_atime_ns, old.st_mtime_ns))
    assert _loaded(tmp_path, "fresh").word == "fresh"

    os.utime(tmp_path / "fresh.py", (old.st_atime, old.st_mtime + 5))
    assert _loaded(tmp_path, "fresh").word == "other"
    (tmp_path / "fresh.py").write_text("word = 'longer'")
    os.utime(tmp_path / "fresh.py", (old.st_atime, old.st_mtime + 5))
    assert _loaded(tmp_path, "fresh").word == "longer"


def test_byte_code_that_has_moved_tells_where_the_source_lies_now(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "moved.py").write_text("def where(): pass")
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        _loaded(tmp_path / "a", "moved")
    finally:
        sys.dont_write_bytecode = kept
    (tmp_path / "a").rename(tmp_path / "b")

    assert _loaded(tmp_path / "b", "moved").where.__code__.co_filename == str(tmp_path / "b" / "moved.py")


def test_the_command_finds_this_way_and_whoever_watches_imports_goes_first() -> None:
    program = (
        "import sys, phaseline\n"
        "class Watcher:\n    def find_spec(self, name, path, target=None): print('seen', name) if 'words' in name else None\n"
        "sys.meta_path.insert(0, Watcher())\n"
        "from phaseline.cli.startup import fast_start as lean\nlean.begin()\n"
        "import phaseline.dsl.text.value_words as words\nprint(type(words.__loader__).__module__)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["seen phaseline.dsl.text.value_words", "phaseline.cli.startup.module_finder"]


Parts = Callable[..., ModuleType]


@pytest.fixture
def parcel(tmp_path: Path) -> Iterator[Parts]:
    """Makes the package ``phaseline.parcel`` of these modules; it is found as in a command, and forgotten afterwards."""
    finder = own_modules.ModuleFinder(ENDING)

    def made(**texts: str) -> ModuleType:
        folder = tmp_path / "parcel"
        folder.mkdir()
        for name, text in {"__init__": "own = 1", **texts}.items():
            (folder / f"{name}.py").write_text(text)
        package = _loaded(tmp_path, "parcel")
        sys.modules["phaseline.parcel"] = package
        return package

    sys.meta_path.insert(0, finder)
    yield made
    sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if name.startswith("phaseline.parcel")]:
        del sys.modules[name]


def _run(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(text, space)
    return space


def _is_waiting(module: object) -> bool:
    return isinstance(module, own_modules.WaitingModule)


def test_a_module_imported_as_a_module_waits_until_it_is_used_and_stays_the_same_object(parcel: Parts) -> None:
    package = parcel(inner="word = 'inner'")

    first = _run("from phaseline.parcel import inner, own")
    second = _run("from phaseline.parcel import inner as other")

    assert first["own"] == 1
    assert _is_waiting(first["inner"])
    assert "phaseline.parcel.inner" not in sys.modules
    assert first["inner"].word == "inner"
    assert first["inner"] is second["other"] is package.inner is sys.modules["phaseline.parcel.inner"]
    assert type(first["inner"]) is ModuleType


def test_a_module_from_which_a_name_is_imported_is_imported_at_once(parcel: Parts) -> None:
    package = parcel(inner="word = 'inner'", direct="word = 'direct'")
    waiting = _run("from phaseline.parcel import inner")["inner"]

    assert _run("from phaseline.parcel.inner import word")["word"] == "inner"
    assert _run("import phaseline.parcel.direct as it")["it"].word == "direct"

    assert package.inner is waiting is sys.modules["phaseline.parcel.inner"]
    assert type(waiting) is ModuleType


@pytest.mark.parametrize("look", [dir, vars, repr, inspect.getsource, lambda module: module.__file__])
def test_whoever_looks_at_a_module_that_waits_sees_all_of_it(parcel: Parts, look: Callable[[object], object]) -> None:
    parcel(inner="word = 'inner'")
    module = _run("from phaseline.parcel import inner")["inner"]

    seen = look(module)

    assert type(module) is ModuleType
    assert seen == look(sys.modules["phaseline.parcel.inner"])
    assert module.__spec__.name == module.__name__ == "phaseline.parcel.inner"
    assert "inner.py" in repr(module)


def test_what_is_in_it_can_be_pickled_and_it_can_be_imported_again(parcel: Parts) -> None:
    parcel(inner="def word(): return 'inner'")
    module = _run("from phaseline.parcel import inner")["inner"]

    assert pickle.loads(pickle.dumps(module.word)) is module.word
    assert importlib.reload(module) is module
    assert module.word() == "inner"


def test_a_part_that_a_package_has_not_is_missing_when_it_is_imported(parcel: Parts) -> None:
    package = parcel()

    with pytest.raises(ImportError, match=r"cannot import name 'nothing' from 'phaseline\.parcel'"):
        _run("from phaseline.parcel import nothing")
    assert not hasattr(package, "nothing")


def test_a_module_that_fails_raises_its_own_error_where_it_is_used_and_is_tried_again(parcel: Parts) -> None:
    package = parcel(inner="from phaseline.parcel import own\n1 / (own - 1)\nword = 'inner'")
    module = _run("from phaseline.parcel import inner")["inner"]

    with pytest.raises(ZeroDivisionError) as raised:
        _ = module.word
    assert "1 / (own - 1)" in "".join(traceback.format_exception(raised.value))
    assert "phaseline.parcel.inner" not in sys.modules
    vars(package)["own"] = 2
    assert module.word == "inner"
    assert sys.modules["phaseline.parcel.inner"] is module


def test_a_module_that_asks_itself_while_it_is_imported_gets_what_it_has(parcel: Parts) -> None:
    parcel(inner="from phaseline.parcel import inner\nfirst = 1\nseen = inner.first, hasattr(inner, 'last')\nlast = 2")

    module = _run("from phaseline.parcel import inner")["inner"]

    assert (module.seen, module.last) == ((1, False), 2)


def test_of_many_threads_none_sees_a_half_however_it_imports(parcel: Parts) -> None:
    parcel(inner="first = 1\nfor _ in range(20_000): pass\nlast = 2")
    seen: list[tuple[int, int]] = []
    start = threading.Barrier(9)

    def look(number: int) -> None:
        start.wait()
        if number % 3 == 0:
            module = importlib.import_module("phaseline.parcel.inner")
        else:
            module = _run("from phaseline.parcel import inner")["inner"]
        seen.append((module.last, module.first))

    threads = [threading.Thread(target=look, args=(number,)) for number in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [(2, 1)] * 9


def test_a_module_that_was_made_while_another_thread_imported_it_answers_as_that_one(parcel: Parts) -> None:
    parcel(inner="word = 'inner'")
    imported = importlib.import_module("phaseline.parcel.inner")

    assert own_modules.WaitingModule("phaseline.parcel.inner").word == "inner"
    assert sys.modules["phaseline.parcel.inner"] is imported


def test_whoever_watches_imports_sees_a_module_when_it_is_used(parcel: Parts) -> None:
    parcel(inner="word = 'inner'")
    seen = []

    class Watcher:
        def find_spec(self, name: str, _path: object, _target: object = None) -> None:
            seen.append(name)

    sys.meta_path.insert(0, Watcher())  # type: ignore[arg-type]  # a finder needs no more
    try:
        module = _run("from phaseline.parcel import inner")["inner"]
        assert seen == []
        assert module.word == "inner"
    finally:
        del sys.meta_path[0]
    assert seen == ["phaseline.parcel.inner"]


WAITS = """
import sys
if sys.argv[1:]:
    from phaseline.cli.startup import fast_start
    fast_start.begin()
from phaseline.model.problems import text
from phaseline.plan.workflows import suspend_resume
print([f"phaseline.{name}" in sys.modules for name in ("model.problems.text", "plan.workflows.suspend_resume")])
print(text.__doc__, suspend_resume.__name__, type(text))
"""


def test_modules_wait_in_commands_only() -> None:
    command, program = (
        subprocess.run([sys.executable, "-c", WAITS, *words], capture_output=True, text=True, check=True).stdout
        for words in (["command"], [])
    )
    assert command.splitlines()[0] == "[False, False]"
    assert program.splitlines()[0] == "[True, True]"
    assert command.splitlines()[1:] == program.splitlines()[1:]
