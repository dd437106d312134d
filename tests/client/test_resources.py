"""``phaseline.open().resources`` does what ``phaseline resources`` does."""

from pathlib import Path

import pytest
from tests.cli.clusters import plugins, record
from tests.cli.terminal import Terminal

import phaseline
from phaseline import Phaseline, ProblemsError


@pytest.fixture(params=["sqlite:///store.db", "memory:"])
def lab(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Phaseline:
    monkeypatch.chdir(tmp_path)
    folder = plugins(Terminal(tmp_path, {}), delay=0.05)
    return phaseline.open(request.param, plugins=[str(folder)])


def node(name: str, **attributes: object) -> dict[str, object]:
    return {"AdType": "Cloud.Node", "Name": name, "TargetState": "Started", **attributes}


def test_resources_live_their_life_in_a_program(lab: Phaseline) -> None:
    with lab:
        done = lab.resources.apply(
            records=[node("n1"), node("n2", Trouble="quota"), node("n3", Sleeps=2)], cluster="lab"
        )
        assert [one.action for one in done.resources] == ["created"] * 3
        lab.engine.run()
        found = lab.resources.list()
        assert [(one.name, one.status) for one in found.resources] == [
            ("n1", "Ready"),
            ("n2", "Failed"),
            ("n3", "Ready"),
        ]
        (group,) = found.failures
        assert lab.resources.list(group=group.key).total == 1
        assert lab.resources.retry(group=group.key, set={"Trouble": ""}).entries == 1
        lab.engine.run()
        assert lab.resources.show("n2").state == "Started"
        assert lab.resources.why("n2").text == "it has reached Started"
        assert lab.resources.history("n2", phases=["Acme.Create"]).events[-1].what == "Completed"
        assert lab.phases.show("Acme.Create").now is not None
        assert lab.resources.target("Terminated", filter='Name != "n1"').changed == 2
        assert lab.resources.delete(all=True).changed == 3
        assert lab.resources.list().total == 0


def test_h_a_program_says_something_to_phases_that_sleep(lab: Phaseline) -> None:
    with lab:
        lab.resources.apply(records=[node("n1", Sleeps=1), node("n2", Sleeps=1)], cluster="lab")
        with pytest.raises(ProblemsError) as caught:
            lab.resources.signal("n1", data="go")
        assert [problem.code for problem in caught.value.problems] == ["PL-C093"], "nothing was called yet"
        lab.engine.run()
        assert lab.resources.show("n1").state == "Started"


def test_everything_wrong_with_records_is_told_at_once(lab: Phaseline, tmp_path: Path) -> None:
    (tmp_path / "nodes.rec").write_text(record("n1") + "State = 1\n")
    with lab, pytest.raises(ProblemsError) as caught:
        lab.resources.apply(
            "nodes.rec", records=[{"Name": "n2"}, {"Name": {"$time": "soon"}}, node("n3")], cluster="lab"
        )
    told = [(problem.code, str(problem.place)) for problem in caught.value.problems]
    assert told == [("PL-R025", "nodes.rec:4:1"), ("PL-R012", "record 2"), ("PL-R020", "record 1")]


def test_a_phase_is_paused_and_unpaused(lab: Phaseline) -> None:
    with lab:
        lab.resources.apply(records=[node("n1")], cluster="lab")
        assert lab.phases.pause("Acme.Create", reason="x").is_changed
        assert not lab.phases.unpause("Acme.Create").is_paused
        lab.engine.run()
        assert lab.resources.show("n1").state == "Started"
        with pytest.raises(ProblemsError):
            lab.resources.retry("n1")
