"""What Python programs hand in is refused with problems, all at once, before anything is stored."""

import inspect
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cli.terminal import BLUEPRINT, PLUGIN

import phaseline
from phaseline import ProblemsError
from phaseline.app.settings import Settings
from phaseline.client.argument_checks import ALIASES, CLASSES, KINDS, arguments_of
from phaseline.client.client import Client, NounOf
from phaseline.client.local import LocalClient
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.prepare.options import ExecutionOptions

NOUNS = [name for name, value in vars(Client).items() if isinstance(value, NounOf)]


class Endless(dict):
    """Holds itself."""

    def __init__(self) -> None:
        super().__init__()
        self["self"] = self


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    return tmp_path / "blueprint.yaml"


def refused(file: Path, **arguments: object) -> list[str]:
    """What an install with these arguments is refused with; nothing is stored then."""
    with phaseline.open("memory:") as shop:
        with pytest.raises(ProblemsError) as error:
            shop.executions.install(str(file), **{"deployment": "shop", **arguments})
        assert shop.deployments.list().total == 0
        assert shop.executions.list().total == 0
    assert all(problem.mend for problem in error.value.problems)
    return [str(problem) for problem in error.value.problems]


WRONG: Mapping[str, tuple[Mapping[str, object], str]] = {
    "a text for a number": ({"task_retries": "x"}, "task_retries is a text, not a whole number"),
    "a truth for a number": ({"subgraph_retries": True}, "subgraph_retries is True or False, not a whole number"),
    "a number below": ({"task_retries": -2}, "task_retries is -2, not a number from -1 on"),
    "a number above": ({"task_retries": 10**20}, "task_retries is not a whole number from 0 on, or -1 for no end"),
    "a slip": (
        {"on_failure": "stopping"},
        "on_failure is 'stopping' (did you mean 'stop'?), not one of continue, stop, rollback",
    ),
    "no word": ({"if_busy": "xx"}, "if_busy is 'xx', not one of wait, refuse, force"),
    "no limit": (
        {"stop_after": "xx"},
        "stop_after: 'xx' is not a number of failures (3), a share (10%) or a time (30s)",
    ),
    "no span": ({"timeout": "soon"}, "timeout: 'soon' is no span of time: write 90s, 10m or 2h"),
    "a list for a mapping": (
        {"inputs": [1]},
        "inputs is a list, not a mapping from texts to texts, numbers, lists and mappings",
    ),
    "a number for a name": ({"inputs": {1: 2}}, "a name in inputs is a whole number, not a text"),
    "an object": (
        {"inputs": {"count": object()}},
        "inputs['count'] is of the class object, not made of texts, numbers, lists and mappings with texts as keys",
    ),
    "no number of JSON": (
        {"inputs": {"count": float("nan")}},
        "inputs['count'] is a number, not made of texts, numbers, lists and mappings with texts as keys",
    ),
    "no number of JSON below": (
        {"inputs": {"count": {"most": [float("inf")]}}},
        "inputs['count'] is a mapping, not made of texts, numbers, lists and mappings with texts as keys",
    ),
    "what holds itself": (
        {"inputs": {"count": Endless()}},
        "inputs['count'] is of the class Endless, not made of texts, numbers, lists and mappings with texts as keys",
    ),
    "a number for a text": ({"deployment": 3}, "deployment is a whole number, not a text"),
    "a broken text": ({"deployment": "\ud800"}, "deployment is a text with a broken character, not a text"),
    "one for many": ({"plugins": "plugins"}, "plugins is a text, not a list of texts"),
    "labels": ({"labels": [("a", "b")]}, "labels is a list, not a list of texts"),
    "a truth": ({"detach": "no"}, "detach is a text, not True or False"),
    "who does not watch": (
        {"watcher": 3},
        "watcher is a whole number, not a watcher (phaseline.app.watcher.Watcher)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_argument_that_cannot_be_meant_is_refused_before_anything_is_stored(file: Path, case: str) -> None:
    arguments, told = WRONG[case]
    (problem,) = refused(file, **arguments)
    assert problem in {f"PL-C094 executions.install: {told}", f"PL-C094 {told}"}


def test_all_that_is_wrong_is_told_at_once(file: Path) -> None:
    told = refused(
        file, task_retries="x", on_failure="stopping", stop_after="xx", breakpoints=["="], inputs={"a": object()}
    )
    assert len(told) == 5


def test_a_path_of_pathlib_is_its_text(file: Path) -> None:
    with phaseline.open("memory:", plugins=[file.parent / "plugins"]) as shop:
        assert shop.blueprints.validate(file).nodes
        assert shop.executions.install(file, "shop", plugins=[file.parent / "plugins"]).is_good


def test_many_at_the_same_place_are_looked_at_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "nodes.rec").write_text("")
    with phaseline.open("memory:") as lab:
        assert lab.resources.apply(tmp_path / "nodes.rec", str(tmp_path / "nodes.rec"), cluster="lab") is not None
        with pytest.raises(ProblemsError) as error:
            lab.resources.apply("nodes.rec", 3, None, cluster="lab")
        assert [str(problem) for problem in error.value.problems] == [
            "PL-C094 resources.apply: files is a whole number, not a text",
            "PL-C094 resources.apply: files is None, not a text",
        ]
        with pytest.raises(TypeError):  # how many there may be is said by Python itself
            lab.secrets.show("one", "two")


def test_opening_looks_at_its_arguments_too() -> None:
    with pytest.raises(ProblemsError) as error:
        phaseline.open(3, settings={"run.threads": 4})
    assert [str(problem) for problem in error.value.problems] == [
        "PL-C094 open: url is a whole number, not a text",
        "PL-C094 open: settings['run.threads'] is a whole number, not a text",
    ]


def test_a_secret_that_is_refused_is_not_shown() -> None:
    with phaseline.open("memory:") as shop, pytest.raises(ProblemsError) as error:
        shop.secrets.create("token", 271828)
    assert "271828" not in str(error.value)


def test_use_cases_refuse_a_manner_that_cannot_be_meant(file: Path) -> None:
    with open_context(Settings("memory:"), "a test") as ctx:
        with pytest.raises(ProblemsError) as error:
            follow(
                ctx,
                install(
                    ctx, DeploymentSpec(str(file), "shop"), manner=ExecutionOptions(task_retries="x", if_busy="xx")
                ),
            )
        assert [problem.code for problem in error.value.problems] == ["PL-C094", "PL-C094"]
        assert ctx.store.deployments() == []


def test_every_argument_of_every_noun_is_of_a_kind_that_is_looked_at() -> None:
    assert len(NOUNS) == 19
    with phaseline.open("memory:") as shop:
        for noun in NOUNS:
            for name, method in inspect.getmembers(type(getattr(shop, noun)), inspect.isfunction):
                if name.startswith("_"):
                    continue
                assert hasattr(method, "__wrapped__"), f"{noun}.{name} looks at nothing"
                kinds = {
                    part
                    for argument, told in arguments_of(method).items()
                    if argument != "return"
                    for part in told.split(" | ")
                }
                unknown = {kind for kind in kinds if not kind.startswith("Literal[")} - {*KINDS, *ALIASES, *CLASSES}
                assert not unknown, f"{noun}.{name}: {unknown}"


def test_the_command_line_has_looked_at_its_words_before() -> None:
    with LocalClient(None) as client:
        assert not hasattr(type(client.executions).install, "__wrapped__")


def test_shared_options_are_checked_by_name_and_told_in_the_help() -> None:
    with phaseline.open("memory:") as shop:
        with pytest.raises(TypeError, match=r"install\(\) got an unexpected keyword argument 'task_retry'"):
            shop.executions.install("blueprint.yaml", task_retry=3)  # type: ignore[call-arg]  # a slip
        assert "``stop_after``: ``3``, ``10%``" in (inspect.getdoc(shop.executions.install) or "")
