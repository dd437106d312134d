"""A process that has read a blueprint reads it again, and takes what it made of it only while it says the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import phaseline
from phaseline import ProblemsError
from phaseline.app.app_context import RequestContext
from phaseline.app.settings import load_settings
from phaseline.embedded.open_app import open_context
from phaseline.model.blueprint.blueprint import Value
from phaseline.use_cases.loading import blueprint_loading as loading
from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint, load

MAIN = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml, more.yaml]
inputs: {many: {default: 2}, admin_password: {default: plain}}
node_templates:
  web: {type: own, properties: {size: {get_input: many}}, capabilities: {scalable: {properties: {default_instances: {get_input: many}}}}}
"""
MORE = """
plugins: {own: {executor: central_deployment_agent, install: false}}
node_types:
  own:
    derived_from: cloudify.nodes.Root
    properties: {size: {}, kind: {default: 1}}
    interfaces: {cloudify.interfaces.lifecycle: {create: own.plugin.create, start: scripts/start.sh}}
"""
PLUGIN = "from phaseline import operation\n@operation\ndef create(item):\n    return None\n"


@pytest.fixture
def ctx() -> Iterator[RequestContext]:
    with open_context(load_settings(given={"store.url": "memory:"}), "test") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "start.sh").write_text("true")
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "more.yaml").write_text(MORE)
    (tmp_path / "blueprint.yaml").write_text(MAIN)
    return tmp_path


def loaded(ctx: RequestContext, folder: Path, **inputs: Value) -> LoadedBlueprint:
    return load(ctx, str(folder / "blueprint.yaml"), inputs=inputs, plugin_folders=[str(folder)])


def test_the_same_text_is_taken_as_it_was_and_its_warnings_are_told_again(ctx: RequestContext, folder: Path) -> None:
    first = loaded(ctx, folder)
    file = folder / "blueprint.yaml"
    file.write_text(file.read_text())  # whatever time it bears
    second = loaded(ctx, folder)
    assert second.blueprint is first.blueprint
    assert second.warnings == first.warnings != ()
    assert second.topology.ids != first.topology.ids
    assert len(set(second.topology.ids) | set(first.topology.ids)) == 4
    assert (second.inputs, second.code, second.uses) == (first.inputs, first.code, first.uses)


def test_what_is_written_anew_is_seen_though_size_and_time_are_as_before(ctx: RequestContext, folder: Path) -> None:
    first = loaded(ctx, folder)
    for name, old, new in (("more.yaml", "default: 1", "default: 7"), ("blueprint.yaml", "web:", "db1:")):
        file = folder / name
        stat = file.stat()
        file.write_text(file.read_text().replace(old, new))
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert loaded(ctx, folder).blueprint != first.blueprint
    assert list(loaded(ctx, folder).blueprint.nodes) == ["db1"]


def test_other_inputs_make_other_instances(ctx: RequestContext, folder: Path) -> None:
    assert [len(loaded(ctx, folder, many=many).topology) for many in (2, 3, 2)] == [2, 3, 2]
    assert loaded(ctx, folder, many=1).blueprint.nodes["web"].properties["size"] == 1
    with pytest.raises(ProblemsError):
        loaded(ctx, folder, many=True)  # which Python takes for 1


def test_a_script_and_an_import_that_are_no_more_are_missed(ctx: RequestContext, folder: Path) -> None:
    loaded(ctx, folder)
    (folder / "scripts" / "start.sh").unlink()
    with pytest.raises(ProblemsError):
        loaded(ctx, folder)
    (folder / "scripts" / "start.sh").write_text("true")
    again = loaded(ctx, folder)
    assert loaded(ctx, folder).blueprint is again.blueprint
    (folder / "more.yaml").unlink()
    with pytest.raises(ProblemsError) as refused:
        loaded(ctx, folder)
    assert "PL-B020" in {problem.code for problem in refused.value.problems}


def test_what_is_wrong_is_told_each_time_and_what_is_mended_is_right(ctx: RequestContext, folder: Path) -> None:
    (folder / "blueprint.yaml").write_text(MAIN.replace("type: own", "type: wrong"))
    told = []
    for _ in range(2):
        with pytest.raises(ProblemsError) as refused:
            loaded(ctx, folder)
        told.append(refused.value.problems)
    assert told[0] == told[1]
    (folder / "blueprint.yaml").write_text(MAIN)
    assert list(loaded(ctx, folder).blueprint.nodes) == ["web"]


def test_no_more_is_remembered_than_is_bounded(ctx: RequestContext, tmp_path: Path) -> None:
    def read(number: int, more: str = "") -> object:
        file = tmp_path / f"{number}.yaml"
        file.write_text(f"tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml]\n{more}")
        return loading.read(ctx, str(file))[0]

    first = read(0)
    assert read(0) is first
    for number in range(1, loading.MOST_REMEMBERED):
        read(number)
        assert read(0) is first  # and is the last again
    last = [read(number) for number in range(1, loading.MOST_REMEMBERED + 1)]
    assert read(0) is not first
    assert read(loading.MOST_REMEMBERED) is last[-1]
    large = "#" * loading.MOST_TEXT
    assert read(0, large) is not read(0, large)


WILD = """
from phaseline import operation

@operation
def create(item):
    item.runtime_properties["seen"] = [list(item.properties["tags"]), item.properties.get("more", "nothing")]
    item.properties["tags"].append("mine")
    item.properties["more"] = "mine"
"""


def test_what_a_plugin_does_to_properties_is_seen_by_no_other_deployment(tmp_path: Path) -> None:
    (tmp_path / "wild.py").write_text(WILD)
    file = tmp_path / "blueprint.yaml"
    file.write_text(
        "tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml]\n"
        "plugins: {wild: {executor: central_deployment_agent, install: false}}\n"
        "node_types: {own: {derived_from: cloudify.nodes.Root, properties: {tags: {default: [a]}}}}\n"
        "node_templates: {web: {type: own, interfaces: {cloudify.interfaces.lifecycle: {create: wild.wild.create}}}}\n"
    )
    with phaseline.open("memory:", plugins=[str(tmp_path)]) as shop:
        for name in ("one", "two", "three"):
            assert shop.executions.install(str(file), name).status == "completed"
            (web,) = shop.instances.list(deployment=name).items
            assert shop.instances.show(web.id).runtime_properties["seen"] == [["a"], "nothing"]
