"""What cannot be taken back is asked for on a terminal, and never elsewhere; a plan tells by its exit code whether it is empty."""

import pytest
from tests.cli.terminal import BLUEPRINT, Terminal
from tests.ptys import CTRL_C, on_terminal

PLAIN = BLUEPRINT.replace(", hidden: true", "")


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    """A deployment that is installed, and one that was never."""
    assert terminal.run("install", terminal.write(PLAIN), "-d", "shop").exit_code == 0
    assert terminal.run("deployments", "create", terminal.write(PLAIN), "-d", "new").exit_code == 0
    assert terminal.run("uninstall", "-d", "new").exit_code == 0
    assert terminal.run("snapshots", "create", "monday", "-d", "shop").exit_code == 0
    return terminal


QUESTIONS = {
    "uninstall -d shop": "Uninstall 'shop': stop and delete 3 instances?",
    "deployments update shop blueprint.yaml -i word=other": "Update 'shop' like this?",
    "restore -d shop monday": "Restore 'shop' to 'monday' like this?",
    "abandon -d shop": "Abandon 'shop' and leave 3 instances untouched?",
    "deployments delete new": "Delete the deployment 'new'?",
}


def statuses(terminal: Terminal) -> dict[str, str]:
    return {one["name"]: one["latest_execution"] for one in terminal.ask("deployments", "list")[1]["deployments"]}


@pytest.mark.parametrize("words", QUESTIONS)
@pytest.mark.parametrize("answer", ["n\n", "\n", "\x04", CTRL_C])
def test_on_a_terminal_it_is_asked_first_and_nothing_is_done_without_a_yes(
    shop: Terminal, words: str, answer: str
) -> None:
    before = statuses(shop)
    with on_terminal(*words.split(), folder=shop.folder, environment=shop.environment) as command:
        command.until(QUESTIONS[words])
        if answer != CTRL_C:
            command.type(answer)
        assert (command.interrupt() if answer == CTRL_C else command.end())[0] == 1
    assert statuses(shop) == before


@pytest.mark.parametrize("words", QUESTIONS)
def test_a_yes_does_it(shop: Terminal, words: str) -> None:
    before = statuses(shop)
    with on_terminal(*words.split(), folder=shop.folder, environment=shop.environment) as command:
        command.until(QUESTIONS[words])
        command.type("y\n")
        assert command.end()[0] == 0
    assert statuses(shop) != before


@pytest.mark.parametrize("words", QUESTIONS)
def test_yes_and_json_are_not_asked_on_a_terminal_and_nobody_is_asked_elsewhere(shop: Terminal, words: str) -> None:
    assert "?" not in shop.run(*words.split()[:1], "--help").stdout.partition("Example")[2]
    with on_terminal(*words.split(), "--yes", folder=shop.folder, environment=shop.environment) as command:
        code, seen = command.end()
    assert code == 0
    assert QUESTIONS[words] not in seen


@pytest.mark.parametrize("words", QUESTIONS)
def test_in_a_pipe_nothing_is_asked(shop: Terminal, words: str) -> None:
    result = shop.run(*words.split())
    assert result.exit_code == 0
    assert QUESTIONS[words] not in result.output


def test_an_update_shows_its_plan_before_it_asks(shop: Terminal) -> None:
    words = ("deployments", "update", "shop", "blueprint.yaml", "-i", "word=other")
    with on_terminal(*words, folder=shop.folder, environment=shop.environment) as command:
        seen = command.until("Update 'shop' like this?")
        command.type("n\n")
        command.end()
    assert "update of shop to blueprint.yaml" in seen


def test_who_is_not_there_is_told_before_anything_is_asked(shop: Terminal) -> None:
    with on_terminal("uninstall", "-d", "sho", folder=shop.folder, environment=shop.environment) as command:
        code, seen = command.end()
    assert code == 1
    assert "did you mean 'shop'?" in seen


def typed(terminal: Terminal) -> str:
    """A blueprint in which the only nodes have another type."""
    new_type = "  Other: {derived_from: Thing}\nnode_templates:"
    text = PLAIN.replace("node_templates:", new_type).replace("{type: Thing}", "{type: Other}")
    return str(terminal.write(text, "typed.yaml"))


def test_wd18_the_question_before_an_update_says_what_is_uninstalled_and_installed_anew(shop: Terminal) -> None:
    words = ("deployments", "update", "shop", "blueprint.yaml", "-i", "word=other")
    question = "3 instances of base, top will be reinstalled. Update 'shop' like this?"
    with on_terminal(*words, folder=shop.folder, environment=shop.environment) as command:
        seen = command.until(question)
        command.type("n\n")
        assert command.end()[0] == 1
    assert "nodes: 2 to reinstall" in seen
    assert "reinstalled because it has none of the operations update" in seen


def test_wd18_what_needs_allow_replace_is_refused_before_the_question(shop: Terminal) -> None:
    words = ("deployments", "update", "shop", typed(shop))
    before = statuses(shop)
    with on_terminal(*words, folder=shop.folder, environment=shop.environment) as command:
        code, seen = command.end()
    assert code == 1
    assert "PL-P041" in seen
    assert "--allow-replace" in seen
    assert "like this?" not in seen
    assert statuses(shop) == before
    with on_terminal(*words, "--allow-replace", folder=shop.folder, environment=shop.environment) as command:
        seen = command.until("1 instance of base will be reinstalled. Update 'shop' like this?")
        command.type("n\n")
        command.end()
    assert "replaced, only with --allow-replace, because its type changes from Thing to Other" in seen


def test_wd18_a_plan_as_json_says_of_each_node_whether_it_is_replaced_or_reinstalled(shop: Terminal) -> None:
    code, found = shop.ask("plan", "update", "-d", "shop", typed(shop), "-i", "word=other")
    assert code == 0
    assert {one["name"]: (one["sign"], one["action"], one["again"]) for one in found["nodes"]} == {
        "base": ("-/+", "replace", 1),
        "top": ("-/+", "reinstall", 2),
    }
    assert list(found["replaced"]) == ["base"]
    assert list(found["reinstalled"]) == ["top"]
    assert shop.ask("deployments", "update", "shop", typed(shop), "--yes")[0] == 1
    code, done = shop.ask("deployments", "update", "shop", "blueprint.yaml", "-i", "word=other")
    assert (code, done["status"]) == (0, "completed"), "source document 3 reinstalls without --allow-replace (ADR 0031)"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("plan install blueprint.yaml", 3),
        ("plan uninstall -d shop", 3),
        ("plan uninstall -d new", 0),
        ("plan update -d shop blueprint.yaml", 0),
        ("plan update -d shop blueprint.yaml -i word=other", 3),
        ("plan restore -d shop monday", 0),
        ("plan execute_operation -d shop -p operation=cloudify.interfaces.lifecycle.create", 3),
        ("plan uninstall -d nobody", 1),
        ("plan uninstall", 2),
    ],
)
def test_a_plan_tells_by_its_exit_code_whether_something_would_be_done(shop: Terminal, words: str, code: int) -> None:
    assert shop.run(*words.split(), "--exit-code").exit_code == code
    assert shop.ask(*words.split(), "--exit-code")[0] == code
    assert shop.run(*words.split()).exit_code == (0 if code == 3 else code), "without the option as before"
