"""DP9: a plan shows what it reads of other deployments, and what it changes for those that read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.use_cases.estates import NET, Files, consumer

SECRETS = NET.replace("inputs: {ip:", "inputs: {pin: {default: hush-pin, hidden: true}, ip:") + (
    "  key: {value: {concat: [k, {get_secret: token}]}}\n  pin: {value: {get_input: pin}}\n"
)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    found = Files(tmp_path)
    with found.open() as client:
        client.secrets.create("token", "s3cr3t")
        client.executions.install(found.write("net", SECRETS), "net")
    return found


def test_dp9_the_plan_of_a_consumer_shows_the_values_that_it_reads(files: Files) -> None:
    file = files.write("app", consumer("{get_capability: [net, address]}", seen="{get_capability: [net, ports, web]}"))
    with files.open() as client:
        plan = client.blueprints.plan(file, "app")
        assert "  reads net.address (now 10.0.0.1; net: active)" in plan.text.splitlines()
        assert "  reads net.ports.web (now [80, 443]; net: active)" in plan.text.splitlines()
        assert [one.capability for one in plan.value["reads"]] == ["net.ports.web", "net.address"]
        client.deployments.create(file, "app")
        client.executions.uninstall("net")
        again = client.blueprints.plan(files.write("other", (files.folder / "app/blueprint.yaml").read_text()), "other")
        assert "  reads net.address (now 10.0.0.1; net: inactive)" in again.text.splitlines()


def test_a36_secret_values_are_sensitive_in_a_plan(files: Files) -> None:
    file = files.write("app", consumer("{get_capability: [net, key]}", seen="{get_capability: [net, pin]}"))
    with files.open() as client:
        plan = client.blueprints.plan(file, "app")
    assert {one.value for one in plan.reads} == {"(sensitive)"}
    assert "s3cr3t" not in plan.text
    assert "hush-pin" not in plan.text


def test_dp9_the_plan_of_an_update_shows_whose_values_change(files: Files) -> None:
    reads = consumer("{get_capability: [net, address]}", seen="{get_capability: [net, ports, web]}")
    new = SECRETS.replace("web: [80, 443]", "web: [8080]").replace(
        "get_attribute: [router, ip]", "get_attribute: [other, ip]"
    )
    with files.open() as client:
        client.executions.install(files.write("app", reads), "app")
        plan = client.plans.update("net", files.write("new", new))
        assert "  capability address: 10.0.0.1 → known after; read by app (web.said)" in plan.text.splitlines()
        line = '  capability ports: {"web": [80, 443]} → {"web": [8080]}; read by app (web.seen)'
        assert line in plan.text.splitlines()
        same = client.plans.update("net", str(files.folder / "net" / "blueprint.yaml"))
        assert same.reads == ()
        gone = SECRETS.replace("  ports: {value: {web: [80, 443]}}\n", "")
        assert "→ removed; read by app" in client.plans.update("net", files.write("gone", gone)).text
