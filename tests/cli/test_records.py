"""``records format`` and ``records eval``: files of every form, answers as text and as JSON, problems all at once."""

import json

import pytest
from tests.cli.terminal import Terminal

NODES = """\
# two nodes
AdType = "Cloud.Node"
Name = "n1"
Cores=8
Full := strcat(Name, ".local")

Name = "n2"
"""


@pytest.fixture
def desk(terminal: Terminal) -> Terminal:
    (terminal.folder / "nodes.rec").write_text(NODES)
    (terminal.folder / "nodes.json").write_text('[{"Name": "j1", "Full": {"$expr": "Name"}}]')
    (terminal.folder / "one.json").write_text('{"Name": "j2"}')
    (terminal.folder / "create.cfg").write_text("PhaseName = Create\nConstraint := Cores > 2\n")
    return terminal


def test_files_of_every_form_are_printed_in_the_canonical_text(desk: Terminal) -> None:
    result = desk.run("records", "format", "nodes.rec", "nodes.json", "create.cfg")
    assert result.exit_code == 0
    assert result.stdout == (
        'AdType = "Cloud.Node"\nName = "n1"\nCores = 8\nFull := strcat(Name, ".local")\n\nName = "n2"\n\n'
        'Name = "j1"\nFull := Name\n\nPhaseName = "Create"\nConstraint := Cores > 2\n'
    )
    (desk.folder / "again.rec").write_text(result.stdout)
    assert desk.run("records", "format", "again.rec").stdout == result.stdout


def test_attributes_can_be_sorted(desk: Terminal) -> None:
    lines = desk.run("records", "format", "--sort", "nodes.rec").stdout.splitlines()
    assert [line.split()[0] for line in lines if line] == ["AdType", "Cores", "Full", "Name", "Name"]


def test_records_are_printed_as_json(desk: Terminal) -> None:
    code, found = desk.ask("records", "format", "nodes.rec", "one.json")
    assert code == 0
    assert [one["file"] for one in found] == ["nodes.rec", "one.json"]
    assert found[0]["records"][0]["Full"] == {"$expr": 'strcat(Name, ".local")'}
    assert found[1]["records"] == [{"Name": "j2"}]
    assert desk.run("--quiet", "records", "format", "one.json").stdout == 'Name = "j2"\n'


def test_everything_that_is_wrong_with_all_files_is_told(desk: Terminal) -> None:
    (desk.folder / "bad.rec").write_text("A = foo\nB := 1 +\n")
    (desk.folder / "bad.json").write_text("{")
    (desk.folder / "deep.json").write_text("[" * 100_000)
    (desk.folder / "latin.rec").write_bytes(b'A = "\xe4"')
    code, found = desk.ask(
        "records", "format", "bad.rec", "missing.rec", "bad.json", "latin.rec", "deep.json", "nodes.rec"
    )
    assert code == 1
    assert [(problem["code"], problem["file"], problem["line"]) for problem in found["problems"]] == [
        ("PL-R003", "bad.rec", 1),
        ("PL-R005", "bad.rec", 2),
        ("PL-R013", "missing.rec", 0),
        ("PL-R013", "bad.json", 0),
        ("PL-R013", "latin.rec", 0),
        ("PL-R013", "deep.json", 0),
    ]


def test_a_file_that_is_too_large_is_not_read(desk: Terminal) -> None:
    with (desk.folder / "large.rec").open("wb") as file:
        file.truncate((64 << 20) + 1)
    code, found = desk.ask("records", "format", "large.rec")
    assert (code, found["problems"][0]["code"]) == (1, "PL-R013")


def test_an_expression_is_asked_of_attributes(desk: Terminal) -> None:
    words = ("-a", "Cores=8", "-a", "Tags=a, b", "-a", "Half:=Cores / 2")
    assert desk.run("records", "eval", "strcat(Tags[1], Half)", *words).stdout == '"b4"\n'
    code, found = desk.ask("records", "eval", "Tags", *words)
    assert (code, found) == (0, [{"name": "", "kind": "list", "value": ["a", "b"], "text": '{"a", "b"}', "reason": ""}])


def test_an_expression_is_asked_of_every_record_of_files(desk: Terminal) -> None:
    words = ("--record", "nodes.rec", "--record", "one.json", "-a", "Region=east")
    assert desk.run("records", "eval", 'strcat(Full, "-", Region)', *words).stdout == (
        'n1: "n1.local-east"\nn2: undefined\nj2: undefined\n'
    )


def test_an_error_is_told_with_its_reason_and_exit_code_1(desk: Terminal) -> None:
    result = desk.run("records", "eval", "1 / 0")
    assert (result.exit_code, result.stdout) == (1, "error: division by zero\n")
    code, found = desk.ask("records", "eval", "1 / 0")
    assert (code, found[0]["kind"], found[0]["value"], found[0]["reason"]) == (1, "error", None, "division by zero")


def test_the_clock_can_be_asked(desk: Terminal) -> None:
    assert desk.run("records", "eval", "time() > 1700000000").stdout == "true\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [(("strcta(1)",), "PL-R006"), (("A", "-a", "A:=1 +"), "PL-R005"), (("A", "-a", "A=1", "-a", "a=2"), "PL-R002")],
)
def test_what_cannot_be_read_is_a_problem_with_the_line(desk: Terminal, words: tuple[str, ...], code: str) -> None:
    result = desk.run("records", "eval", *words)
    assert result.exit_code == 1
    assert code in result.stderr
    assert "^" in result.stderr
    assert json.loads(desk.run("records", "eval", *words, "--json").stdout)["problems"][0]["code"] == code


def test_an_attribute_needs_an_equals_sign(desk: Terminal) -> None:
    assert desk.run("records", "eval", "A", "-a", "A").exit_code == 2
