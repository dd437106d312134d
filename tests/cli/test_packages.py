"""Packages from their first line to a deployment that has them (source document 4, spec sections 8 to 10)."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
labels: {os: {values: [ubuntu]}}
node_templates:
  web:
    type: cloudify.nodes.Root
    properties: {}
"""
METADATA = """\
name: {name}
title: {name}
version: {version}
description: For tests
package_version: {format}
fuel_version: ['9.0']
groups: []
authors: [a]
licenses: [b]
homepage: c
is_hotpluggable: {hot}
releases: []
"""
SETTINGS = """\
attributes:
  server: {type: text, label: Server, weight: 1, value: here, regex: {source: '^[a-z]+$', error: letters only}}
"""
FORMS = ("1.0.0", "2.0.0", "3.0.0", "4.0.0", "5.0.0", "10.0.0")
REFUSED = (  # F12: none of these says a stage
    *("/5.", "/", "/1e3", "/1_0", "/nan", "/5/7", "/ 5", "//5", "/--5", ":5", "/٣"),
    *("deploy/5", "Pre_deployment/5", "hw_configuration", "100"),
)


def package(folder: Path, name: str = "ntp", version: str = "1.0.1", *, hot: bool = False, **more: str) -> Path:
    """A package of our own format in a folder of its name."""
    where = folder / f"{name}-src"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    text = METADATA.format(name=name, version=version, format="10.0.0", hot=str(hot).lower())
    files = {"metadata": text.replace("fuel_version: ['9.0']\n", ""), "tasks": "[]\n", "environment_config": SETTINGS}
    for file, body in {**files, **more}.items():
        (where / f"{file}.yaml").write_text(body)
    return where


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    """A terminal with a deployment of which nothing is installed."""
    (terminal.folder / "blueprint.yaml").write_text(BLUEPRINT)
    run(terminal, "deployments", "create", "blueprint.yaml", "-d", "shop")
    return terminal


def run(terminal: Terminal, *words: object, code: int = 0) -> str:
    """What a command answers, which ends with this code."""
    result = terminal.run(*map(str, words))
    assert result.exit_code == code, result.output
    return result.stdout


def codes(answer: str) -> list[str]:
    return [problem["code"] for problem in json.loads(answer)["problems"]]


def refused(terminal: Terminal, *words: object) -> list[str]:
    """Codes of what a command refuses, with exit code 1."""
    done = run(terminal, *words, "--json", code=1)
    return codes(done)


def asked(terminal: Terminal, *words: object, code: int = 0) -> dict:
    return json.loads(run(terminal, *words, "--json", code=code))


@pytest.mark.parametrize("version", FORMS)
def test_f50_a_new_package_of_each_format_is_good_and_tells_the_ranges(terminal: Terminal, version: str) -> None:
    run(terminal, "plugins", "create", "my-plugin", "--package-version", version)
    done = run(terminal, "plugins", "check", "my-plugin")
    assert done.strip() == "1 package: good"
    assert "4000-4999  network" in (terminal.folder / "my-plugin/tasks.yaml").read_text()
    assert refused(terminal, "plugins", "create", "my-plugin") == ["PL-F072"]


def test_f12_stages_that_say_nothing_are_refused_by_check_and_install_and_nothing_is_stored(terminal: Terminal) -> None:
    task = "- {{role: '*', stage: '{stage}', type: shell, parameters: {{cmd: x, timeout: 1}}}}\n"
    stages = [form if form[0].isalnum() else f"post_deployment{form}" for form in REFUSED]
    where = package(terminal.folder, tasks="".join(task.format(stage=stage) for stage in stages))
    for words in (("plugins", "check", where), ("plugins", "install", where)):
        found = asked(terminal, *words, code=1)["problems"]
        assert [(problem["code"], problem["line"]) for problem in found] == [
            ("PL-F010", number) for number in range(1, len(stages) + 1)
        ]
        for problem, stage in zip(found, stages, strict=True):
            assert repr(stage) in problem["message"]
            assert "pre_deployment or post_deployment" in problem["mend"]
    assert not Path(terminal.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///")).exists() or not asked(
        terminal, "plugins", "list"
    )


def test_what_is_built_is_what_is_installed_and_equal_files_make_equal_archives(terminal: Terminal) -> None:
    run(terminal, "plugins", "create", "ntp", "--package-version", "5.0.0")
    hook = terminal.folder / "ntp/pre_build_hook"
    hook.write_text("#!/bin/sh\necho made > generated.txt; echo all is well\n")
    (terminal.folder / "ntp/junk.pyc").write_bytes(b"x")
    first = asked(terminal, "plugins", "build", "ntp")
    assert (first["file"], first["said"]) == ("ntp-1.0.0.tar.gz", "all is well")
    second = asked(terminal, "plugins", "build", "ntp", "--output", "again.fp")
    archives = [(terminal.folder / done["file"]).read_bytes() for done in (first, second)]
    assert archives[0] == archives[1]
    with tarfile.open(terminal.folder / "again.fp") as opened:
        names = opened.getnames()
    assert {"ntp-1.0.0/generated.txt", "ntp-1.0.0/checksums.sha256", "ntp-1.0.0/repositories/ubuntu"} <= set(names)
    assert "ntp-1.0.0/junk.pyc" not in names
    installed = asked(terminal, "plugins", "install", "again.fp")
    assert (installed["is_new"], installed["package"]["version"]) == (True, "1.0.0")
    assert asked(terminal, "plugins", "install", "ntp")["is_new"] is False, "the folder has the same files"
    hook.write_text("#!/bin/sh\necho no network; exit 3\n")
    assert refused(terminal, "plugins", "build", "ntp", "--output", "x.fp") == ["PL-F073"]
    assert not (terminal.folder / "x.fp").exists()


def test_an_archive_that_was_changed_is_refused_naming_the_files(terminal: Terminal) -> None:
    run(terminal, "plugins", "create", "ntp")
    run(terminal, "plugins", "build", "ntp")
    with tarfile.open(terminal.folder / "ntp-1.0.0.tar.gz") as opened:
        opened.extractall(terminal.folder / "out", filter="data")
    inside = terminal.folder / "out/ntp-1.0.0"
    (inside / "README.md").write_text("other")
    (inside / "more.txt").write_text("new")
    (inside / "LICENSE").unlink()
    done = asked(terminal, "plugins", "install", str(inside), code=1)
    assert [problem["code"] for problem in done["problems"]] == ["PL-F061"] * 3
    for words in ("'LICENSE'", "'README.md'", "'more.txt'"):
        assert any(words in problem["message"] for problem in done["problems"])


def test_f37_updates_stay_in_their_line_and_other_lines_stand_beside(shop: Terminal) -> None:
    install = ("plugins", "install")
    run(shop, *install, str(package(shop.folder)))
    run(shop, "deployments", "plugins", "enable", "shop", "ntp", "--set", "server=a")
    newer = package(shop.folder, version="1.0.2")
    assert refused(shop, *install, newer) == ["PL-F064"]
    done = asked(shop, "plugins", "update", newer)
    assert (done["replaced"], done["package"]["version"]) == ("ntp==1.0.1", "1.0.2")
    (enabled,) = asked(shop, "deployments", "plugins", "list", "shop")
    assert (enabled["version"], enabled["settings"]) == ("1.0.2", {"server": "a"})
    other = package(shop.folder, version="1.1.0")
    assert refused(shop, "plugins", "update", other) == ["PL-F064"]
    assert asked(shop, *install, other)["replaced"] == ""
    assert refused(shop, *install, package(shop.folder)) == ["PL-F064"]
    assert asked(shop, *install, package(shop.folder), "--allow-downgrade")["replaced"] == "ntp==1.0.2"
    assert [one["version"] for one in asked(shop, "plugins", "list")] == ["1.0.1", "1.1.0"]


def test_f37_packages_of_the_first_format_are_not_updated(terminal: Terminal) -> None:
    for version in ("1.0.0", "1.0.1"):
        shutil.rmtree(terminal.folder / "old", ignore_errors=True)
        run(terminal, "plugins", "create", "old", "--package-version", "1.0.0")
        metadata = terminal.folder / "old/metadata.yaml"
        metadata.write_text(metadata.read_text().replace("version: '1.0.0'", f"version: '{version}'", 1))
        if version == "1.0.1":
            assert refused(terminal, "plugins", "update", "old") == ["PL-F064"]
        run(terminal, "plugins", "install", "old")
    assert [one["version"] for one in asked(terminal, "plugins", "list")] == ["1.0.0", "1.0.1"]


def test_the_same_version_with_other_files_needs_force(terminal: Terminal) -> None:
    run(terminal, "plugins", "install", str(package(terminal.folder)))
    other = package(terminal.folder, tasks="# other\n[]\n")
    assert refused(terminal, "plugins", "install", other) == ["PL-F063"]
    assert asked(terminal, "plugins", "install", other, "--force")["replaced"] == "ntp==1.0.1"
    assert asked(terminal, "plugins", "install", other)["is_new"] is False


def test_f38_remove_names_each_deployment_that_has_it(shop: Terminal) -> None:
    run(shop, "deployments", "create", "blueprint.yaml", "-d", "two")
    run(shop, "plugins", "install", str(package(shop.folder)))
    for name in ("shop", "two"):
        run(shop, "deployments", "plugins", "enable", name, "ntp==1.0.1")
    done = asked(shop, "plugins", "remove", "ntp==1.0.1", code=1)
    assert [problem["code"] for problem in done["problems"]] == ["PL-F065", "PL-F065"]
    assert ["'shop'" in done["problems"][0]["message"], "'two'" in done["problems"][1]["message"]] == [True, True]
    assert refused(shop, "plugins", "remove", "ntp") == ["PL-F062"]
    for name in ("shop", "two"):
        run(shop, "deployments", "plugins", "disable", name, "ntp")
    run(shop, "plugins", "remove", "ntp==1.0.1")
    assert asked(shop, "plugins", "list") == []
    assert list(Path(shop.environment["PHASELINE_STORE_URL"].removeprefix("sqlite:///") + ".packages").iterdir()) == []


def test_f39_a_sync_tells_what_became_of_each(shop: Terminal) -> None:
    folder = shop.folder / "all"
    folder.mkdir()
    for name in ("changed", "same", "used", "vanished"):
        package(folder, name)
    found = asked(shop, "plugins", "sync", folder)
    assert [row["outcome"] for row in found["rows"]] == ["created"] * 4
    run(shop, "deployments", "plugins", "enable", "shop", "used")
    run(shop, "plugins", "install", str(package(shop.folder, "apart")))
    package(folder, "changed", "1.0.2")
    package(folder, "new")
    package(folder, "broken", tasks="- {stage: never}\n")
    for name in ("used", "vanished"):
        shutil.rmtree(folder / f"{name}-src")
    found = asked(shop, "plugins", "sync", folder, code=1)
    assert {row["package"]: row["outcome"] for row in found["rows"]} == {
        "broken-src": "broken",
        "changed==1.0.2": "updated",
        "new==1.0.1": "created",
        "same==1.0.1": "unchanged",
        "used==1.0.1": "kept",
        "vanished==1.0.1": "removed",
    }
    assert [one["name"] for one in asked(shop, "plugins", "list")] == ["apart", "changed", "new", "same", "used"]


def test_f39_a_package_keeps_its_name(terminal: Terminal) -> None:
    where = package(terminal.folder)
    run(terminal, "plugins", "register", "ntp==1.0.1", str(terminal.folder))
    metadata = where / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("name: ntp", "name: other"))
    found = asked(terminal, "plugins", "sync", terminal.folder, code=1)
    assert [(row["package"], row["outcome"]) for row in found["rows"]] == [("ntp==1.0.1", "broken")]
    assert [problem["code"] for problem in found["rows"][0]["problems"]] == ["PL-F063"]
    assert refused(terminal, "plugins", "register", "nothing==1.0.1", terminal.folder) == ["PL-F062"]


def test_f40_what_is_installed_gets_only_hot_pluggable_ones(shop: Terminal) -> None:
    run(shop, "executions", "start", "install", "-d", "shop")
    run(shop, "plugins", "install", str(package(shop.folder)))
    assert refused(shop, "deployments", "plugins", "enable", "shop", "ntp") == ["PL-F067"]
    run(shop, "plugins", "install", str(package(shop.folder, "hot", hot=True)))
    run(shop, "deployments", "plugins", "enable", "shop", "hot")
    found = asked(shop, "deployments", "plugins", "list", "shop", "--all")
    assert [(one["package"], one["state"]) for one in found] == [("hot", "enabled"), ("ntp", "unfit")]
    assert "not hot-pluggable" in found[1]["why"]


def test_f41_another_version_comes_only_where_it_is_asked_for(shop: Terminal) -> None:
    for version in ("1.0.1", "1.1.0"):
        run(shop, "plugins", "install", str(package(shop.folder, version=version)))
    enable = ("deployments", "plugins", "enable", "shop")
    run(shop, *enable, "ntp==1.0.1", "--set", "server=a")
    assert refused(shop, *enable, "ntp==1.1.0") == ["PL-F068"]
    done = asked(shop, *enable, "ntp==1.1.0", "--switch")
    assert (done["version"], done["replaced"], done["settings"]) == ("1.1.0", "ntp==1.0.1", {"server": "a"})
    assert len(asked(shop, "deployments", "plugins", "list", "shop")) == 1


def test_settings_are_checked_by_the_form(shop: Terminal) -> None:
    run(shop, "plugins", "install", str(package(shop.folder)))
    enable = ("deployments", "plugins", "enable", "shop", "ntp")
    assert refused(shop, *enable, "--set", "sever=a", "--set", "server=A1") == ["PL-F033", "PL-F032"]
    assert asked(shop, *enable)["settings"] == {"server": "here"}
    assert asked(shop, *enable, "--set", "server=there")["settings"] == {"server": "there"}
    assert asked(shop, *enable)["settings"] == {"server": "there"}, "what was set stays"
    assert refused(shop, "deployments", "plugins", "disable", "shop", "other") == ["PL-F070"]


def test_a_package_for_other_systems_is_refused_by_the_labels(shop: Terminal) -> None:
    release = (
        "releases: [{os: centos, version: 2015.1-9.0, mode: [ha], deployment_scripts_path: ., repository_path: .}]"
    )
    where = package(shop.folder)
    text = (where / "metadata.yaml").read_text()
    (where / "metadata.yaml").write_text(text.replace("releases: []", release))
    run(shop, "plugins", "install", str(where))
    assert refused(shop, "deployments", "plugins", "enable", "shop", "ntp") == ["PL-F066"]
    run(shop, "deployments", "labels", "shop", "--remove", "os", "--add", "os=centos", "--add", "release=2015.1.3-9.0")
    run(shop, "deployments", "plugins", "enable", "shop", "ntp")


def test_f25_two_packages_with_the_same_are_not_enabled_together(shop: Terminal) -> None:
    task = "- {id: same, type: skipped, role: '*', version: 2.0.0}\n"
    for name in ("a", "b"):
        run(shop, "plugins", "install", str(package(shop.folder, name, deployment_tasks=task)))
    run(shop, "deployments", "plugins", "enable", "shop", "a")
    assert refused(shop, "deployments", "plugins", "enable", "shop", "b") == ["PL-F016"]


def test_roles_have_limits_and_are_kept_while_somebody_has_them(shop: Terminal) -> None:
    role = "web: {name: Web, description: x, limits: {min: %d}}\n"
    run(shop, "plugins", "install", str(package(shop.folder, "many", node_roles=role % 2)))
    assert refused(shop, "deployments", "plugins", "enable", "shop", "many") == ["PL-F069"]
    run(shop, "plugins", "install", str(package(shop.folder, "one", node_roles=role % 1)))
    run(shop, "deployments", "plugins", "enable", "shop", "one")
    run(shop, "executions", "start", "install", "-d", "shop")
    assert refused(shop, "deployments", "plugins", "disable", "shop", "one") == ["PL-F071"]
    run(shop, "executions", "start", "uninstall", "-d", "shop")
    run(shop, "deployments", "plugins", "disable", "shop", "one")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("name: ntp\nmore: '" + "x" * 10_000_000 + "'\n", "PL-B003"),
        (
            "a: &a [x, x, x, x, x, x, x, x]\n"
            + "".join(
                f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True)
            ),
            "PL-B007",
        ),
    ],
    ids=["long", "bomb"],
)
def test_f48_texts_that_would_fill_the_memory_are_refused(terminal: Terminal, text: str, code: str) -> None:
    where = package(terminal.folder)
    (where / "metadata.yaml").write_text(text)
    for words in (("plugins", "check", where), ("plugins", "install", where)):
        assert code in refused(terminal, *words)


def test_f36_a_plan_of_a_deployment_that_there_is_shows_the_tasks_of_its_packages(shop: Terminal) -> None:
    task = "- {role: '*', stage: pre_deployment/4100, type: shell, parameters: {cmd: 'true', timeout: 9}}\n"
    run(shop, "plugins", "install", package(shop.folder, tasks=task))
    run(shop, "deployments", "plugins", "enable", "shop", "ntp")
    told = run(shop, "plan", "install", "-d", "shop")
    assert "tasks before:\n    ntp#1  ntp-1.0.1, pre_deployment/4100, on * × 1\n" in told
    kept = asked(shop, "plan", "install", "-d", "shop", "--save", "-p", "node_ids=[web]")
    assert [row["stage"] for row in kept["around"]["tasks"]] == ["pre_deployment"]
    assert run(shop, "plans", "apply", "plan-1").startswith("install-1 of 'shop': completed")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name a blueprint, or an existing deployment with -d NAME"),
        (
            ("-d", "shop", "-i", "a=1", "--open-types"),
            "--input, --open-types are only allowed with a BLUEPRINT.",
        ),
        (("blueprint.yaml", "--save"), "--save is only allowed for an existing deployment: omit BLUEPRINT."),
    ],
)
def test_a_plan_of_an_install_is_of_a_blueprint_or_of_a_deployment(
    shop: Terminal, words: tuple[str, ...], said: str
) -> None:
    result = shop.run("plan", "install", *words)
    assert (result.exit_code, said in " ".join(result.output.split())) == (2, True), result.output
