"""What belongs together, where names come from, and what a package may import; nothing is run."""

import zipfile
from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import cfg, codes, load, write_pair

from phaseline.catalog.phases.phase_packages import MAX_DEPTH, installed_packages, packages_at

RUNS = "raise SystemExit('must not run')\ndef handle(handler): ...\n"


def names(place: Path) -> dict[str, list[str]]:
    """{package: names of its plugins}, those on their own under nothing."""
    found: dict[str, list[str]] = {}
    for package in packages_at(place):
        found.setdefault(package.name, []).extend(plugin.name for plugin in package.plugins)
    return found


def test_a_plugin_is_named_by_its_path_below_the_root(tmp_path: Path) -> None:
    write_pair(tmp_path, "acme/cloud/create", code=RUNS)
    write_pair(tmp_path, "other", {"PhaseName": "Other"}, code=RUNS)
    assert names(tmp_path) == {"": ["other", "acme.cloud.create"]}
    [_, package] = packages_at(tmp_path)
    code = package.plugins[0].code
    assert code is not None
    assert (code.module, code.folders) == ("acme.cloud.create", (str(tmp_path),))


def test_a_folder_with_a_library_is_a_package(tmp_path: Path) -> None:
    library = tmp_path / "acme" / "lib" / "python"
    library.mkdir(parents=True)
    (library / "acme_api.py").write_text("X = 1\n")
    (library / "stray.cfg").write_text(cfg())
    write_pair(tmp_path / "acme", "create", code="import acme_api\n" + RUNS)
    write_pair(tmp_path / "acme", "more/attach", {"PhaseName": "Acme.Attach"})
    assert names(tmp_path) == {"acme": ["create", "more.attach"]}
    [package] = packages_at(tmp_path)
    assert package.all_problems() == ()
    assert package.folders == (str(tmp_path / "acme"), str(library))
    assert names(tmp_path / "acme") == names(tmp_path)
    assert names(tmp_path / "acme" / "create.cfg") == names(tmp_path)


def test_the_library_is_for_its_own_package_only(tmp_path: Path) -> None:
    (tmp_path / "acme" / "lib" / "python").mkdir(parents=True)
    (tmp_path / "acme" / "lib" / "python" / "acme_api.py").write_text("")
    write_pair(tmp_path, "other", code="import acme_api\n" + RUNS)
    assert codes(load(tmp_path)) == ["PL-D005"]


def test_a_zip_file_is_a_package(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "acme.zip", "w") as file:
        for folder in ("acme", "lib", "lib/python"):
            file.mkdir(folder)
        file.writestr("acme/create.cfg", cfg())
        file.writestr("acme/create.py", "import acme_api\n" + RUNS)
        file.writestr("lib/python/acme_api.py", "")
    assert names(tmp_path) == {"acme": ["acme.create"]}
    [package] = packages_at(tmp_path / "acme.zip")
    assert package.all_problems() == ()
    assert str(package.plugins[0].place_of("PhaseName")) == f"{tmp_path}/acme.zip/acme/create.cfg:3:1"


def test_a_zip_file_without_entries_for_its_folders(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "acme.zip", "w") as file:
        file.writestr("acme/create.cfg", cfg())
        file.writestr("acme/create.py", RUNS)
    loaded = load(tmp_path)
    assert codes(loaded) == ["PL-D050"]
    assert "acme/" in loaded.problems[0].message


def test_a_zip_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "acme.zip").write_text("no")
    assert codes(load(tmp_path)) == ["PL-D050"]


def test_a_source_distribution_is_a_package(tmp_path: Path) -> None:
    (tmp_path / "dist" / "src").mkdir(parents=True)
    (tmp_path / "dist" / "pyproject.toml").write_text("")
    write_pair(tmp_path / "dist" / "src", "acme/create")
    assert names(tmp_path) == {"dist": ["acme.create"]}


def distribution(folder: Path, value: str) -> None:
    """Metadata of an installed distribution with one entry point."""
    info = folder / "acme_phases-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-phases\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[phaseline.phases]\nacme = {value}\n")


def test_an_installed_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path, "acme_phases.plugins")
    write_pair(tmp_path / "acme_phases" / "plugins", "cloud/create", code=RUNS)
    monkeypatch.syspath_prepend(tmp_path)
    [package] = installed_packages()
    [plugin] = package.plugins
    assert (package.name, plugin.name, plugin.problems) == ("acme", "acme.cloud.create", ())
    assert plugin.code is not None
    assert (plugin.code.module, plugin.code.folders) == ("acme_phases.plugins.cloud.create", ())


def test_an_installed_module_with_the_decorator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path, "acme_single")
    text = "from phaseline import phase\n@phase(name='A', states='Allocation', resource_type='Cloud.Node')\ndef handle(h): ...\n"
    (tmp_path / "acme_single.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    [package] = installed_packages()
    assert [plugin.name for plugin in package.plugins] == ["acme_single"]
    assert str(package.plugins[0].code) == "acme_single:handle"


def test_an_entry_point_without_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path, "acme_missing.plugins")
    monkeypatch.syspath_prepend(tmp_path)
    [package] = installed_packages()
    assert [problem.code for problem in package.problems] == ["PL-D005"]


def test_records_define_plugins_types_and_paths(tmp_path: Path) -> None:
    (tmp_path / "acme_code.py").write_text("def make(handler): ...\n")
    (tmp_path / "acme.rec").write_text(
        'AdType = "ResourceType"\nName = "Acme.Disk"\nParent = "Cloud.Node"\nAttributes = {"Size"}\n\n'
        'AdType = "StatePath"\nResourceType = "Acme.Disk"\nTargetState = "Ready"\nStates = {"Making", "Ready"}\n'
        'Groups = [Making = "Preparing"]\n\n'
        'AdType = "Plugin"\nName = "acme.disk"\nCode = "acme_code:make"\nHandlesStates = "Making"\n'
        'ResourceType = "Acme.Disk"\nPhaseName = "Acme.MakeDisk"\nPhase = [SleepDelay = 2]\n\n'
        'AdType = "Cloud.Node"\nName = "n1"\n'
    )
    loaded = load(tmp_path)
    assert loaded.problems == ()
    [phase] = loaded.registry.of("Making", "Acme.Disk")
    assert (phase.name, phase.plugin, phase.policy.sleep_delay_s) == ("Acme.MakeDisk", "acme.disk", 2.0)
    assert str(phase.code) == "acme_code:make"
    assert loaded.registry.types.states_of("Acme.Disk")[:2] == ("Making", "Ready")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('AdType = "Plugin"\nName = "x"\n', "PL-D001"),
        ('AdType = "Plugin"\nName = "x"\nCode = "acme_nowhere:make"\n', "PL-D005"),
        ('AdType = "Plugin"\nName = "x"\nCode = "acme..b:make"\n', "PL-D001"),
        ('AdType = "Plugin"\nName = "x"\nCode = "a\\u0000b:make"\n', "PL-D001"),
        ('AdType = "ResourceType"\nParent = "Cloud.Node"\n', "PL-D034"),
        ('AdType = "ResourceType"\nName = "A"\nParent = "A"\n', "PL-D034"),
        ('AdType = "ResourceType"\nName = "A"\nUsesProvider = 1\n', "PL-D034"),
        (
            'AdType = "ResourceType"\nName = "A"\nParent = "B"\n\nAdType = "ResourceType"\nName = "B"\nParent = "A"\n',
            "pl-d034",
        ),
        ('AdType = "ResourceType"\nName = "A"\nParent = "Cloud.Nod"\n', "pl-d034"),
        ('AdType = "StatePath"\nResourceType = "A"\nTargetState = "C"\nStates = {"A", "B"}\n', "PL-D033"),
        ('AdType = "StatePath"\nResourceType = "A"\nTargetState = "B"\nStates = {"B", "A", "B"}\n', "PL-D033"),
        ('AdType = "StatePath"\nResourceType = "A"\nTargetState = "B"\n', "PL-D033"),
        ('AdType = "StatePath"\nResourceType = "A"\nTargetState = "B"\nStates = {"B"}\nGroups = 1\n', "PL-D033"),
        ("Name = \n", "PL-R001"),
    ],
)
def test_records_that_are_wrong(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "acme.rec").write_text(text)
    assert set(codes(load(tmp_path))) == {code}


def test_files_of_others_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = x\n")
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "tool.cfg").write_text("[section]\n")
    (tmp_path / ".hidden").mkdir()
    write_pair(tmp_path / ".hidden", "create")
    write_pair(tmp_path / "__pycache__", "create")
    assert [package for package in packages_at(tmp_path) if package.plugins or package.problems] == []


@pytest.mark.parametrize("name", ["no", "plain.txt", "x" * 300])
def test_a_path_that_is_no_plugin(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain.txt").write_text("x")
    [package] = packages_at(tmp_path / name)
    assert [problem.code for problem in package.problems] == ["PL-D050"]


def test_one_half_of_a_pair_is_read_with_the_other(tmp_path: Path) -> None:
    write_pair(tmp_path, "create")
    assert names(tmp_path / "create.py") == names(tmp_path / "create.cfg") == {"": ["create"]}


def test_a_dot_in_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "acme.create.cfg").write_text(cfg())
    (tmp_path / "acme.create.py").write_text("def handle(handler): ...\n")
    assert codes(load(tmp_path)) == ["PL-D052"]


def test_a_definition_that_is_not_utf_8_or_too_large(tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_bytes(b"HandlesStates = \xff\n")
    (tmp_path / "b.cfg").write_text("HandlesStates = A\n" + "#" * (1 << 20))
    assert codes(load(tmp_path)) == ["PL-D050", "PL-D050"]


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "create.cfg").symlink_to(tmp_path / "create.cfg")
    (tmp_path / "a.cfg").mkdir()
    assert codes(load(tmp_path)) == []


def test_folders_that_lead_in_a_circle_have_an_end(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    deep = tmp_path
    for _ in range(MAX_DEPTH + 2):
        deep /= "a"
    deep.mkdir(parents=True)
    assert codes(load(tmp_path)) == ["PL-D051"]
    (tmp_path / "lib" / "python").mkdir(parents=True)
    assert codes(load(tmp_path)) == ["PL-D051"]
