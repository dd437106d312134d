"""Sites: places with a name, and which deployments are there (LB5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.terminal import BLUEPRINT, PLUGIN

import phaseline
from phaseline import ProblemsError
from phaseline.client.client import Client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "made.py").write_text(PLUGIN)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with phaseline.open(f"sqlite:///{tmp_path}/store.db") as opened:
        yield opened


def test_lb5_deployments_are_found_by_their_site(client: Client, tmp_path: Path) -> None:
    file, inputs = str(tmp_path / "blueprint.yaml"), {"word": "hi"}
    client.sites.create("munich", location="48.14, 11.58")
    client.executions.install(file, "shop", inputs=inputs, site="munich")
    client.deployments.create(file, "farm", inputs=inputs)
    assert [view.name for view in client.deployments.list(site="munich").items] == ["shop"]
    assert [view.name for view in client.deployments.list(rules=["site_name=munich"]).items] == ["shop"]
    assert [view.name for view in client.deployments.list(filter="site_name is undefined").items] == ["farm"]
    assert client.deployments.show("shop").site_name == "munich"
    client.sites.delete("munich")
    assert client.deployments.show("shop").site_name == ""


def test_lb5_a_site_that_is_not_there_is_told_before_anything_is_stored(client: Client, tmp_path: Path) -> None:
    client.sites.create("munich")
    for call in (client.executions.install, client.deployments.create):
        with pytest.raises(ProblemsError) as caught:
            call(str(tmp_path / "blueprint.yaml"), "shop", inputs={"word": "hi"}, site="munch")
        (problem,) = caught.value.problems
        assert (problem.code, "did you mean 'munich'?" in problem.mend) == ("PL-C155", True)
    assert client.deployments.list().total == 0
    with pytest.raises(ProblemsError, match=r"no site"):
        client.deployments.list(site="munch")


@pytest.mark.parametrize("location", ["91,0", "0,181", "48.1", "a,b", "1,2,3", "nan,0", "inf,0"])
def test_lb5_a_place_that_is_none_is_refused(client: Client, location: str) -> None:
    client.sites.create("munich", location="48.14,11.58")
    for call in (client.sites.create, client.sites.update):
        with pytest.raises(ProblemsError) as caught:
            call("munich", location=location)
        assert caught.value.problems[0].code == "PL-C157"
    assert [(view.name, view.location) for view in client.sites.list()] == [("munich", "48.14,11.58")]


def test_lb5_a_site_is_made_once_and_moved(client: Client) -> None:
    client.sites.create("munich", location="1,2")
    with pytest.raises(ProblemsError, match=r"already"):
        client.sites.create("munich", location="3,4")
    assert client.sites.update("munich", location="-90,180").location == "-90,180"
    assert client.sites.update("munich", location="").location == ""
    with pytest.raises(ProblemsError, match=r"a/b"):
        client.sites.create("a/b")
    with pytest.raises(ProblemsError, match=r"no site 'mnich'"):
        client.sites.update("mnich", location="1,2")
