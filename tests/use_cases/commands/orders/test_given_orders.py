"""An order that is given twice under one request id is carried out once, and answered twice (ADR 0032)."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.cli.clusters import plugins, worked_at
from tests.cli.terminal import BLUEPRINT, PLUGIN, Terminal

import phaseline
from phaseline import Phaseline, ProblemsError
from phaseline.embedded.follow import follow
from phaseline.model.rows.maintenance import PurgeRules
from phaseline.model.rows.orders import NewOrder, RequestId
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.maintenance import purge_all
from phaseline.use_cases.commands.orders.given_orders import HOUR_MS, digest_of
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

Give = Callable[[Phaseline], object]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shop"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "made.py").write_text(PLUGIN)
    (folder / "blueprint.yaml").write_text(BLUEPRINT)
    return str(folder / "blueprint.yaml")


@pytest.fixture(params=["sqlite:///store.db", "memory:"])
def shop(request: pytest.FixtureRequest, file: str) -> Phaseline:
    del file
    return phaseline.open(request.param)


@pytest.fixture(params=["sqlite:///store.db", "memory:"])
def lab(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Phaseline:
    monkeypatch.chdir(tmp_path)
    return phaseline.open(request.param, plugins=[str(plugins(Terminal(tmp_path, {}), delay=60))])


def codes(caught: pytest.ExceptionInfo[ProblemsError]) -> list[str]:
    return [problem.code for problem in caught.value.problems]


def given(door: Phaseline, give: Give, id: str = "r-1") -> tuple[object, bool]:
    """What came of an order under a request id, and whether it is said to be repeated."""
    with door.request_id(id) as order:
        answer = give(door)
    assert order.is_taken
    return answer, order.is_repeated


def counts(door: Phaseline) -> tuple[int, int]:
    """(executions, requests that were stored)."""
    store = door.ctx.store
    rows = store.executions()
    asked = {row.number for one in rows for row in store.requests_of(one.number)}
    return len(rows), len(asked)


def calls(file: str) -> list[str]:
    return (Path(file).parent / "plugins" / "calls").read_text().splitlines()


def node(name: str, **attributes: object) -> dict[str, object]:
    return {"AdType": "Cloud.Node", "Name": name, "TargetState": "Started", **attributes}


def test_an_install_that_is_given_twice_is_carried_out_once(shop: Phaseline, file: str) -> None:
    def give(door: Phaseline) -> object:
        return door.executions.install(file, inputs={"word": "hi"})

    with shop:
        first, was_repeated = given(shop, give)
        made = calls(file)
        second, is_repeated = given(shop, give)
        assert (was_repeated, is_repeated) == (False, True)
        assert second == first
        assert calls(file) == made
        assert shop.executions.list().total == 1


def test_the_answer_is_that_of_the_first_though_everything_has_changed_since(shop: Phaseline, file: str) -> None:
    def give(door: Phaseline) -> object:
        return door.executions.install(file)

    with shop:
        first, _ = given(shop, give)
        shop.executions.uninstall("shop")
        made = calls(file)
        assert given(shop, give) == (first, True)
        assert calls(file) == made
        assert shop.executions.list().total == 2


def test_another_client_gets_the_answer_whether_it_waits_or_not(file: str) -> None:
    with phaseline.open("sqlite:///store.db") as first:
        done, _ = given(first, lambda door: door.executions.install(file))
    with phaseline.open("sqlite:///store.db") as second:
        assert given(second, lambda door: door.executions.install(file, detach=True)) == (done, True)


@pytest.mark.parametrize(
    "other",
    [
        lambda door, file: door.executions.install(file, inputs={"word": "another"}),
        lambda door, file: door.executions.install(file, "other"),
        lambda door, file: door.executions.uninstall("shop"),
        lambda door, file: door.deployments.create(file),
    ],
)
def test_another_order_under_the_same_id_is_refused(
    shop: Phaseline, file: str, other: Callable[[Phaseline, str], object]
) -> None:
    with shop:
        given(shop, lambda door: door.executions.install(file))
        before = counts(shop)
        with pytest.raises(ProblemsError) as caught:
            given(shop, lambda door: other(door, file))
        assert codes(caught) == ["PL-C097"]
        assert "install-1" in caught.value.problems[0].message
        assert counts(shop) == before


def test_a_file_that_was_changed_makes_another_order(shop: Phaseline, file: str) -> None:
    with shop:
        given(shop, lambda door: door.executions.install(file))
        Path(file).write_text(BLUEPRINT + "# changed\n")
        with pytest.raises(ProblemsError) as caught:
            given(shop, lambda door: door.executions.install(file))
        assert codes(caught) == ["PL-C097"]


def test_what_was_refused_before_anything_was_stored_may_be_mended_under_the_same_id(
    shop: Phaseline, file: str
) -> None:
    with shop:
        with pytest.raises(ProblemsError):
            given(shop, lambda door: door.executions.install(file, inputs={"wrod": "x"}))
        _, is_repeated = given(shop, lambda door: door.executions.install(file, inputs={"word": "x"}))
        assert not is_repeated
        assert shop.executions.list().total == 1


def test_two_clients_at_once_begin_one_execution(file: str) -> None:
    together = threading.Barrier(2)
    found: list[tuple[object, bool]] = []

    def client() -> None:
        with phaseline.open("sqlite:///store.db") as door:
            together.wait()
            found.append(given(door, lambda one: one.executions.install(file)))

    phaseline.open("sqlite:///store.db").ctx.app.store.close()  # it is there
    threads = [threading.Thread(target=client) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with phaseline.open("sqlite:///store.db") as door:
        assert door.executions.list().total == 1
    assert sorted(is_repeated for _, is_repeated in found) == [False, True]
    assert len({getattr(view, "id", "") for view, _ in found}) == 1
    assert sorted(calls(file)) == ["create base", "create top", "create top"]


def test_an_id_counts_for_the_hours_that_are_set(shop: Phaseline, file: str) -> None:
    with shop:
        store, now = shop.ctx.store, shop.ctx.clock.now()
        with store.as_one(NewOrder("r-1", digest_of("install", {}), now - 25 * HOUR_MS, shop.ctx.actor)):
            pass
        _, is_repeated = given(shop, lambda door: door.executions.install(file))
        assert not is_repeated
        assert store.orders.count() == 1
        with pytest.raises(ProblemsError), phaseline.open("memory:", settings={"orders.keep_hours": "0"}):
            pass
    with phaseline.open("memory:", settings={"orders.keep_hours": "72"}) as longer:
        store, now = longer.ctx.store, longer.ctx.clock.now()
        with store.as_one(NewOrder("r-1", "of another order", now - 25 * HOUR_MS, longer.ctx.actor)):
            pass
        with pytest.raises(ProblemsError) as caught:
            given(longer, lambda door: door.executions.install(file))
        assert codes(caught) == ["PL-C097"]


def test_an_order_of_which_nothing_is_left_is_neither_answered_nor_carried_out(shop: Phaseline, file: str) -> None:
    with shop:
        given(shop, lambda door: door.executions.install(file))
        given(shop, lambda door: door.deployments.create(file, "other"), "r-2")
        shop.executions.uninstall("shop")
        shop.deployments.delete("shop")
        shop.deployments.delete("other")
        purge_all(shop.ctx.store, PurgeRules(10**15))
        for id, give in (
            ("r-1", lambda door: door.executions.install(file)),
            ("r-2", lambda door: door.deployments.create(file, "other")),
        ):
            with pytest.raises(ProblemsError) as caught:
                given(shop, give, id)
            assert codes(caught) == ["PL-C098"]
        assert shop.deployments.list().total == 0


def test_neither_inputs_nor_the_id_of_a_secret_stand_in_the_store(file: str, tmp_path: Path) -> None:
    with phaseline.open("sqlite:///store.db") as door:
        given(door, lambda one: one.executions.install(file, inputs={"secret": "open-sesame-4711"}))
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("store.db*"))
    assert b"open-sesame-4711" not in kept


@pytest.mark.parametrize("id", ["", "a/b", "a\x1b[2J", "x" * 256])
def test_what_is_no_request_id_is_refused(shop: Phaseline, id: str) -> None:
    with shop:
        with pytest.raises(ProblemsError) as caught, shop.request_id(id):
            pass
        assert codes(caught) == ["PL-C094"]


def test_an_id_is_that_of_its_thread_and_only_within(shop: Phaseline) -> None:
    seen: list[object] = []
    with shop:
        with shop.request_id("outer"):
            with shop.request_id("inner"):
                thread = threading.Thread(target=lambda: seen.append(shop.ctx.requested))
                thread.start()
                thread.join()
                seen.append(getattr(shop.ctx.requested, "id", None))
            seen.append(getattr(shop.ctx.requested, "id", None))
        seen.append(shop.ctx.requested)
    assert seen == [None, "inner", "outer", None]


def failed(shop: Phaseline, file: str) -> None:
    """An install in which ``base`` has failed; what was wrong is mended."""
    trouble = Path(file).parent / "plugins" / "trouble"
    trouble.write_text("base")
    assert not shop.executions.install(file, task_retries=0).is_good
    trouble.unlink()


def installed(shop: Phaseline, file: str) -> None:
    assert shop.executions.install(file).is_good


def planned(shop: Phaseline, file: str) -> None:
    installed(shop, file)
    shop.plans.make("heal", "shop", save=True)


def first_instance(door: Phaseline) -> str:
    return door.instances.list(node="base").items[0].id


OF_EXECUTIONS: Sequence[tuple[Callable[[Phaseline, str], None], Callable[[Phaseline, str], object]]] = [
    (installed, lambda door, file: door.executions.uninstall("shop")),
    (installed, lambda door, file: door.executions.start("heal", "shop")),
    (installed, lambda door, file: door.executions.start("scale", "shop", parameters={"scalable_entity_name": "top"})),
    (installed, lambda door, file: door.deployments.update("shop", file, inputs={"count": 3})),
    (installed, lambda door, file: door.instances.mark_unhealthy([first_instance(door)])),
    (installed, lambda door, file: door.instances.restrict("shop", ["base"], forbid=["delete"])),
    (installed, lambda door, file: door.snapshots.create("shop", "monday")),
    (installed, lambda door, file: door.deployments.abandon("shop")),
    (planned, lambda door, file: door.plans.apply("plan-1")),
    (failed, lambda door, file: door.executions.retry(deployment="shop")),
    (
        failed,
        lambda door, file: door.executions.complete(deployment="shop", instances=[first_instance(door)], reason="seen"),
    ),
]


@pytest.mark.parametrize(("prepare", "order"), OF_EXECUTIONS)
def test_every_order_that_runs_something_is_carried_out_once(
    shop: Phaseline,
    file: str,
    prepare: Callable[[Phaseline, str], None],
    order: Callable[[Phaseline, str], object],
) -> None:
    with shop:
        prepare(shop, file)
        first, was_repeated = given(shop, lambda door: order(door, file))
        after, made = counts(shop), calls(file)
        second, is_repeated = given(shop, lambda door: order(door, file))
        assert (was_repeated, is_repeated) == (False, True)
        assert (counts(shop), calls(file)) == (after, made)
        for name in ("id", "status", "counts", "failures"):
            assert getattr(second, name) == getattr(first, name)


def test_a_deployment_that_is_made_twice_is_one(shop: Phaseline, file: str) -> None:
    with shop:
        first, _ = given(shop, lambda door: door.deployments.create(file, labels=["a=b"]))
        assert given(shop, lambda door: door.deployments.create(file, labels=["a=b"])) == (first, True)
        assert shop.deployments.list().total == 1


def test_a_recursive_uninstall_goes_on_where_the_first_client_was(shop: Phaseline, file: str) -> None:
    with shop:
        installed(shop, file)
        shop.executions.install(file, "child", labels=["csys-obj-parent=shop"])
        alone = WorkflowStart(
            "uninstall", "child", {"recursive": False, "ignore_failure": False}, force=True, is_part=True
        )
        follow(
            shop.ctx.under(RequestId("r-1/child")), start(shop.ctx.under(RequestId("r-1/child")), alone)
        )  # so far the first client came before it died
        made = calls(file)
        view, is_repeated = given(shop, lambda door: door.executions.uninstall("shop", recursive=True))
        assert (getattr(view, "deployment", ""), is_repeated) == ("shop", False)
        assert len(calls(file)) == len(made) + 3, "the child was uninstalled before"
        assert given(shop, lambda door: door.executions.uninstall("shop", recursive=True)) == (view, True)
        assert [one.workflow for one in shop.executions.list().items] == [
            "uninstall",
            "uninstall",
            "install",
            "install",
        ]


def test_resources_are_applied_once_even_in_several_clusters(lab: Phaseline) -> None:
    records = [node("n1", ClusterName="one"), node("n2", ClusterName="two"), node("n3", ClusterName="two", Sleeps=2)]

    def give(door: Phaseline) -> object:
        return door.resources.apply(records=records)

    with lab:
        first, was_repeated = given(lab, give)
        before = counts(lab)
        second, is_repeated = given(lab, give)
        assert (was_repeated, is_repeated) == (False, True)
        assert second == first
        assert counts(lab) == before
        assert [one.action for one in getattr(second, "resources", ())] == ["created"] * 3


OF_RESOURCES: Sequence[Give] = [
    lambda door: door.resources.target("Terminated", filter='Name == "n1"'),
    lambda door: door.resources.cancel("n3"),
    lambda door: door.resources.retry("n2", set={"Trouble": ""}),
    lambda door: door.resources.complete("n2", reason="seen"),
    lambda door: door.resources.wake("n3"),
    lambda door: door.resources.signal("n3", data="go"),
    lambda door: door.resources.delete("n1"),
    lambda door: door.resources.apply(records=[node("n1", Size=4), node("n4")], cluster="lab"),
    lambda door: door.phases.pause("Acme.Create", reason="no machines"),
]


@pytest.mark.parametrize("give", OF_RESOURCES)
def test_every_order_about_resources_is_carried_out_once(lab: Phaseline, give: Give) -> None:
    with lab:
        lab.resources.apply(records=[node("n1"), node("n2", Trouble="quota"), node("n3", Sleeps=9)], cluster="lab")
        worked_at(lab.ctx)
        first, was_repeated = given(lab, give)
        before = counts(lab), lab.ctx.store.ask(RequestKind.RELOAD, 0, {}, lab.ctx.actor)
        second, is_repeated = given(lab, give)
        after = counts(lab), lab.ctx.store.ask(RequestKind.RELOAD, 0, {}, lab.ctx.actor)
        assert (was_repeated, is_repeated) == (False, True)
        assert second == first
        assert after[0] == before[0]
        assert after[1] == before[1] + 1, "no request was added between"


def test_what_the_owner_refuses_is_refused_to_who_asks_again(shop: Phaseline, file: str) -> None:
    with shop:
        failed(shop, file)
        (row,) = shop.ctx.store.executions()
        digest = digest_of("cancel", {"id": None, "deployment": "shop", "how": "wait"})
        order = NewOrder("r-1", digest, shop.ctx.clock.now(), shop.ctx.actor)
        with shop.ctx.store.as_one(order) as answer:  # asked while it was open, as far as the client knew
            answer["execution"] = row.id
            shop.ctx.store.ask(RequestKind.CANCEL, row.number, {"id": row.id, "how": "wait"}, shop.ctx.actor)
        for _ in range(2):
            with pytest.raises(ProblemsError) as caught:
                given(shop, lambda door: door.executions.cancel(deployment="shop"))
            assert codes(caught) == ["PL-C017"]
