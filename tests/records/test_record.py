"""Records: typed access, names and paths, what was changed, copies and protection."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from tests.records.made import records

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.attribute_paths import steps_of
from phaseline.records.conversions import AttributeTypeError, AttributeValueError
from phaseline.records.expression import Expression
from phaseline.records.record import ReadOnlyAttributeError, Record, Removed
from phaseline.records.values import ErrorValue, is_identical

MOMENT = datetime(2026, 11, 21, 10, tzinfo=UTC)


def saved(**attributes: object) -> Record:
    record = Record(attributes)
    record.forget_changes()
    return record


def test_names_do_not_depend_on_case_and_keep_their_spelling() -> None:
    node = Record({"Name": "n1"})
    node["NAME"] = "n2"
    assert (node["name"], list(node), len(node), "nAmE" in node) == ("n2", ["Name"], 1, True)


def test_what_is_missing_is_none_and_asking_for_it_by_index_is_an_error() -> None:
    node = Record({"Void": None})
    assert node.getAsString("Missing") is None
    assert node.get("Missing", 5) == 5
    assert not node.isDefined("Missing")
    assert not node.isDefined("Void")
    assert "Void" in node
    assert 3 not in node
    assert node["Void"] is None
    with pytest.raises(KeyError):
        node["Missing"]
    with pytest.raises(KeyError):
        del node["Missing"]


@pytest.mark.parametrize(
    ("method", "value", "wanted"),
    [
        ("getAsString", 12, "12"),
        ("getAsString", 1.5, "1.5"),
        ("getAsString", False, "false"),
        ("getAsString", MOMENT, "2026-11-21T10:00:00+00:00"),
        ("getAsInteger", "12", 12),
        ("getAsInteger", " -12 ", -12),
        ("getAsInteger", 3.0, 3),
        ("getAsInteger", 3, 3),
        ("getAsDouble", 3, 3.0),
        ("getAsDouble", "2.5", 2.5),
        ("getAsDouble", 2.5, 2.5),
        ("getAsBoolean", "True", True),
        ("getAsBoolean", 0, False),
        ("getAsBoolean", True, True),
        ("getAsDate", MOMENT, MOMENT),
        ("getAsDate", "2026-11-21T10:00:00", MOMENT),
        ("getAsList", [1, "a"], [1, "a"]),
        ("getAsRecord", {"a": 1}, Record({"a": 1})),
    ],
)
def test_values_are_converted_where_nothing_is_lost(method: str, value: object, wanted: object) -> None:
    found = getattr(Record({"A": value}), method)("a")
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize("method", ["String", "Integer", "Double", "Boolean", "Date", "List", "Record"])
def test_undefined_is_none_as_every_kind(method: str) -> None:
    assert getattr(Record({"A": Expression("undefined")}), f"getAs{method}")("A") is None


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("getAsString", [1]),
        ("getAsInteger", 1.5),
        ("getAsInteger", True),
        ("getAsInteger", "1.5"),
        ("getAsInteger", "9" * 19),
        ("getAsDouble", 2**60),
        ("getAsDouble", True),
        ("getAsDouble", "x"),
        ("getAsDouble", [1]),
        ("getAsBoolean", 2),
        ("getAsBoolean", "yes"),
        ("getAsDate", "soon"),
        ("getAsDate", 3),
        ("getAsList", "a"),
        ("getAsRecord", 1),
        ("getAsString", Expression("1 / 0")),
    ],
)
def test_what_would_be_lost_raises_with_the_name(method: str, value: object) -> None:
    with pytest.raises(AttributeTypeError) as caught:
        getattr(Record({"Size": value}), method)("Size")
    assert caught.value.name == "Size"
    assert "'Size'" in str(caught.value)


def test_an_error_tells_its_reason_when_it_is_asked_for_as_a_kind() -> None:
    with pytest.raises(AttributeTypeError, match="division by zero"):
        Record({"A": Expression("1 / 0")}).get_as_integer("A")


def test_setters_set_their_kind() -> None:
    node = Record()
    node.setString("S", "a")
    node.setInteger("I", 3)
    node.setDouble("D", 3)
    node.setBoolean("B", True)
    node.setDate("T", MOMENT)
    node.setDate("U", 0)
    node.setList("L", ["a", 1])
    node.setRecord("R", {"x": 1})
    node.setExpression("E", "I + 1")
    node.setString("N", None)
    assert node.toDict() == {
        "S": "a",
        "I": 3,
        "D": 3.0,
        "B": True,
        "T": MOMENT,
        "U": datetime.fromtimestamp(0, UTC),
        "L": ["a", 1],
        "R": {"x": 1},
        "E": 4,
    }
    assert node.getExpression("E") == "I + 1"
    assert node.getExpression("S") is None
    assert node.getAttributeNames() == ["S", "I", "D", "B", "T", "U", "L", "R", "E", "N"]


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("setString", 3),
        ("setInteger", "3"),
        ("setInteger", True),
        ("setDouble", "3"),
        ("setDouble", True),
        ("setBoolean", 1),
        ("setDate", "x"),
        ("setDate", True),
        ("setList", "abc"),
        ("setList", 3),
        ("setRecord", 3),
        ("set", object()),
        ("set", {1, 2}),
        ("set", [Expression("a")]),
    ],
)
def test_setters_refuse_other_kinds(method: str, value: object) -> None:
    with pytest.raises(AttributeTypeError, match="'A'"):
        getattr(Record(), method)("A", value)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, "x" * (1 << 20) + "x", "ä" * (1 << 19) + "x", [2**63]])
def test_values_beyond_the_bounds_are_refused(value: object) -> None:
    with pytest.raises(AttributeValueError):
        Record().set("A", value)


def test_values_at_the_bounds_are_kept() -> None:
    node = Record({"Least": -(2**63), "Most": 2**63 - 1, "Text": "ä" * (1 << 19)})
    assert len(node) == 3


def test_what_lies_too_deep_is_refused() -> None:
    for wrap in (lambda inner: {"in": inner}, lambda inner: [inner]):
        deep: object = 1
        for _ in range(150):
            deep = wrap(deep)
        with pytest.raises(AttributeValueError, match="100 levels"):
            Record().set("A", deep)
    chain = Record()
    for _ in range(100):
        outer = Record()
        outer.set("in", chain)
        chain = outer
    with pytest.raises(AttributeValueError, match="100 levels"):
        Record().set("in", chain)


def test_an_attribute_needs_a_name() -> None:
    with pytest.raises(AttributeValueError):
        Record().set("", 1)


def test_an_expression_that_cannot_be_read_is_refused_with_the_name() -> None:
    with pytest.raises(ProblemsError) as caught:
        Record().set_expression("Full", "a +")
    assert caught.value.problems[0].place.subject == "Full"


def test_a_dotted_name_makes_the_records_on_the_way() -> None:
    node = Record()
    node.set("PhaseMap.Allocate.Id", "i-1")
    node.set("PhaseMap.'Acme.Create'.Id", "i-2")
    node.set("PhaseMap.Acme.Create.State", "new")
    assert node.to_dict() == {"PhaseMap": {"Allocate": {"Id": "i-1"}, "Acme.Create": {"Id": "i-2", "State": "new"}}}
    assert node.get("PhaseMap.Acme.Create.Id") == "i-2"
    assert node.get("phasemap.'acme.create'.id") == "i-2"
    assert node.get("PhaseMap.Acme.Other") is None
    assert node.stored("Nothing.At.All") is None
    node.remove("PhaseMap.Acme.Create.Id")
    node.remove("PhaseMap.Acme.Create.Id")
    assert "PhaseMap.Acme.Create.Id" not in node
    del node["PhaseMap.Allocate"]
    assert node.get_as_record("PhaseMap") == Record({"Acme.Create": {"State": "new"}})


def test_a_name_with_a_dot_that_exists_is_one_name() -> None:
    node = Record({"a.b": 1})
    node.set("a.b", 2)
    assert node.folded == {"a.b": 2}


def test_no_way_leads_through_a_number() -> None:
    with pytest.raises(AttributeTypeError, match="'Size'"):
        Record({"Size": 1}).set("Size.Unit", "GB")


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("a.b", ["a", "b"]),
        ("'a.b'.c", ["a.b", "c"]),
        ("a.", ["a."]),
        (".a", [".a"]),
        ("it's", ["it's"]),
        ("'a\\'b'", ["a'b"]),
    ],
)
def test_a_path_is_its_steps(name: str, steps: list[str]) -> None:
    assert steps_of(name) == steps


def test_names_of_any_kind_are_in_the_dict() -> None:
    assert Record({"it's.x": 1, "a.b": Expression("c"), "c": 2}).to_dict() == {"it's.x": 1, "a.b": 2, "c": 2}


def test_only_what_was_written_is_a_change() -> None:
    node = saved(Name="n1", Cores=8, Disk={"Size": 1, "Kind": "ssd"}, Tags=[{"Key": "a"}], Old=1)
    assert node.changes() == {}
    node["cores"] = 8
    node["Disk.Size"] = 2
    node.remove("Old")
    node.remove("Never")
    node["New.Deep"] = True
    assert node.changes() == {
        ("Cores",): 8,
        ("Old",): Removed.REMOVED,
        ("New",): Record({"Deep": True}),
        ("Disk", "Size"): 2,
    }
    node.forget_changes()
    assert node.changes() == {}


def test_a_record_that_is_written_in_a_list_changes_the_list() -> None:
    node = saved(Tags=[{"Key": "a"}])
    (tag,) = node.get_as_list("Tags") or []
    assert isinstance(tag, Record)
    tag["Key"] = "b"
    assert list(node.changes()) == [("Tags",)]
    node["Tags"] = []
    node.forget_changes()
    tag["Key"] = "c"
    assert node.changes() == {}


def test_changes_of_one_copy_are_made_in_another_and_leave_the_rest() -> None:
    stored = saved(A=1, B=1, Map={"X.Y": {"Id": "old", "Keep": 1}}, Gone=1)
    mine = stored.copy()
    mine["B"] = 2
    mine["Map.X.Y.Id"] = "new"
    mine["It's"] = {"q\\": 1}
    mine.remove("Gone")
    stored["A"] = 5
    stored.apply(mine.changes())
    assert stored == Record({"A": 5, "B": 2, "Map": {"X.Y": {"Id": "new", "Keep": 1}}, "It's": {"q\\": 1}})


@given(records(), records())
def test_changes_made_in_a_copy_give_the_same_record(before: Record, after: Record) -> None:
    before.forget_changes()
    copy = before.copy()
    for name in list(copy):
        copy.remove("'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'")
    for name in after:
        copy.put(name, after.folded[name.lower()])
    before.apply(copy.changes())
    assert before == after


def test_a_record_lies_in_one_place_only() -> None:
    first, second = Record(), Record()
    inner = Record({"x": 1})
    first["in"] = inner
    second["in"] = inner
    inner["x"] = 2
    assert (first["in.x"], second["in.x"]) == (2, 1)
    first["self"] = first
    assert first["self.in.x"] == 2
    assert first.get("self.self") is None


def test_a_copy_is_independent_and_a_snapshot_cannot_be_written() -> None:
    node = saved(Disk={"Size": 1}, Tags=[{"Key": "a"}])
    node.now = 5.0
    copy, snapshot = node.copy(), node.snapshot()
    node["Disk.Size"] = 2
    assert (copy["Disk.Size"], snapshot["Disk.Size"], copy.now) == (1, 1, 5.0)
    assert copy.changes() == {}
    for name in ("Disk", "Disk.Size", "New"):
        with pytest.raises(ReadOnlyAttributeError):
            snapshot.set(name, 1)
    with pytest.raises(ReadOnlyAttributeError):
        snapshot.remove("Disk")
    (tag,) = snapshot.get_as_list("Tags") or []
    assert isinstance(tag, Record)
    with pytest.raises(ReadOnlyAttributeError):
        tag["Key"] = "b"


def test_p37_protected_attributes_are_for_the_engine() -> None:
    node = Record({"TargetState": "Started", "Name": "n1"}, type_name="Cloud.Node")
    node.protect(["targetState", "AdType"])
    for name in ("TargetState", "TARGETSTATE", "AdType"):
        with pytest.raises(ReadOnlyAttributeError, match="only the engine"):
            node.setString(name, "x")
    node["Name"] = "n2"
    assert node.get("TargetState") == "Started"


def test_the_type_is_an_attribute() -> None:
    node = Record({"Name": "n1"}, type_name="Cloud.Node")
    assert (node.type_name, node["AdType"]) == ("Cloud.Node", "Cloud.Node")
    assert Record({"AdType": 3}).type_name == ""


def test_records_are_equal_by_names_and_identical_values() -> None:
    assert Record({"A": 1, "b": 2}) == Record({"B": 2, "a": 1})
    assert Record({"A": 1}) != Record({"A": 1.0})
    assert Record({"A": 1}) != Record({"A": True})
    assert Record({"A": Expression("x")}) == Record({"A": Expression("x")})
    assert Record({"A": None}) != Record()
    assert Record() != 1
    assert bool(Record())
    assert repr(Record({"A": {"b": 1}})) == "Record({'A': Record({'b': 1})})"
    with pytest.raises(TypeError):
        hash(Record())


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        (math.nan, math.nan, True),
        (0.0, 1.0, False),
        (MOMENT, MOMENT.astimezone(timezone(timedelta(hours=1))), False),
        ((1, "a"), (1, "a"), True),
        ((1,), (1, 2), False),
        (None, None, True),
        (ErrorValue("a"), ErrorValue("b"), True),
    ],
)
def test_identity_is_of_kind_and_value(left: object, right: object, wanted: bool) -> None:
    assert is_identical(left, right) is wanted


def test_a_time_without_a_zone_is_utc() -> None:
    assert Record({"T": datetime(2026, 11, 21, 10)})["T"] == MOMENT  # noqa: DTZ001 - the case in question


def test_expressions_are_evaluated_where_they_are_read() -> None:
    node = Record({"Cluster": "c", "Full": Expression('strcat(Cluster, "-", 1)'), "in": {"Up": Expression("Cluster")}})
    assert (node["Full"], node["in.Up"]) == ("c-1", "c")
    assert node.to_dict()["in"] == {"Up": "c"}


def test_a_list_that_holds_a_long_one_again_and_again_is_refused_for_all_its_values() -> None:
    with pytest.raises(AttributeValueError, match="holds more than 1,000,000 values"):
        Record({"Grid": [[0] * 1_001] * 1_001})
