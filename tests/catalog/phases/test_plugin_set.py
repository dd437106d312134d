"""What is in force: packages whole or not at all, the version before for one that is refused, and nothing forgotten."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import CODE, cfg, codes, load, write_pair

from phaseline.catalog.code.function_loader import Loader
from phaseline.catalog.phases.function_loader import PhaseImporter
from phaseline.catalog.phases.phase_packages import packages_at
from phaseline.catalog.phases.plugin_set import LoadedPlugins, PhasePlugins


@pytest.fixture
def importer() -> Iterator[PhaseImporter]:
    loader = Loader()
    yield PhaseImporter(loader)
    loader.close()


def plugins_of(root: Path, importer: PhaseImporter | None = None) -> PhasePlugins:
    return PhasePlugins(read=lambda: packages_at(root), importer=importer)


def errors(loaded: LoadedPlugins) -> dict[str, str]:
    """{phase: why it cannot be used}; empty for those that can."""
    return {phase.name: phase.error for phase in loaded.registry.phases}


def call(importer: PhaseImporter, loaded: LoadedPlugins, phase: str) -> object:
    found = loaded.registry.get(phase)
    assert found is not None
    assert found.code is not None
    return importer.load(found.code)(None)


def test_p9_a_second_plugin_with_the_same_phase_is_refused_and_the_first_stays(tmp_path: Path) -> None:
    write_pair(tmp_path, "b")
    plugins = plugins_of(tmp_path)
    assert plugins.load().problems == ()
    write_pair(tmp_path, "a", {"PhaseName": "acme.CREATE"})
    loaded = plugins.load()
    [problem] = loaded.problems
    assert problem.code == "PL-D020"
    assert "'a'" in problem.message
    assert "'b'" in problem.message
    assert str(problem.place) == f"{tmp_path}/a.cfg:3:1"
    found = loaded.registry.get("Acme.Create")
    assert found is not None
    assert (found.plugin, found.error) == ("b", "")


def test_two_plugins_of_one_name(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"Name": "acme"})
    write_pair(tmp_path, "b", {"Name": "Acme", "PhaseName": "Other"})
    loaded = load(tmp_path)
    assert codes(loaded) == ["PL-D021"]
    assert errors(loaded)["Acme.Create"] == ""
    assert errors(loaded)["Other"].startswith("PL-D021")


def test_p10_phases_that_depend_on_each_other_are_refused_with_the_circle(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"PhaseName": "A", "Phase.Dependencies": "C"})
    write_pair(tmp_path, "b", {"PhaseName": "B", "Phase.Dependencies": "A"})
    write_pair(tmp_path, "c", {"PhaseName": "C", "Phase.Dependencies": "B"})
    write_pair(tmp_path, "d", {"PhaseName": "D"})
    loaded = load(tmp_path)
    assert {problem.code for problem in loaded.problems if problem.severity == "error"} == {"PL-D023"}
    assert "A → C → B → A" in loaded.problems[0].message
    assert len(loaded.problems) == 1, "a circle is told once, not for each of its plugins"
    assert {name for name, error in errors(loaded).items() if not error} == {"D"}


def test_p10_a_circle_within_different_states_is_none(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"PhaseName": "A", "HandlesStates": "Allocation, Validation", "Phase.Dependencies": "B"})
    write_pair(
        tmp_path, "b", {"PhaseName": "B", "HandlesStates": "Allocation, Configuration", "Phase.Dependencies": "C"}
    )
    write_pair(
        tmp_path, "c", {"PhaseName": "C", "HandlesStates": "Configuration, Validation", "Phase.Dependencies": "A"}
    )
    assert load(tmp_path).problems == ()


def test_p11_a_dependency_on_a_phase_of_another_state_only_is_refused(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"PhaseName": "A", "HandlesStates": "Validation"})
    write_pair(tmp_path, "b", {"PhaseName": "B", "Phase.Dependencies": "A"})
    loaded = load(tmp_path)
    [problem] = loaded.problems
    assert (problem.code, problem.place.text) == ("PL-D024", "Phase.Dependencies = A")
    assert errors(loaded)["A"] == ""


def test_a_dependency_on_itself_is_refused(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"Phase.Dependencies": "ACME.create"})
    assert codes(load(tmp_path)) == ["PL-D022"]


def test_a_dependency_that_is_not_loaded_is_a_warning_and_an_obstacle(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"Phase.Dependencies": "Acme.Cheek"})
    write_pair(tmp_path, "b", {"PhaseName": "Acme.Check"})
    loaded = load(tmp_path)
    [problem] = loaded.problems
    assert (problem.code, problem.severity) == ("PL-D025", "warning")
    assert "did you mean 'Acme.Check'?" in problem.mend
    found = loaded.registry.get("Acme.Create")
    assert found is not None
    assert loaded.registry.obstacles(found) == ("it depends on 'Acme.Cheek', which is not loaded",)


def test_a_dependency_on_a_phase_that_is_refused_is_an_obstacle_and_no_mistake(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"Phase.Dependencies": "Acme.Check"})
    write_pair(tmp_path, "b", {"PhaseName": "Acme.Check", "Phase.SleepDelay": "0"})
    loaded = load(tmp_path)
    assert codes(loaded) == ["PL-D012"]
    found = loaded.registry.get("Acme.Create")
    assert found is not None
    assert loaded.registry.obstacles(found) == ("it depends on 'Acme.Check', which cannot be used",)


def test_dependencies_that_name_a_phase_are_a_warning(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"Dependencies": "acme.lib, Acme.Check"})
    write_pair(tmp_path, "b", {"PhaseName": "Acme.Check"})
    loaded = load(tmp_path)
    assert codes(loaded) == ["pl-d016"]
    assert "Phase.Dependencies = Acme.Check" in loaded.problems[0].mend


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"HandlesStates": "Allokation"}, "PL-D030"),
        ({"HandlesStates": "Allocation, Allokation"}, "PL-D030"),
        ({"HandlesStates": "Making", "ResourceType": "Acme.Disk, Cloud.Node"}, "pl-d030"),
        ({"ResourceType": "Cloud.Nod"}, "pl-d031"),
        ({"HandlesStates": "Started"}, "pl-d032"),
        ({"ResourceType": "Acme.Disk", "HandlesStates": "Making", "HandlesProvider": "AWS"}, "pl-d017"),
        ({"ResourceType": "Acme.Disk", "HandlesStates": "Making", "ResourceConstraint": ":= Sizze > 3"}, "pl-d018"),
        ({"ResourceType": "Acme.Disk", "HandlesStates": "Making", "ResourceConstraint": ":= size > 3"}, ""),
        ({"ResourceType": "Cloud.Node", "HandlesStates": "Warming"}, ""),
    ],
)
def test_states_types_and_attributes_are_compared_with_the_types(
    tmp_path: Path, given: dict[str, str | None], code: str
) -> None:
    (tmp_path / "types.rec").write_text(
        'AdType = "ResourceType"\nName = "Acme.Disk"\nAttributes = {"Size"}\n\n'
        'AdType = "StatePath"\nResourceType = "Acme.Disk"\nTargetState = "Ready"\nStates = {"Making", "Ready"}\n\n'
        'AdType = "ResourceType"\nName = "Acme.Web"\nParent = "Cloud.Node"\n\n'
        'AdType = "StatePath"\nResourceType = "Acme.Web"\nTargetState = "Warm"\nStates = {"Warming", "Warm"}\n'
    )
    write_pair(tmp_path, "a", given)
    assert codes(load(tmp_path)) == ([code] if code else [])


def test_what_is_refused_hears_everything_at_once(tmp_path: Path) -> None:
    write_pair(
        tmp_path,
        "a",
        {"HandlesStates": "Allokation", "ResourceConstraint": "text", "Phase.Dependencies": "Acme.Gone"},
        "import nothing_of_the_kind\ndef handle(handler):\n    try: pass\n    except X, e: pass\n",
    )
    assert codes(load(tmp_path)) == ["PL-D003", "PL-D005", "PL-D013", "PL-D030", "pl-d025"]


def test_a_decorated_module_in_the_old_spelling_is_refused_and_its_phase_known(tmp_path: Path) -> None:
    text = "from phaseline import phase\n@phase(name='A', states='Allocation', resource_type='Cloud.Node')\n"
    (tmp_path / "a.py").write_text(f"{text}def handle(h):\n    try: pass\n    except X, e: pass\n")
    loaded = load(tmp_path)
    assert codes(loaded) == ["PL-D003"]
    assert errors(loaded)["A"].startswith("PL-D003")


def test_a_package_is_refused_whole_and_its_phases_are_known(tmp_path: Path) -> None:
    (tmp_path / "acme" / "lib" / "python").mkdir(parents=True)
    write_pair(tmp_path / "acme", "a", {"PhaseName": "A"})
    write_pair(tmp_path / "acme", "b", {"PhaseName": "B", "ResourceConstraint": "text"})
    write_pair(tmp_path, "c", {"PhaseName": "C"})
    loaded = load(tmp_path)
    assert {name: error[:7] for name, error in errors(loaded).items()} == {"A": "PL-D013", "B": "PL-D013", "C": ""}
    assert f"{tmp_path}/acme/b.cfg:4:1" in errors(loaded)["A"]


def test_the_version_before_stays_in_force_when_the_new_one_is_refused(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"Phase.SleepDelay": "2"})
    plugins = plugins_of(tmp_path)
    plugins.load()
    write_pair(tmp_path, "a", {"Phase.SleepDelay": "0"})
    loaded = plugins.load()
    assert codes(loaded) == ["PL-D012"]
    assert [verdict.is_kept for verdict in loaded.verdicts] == [True]
    found = loaded.registry.get("Acme.Create")
    assert found is not None
    assert (found.error, found.policy.sleep_delay_s) == ("", 2.0)
    write_pair(tmp_path, "a", {"Phase.SleepDelay": "3"})
    found = plugins.load().registry.get("Acme.Create")
    assert found is not None
    assert found.policy.sleep_delay_s == 3.0


def test_p94_a_phase_whose_plugin_is_removed_stays_known_until_it_is_back(tmp_path: Path) -> None:
    file = write_pair(tmp_path, "a")
    plugins = plugins_of(tmp_path)
    plugins.load()
    text = file.read_text()
    file.unlink()
    loaded = plugins.load()
    assert loaded.gone == ("Acme.Create",)
    assert errors(loaded)["Acme.Create"] == f"its plugin 'a' ({file}) is not there any more"
    assert loaded.registry.of("Allocation", "Cloud.Node") != ()
    assert plugins.load().gone == ("Acme.Create",)
    file.write_text(text)
    loaded = plugins.load()
    assert (loaded.gone, errors(loaded)) == ((), {"Acme.Create": ""})


def test_a_phase_that_is_disabled_renamed_or_moved_is_not_missed(tmp_path: Path) -> None:
    file = write_pair(tmp_path, "a")
    plugins = plugins_of(tmp_path)
    plugins.load()
    file.rename(tmp_path / "b.cfg")
    file.with_suffix(".py").rename(tmp_path / "b.py")
    assert errors(plugins.load()) == {"Acme.Create": ""}
    write_pair(tmp_path, "b", {"PhaseName": "Acme.Make"})
    assert errors(plugins.load()) == {"Acme.Make": ""}
    write_pair(tmp_path, "b", {"PhaseName": "Acme.Make", "Disabled": "true"})
    loaded = plugins.load()
    assert (errors(loaded), loaded.gone) == ({}, ())
    assert [plugin.is_disabled for plugin, _ in loaded.plugins] == [True]


def test_a_definition_that_cannot_be_read_wholly_is_still_known(tmp_path: Path) -> None:
    write_pair(tmp_path, "a", {"ResourceConstraint": ":= Cores >", "Phase.SleepDelay": '"'})
    loaded = load(tmp_path)
    assert [problem.code[:4] for problem in loaded.problems] == ["PL-R", "PL-R"]
    assert errors(loaded)["Acme.Create"].startswith("PL-R")


def test_p95_functions_are_those_in_force(tmp_path: Path, importer: PhaseImporter) -> None:
    write_pair(tmp_path, "a", code="def handle(handler): return 1\n")
    phase = load(tmp_path).registry.get("Acme.Create")
    assert phase is not None
    assert phase.code is not None
    assert importer.load(phase.code) is importer.load(phase.code)


def test_p95_a_reloaded_function_is_called_from_the_next_run_on(tmp_path: Path, importer: PhaseImporter) -> None:
    write_pair(tmp_path, "a", code="import shared\ndef handle(handler): return shared.VALUE\n")
    (tmp_path / "shared.py").write_text("VALUE = 1\n")
    plugins = plugins_of(tmp_path, importer)
    loaded = plugins.load()
    found = loaded.registry.get("Acme.Create")
    assert found is not None
    assert found.code is not None
    running = importer.load(found.code)
    (tmp_path / "shared.py").write_text("VALUE = 2\n")
    loaded = plugins.load()
    assert running(None) == 1
    assert call(importer, loaded, "Acme.Create") == 2


def test_a_new_version_that_cannot_be_imported_leaves_the_old_function(tmp_path: Path, importer: PhaseImporter) -> None:
    write_pair(tmp_path, "a", code="def handle(handler): return 1\n")
    write_pair(tmp_path, "b", {"PhaseName": "B"}, code="def handle(handler): return 10\n")
    plugins = plugins_of(tmp_path, importer)
    assert plugins.load().problems == ()
    write_pair(tmp_path, "a", code="raise RuntimeError('boom')\ndef handle(handler): return 2\n")
    write_pair(tmp_path, "b", {"PhaseName": "B"}, code="def handle(handler): return 20\n")
    loaded = plugins.load()
    assert codes(loaded) == ["PL-D005"]
    assert "RuntimeError: boom" in loaded.problems[0].message
    assert errors(loaded) == {"Acme.Create": "", "B": ""}
    assert call(importer, loaded, "Acme.Create") == 1
    assert call(importer, loaded, "B") == 20


def test_a_definition_that_is_refused_keeps_its_function_of_before(tmp_path: Path, importer: PhaseImporter) -> None:
    write_pair(tmp_path, "a", code="def handle(handler): return 1\n")
    plugins = plugins_of(tmp_path, importer)
    plugins.load()
    write_pair(tmp_path, "a", {"Phase.SleepDelay": "0"}, code="def handle(handler): return 2\n")
    assert call(importer, plugins.load(), "Acme.Create") == 1


@pytest.mark.parametrize("code", ["raise SystemExit(3)\ndef handle(h): ...\n", "handle = 3\n"])
def test_code_that_cannot_be_imported_at_first_makes_the_phase_invalid(
    tmp_path: Path, importer: PhaseImporter, code: str
) -> None:
    write_pair(tmp_path, "a", code=code)
    loaded = plugins_of(tmp_path, importer).load()
    assert codes(loaded) == ["PL-D005"]
    assert errors(loaded)["Acme.Create"].startswith("PL-D005")


def test_a_package_imports_from_its_own_library(tmp_path: Path, importer: PhaseImporter) -> None:
    for name, value in (("one", 1), ("two", 2)):
        library = tmp_path / name / "lib" / "python"
        library.mkdir(parents=True)
        (library / "acme_api.py").write_text(f"VALUE = {value}\n")
        code = "import acme_api\n\ndef handle(handler): return acme_api.VALUE\n"
        write_pair(tmp_path / name, f"make_{name}", {"PhaseName": name}, code)
    loaded = plugins_of(tmp_path, importer).load()
    assert (call(importer, loaded, "one"), call(importer, loaded, "two")) == (1, 2)


def test_a_zip_file_is_imported_and_reloaded(tmp_path: Path, importer: PhaseImporter) -> None:
    import zipfile

    def pack(value: int) -> None:
        with zipfile.ZipFile(tmp_path / "acme.zip", "w") as file:
            for folder in ("acme", "lib", "lib/python"):
                file.mkdir(folder)
            file.writestr("acme/create.cfg", cfg())
            file.writestr("acme/create.py", "import acme_api\ndef handle(handler): return acme_api.VALUE\n")
            file.writestr("lib/python/acme_api.py", f"VALUE = {value}\n")

    plugins = plugins_of(tmp_path, importer)
    pack(1)
    assert call(importer, plugins.load(), "Acme.Create") == 1
    pack(23)
    assert call(importer, plugins.load(), "Acme.Create") == 23


def test_a_listener_is_imported_beside_its_phase(tmp_path: Path, importer: PhaseImporter) -> None:
    code = "def handle(handler): return 1\ndef onStateTransition(event): return 2\n"
    write_pair(
        tmp_path, "a", {"ResourceStateListener": "true", "ResourceStates": "Started", "ResourceTypes": "T"}, code
    )
    loaded = plugins_of(tmp_path, importer).load()
    [listener] = loaded.registry.listeners
    assert listener.code is not None
    assert importer.load(listener.code)(None) == 2


def test_the_decorator_and_the_pair_are_in_one_registry(tmp_path: Path) -> None:
    write_pair(tmp_path, "acme/create")
    text = "from phaseline import phase\n@phase(name='Acme.Check', states='Allocation', resource_type='Cloud.Node')\ndef handle(h): ...\n"
    (tmp_path / "acme" / "check.py").write_text(text)
    loaded = load(tmp_path)
    assert [phase.name for phase in loaded.registry.of("Allocation", "Cloud.Node")] == ["Acme.Check", "Acme.Create"]


def test_folders_are_read_with_what_is_installed(tmp_path: Path) -> None:
    write_pair(tmp_path, "a")
    loaded = PhasePlugins([str(tmp_path), str(tmp_path), str(tmp_path / "none"), "x" * 300]).load()
    assert errors(loaded) == {"Acme.Create": ""}


def test_what_is_misspelled_in_a_record_is_shown_with_its_line(tmp_path: Path) -> None:
    attributes = ['AdType = "Plugin"', 'Name = "r"', 'Code = "r:handle"', 'PhaseName = "My.R"']
    attributes += ['HandlesStates = {"Allocation"}', 'ResourceType = {"Cloud.Node"}', 'HandlesProvidr = {"AWS"}']
    (tmp_path / "r.rec").write_text("\n".join([*attributes, "Phase = [SleepDealy = 4]"]) + "\n")
    (tmp_path / "r.py").write_text(CODE)
    found = {(problem.place.line, problem.place.text) for problem in load(tmp_path).problems}
    assert found == {(7, 'HandlesProvidr = {"AWS"}'), (8, "Phase = [SleepDealy = 4]")}


def test_wrong_records_of_types_and_paths_are_shown_with_their_line(tmp_path: Path) -> None:
    path = 'AdType = "StatePath"\nTargetState = "Started"\n'
    (tmp_path / "r.rec").write_text(f'AdType = "ResourceType"\nParent = "Cloud.Node"\n\n{path}')
    assert sorted({problem.place.line for problem in load(tmp_path).problems}) == [1, 4]


@pytest.mark.parametrize("name", ["Phase.SleepDealy", "Phase_SleepDealy", "'Phase.SleepDealy'"])
def test_an_attribute_of_a_phase_is_told_as_misspelled_in_every_spelling(tmp_path: Path, name: str) -> None:
    write_pair(tmp_path, "create", {name: "2"})
    (problem,) = load(tmp_path).problems
    assert (problem.code, problem.place.line, problem.place.column) == ("PL-D015", 4, 1)
    assert "Phase.SleepDelay" in problem.mend
