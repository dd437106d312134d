"""What an instance waits for: every status has its sentence, and causes are found behind milestones and closings."""

from __future__ import annotations

import numpy as np
import pytest

from phaseline.model.execution.execution import History, Request, RetryPolicy
from phaseline.model.graph.status import EntryStatus as Status
from phaseline.model.rows.rows import ASKED, NoteRow
from phaseline.plan.explain.wait_reasons import SHOWN_BLOCKERS, explain
from phaseline.plan.graph.call_policies import SCRIPT
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, host, node, relationship, topology

THREE = RetryPolicy(3, 15)


class Case:
    """An install graph whose statuses are set by the operation's short name and the instance."""

    def __init__(self, *nodes, retries=THREE, **parameters):
        self.topology = topology(blueprint(*nodes))
        states = np.zeros(len(self.topology), np.uint8)
        request = Request("install", parameters, retries)
        self.graph = PLANNERS["install"](self.topology, request, History(states), lambda _: SCRIPT)
        self.status = np.zeros(len(self.graph), np.uint8)
        self.notes = []

    def at(self, operation, id):
        number = self.topology.number_of[id]
        for step in self.graph.steps:
            if step.phase.rpartition(".")[2] == operation:
                for position in range(step.first, step.first + step.count):
                    if self.graph.subject[position] == number:
                        return position
        raise LookupError(operation)

    def put(self, operation, id, status, **note):
        position = self.at(operation, id)
        self.status[position] = status
        if note:
            self.notes.append(NoteRow(position, **note))
        return position

    def why(self, id, **known):
        number = self.topology.number_of[id]
        return explain(self.topology, self.graph, self.status, self.notes, number, **known)


@pytest.fixture
def pair():
    return Case(node("db", create="p.c", start="p.s"), node("web", to=["db"], create="p.c"))


def test_a_ready_entry_waits_for_its_turn(pair):
    pair.put("create", "db_1", Status.WAITING)
    (reason,) = pair.why("db_1")
    assert (reason.kind, reason.position) == ("slot", 0)
    assert reason.mend == "it begins as soon as a slot of the pool 'threads' is free"


def test_a_running_entry_says_since_when(pair):
    position = pair.put("create", "db_1", Status.WAITING)
    (reason,) = pair.why("db_1", running={position: 1234})
    assert (reason.kind, reason.since) == ("running", 1234)


def test_a_sleeper_says_until_when_and_what_it_said(pair):
    pair.put("create", "db_1", Status.SLEEPING, due=5000, message="booting")
    (reason,) = pair.why("db_1")
    assert (reason.kind, reason.until) == ("sleeping", 5000)
    assert reason.text.endswith("asked to be called again: booting")


def test_a_retry_says_which_one_of_how_many_and_the_last_line_of_the_last_message(pair):
    position = pair.put("create", "db_1", Status.SLEEPING, due=5000, attempts=2, message="Traceback\nno route")
    (reason,) = pair.why("db_1", ended={position: 4000})
    assert (reason.kind, reason.since, reason.until) == ("retrying", 4000, 5000)
    assert reason.text == "cloudify.interfaces.lifecycle.create failed; retry 2 of 3 is due: no route"


def test_who_failed_once_and_asks_for_another_call_since_is_not_told_as_failing(pair):
    pair.put("create", "db_1", Status.SLEEPING, due=5000, attempts=1, message="booting", error=ASKED)
    (reason,) = pair.why("db_1")
    assert (reason.kind, reason.until) == ("sleeping", 5000)
    assert reason.text.endswith("asked to be called again: booting")


def test_get_state_is_asked_again_and_not_retried():
    case = Case(host("h", get_state="p.g"))
    case.put("get_state", "h_1", Status.SLEEPING, due=5000, attempts=2)
    assert case.why("h_1")[0].kind == "sleeping"


def test_a_blocked_instance_names_what_it_waits_for_behind_the_closing_entry(pair):
    pair.put("create", "db_1", Status.COMPLETED)
    pair.put("start", "db_1", Status.SLEEPING, due=1, attempts=1, message="no route")
    (reason,) = pair.why("web_1")
    assert reason.kind == "blocked"
    assert [(b.instance, b.status, b.message) for b in reason.blockers] == [("db_1", "sleeping", "no route")]
    assert reason.text.endswith(
        "waits for cloudify.interfaces.lifecycle.start of db_1 (failing, retry 1 of 3): no route"
    )


def test_a_blocked_instance_names_what_is_failing_behind_other_blocked_ones():
    case = Case(
        node("db", start="p.s"),
        node("app", to=["db"], create="p.c"),
        node("web", to=["app"], create="p.c", instances=2),
    )
    case.put("start", "db_1", Status.SLEEPING, due=7, attempts=2, message="Traceback\nno route")
    (reason,) = case.why("web_1")
    assert [(one.instance, one.operation, one.attempts, one.max_retries, one.due) for one in reason.roots] == [
        ("db_1", "cloudify.interfaces.lifecycle.start", 2, 3, 7)
    ]
    assert [one.instance for one in reason.blockers] == ["app_1"]
    assert reason.text.endswith(
        "blocked by cloudify.interfaces.lifecycle.start of db_1 (failing, retry 2 of 3): no route"
    )
    (direct,) = case.why("app_1")
    assert (direct.roots, direct.blockers[0].attempts) == ((), 2), "what it waits for itself is told once"


@pytest.mark.parametrize("stored", [Status.BLOCKED, Status.SLEEPING])
def test_what_is_being_called_runs_whatever_its_page_says(pair, stored):
    position = pair.put("create", "db_1", stored)
    assert [(one.kind, one.since) for one in pair.why("db_1", running={position: 5})] == [("running", 5)]


def test_a_retry_that_runs_says_what_failed_before_and_an_asked_one_does_not(pair):
    position = pair.put("create", "db_1", Status.WAITING, attempts=2, message="no route")
    (reason,) = pair.why("db_1", running={position: 1234})
    assert reason.text.endswith("create is running, retry 2 of 3 after it failed: no route")
    pair.notes[:] = [NoteRow(position, attempts=2, message="booting", error=ASKED)]
    assert pair.why("db_1", running={position: 1234})[0].text.endswith("create is running")


def test_many_blockers_behind_a_milestone_are_counted_by_node():
    case = Case(node("db", start="p.s", instances=25), node("web", to=["db"], create="p.c", instances=2))
    (reason,) = case.why("web_2")
    assert (len(reason.blockers), reason.blocker_count) == (SHOWN_BLOCKERS, 25)
    assert reason.text.endswith("waits for cloudify.interfaces.lifecycle.start of 25 instances of db")


def test_a_skipped_instance_names_the_failure_however_far_away():
    case = Case(node("a", create="p.c"), node("b", to=["a"], create="p.c"), node("c", to=["b"], create="p.c"))
    case.put("create", "a_1", Status.FAILED, attempts=3, message="quota")
    case.put("create", "b_1", Status.SKIPPED)
    case.put("create", "c_1", Status.SKIPPED)
    (reason,) = case.why("c_1")
    assert (reason.kind, reason.blockers[0].instance) == ("lost", "a_1")
    assert "executions retry" in reason.mend


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.FAILED, "failed"),
        (Status.UNSURE, "unsure"),
        (Status.CANCELING, "canceling"),
        (Status.CANCELED, "canceled"),
    ],
)
def test_every_other_status_has_its_reason_and_its_mending(pair, status, kind):
    pair.put("create", "db_1", status, message="boom")
    (reason,) = pair.why("db_1")
    assert reason.kind == kind
    assert reason.mend[0].islower()
    assert not reason.mend.endswith(".")


def test_a_failure_says_how_often_it_was_retried(pair):
    pair.put("create", "db_1", Status.FAILED, attempts=3, message="quota")
    assert pair.why("db_1")[0].text == "cloudify.interfaces.lifecycle.create failed after 3 retries: quota"


def test_only_the_first_thing_in_the_way_of_an_instance_is_a_reason(pair):
    pair.put("create", "db_1", Status.FAILED)
    pair.put("start", "db_1", Status.SKIPPED)
    assert [reason.kind for reason in pair.why("db_1")] == ["failed"]


def test_what_runs_side_by_side_gives_a_reason_each():
    tie = relationship("db", source={"establish": "p.s"}, to={"establish": "p.t"})
    case = Case(node("db"), node("web", tie, create="p.c"))
    for position in range(len(case.graph)):
        case.status[position] = Status.COMPLETED
    for step in case.graph.steps:
        if step.phase.endswith("establish"):
            case.status[step.first] = Status.WAITING
    case.status[case.at("started", "web_1")] = Status.BLOCKED
    assert [reason.kind for reason in case.why("web_1")] == ["slot", "slot"]


def test_an_instance_that_is_done_waits_for_nothing(pair):
    pair.status[:] = Status.COMPLETED
    (reason,) = pair.why("db_1")
    assert (reason.kind, reason.text) == ("nothing", "db_1 waits for nothing: all its steps are done")


def test_an_instance_that_was_not_chosen_takes_no_part():
    case = Case(node("a", create="p.c"), node("b", create="p.c"), node_ids=["a"])
    assert case.why("b_1")[0].text == "b_1 takes no part in 'install'"


def test_relationship_operations_are_waited_for_by_the_instances_they_belong_to():
    tie = relationship("db", source={"establish": "p.s"})
    case = Case(node("db"), node("web", tie, create="p.c"), node("app", to=["web"], create="p.c"))
    for step in case.graph.steps:
        if step.phase.endswith("establish"):
            case.status[step.first] = Status.FAILED
            case.notes.append(NoteRow(step.first, message="refused"))
    case.status[case.at("started", "web_1")] = Status.SKIPPED
    position = case.put("create", "app_1", Status.SKIPPED)
    (reason,) = case.why("app_1")
    assert (reason.position, reason.blockers[0].instance, reason.blockers[0].message) == (position, "web_1", "refused")


def test_an_instance_without_calls_waits_under_its_own_name():
    case = Case(node("db", start="p.s"), node("web", to=["db"]))
    (reason,) = case.why("web_1")
    assert reason.text == "web_1 waits for cloudify.interfaces.lifecycle.start of db_1 (blocked)"


def test_what_was_released_but_not_yet_told_is_said_so():
    case = Case(node("db", start="p.s"), node("web", to=["db"], create="p.c"))
    case.status[:2] = Status.COMPLETED
    case.status[case.at("create", "web_1")] = Status.BLOCKED
    assert case.why("web_1")[0].text.endswith("waits for steps that the engine has not reported yet")


def test_one_cause_on_two_ways_is_one_cause():
    case = Case(
        node("a", start="p.s"), node("b", to=["a"]), node("c", to=["a"]), node("d", to=["b", "c"], create="p.c")
    )
    assert case.why("d_1")[0].blocker_count == 1
