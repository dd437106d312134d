"""Modules that are loaded when something in them is asked for."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import pytest

from phaseline.cli.startup import deferred_modules as later
from phaseline.cli.startup import fast_start

DEFERRED = """
import sys
from phaseline.cli.startup import fast_start
from phaseline.cli.startup.deferred_modules import DeferredModule
fast_start.begin()
print(*(name for name, module in sys.modules.items() if type(module) is DeferredModule))
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules can be imported; what is imported of it is forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_module_is_loaded_with_the_first_thing_that_is_asked_of_it_and_stays_the_same_object(library: Path) -> None:
    (library / "waits.py").write_text(
        "import sys\nsys.modules[__name__].count = getattr(sys, 'looked', 0)\nword = 'here'"
    )

    later.put_off("waits")
    first, second = import_module("waits"), import_module("waits")

    assert "word" not in vars(first)
    assert first.word == "here"
    assert first is second is sys.modules["waits"]
    assert first.__file__ == str(library / "waits.py")
    assert first.__spec__ is not None
    assert "word" in dir(first)


def test_what_is_imported_from_it_is_its_own(library: Path) -> None:
    (library / "giving.py").write_text("def word(): return 'its own'")
    later.put_off("giving")

    space: dict[str, object] = {}
    exec("from giving import word\nsaid = word()", space)

    assert space["said"] == "its own"


def test_its_names_are_all_there_for_who_lists_them(library: Path) -> None:
    (library / "listed.py").write_text("one = 1")
    later.put_off("listed")

    assert "one" in dir(import_module("listed"))


def test_what_is_known_beforehand_loads_nothing_and_gives_way_to_the_original(library: Path) -> None:
    (library / "known.py").write_text("def early(): return 'original'\nlate = 2")
    later.put_off("known", {"early": lambda: "stand-in"})
    module = import_module("known")

    assert module.early() == "stand-in"
    assert module.late == 2
    assert module.early() == "original"


def test_a_part_of_a_package_loads_no_package_and_is_bound_to_it(library: Path) -> None:
    package = library / "parcel"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("word = 'inner'")

    later.put_off("parcel.inner")
    assert "parcel" not in sys.modules
    parcel = import_module("parcel")
    later.bind(parcel, "parcel.inner")

    assert parcel.inner.word == "inner"


def test_a_part_of_a_package_that_is_there_is_bound_at_once(library: Path) -> None:
    package = library / "crate"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("word = 'inner'")
    crate = import_module("crate")

    later.put_off("crate.inner")

    assert crate.inner.word == "inner"


def test_a_package_that_waits_has_its_parts(library: Path) -> None:
    package = library / "chest"
    package.mkdir()
    (package / "__init__.py").write_text("word = 'outer'")
    (package / "drawer.py").write_text("word = 'drawer'")
    later.put_off("chest", is_package=True)

    assert import_module("chest.drawer").word == "drawer"
    assert import_module("chest").word == "outer"


def test_a_module_that_is_there_is_left_alone() -> None:
    later.put_off("sys")

    assert type(sys.modules["sys"]) is not later.DeferredModule


@pytest.mark.parametrize("name", ["there_is_no_such_module", "there_is_no_such_package.part"])
def test_a_module_that_is_nowhere_is_missing_when_it_is_used(library: Path, name: str) -> None:
    later.put_off(name)

    with pytest.raises(ModuleNotFoundError, match=name):
        _ = sys.modules[name].word


def test_a_module_is_searched_for_when_it_is_used_in_the_places_of_before(library: Path) -> None:
    first, second = library / "first", library / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "twice.py").write_text(f"place = {folder.name!r}")
    sys.path.insert(0, str(first))
    later.put_off("twice")
    sys.path.insert(0, str(second))
    module = import_module("twice")

    assert type(module.__spec__) is later.DeferredSpec
    assert module.__file__ == module.__spec__.origin == str(first / "twice.py")
    assert type(module) is later.DeferredModule
    assert type(module.__spec__) is ModuleSpec
    assert module.__spec__.parent == module.__package__ == ""
    assert module.place == "first"
    assert vars(module)["__file__"] == str(first / "twice.py")


def test_the_packages_that_commands_defer_have_their_parts() -> None:
    deferred = subprocess.run([sys.executable, "-c", DEFERRED], capture_output=True, text=True, check=True).stdout
    found = {name: PathFinder.find_spec(name) for name in deferred.split() if "." not in name}

    assert len(found) > 10
    for name, spec in found.items():
        assert spec is not None, name
        assert (spec.submodule_search_locations is not None) == (name in fast_start.PACKAGES), name


def test_a_name_that_it_has_not_is_missing_after_loading_and_loading_is_not_asked_for_a_path(library: Path) -> None:
    (library / "small.py").write_text("word = 1")
    later.put_off("small")
    module = import_module("small")

    assert not hasattr(module, "__path__")
    assert "word" not in vars(module)
    assert not hasattr(module, "other")
    assert vars(module)["word"] == 1


def test_while_it_is_loaded_it_lacks_what_is_not_made_yet(library: Path) -> None:
    (library / "circle.py").write_text("import circle\nseen = hasattr(circle, 'end')\nend = True")
    later.put_off("circle")

    assert import_module("circle").seen is False


def test_a_module_that_fails_is_tried_again_when_it_is_asked_again(library: Path) -> None:
    flag = library / "flag"
    (library / "failing.py").write_text(
        f"from pathlib import Path\nif not Path({str(flag)!r}).exists(): 1 / 0\nword = 1"
    )
    later.put_off("failing")
    module = import_module("failing")

    with pytest.raises(ZeroDivisionError):
        _ = module.word
    flag.touch()
    assert module.word == 1


def test_of_many_threads_none_sees_a_half(library: Path) -> None:
    (library / "slow.py").write_text("import time\nfirst = 1\nfor _ in range(20_000): pass\nlast = 2")
    later.put_off("slow")
    module, seen = import_module("slow"), []
    start = threading.Barrier(8)

    def look() -> None:
        start.wait()
        seen.append((module.last, module.first))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [(2, 1)] * 8
