"""Functions are imported from the folders of their deployment, and from nowhere else's."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from phaseline.catalog.code.function_loader import Loader
from phaseline.catalog.plugin_catalog import PluginCatalog
from phaseline.model.deployment.code_location import CodeLocation


@pytest.fixture
def loader() -> Iterator[Loader]:
    found = Loader()
    yield found
    found.close()


def places(folder: Path, **files: str) -> CodeLocation:
    for name, text in files.items():
        file = folder / "plugins" / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return CodeLocation(str(folder))


def test_two_deployments_may_have_modules_of_the_same_name(loader: Loader, tmp_path: Path) -> None:
    one = places(tmp_path / "one", tasks="import part\ndef create(): return part.NAME", part="NAME = 'one'")
    two = places(tmp_path / "two", tasks="import part\ndef create(): return part.NAME", part="NAME = 'two'")
    assert [loader.load("tasks.create", code)() for code in (one, two, one)] == ["one", "two", "one"]
    assert "tasks" not in sys.modules
    assert "part" not in sys.modules


def test_an_import_inside_a_function_finds_its_own_neighbours(loader: Loader, tmp_path: Path) -> None:
    text = "def create():\n    import late\n    return late.NAME\n"
    one = places(tmp_path / "one", tasks=text, late="NAME = 'one'")
    two = places(tmp_path / "two", other=text.replace("late", "late2"), late2="NAME = 'two'")
    assert loader.load("tasks.create", one)() == "one"
    assert loader.load("other.create", two)() == "two"


@pytest.mark.parametrize("said", ["import part; return part.NAME", "from part import NAME; return NAME"])
def test_an_import_inside_a_function_never_finds_what_another_space_imported_later(
    loader: Loader, tmp_path: Path, said: str
) -> None:
    text = f"def create(): {said}\n"
    one = loader.load("tasks.create", places(tmp_path / "one", tasks=text, part="NAME = 'one'"))
    two = loader.load("tasks.create", places(tmp_path / "two", tasks=text, part="NAME = 'two'"))
    assert [one(), two(), one()] == ["one", "two", "one"]
    assert "part" not in sys.modules


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What the calls return, all begun by threads at the same moment."""
    begin = Barrier(len(calls))

    def call(each: Callable[[], object]) -> object:
        begin.wait()
        return each()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call, calls))


@pytest.mark.usefixtures("restless")
def test_threads_import_and_call_at_once_whatever_loader_they_use(tmp_path: Path) -> None:
    parts = {f"part{number}": f"import part{number + 1}\nNAME = part{number + 1}.NAME" for number in range(8)}
    text = "def create():\n    import part0, part3\n    from part5 import NAME\n    return NAME"
    codes = {who: places(tmp_path / who, tasks=text, **parts, part8=f"NAME = '{who}'") for who in ("one", "two")}
    for _ in range(20):
        loaders = [Loader(), Loader()]
        wanted = [(each, who) for each in loaders for who in codes] * 2
        calls = [lambda each=each, who=who: each.load("tasks.create", codes[who])() for each, who in wanted]
        assert at_once(*calls) == [who for _, who in wanted]
        for each in loaders:
            each.close()


@pytest.mark.usefixtures("restless")
def test_threads_that_ask_a_catalog_first_get_one_loader() -> None:
    for _ in range(50):
        catalog = PluginCatalog()
        assert len({id(found) for found in at_once(*[lambda catalog=catalog: catalog._loader] * 4)}) == 1
        catalog._loader.close()


def test_a_package_is_executed_once_however_its_parts_are_imported(loader: Loader, tmp_path: Path) -> None:
    code = places(
        tmp_path,
        pkg____init__="COUNT = []",
        pkg__a="import pkg\npkg.COUNT.append(1)\ndef f():\n    from pkg import b\n    return b.g()",
        pkg__b="from . import COUNT\ndef g(): return COUNT",
    )
    (tmp_path / "plugins/pkg/__init__.py").write_text("COUNT = []")
    assert loader.load("pkg.a.f", code)() == [1]
    assert loader.load("pkg.b.g", code)() == [1]


def test_installed_modules_are_shared(loader: Loader, tmp_path: Path) -> None:
    assert loader.load("json.dumps", places(tmp_path)) is __import__("json").dumps


def test_c1_the_cloudify_package_can_be_imported(loader: Loader, tmp_path: Path) -> None:
    code = places(
        tmp_path, old="from cloudify.exceptions import NonRecoverableError\ndef f(): raise NonRecoverableError('x')"
    )
    with pytest.raises(Exception, match="x") as caught:
        loader.load("old.f", code)()
    assert type(caught.value).__name__ == "NonRecoverableError"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("absent.f", ModuleNotFoundError),
        ("tasks.absent", AttributeError),
        ("tasks.NAME", TypeError),
        ("f", ImportError),
    ],
)
def test_w2_what_cannot_be_loaded_says_why(loader: Loader, tmp_path: Path, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        loader.load(name, places(tmp_path, tasks="NAME = 1"))


def test_a_module_that_raises_is_tried_afresh_next_time(loader: Loader, tmp_path: Path) -> None:
    code = places(tmp_path, tasks="raise RuntimeError('no licence')")
    with pytest.raises(RuntimeError, match="no licence"):
        loader.load("tasks.create", code)
    places(tmp_path, tasks="def create(): return 'now it is there'")
    assert loader.load("tasks.create", code)() == "now it is there"
