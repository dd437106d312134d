"""``resources export``: the records that ``resources apply`` reads."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.clusters import applied, moved, plugins, record, shown, worked
from tests.cli.terminal import Terminal
from tests.records.made import EXPRESSIONS, NAMES, SCALARS

from phaseline.app.settings import load_settings
from phaseline.embedded.follow import follow
from phaseline.embedded.open_app import open_context
from phaseline.model.phases.phase_data import ENGINE_KEYS
from phaseline.records.expression import Expression
from phaseline.records.formats.json_codec import to_json
from phaseline.records.record import Record
from phaseline.use_cases.commands.resources.apply import apply
from phaseline.use_cases.queries.resources.export import Exported, export
from phaseline.use_cases.queries.resources.selection import ResourceSelector

FREE = NAMES.filter(lambda name: name.lower() not in ENGINE_KEYS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FREE, inner, max_size=3), max_leaves=6
)
ATTRIBUTES = st.lists(
    st.tuples(FREE, VALUES | EXPRESSIONS.map(Expression)), max_size=5, unique_by=lambda pair: pair[0].lower()
)


def exported(folder: str, given_to: list[dict[str, object]], file: str = "") -> Exported:
    """What a new store exports after these records, or those of the file, were applied to it."""
    given_settings = load_settings(given={"store.url": f"sqlite:///{folder}/{len(file)}.db"}, environment={})
    with open_context(given_settings, "a test") as ctx:
        follow(ctx, apply(ctx, (file,) if file else (), cluster="night", records=given_to))
        return export(ctx, ResourceSelector())


@settings(max_examples=25)
@given(st.lists(ATTRIBUTES, min_size=1, max_size=3))
def test_what_is_exported_applied_and_exported_again_is_the_same(wanted: list[list[tuple[str, object]]]) -> None:
    records = [
        to_json(Record([("AdType", "Cloud.Node"), ("Name", f"n{at}"), ("TargetState", "Started"), *pairs]))  # type: ignore[list-item]  # drawn
        for at, pairs in enumerate(wanted)
    ]
    with TemporaryDirectory() as folder:
        first = exported(folder, records)
        for file, text in (("all.rec", first.text), ("all-in-json.json", first.as_json())):
            Path(folder, file).write_text(text, "utf-8")
            again = exported(folder, [], f"{folder}/{file}")
            assert (again.text, again.resources) == (first.text, first.resources)
    assert [{**one, "ClusterName": "night"} for one in records] == [dict(one) for one in first.resources]


@pytest.fixture
def night(terminal: Terminal) -> Terminal:
    plugins(terminal)
    moved(terminal, record("n1", Cores=8), record("n2", Trouble="quota"))
    applied(terminal, record("d1", target=""), cluster="day", name="day.rec")
    return terminal


def test_records_have_what_apply_reads_and_nothing_that_the_engine_writes(night: Terminal) -> None:
    text = night.run("resources", "export", "n1").stdout
    assert text.splitlines() == [
        'AdType = "Cloud.Node"',
        'Name = "n1"',
        'ClusterName = "night"',
        'TargetState = "Started"',
        "Cores = 8",
        'InstanceId = "i-n1"',
    ]
    code, found = night.ask("resources", "export", "--filter", "PhaseFailed")
    assert (code, found["total"], [one["Name"] for one in found["resources"]]) == (0, 1, ["n2"])
    assert "PhaseMap" not in found["resources"][0]


@pytest.mark.parametrize("file", ["all.rec", "all.json"])
def test_applied_where_they_come_from_records_change_nothing(night: Terminal, file: str) -> None:
    assert night.run("resources", "export", "-o", file).exit_code == 0
    assert (night.folder / file).stat().st_mode & 0o777 == 0o600
    code, found = night.ask("resources", "apply", file)
    assert (code, {one["action"] for one in found["resources"]}) == (0, {"unchanged"})
    assert found["executions"] == []


def test_d_keeps_to_one_cluster(night: Terminal) -> None:
    assert night.ask("resources", "export", "-d", "day")[1]["resources"] == [
        {"AdType": "Cloud.Node", "Name": "d1", "ClusterName": "day"}
    ]
    assert json.loads(night.run("resources", "export", "-d", "day", "-o", "x.json", "--json").stdout)["total"] == 1


def test_a_file_that_cannot_be_written_is_a_problem(night: Terminal) -> None:
    result = night.run("resources", "export", "-o", "no/such/folder/x.rec")
    assert (result.exit_code, "PL-C091" in result.output) == (1, True)


def test_an_attribute_that_is_undefined_is_removed(night: Terminal) -> None:
    (night.folder / "less.rec").write_text('AdType = "Cloud.Node"\nName = "n1"\ncores = undefined\nNever = undefined\n')
    found = night.ask("resources", "apply", "less.rec", "-d", "night")[1]
    assert [one["action"] for one in found["resources"]] == ["changed"]
    worked(night)
    assert "Cores" not in shown(night, "n1")["record"]  # type: ignore[operator]  # a record in JSON
    assert night.ask("resources", "apply", "less.rec", "-d", "night")[1]["resources"][0]["action"] == "unchanged"
    (night.folder / "less.json").write_text('[{"AdType": "Cloud.Node", "Name": "n1", "InstanceId": null}]')
    assert night.ask("resources", "apply", "less.json", "-d", "night")[1]["resources"][0]["action"] == "changed"


def test_a_retry_removes_what_stood_in_the_way(night: Terminal) -> None:
    assert night.run("resources", "retry", "n2", "--set", "Trouble:=undefined").exit_code == 0
    worked(night)
    assert (shown(night, "n2")["state"], "Trouble" in shown(night, "n2")["record"]) == ("Started", False)  # type: ignore[operator]  # as above
