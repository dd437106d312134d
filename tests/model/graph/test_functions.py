"""Numbers of functions: equal ones are one function of the same code, whatever the deployment and the side."""

import numpy as np

from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.graph.functions import NOBODYS, Functions
from phaseline.model.graph.graph import SubjectKind
from phaseline.testing.builders import CONNECTED_TO, blueprint, full_name, node, operation, relationship, topology

HERE, ELSEWHERE = CodeLocation("/blueprints/one"), CodeLocation("/blueprints/two")
CREATE, ESTABLISH = full_name("create"), "cloudify.interfaces.relationship_lifecycle.establish"
INSTANCE, SOURCE, TARGET = SubjectKind.INSTANCE, SubjectKind.SOURCE, SubjectKind.TARGET


def built(**nodes: str):
    return topology(blueprint(*[node(name, create=function) for name, function in nodes.items()]))


def test_a_function_has_one_number_in_all_deployments_of_the_same_code() -> None:
    one, other = Functions(built(a="p.create"), HERE), Functions(built(x="q.create", b="p.create"), HERE)
    (number,) = one.numbers(CREATE, INSTANCE, np.array([0])).tolist()
    assert number in other.numbers(CREATE, INSTANCE, np.array([0, 1])).tolist()
    assert other.number(CREATE, INSTANCE, 0) != other.number(CREATE, INSTANCE, 1)
    assert Functions(built(a="p.create"), ELSEWHERE).number(CREATE, INSTANCE, 0) != number


def test_many_have_the_numbers_that_each_has() -> None:
    functions = Functions(built(a="p.create", b="q.create", c="p.create"), HERE)
    subjects = np.array([2, 0, 1, 0])
    each = [functions.number(CREATE, INSTANCE, one) for one in subjects.tolist()]
    assert functions.numbers(CREATE, INSTANCE, subjects).tolist() == each
    assert len(set(each)) == 2


def test_scripts_and_what_is_not_mapped_have_none() -> None:
    script = operation(CREATE, "scripts/create.sh")
    functions = Functions(topology(blueprint(node("a", create=script), node("b"))), HERE)
    assert functions.numbers(CREATE, INSTANCE, np.array([0, 1])).tolist() == [NOBODYS] * 2
    assert functions.number(CREATE, SubjectKind.DEPLOYMENT, 0) == NOBODYS
    assert functions.numbers(CREATE, SubjectKind.DEPLOYMENT, np.array([0, 0])).tolist() == [NOBODYS] * 2


def test_both_sides_of_a_relationship_have_functions_of_their_own() -> None:
    tie = relationship("db", CONNECTED_TO, source={"establish": "p.here"}, to={"establish": "p.there"})
    functions = Functions(topology(blueprint(node("db"), node("web", tie, instances=2))), HERE)
    rows = np.array([0, 1])
    (here,), (there,) = ({*functions.numbers(ESTABLISH, side, rows).tolist()} for side in (SOURCE, TARGET))
    assert NOBODYS not in {here, there}
    assert here != there
    assert functions.number(ESTABLISH, TARGET, 1) == there
