"""The offline catalogue of definition files (decision 25): where they are found, what they say, which one is meant."""

from pathlib import Path

import pytest
from tests.catalog.files.test_archives import tarred, zipped

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.catalog.files.definition_files import names_in, read_definitions
from phaseline.catalog.files.type_catalog import Definition, TypeFiles, public_address
from phaseline.model.problems.problem import ProblemsError

ACME = b"""\
plugins:
  acme: {executor: central_deployment_agent, package_name: cloudify-acme-plugin, package_version: '2.1.0'}
node_types:
  acme.nodes.Box: {derived_from: cloudify.nodes.Root}
"""
NAMELESS = b"plugins: {acme: {executor: host_agent, install: false}}\nnode_types: {}\n"


def found(path: Path, **given: str) -> list[tuple[str, str, list[str]]]:
    """(name, version, files) of the definitions at a path."""
    return [(each.name, each.version, list(each.files)) for each in read_definitions(path, **given)]


def code(path: Path, **given: str) -> str:
    """Code of what is wrong with a path."""
    with pytest.raises(ProblemsError) as caught:
        read_definitions(path, **given)
    return caught.value.problems[0].code


def put(path: Path, content: bytes) -> Path:
    """A file with that content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_file_a_folder_and_every_kind_of_archive_are_read_alike(tmp_path: Path) -> None:
    wheel = zipped(
        {"acme/__init__.py": b"", "acme/plugin.yaml": ACME, "cloudify_acme_plugin-2.1.0.dist-info/METADATA": b""}
    )
    places = [
        put(tmp_path / "plugin.yaml", ACME),
        put(tmp_path / "folder/plugin.yaml", ACME).parent,
        put(tmp_path / "cloudify_acme_plugin-2.1.0-py3-none-any.whl", wheel),
        put(tmp_path / "cloudify-acme-plugin-2.1.0.tar.gz", tarred({"cloudify-acme-plugin-2.1.0/plugin.yaml": ACME})),
        put(
            tmp_path / "cloudify_acme_plugin-2.1.0-linux.wgn",
            tarred({"acme/package.json": b"{}", "acme/wheels/cloudify_acme_plugin-2.1.0-py3.whl": wheel}),
        ),
        put(tmp_path / "upload.zip", zipped({"acme.wgn": tarred({"a/package.json": b"{}"}), "plugin.yaml": ACME})),
    ]
    for place in places:
        assert found(place) == [("cloudify-acme-plugin", "2.1.0", ["plugin.yaml"])], place


def test_files_for_several_versions_of_the_language_stay_together_and_examples_are_left_out(tmp_path: Path) -> None:
    files = {"plugin.yaml": ACME, "plugin_1_4.yaml": ACME, "v2_plugin.yaml": ACME, "examples/plugin.yaml": NAMELESS}
    archive = put(tmp_path / "acme.zip", zipped({f"top/{name}": text for name, text in files.items()}))
    assert found(archive) == [("cloudify-acme-plugin", "2.1.0", ["plugin.yaml", "plugin_1_4.yaml", "v2_plugin.yaml"])]


def test_a_file_that_does_not_say_its_package_takes_the_name_of_its_source_or_archive(tmp_path: Path) -> None:
    source = (
        b"plugins: {fabric: {executor: host_agent, source: 'https://x.org/y/cloudify-fabric-plugin/archive/1.4.1.zip'}}"
    )
    assert found(put(tmp_path / "plugin.yaml", source)) == [("cloudify-fabric-plugin", "1.4.1", ["plugin.yaml"])]
    archive = put(tmp_path / "cloudify-old-plugin-1.2.tar.gz", tarred({"p/plugin.yaml": NAMELESS}))
    assert found(archive) == [("cloudify-old-plugin", "1.2", ["plugin.yaml"])]
    assert code(put(tmp_path / "other.yaml", NAMELESS)) == "PL-B124"
    assert found(tmp_path / "other.yaml", name="acme", version="1") == [("acme", "1", ["other.yaml"])]
    assert code(tmp_path / "other.yaml", name="../acme", version="1") == "PL-B124"


def test_a_file_for_several_packages_is_kept_for_each(tmp_path: Path) -> None:
    plugins = "".join(
        f"  {name}: {{executor: host_agent, package_name: cloudify-{name}-plugin, package_version: 1.0}}\n"
        for name in ("rest", "ssh")
    )
    text = f"plugins:\n{plugins}".encode()
    assert [each[:2] for each in found(put(tmp_path / "plugin.yaml", text))] == [
        ("cloudify-rest-plugin", "1.0"),
        ("cloudify-ssh-plugin", "1.0"),
    ]


def test_what_is_no_definition_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert code(tmp_path / "empty") == "PL-B123"
    assert code(put(tmp_path / "a.zip", zipped({"README.md": b""}))) == "PL-B123"
    assert code(put(tmp_path / "b.yaml", b"inputs: {}")) == "PL-B123"
    assert code(put(tmp_path / "c.yaml", b"plugins: [")) == "PL-B004"
    assert code(put(tmp_path / "d.yaml", b"\xff")) == "PL-B002"
    assert code(tmp_path / "none.yaml") == "PL-B001"
    assert code(tmp_path / "none.zip") == "PL-B120"
    assert code(put(tmp_path / "e.txt", b"text")) == "PL-B120"


def test_a_definition_too_large_for_a_file_of_types_is_refused(tmp_path: Path) -> None:
    huge = tmp_path / "plugin.yaml"
    with huge.open("wb") as file:
        file.truncate(64 * 1024**2 + 1)
    assert code(huge) == "PL-B003"


@pytest.fixture
def catalogue(tmp_path: Path) -> TypeFiles:
    """Three versions of a plugin, and another one."""
    files = TypeFiles(tmp_path / "types")
    for version in ("1.9", "2.1.0", "2.10.0", "nightly"):
        files.add(
            Definition("cloudify-acme-plugin", version, {"plugin.yaml": "plugins: {}", "plugin_1_4.yaml": "a: 1"})
        )
    files.add(Definition("other", "1.0", {"compat.yaml": "plugins: {}", "v2_plugin.yaml": "plugins: {}"}))
    return files


@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        ("", "2.10.0"),
        ("2.1.0", "2.1.0"),
        ("==2.1", "2.1.0"),
        (">=1.0,<2.5", "2.1.0"),
        (" >= 1.0 , < 2.5", "2.1.0"),
        ("~=1.5", "1.9"),
        ("nightly", "nightly"),
        ("===nightly", "nightly"),
        ("2.1", None),
        (">3", None),
    ],
)
def test_b06_the_newest_version_that_fits_is_meant_and_a_bare_version_means_itself(
    catalogue: TypeFiles, wanted: str, version: str | None
) -> None:
    found = catalogue.fitting("acme-plugin", wanted)
    assert (found.version if found else None) == version


def test_b06_a_specifier_that_is_none_is_said_to_be(catalogue: TypeFiles) -> None:
    with pytest.raises(ProblemsError, match="'>>1' specifies no version"):
        catalogue.fitting("acme-plugin", ">>1")


@pytest.mark.parametrize(
    ("url", "version"),
    [
        ("http://www.getcloudify.org/spec/acme-plugin/2.1.0/plugin.yaml", "2.1.0"),
        ("https://cloudify.co/spec/cloudify-acme-plugin/1.9/plugin.yaml", "1.9"),
        ("https://raw.githubusercontent.com/cloudify-cosmo/cloudify-acme-plugin/2.1.0/plugin.yaml", "2.1.0"),
        ("https://raw.githubusercontent.com/cloudify-cosmo/cloudify-acme-plugin/refs/tags/v1.9/plugin_1_4.yaml", "1.9"),
        ("https://raw.githubusercontent.com/cloudify-incubator/cloudify-acme-plugin/master/plugin.yaml", "2.10.0"),
        ("https://github.com/cloudify-cosmo/cloudify-acme-plugin/releases/download/2.1.0/plugin.yaml", "2.1.0"),
        ("https://github.com/cloudify-cosmo/cloudify-acme-plugin/raw/main/plugin.yaml", "2.10.0"),
        ("http://repository.cloudifysource.org/cloudify/wagons/cloudify-acme-plugin/1.9/plugin.yaml", "1.9"),
        ("https://raw.githubusercontent.com/cloudify-cosmo/cloudify-acme-plugin/7.7/plugin.yaml", None),
        ("https://raw.githubusercontent.com/cloudify-cosmo/cloudify-acme-plugin/2.1.0/README.md", None),
        ("https://example.org/plugin.yaml", None),
    ],
)
def test_b06_public_addresses_of_definition_files_lead_into_the_catalogue(
    catalogue: TypeFiles, url: str, version: str | None
) -> None:
    found = catalogue.published(url)
    assert (found.version if found else None) == version


def test_b06_the_address_of_the_built_in_types_is_that_of_no_plugin() -> None:
    assert public_address("http://www.getcloudify.org/spec/cloudify/3.4/types.yaml") is None


def test_the_file_for_the_version_of_the_main_blueprint_is_chosen(catalogue: TypeFiles) -> None:
    acme, other = catalogue.fitting("acme", ""), catalogue.fitting("other", "")
    assert acme is None
    assert other is not None
    acme = catalogue.named("acme_plugin")[0]
    assert [Path(acme.path(minor)).name for minor in (3, 4, 5)] == ["plugin.yaml", "plugin_1_4.yaml", "plugin_1_4.yaml"]
    assert [Path(other.path(4, wanted)).name for wanted in ("", "v2_plugin.yaml")] == ["compat.yaml", "v2_plugin.yaml"]


def test_a_version_put_in_again_replaces_the_one_before_and_one_taken_out_is_gone(catalogue: TypeFiles) -> None:
    added = catalogue.add(Definition("other", "1.0", {"plugin.yaml": "plugins: {new: {}}"}))
    assert catalogue.named("other") == [added]
    assert names_in(Path(added.path(5)), ("plugins", "node_types")) == {"plugins": ("new",)}
    catalogue.remove(added)
    assert catalogue.named("other") == []
    assert sorted(path.name for path in Path(added.folder).parents[1].iterdir()) == ["cloudify-acme-plugin"]


def test_a_catalogue_that_cannot_be_written_is_said_to_be(tmp_path: Path) -> None:
    place = put(tmp_path / "types", b"")
    with pytest.raises(ProblemsError, match="cannot be kept"):
        TypeFiles(place).add(Definition("a", "1", {"plugin.yaml": ""}))


@pytest.mark.parametrize("place", ["plugin.yaml", "acme/plugin.yaml", "acme/plugin_1_4.yaml"])
@pytest.mark.parametrize("name", ["acme", "cloudify-acme", "acme-plugin"])
def test_a_plugin_in_a_folder_of_plugins_is_found_without_a_version(tmp_path: Path, place: str, name: str) -> None:
    put(tmp_path / "main/blueprint.yaml", b"")
    file = put(tmp_path / "plugins" / place, NAMELESS.replace(b"install: false", b"package_name: acme-plugin"))
    files = BlueprintFiles(str(tmp_path / "main/blueprint.yaml"), [str(tmp_path / "plugins")])
    assert files.plugin(name, "", "", 4) == files.plugin(name, ">=2.0", "", 4) == str(file)
    assert files.plugin("other", "", "", 4) is None


def test_a_plugin_in_a_folder_that_says_its_version_is_found_by_those_it_fits_alone(tmp_path: Path) -> None:
    put(tmp_path / "plugins/broken/plugin.yaml", b"plugins: {acme")
    file = put(tmp_path / "plugins/mine/plugin.yaml", ACME)
    files = BlueprintFiles(str(tmp_path / "blueprint.yaml"), [str(tmp_path / "plugins")])
    assert files.plugin("acme-plugin", ">=2.0", "", 4) == str(file)
    assert files.plugin("acme-plugin", "<2.0", "", 4) is None
