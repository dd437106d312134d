"""A phase is called in a test as an engine calls it, decorated or loaded from a pair of files."""

from pathlib import Path

import pytest
from tests.catalog.phases.plugin_files import write_pair

from phaseline import PermanentError, ProblemsError, TemporaryError, phase
from phaseline.testing import call, crash_points, fake_batch, fake_item, load_phase

CODE = """
machines = {}


def handle(handler):
    assert handler.getState() == "Allocation"
    for node in handler.getResources():
        data = handler.getResourcePhaseData(node)
        if node["Size"] > 100:
            handler.setFailed(node, "too large")
        elif "Machine" not in data:
            token = handler.operationToken(node)
            data["Machine"] = machines.setdefault(token, f"machine-{len(machines)}")
        else:
            node["Address"] = "10.0.0.7"
            handler.setCompleted(node, "is up")
"""
FIND = """

def find(items):
    for item in items:
        if item.token in machines:
            item.unfinished({"Machine": machines[item.token]})
        else:
            item.absent()
"""


def codes(error: pytest.ExceptionInfo[ProblemsError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


@phase(
    name="Acme.Look", states=["Allocation", "Configuration"], resource_type="Cloud.Node", sleep_delay=7, Color="blue"
)
def look(handler):
    assert (handler.getPhaseName(), handler.getState()) == ("Acme.Look", "Allocation")
    assert handler.getPhase()["Color"] == "blue"
    for node in handler.resources:
        match node["does"]:
            case "complete":
                node["Seen"] = True
                handler.set_completed(node, "seen")
            case "fail":
                handler.set_failed(node, "broken")
            case "sleep":
                handler.set_sleeping(node, 90, "booting")


def test_a_decorated_phase_has_its_name_state_attributes_and_each_mark_is_seen() -> None:
    batch = fake_batch([fake_item(properties={"does": word}) for word in ("complete", "fail", "sleep", "nothing")])
    done = call(look, batch)
    assert [one.outcome for one in done] == ["completed", "failed", "again", "again"]
    assert [one.message for one in done] == ["seen", "broken", "booting", ""]
    assert [one.after_s for one in done] == [None, None, 90, 7]
    assert done[0].runtime_properties == {"Seen": True}


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(TemporaryError("soon", delay=3), "again"), (PermanentError("never"), "failed"), (KeyError("typo"), "failed")],
)
def test_what_a_phase_raises_is_the_outcome_and_is_kept(error: Exception, outcome: str) -> None:
    @phase(name="Acme.Raise", states="Allocation", resource_type="Cloud.Node")
    def raises(handler):
        handler.set_completed(handler.resources[0])
        raise error

    done = call(raises, fake_batch(2))
    assert [one.outcome for one in done] == ["completed", outcome]
    assert done[1].raised is error


def test_a_failed_assertion_inside_fails_the_test() -> None:
    @phase(name="Acme.Assert", states="Allocation", resource_type="Cloud.Node")
    def asserts(handler):
        assert len(handler.resources) == 3, "the cloud was asked for two"

    def with_ctx(ctx):
        assert ctx.instance.id == "db_1", "the cloud was asked for two"

    for function in (asserts, with_ctx):
        with pytest.raises(AssertionError, match="asked for two"):
            call(function, fake_batch(2))


def test_a_phase_that_no_engine_would_take_is_refused() -> None:
    @phase(name="Acme.Wrong", states="Allocation", resource_type="Cloud.Node", sleep_delay=0, handles_provider="x")
    def wrong(handler):
        raise NotImplementedError

    with pytest.raises(ProblemsError) as error:
        call(wrong, fake_item())
    assert len(error.value.problems) == 2


def test_a_pair_is_loaded_and_polls_with_what_it_kept(tmp_path: Path) -> None:
    write_pair(tmp_path, "create", {"Phase.SleepDelay": "5"}, CODE)
    create = load_phase(tmp_path)
    small, large = call(create, fake_batch([fake_item(properties={"Size": size}) for size in (1, 1000)]))
    assert (small.outcome, small.after_s, small.phase_data) == ("again", 5, {"Machine": "machine-0"})
    assert (large.outcome, large.message) == ("failed", "too large")
    assert list(create.module.machines.values()) == ["machine-0"]
    [done] = call(create, fake_item(properties={"Size": 1}, runtime_properties=small.runtime_properties))
    assert (done.outcome, done.message, done.runtime_properties["Address"]) == ("completed", "is up", "10.0.0.7")
    [done] = call(create, fake_item(properties={"Size": 1}, phase_data={"Machine": "machine-9"}))
    assert done.outcome == "completed"


def test_each_loading_imports_the_code_anew(tmp_path: Path) -> None:
    write_pair(tmp_path, "create", None, CODE)
    call(load_phase(tmp_path / "create.cfg"), fake_item(properties={"Size": 1}))
    assert load_phase(tmp_path / "create.py").module.machines == {}


@pytest.mark.parametrize("more", ["", FIND])
def test_a_pair_dies_at_each_line_and_makes_nothing_twice(tmp_path: Path, more: str) -> None:
    write_pair(tmp_path, "create", None, CODE + more)
    create = load_phase(tmp_path)
    lines = set()
    for point in crash_points(
        create, lambda: fake_batch(2, properties={"Size": 1}), before=create.module.machines.clear
    ):
        lines.add(point.line)
        assert sorted(create.module.machines.values()) == ["machine-0", "machine-1"], point
    assert {6, 7, 8, 9, 11, 12, 13} <= lines


def test_find_is_asked_after_a_death_and_what_it_raises_comes_out(tmp_path: Path) -> None:
    write_pair(tmp_path, "create", None, CODE + FIND)
    create = load_phase(tmp_path)
    found = [
        point.outcomes[0].outcome
        for point in crash_points(
            create, lambda: fake_item(properties={"Size": 1}), before=create.module.machines.clear
        )
    ]
    assert set(found) == {"again", "completed"}, "where find told of a machine the handler polls on"
    write_pair(tmp_path, "create", None, CODE + "\n\ndef find(items):\n    return items.no_such_thing\n")
    with pytest.raises(AttributeError, match="no_such_thing"):
        list(crash_points(load_phase(tmp_path), lambda: fake_item(properties={"Size": 1})))


def test_a_typo_in_the_name_of_the_handler_is_told(tmp_path: Path) -> None:
    write_pair(tmp_path, "create", {"ResourceType": None}, CODE.replace("def handle(", "def handling("))
    with pytest.raises(ProblemsError) as error:
        load_phase(tmp_path)
    assert sorted(codes(error)) == ["PL-D004", "PL-D011"]


def test_what_importing_the_module_raises_comes_out(tmp_path: Path) -> None:
    write_pair(tmp_path, "create", None, f"{CODE}\nnothing = 1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        load_phase(tmp_path)


def test_a_phase_that_is_not_there_or_not_named_is_told(tmp_path: Path) -> None:
    write_pair(tmp_path, "create", None, CODE)
    write_pair(tmp_path, "attach", {"PhaseName": "Acme.Attach", "HandlesStates": "Configuration"}, CODE)
    for name in ("", "Acme.Craete"):
        with pytest.raises(ProblemsError) as error:
            load_phase(tmp_path, name)
        assert codes(error) == ["PL-D053"]
        assert "Acme.Attach, Acme.Create" in error.value.problems[0].mend
    with pytest.raises(ProblemsError) as error:
        load_phase(tmp_path, "acme.attach", state="Allocation")
    assert error.value.problems[0].mend == "it is for Configuration"
    with pytest.raises(ProblemsError) as error:
        load_phase(tmp_path / "nowhere")
    assert codes(error) == ["PL-D050"]
    assert load_phase(tmp_path, "acme.create").definition.name == "Acme.Create"


def test_a_decorated_phase_is_loaded_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "tag.py").write_text(
        "from phaseline import phase\n\n\n"
        '@phase(name="Acme.Tag", states="Configuration", resource_type="Cloud.Node")\n'
        'def tag(resource, data):\n    resource["Tagged"] = data.get("Calls", 0)\n'
    )
    [done] = call(load_phase(tmp_path / "tag.py"), fake_item(phase_data={"Calls": 3}))
    assert (done.outcome, done.runtime_properties["Tagged"]) == ("completed", 3)
