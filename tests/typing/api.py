"""The ways in which programs and plugins use us: type-checked, never run."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, assert_type

import phaseline
from phaseline import (
    LifecycleHook,
    NonRecoverableError,
    Phaseline,
    Problem,
    ProblemsError,
    TemporaryError,
    operation,
    phase,
)
from phaseline.calls.batches.native_items import Item, ItemBatch
from phaseline.compat.cyclecloud.phase_handler import PhaseHandler
from phaseline.model.blueprint.blueprint import Value
from phaseline.records.record import Record
from phaseline.testing import (
    FakeBatch,
    FakeItem,
    Rehearsal,
    Subject,
    Tried,
    call,
    completes,
    crash_points,
    fails,
    fake_batch,
    fake_item,
    rehearse,
    sleeps,
)
from phaseline.testing.builders import blueprint, node
from phaseline.use_cases.commands.resources.apply import Applied
from phaseline.use_cases.commands.resources.phase_decisions import Decided
from phaseline.use_cases.commands.resources.set_target import Moved
from phaseline.use_cases.commands.secrets import SecretView
from phaseline.use_cases.commands.upload_blueprint import Shelved, Uploaded
from phaseline.use_cases.prepare.plan_preview import PlanPreview
from phaseline.use_cases.queries.resources.failure_groups import FailureGroup
from phaseline.views.views import (
    DeploymentDetails,
    DeploymentView,
    ExecutionView,
    InstanceView,
    Line,
    Page,
    Validated,
)


def programs() -> None:
    with phaseline.open(
        "sqlite:////srv/phaseline/store.db", plugins=["plugins"], settings={"run.threads": "4"}
    ) as shop:
        assert_type(shop, Phaseline)
        assert_type(shop.blueprints.validate("blueprint.yaml"), Validated)
        assert_type(shop.blueprints.plan("blueprint.yaml", inputs={"port": 8080}), PlanPreview)
        assert_type(shop.blueprints.upload("shop.zip", "shop", main="main.yaml"), Uploaded)
        assert_type(shop.blueprints.list(), Sequence[Shelved])
        assert_type(shop.secrets.create("token", "hush", update=True), SecretView)
        assert_type(shop.secrets.show("token", reveal=True).value, str | None)
        assert_type(shop.plugins.install("ntp-1.0.2.tar.gz").package.version, str)
        assert_type(shop.plugins.enable("shop", "ntp==1.0.2", set={"server": "a"}).settings, Mapping[str, Value])
        assert_type(shop.plugins.sync("plugins").is_good, bool)
        done = shop.executions.install("blueprint.yaml", "shop", inputs={"ports": [80, 443]}, stop_after="10%")
        assert_type(done, ExecutionView)
        assert_type(done.failures[0].message, str)
        assert_type(shop.deployments.list(limit=5), Page[DeploymentView])
        assert_type(shop.deployments.show("shop"), DeploymentDetails)
        assert_type(shop.deployments.outputs("shop"), Mapping[str, Value])
        assert_type(shop.instances.list(deployment="shop", state="started").items, Sequence[InstanceView])
        assert_type(shop.executions.follow(done.id), Iterator[Line])
        shop.executions.start("execute_operation", "shop", parameters={"operation": "backup"}, detach=True)
        shop.executions.cancel(done.id, kill=True)
        shop.executions.complete(done.id, instances=["db_1"], reason="seen")
    another = phaseline.open()
    another.close()


def resources() -> None:
    with phaseline.open() as lab:
        assert_type(lab.resources.apply("nodes.rec", records=[{"Name": "n1"}], cluster="lab"), Applied)
        assert_type(lab.resources.list(filter="PhaseFailed").failures, Sequence[FailureGroup])
        assert_type(lab.resources.show("n1").record, Mapping[str, object])
        assert_type(lab.resources.retry(filter="PhaseFailed", set={"Size": "3"}), Decided)
        assert_type(lab.resources.target("Terminated", "n1", "n2"), Moved)
        lab.resources.complete("n1", reason="seen", phases=["Acme.Create"])
        lab.resources.delete(all=True)
        lab.phases.pause("Acme.Create", reason="the cloud is down")


def mistakes() -> None:
    try:
        phaseline.open("nowhere:")
    except ProblemsError as error:
        assert_type(error.problems, tuple[Problem, ...])


@operation(bulk=True, repeatable=True)
def create(batch: ItemBatch) -> None:
    for item in batch:
        assert_type(item, Item)
        assert_type(item.properties, Mapping[str, Value])
        item.runtime_properties["name"] = item.instance_id
        item.log.info(item.token)
    batch.again([item for item in batch if item.attempt], 30, "booting")


@phase(name="Acme.Create", states="Allocation", resource_type="Cloud.Node", sleep_delay=5)
def create_machines(handler: PhaseHandler) -> None:
    for resource in handler.getResources():
        assert_type(resource, Record)
        assert_type(resource.getAsString("Name"), str | None)
        assert_type(handler.getResourcePhaseData(resource), Record)
        if not resource.isDefined("Image"):
            handler.setFailed(resource, "no image")
    handler.setCompleted(handler.resources.filter("Image isnt undefined"))
    handler.setSleeping(list(handler.resources), timedelta(seconds=5))
    assert_type(handler.cache.get_or_make("images", lambda: ["a"], ttl_s=60), list[str])
    raise TemporaryError("throttled", delay=60)


@operation
async def start(item: Item) -> None:
    if item.target is None:
        raise NonRecoverableError("no target")


@phase(name="Acme.Create", states=["Allocation"], resource_type="Cloud.Node", sleep_delay=2, Color="blue")
def handle(handler: object) -> None: ...


class Quota(LifecycleHook):
    actions = ("CREATE", "SCALE")
    timeout = 5

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: str | None = None) -> None:
        if len(stack.resources) > 100:
            raise ValueError(f"{action} of more than 100 instances")

    def get_ordinal(self) -> float:
        return 50


assert_type(Quota().get_ordinal(), float)


def tests() -> None:
    assert_type(fake_item(properties={"size": 3}, target=Subject("db")), FakeItem)
    assert_type(fake_batch(3), FakeBatch)
    assert_type(call(create, fake_batch([fake_item(), fake_item()])), list[Tried])
    for point in crash_points(create, lambda: fake_batch(2)):
        assert_type(point.outcomes, list[Tried])
    app = blueprint(node("vm", create="cloud.make"))
    assert_type(rehearse(app, outcomes={"create": [sleeps(30), fails("no")], "start": completes()}), Rehearsal)
    assert_type(rehearse("blueprint.yaml", "uninstall", crash_in=[1]).order, list[str])
