"""The decorator says the same as a ``.cfg``, and is read without running the module."""

from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import read_phase

from phaseline import phase
from phaseline.catalog.phases.phase_files import PhaseFileOrigin, read_folder
from phaseline.model.phases.decorator import PHASE_ATTRIBUTE
from phaseline.model.phases.definitions import PhasePlugin

CREATE = '@phase(name="Acme.Create", states="Allocation", resource_type="Cloud.Node"{})\n'


def read(folder: Path, text: str, name: str = "create.py") -> tuple[PhasePlugin, ...]:
    """The plugins of a module that imports the decorator."""
    (folder / name).write_text(f"from phaseline import phase\n{text}")
    return tuple(
        plugin
        for one in read_folder([folder / name], PhaseFileOrigin(folders=(str(folder),)))
        for plugin in one.plugins
    )


def test_p14_a_decorator_and_a_cfg_with_the_same_content_are_equal(tmp_path: Path) -> None:
    pair, module = tmp_path / "pair", tmp_path / "module"
    pair.mkdir()
    module.mkdir()
    written = read_phase(
        pair,
        {
            "HandlesStates": "Allocation, Configuration",
            "HandlesProvider": "AWS",
            "ResourceConstraint": ":= FixedPublicIp isnt undefined",
            "Phase.Description": "Creates, one by one",
            "Phase.Dependencies": "Acme.Check",
            "Phase.SleepDelay": "2",
            "Phase.Color": "blue",
            "Phase.BatchKey": ":= Region",
            "Phase.Best": ":= Cores > 2",
            "Phase.Shape.Sides": "3",
            "Version": '"1.10"',
        },
    )
    [plugin] = read(
        module,
        "STATES = ['Allocation', 'Configuration']\n"
        "@phase(name='Acme.Create', states=STATES, resource_type='Cloud.Node', provider=('AWS',),\n"
        "       constraint='FixedPublicIp isnt undefined', description='Creates, one by one',\n"
        "       depends_on=['Acme.Check'], sleep_delay=2, Color='blue', batch_key='Region',\n"
        "       best={'$expr': 'Cores > 2'}, shape={'Sides': 3}, version='1.10')\n"
        "def handle(handler): raise SystemExit('must not run')\n"
        "raise SystemExit('must not run')\n",
    )
    assert plugin.problems == ()
    assert plugin.phase == written


def test_p14_a_record_with_the_same_content_is_equal(tmp_path: Path) -> None:
    pair, record = tmp_path / "pair", tmp_path / "record"
    pair.mkdir()
    record.mkdir()
    given = {"Phase.Dependencies": "A, B", "Phase.SleepDelay": "2", "ResourceConstraint": ":= Cores > 2"}
    written = read_phase(pair, {**given, "Phase.Color": "blue"})
    (record / "create_code.py").write_text("def make(handler): ...\n")
    (record / "a.rec").write_text(
        'AdType = "Plugin"\nName = "create"\nCode = "create_code:make"\nHandlesStates = "Allocation"\n'
        'ResourceType = {"Cloud.Node"}\nPhaseName = "Acme.Create"\nResourceConstraint := Cores > 2\n'
        'Phase.SleepDelay = 2\nPhase = [Dependencies = {"A", "B"}; Color = "blue"]\n'
    )
    [found] = read_folder([record / "a.rec"], PhaseFileOrigin(folders=(str(record),)))
    [plugin] = found.plugins
    assert plugin.problems == ()
    assert plugin.phase == written


def test_functions_of_other_names_are_plugins_of_their_own(tmp_path: Path) -> None:
    text = (
        CREATE.format("") + "async def make(resource, data): ...\n" + CREATE.format("") + "def handle(handler): ...\n"
    )
    first, second = read(tmp_path, text)
    assert (first.name, second.name) == ("create.make", "create")
    assert first.code is not None
    assert (str(first.code), first.code.form, first.code.is_async) == ("create:make", "handle_one", True)


def test_the_decorator_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import phaseline as p\n@p.phase(name='A', states='S', resource_type='T')\ndef handle(h): ...\n"
    )
    [found] = read_folder([tmp_path / "a.py"], PhaseFileOrigin())
    assert found.plugins[0].phase is not None


def test_modules_without_the_decorator_are_passed_over(tmp_path: Path) -> None:
    assert read(tmp_path, "phase_of_moon = phase(name='x')\ndef handle(handler): ...\n") == ()


def test_attributes_of_the_plugin_itself(tmp_path: Path) -> None:
    [plugin] = read(tmp_path, CREATE.format(", plugin='acme', attributes={'Owner': 'ann'}") + "def handle(h): ...\n")
    assert (plugin.name, plugin.attributes["owner"], plugin.problems) == ("acme", "ann", ())


def test_names_of_attributes_are_texts(tmp_path: Path) -> None:
    [plugin] = read(tmp_path, CREATE.format(", attributes={1: 2}, color={3: 4}") + "def handle(h): ...\n")
    assert (plugin.attributes["1"], plugin.problems) == (2, ())
    assert plugin.phase is not None
    assert plugin.phase.attributes["Color"] == {"3": 4}


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (", sleep_delay=compute()", "PL-D006"),
        (", **more", "PL-D006"),
        (", constraint='strcta(Name)'", "PL-R006"),
        (", constraint='Cores >'", "PL-R005"),
        (", sleep_delay=0", "PL-D012"),
        (", color={1, 2}", "PL-R012"),
        (", color=10**30", "PL-D006"),
        (", color=123456789012345678901234567890", "PL-R011"),
    ],
)
def test_what_is_wrong_has_its_place(tmp_path: Path, more: str, code: str) -> None:
    [plugin] = read(tmp_path, CREATE.format(more) + "def handle(handler): ...\n")
    [problem] = plugin.errors
    assert problem.code == code
    assert (problem.place.file, problem.place.line) == (f"{tmp_path}/create.py", 2)


@pytest.mark.parametrize(
    ("argument", "meant"),
    [
        ("handles_provider", "provider"),
        ("for_provider", "provider"),
        ("handles_states", "states"),
        ("resource_types", "resource_type"),
        ("phase_name", "name"),
        ("resource_constraint", "constraint"),
        ("sleep_delai", "sleep_delay"),
        ("max_batches", "max_batch"),
    ],
)
def test_an_argument_that_is_like_one_of_ours_is_refused_with_what_was_meant(
    tmp_path: Path, argument: str, meant: str
) -> None:
    [plugin] = read(tmp_path, CREATE.format(f", {argument}='aws'") + "def handle(handler): ...\n")
    [problem] = plugin.errors
    assert (problem.code, problem.message) == ("PL-D006", f"@phase has no argument '{argument}'")
    assert problem.mend.startswith(f"did you mean {meant}=…?")


def test_attributes_of_a_phase_that_are_like_none_of_ours_are_kept(tmp_path: Path) -> None:
    [plugin] = read(
        tmp_path, CREATE.format(", color='blue', dependencies=['Acme.Check']") + "def handle(handler): ...\n"
    )
    assert plugin.problems == ()
    assert plugin.phase is not None
    assert (plugin.phase.attributes["Color"], plugin.phase.dependencies) == ("blue", ("Acme.Check",))


@pytest.mark.parametrize("decorator", ["@phase\n", "@phase('x')\n", "@phase(name='A', resource_type='T')\n"])
def test_a_decorator_that_does_not_say_enough(tmp_path: Path, decorator: str) -> None:
    [plugin] = read(tmp_path, decorator + "def handle(handler): ...\n")
    assert "PL-D006" in {problem.code for problem in plugin.errors}
    assert plugin.phase is None


def test_the_decorator_leaves_the_function_as_it_is() -> None:
    @phase(name="A", states="S", resource_type="T", sleep_delay=3)
    def handle(handler: object) -> str:
        return f"handled {handler}"

    assert handle("x") == "handled x"
    assert getattr(handle, PHASE_ATTRIBUTE)["sleep_delay"] == 3
