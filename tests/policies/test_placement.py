"""Machines and their volumes on one rack, machines spread over several, and what was reserved given back (source 2)."""

import json
from pathlib import Path

import pytest

from phaseline.calls.deployments.call_subjects import LoadedDeployment
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.pre_post import DeploymentCallKind
from phaseline.policies.ledgers import Ledger, Share
from phaseline.policies.placement import Racks
from phaseline.testing.builders import blueprint, host, node, topology
from phaseline.testing.hook_calls import called, deployment

VOLUME = ("cloudify.nodes.Root", "cloudify.nodes.Volume")
UNINITIALIZED, STARTED = InstanceState.UNINITIALIZED, InstanceState.STARTED


def shop(
    count: int = 2, gb: int = 100, *, name: str = "shop", state: InstanceState = UNINITIALIZED
) -> LoadedDeployment:
    volume = node("disk", to=["web"], types=VOLUME, properties={"size_gb": gb})
    return deployment(topology(blueprint(host("web", instances=count), volume)), name=name, state=state)


def racks(path: Path, spread: int = 1, **room: dict[str, float]) -> Racks:
    given = room or {"r1": {"machines": 2, "gb": 300}, "r2": {"machines": 2, "gb": 250}}
    return Racks(given, str(path / "racks.json"), spread=spread, needs={"gb": "size_gb"})


def taken(path: Path) -> dict[str, dict[str, str]]:
    books = json.loads((path / "racks.json").read_text()) if (path / "racks.json").exists() else {}
    return {name: {one: place for one, (place, _) in shares.items()} for name, shares in books.items()}


def test_a_machine_and_its_volume_go_to_one_rack(tmp_path):
    answer = called(racks(tmp_path), shop(count=1))
    assert answer.decisions == {"web_1": {"rack": "r2"}, "disk_1": {"rack": "r2"}}
    assert taken(tmp_path) == {"shop": {"web_1": "r2", "disk_1": "r2"}}


def test_what_does_not_fit_is_refused_with_the_reason_and_reserves_nothing(tmp_path):
    answer = called(racks(tmp_path), shop(count=1, gb=400))
    assert answer.kind == "failed"
    assert answer.message == (
        "web_1 with disk_1 needs 400 gb and 1 machines on one rack; r1 has most room, and that is 300 gb and 2 machines"
    )
    assert taken(tmp_path) == {}


def test_racks_are_shared_by_deployments(tmp_path):
    small = racks(tmp_path, r1={"machines": 1, "gb": 100}, r2={"machines": 1, "gb": 100})
    assert called(small, shop(count=1, name="a")).kind == "agreed"
    assert called(small, shop(count=1, name="b")).kind == "agreed"
    assert called(small, shop(count=1, name="c")).kind == "failed"
    assert set(taken(tmp_path)) == {"a", "b"}


def test_machines_are_spread_over_racks(tmp_path):
    answer = called(racks(tmp_path, spread=2), deployment(topology(blueprint(host("web", instances=2)))))
    assert {decision["rack"] for decision in answer.decisions.values()} == {"r1", "r2"}


def test_what_cannot_be_spread_is_refused(tmp_path):
    one = racks(tmp_path, spread=2, r1={"machines": 2}, r2={"machines": 0})
    answer = called(one, deployment(topology(blueprint(host("web", instances=2)))))
    assert answer.message == "machines of web are to be on 2 racks, and only r1 had room"
    assert taken(tmp_path) == {}


@pytest.mark.parametrize("why", [DeploymentCallKind.PRE_FAILED, DeploymentCallKind.FAILED, DeploymentCallKind.CANCELED])
def test_what_was_not_made_is_given_back_when_it_fails(tmp_path, why):
    hook, about = racks(tmp_path), shop(count=1)
    called(hook, about)
    assert called(hook, about, method="do_post_op", why=why).kind == "agreed"
    assert taken(tmp_path) == {}


def test_what_stands_after_a_failure_keeps_its_place(tmp_path):
    hook, about = racks(tmp_path), shop(count=1)
    called(hook, about)
    about.states[about.topology.number_of["web_1"]] = STARTED
    called(hook, about, method="do_post_op", why=DeploymentCallKind.FAILED)
    assert taken(tmp_path) == {"shop": {"web_1": "r2"}}


def test_it_is_given_back_when_it_is_uninstalled(tmp_path):
    hook = racks(tmp_path)
    called(hook, shop(count=1))
    standing = shop(count=1, state=STARTED)
    called(hook, standing, method="do_post_op", why=DeploymentCallKind.COMPLETED)
    assert taken(tmp_path)["shop"]
    called(hook, standing, action="DELETE", workflow="uninstall")
    assert taken(tmp_path)["shop"], "nothing is given back before it is gone"
    gone = shop(count=1, state=InstanceState.DELETED)
    called(hook, gone, method="do_post_op", action="DELETE", workflow="uninstall", why=DeploymentCallKind.COMPLETED)
    assert taken(tmp_path) == {}


def test_a_scale_keeps_who_is_there_and_places_who_comes(tmp_path):
    hook = racks(tmp_path, r1={"machines": 2}, r2={"machines": 1})
    one = deployment(topology(blueprint(host("web"))), state=STARTED)
    two = deployment(topology(blueprint(host("web", instances=2))))
    assert called(hook, one).decisions == {"web_1": {"rack": "r2"}}
    grown = called(hook, one, target=two, action="SCALE", workflow="scale")
    assert grown.decisions == {"web_1": {"rack": "r2"}, "web_2": {"rack": "r1"}}
    called(hook, one, method="do_post_op", action="SCALE", workflow="scale", why=DeploymentCallKind.PRE_FAILED)
    assert taken(tmp_path) == {"shop": {"web_1": "r2"}}


def test_a_call_that_is_repeated_after_a_crash_reserves_once(tmp_path):
    hook, about = racks(tmp_path), shop(count=1)
    assert called(hook, about).decisions == called(hook, about).decisions
    assert taken(tmp_path) == {"shop": {"web_1": "r2", "disk_1": "r2"}}


def test_a_preview_decides_and_reserves_nothing(tmp_path):
    answer = called(racks(tmp_path), shop(count=1), method="do_preview_op")
    assert answer.decisions["web_1"] == {"rack": "r2"}
    assert taken(tmp_path) == {}


def test_options_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(ValueError, match="names none"):
        Racks({}, str(tmp_path / "x"))
    with pytest.raises(ValueError, match="2 of 1 racks"):
        racks(tmp_path, spread=2, r1={"machines": 1})


def test_books_are_left_as_they_were_where_the_block_is_left_by_an_exception(tmp_path):
    ledger = Ledger(str(tmp_path / "deep" / "books.json"))
    with ledger.open() as books:
        books["a"] = {"x": Share("r1", {"machines": 1})}

    def fails() -> None:
        with ledger.open() as books:
            books.clear()
            raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        fails()
    with ledger.open() as books:
        assert books == {"a": {"x": Share("r1", {"machines": 1})}}
