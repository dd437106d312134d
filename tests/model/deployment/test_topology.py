"""What lies in which instance of a scaling group."""

from phaseline.testing.builders import blueprint, group, node, topology


def test_a_node_outside_of_a_group_lies_in_no_instance_of_it() -> None:
    made = topology(blueprint(node("web", instances=2), node("db"), group("pair", "web", instances=2)))
    assert made.within(made.node_number["db"], "pair") == {}
    inside = made.within(made.node_number["web"], "pair")
    assert [[made.ids[number] for number in members] for members in inside.values()] == [
        ["web_1", "web_2"],
        ["web_3", "web_4"],
    ]
