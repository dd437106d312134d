"""``deployments graph``, ``blueprints graph`` and plans as diagrams; read by Graphviz where it is installed."""

import shutil
import subprocess
from xml.etree import ElementTree as ET

import pytest
from tests.cli.terminal import BLUEPRINT, Terminal

HOSTILE = BLUEPRINT.replace("  base:", "  'b\"a<s>e \\N':").replace("target: base", "target: 'b\"a<s>e \\N'")
HOSTILE = HOSTILE.replace("[base, said]", "['b\"a<s>e \\N', said]").replace(", hidden: true", "")


def read_by_graphviz(text: str) -> None:
    """Nothing if it is not installed here; our own tests of the form run everywhere."""
    dot = shutil.which("dot")
    if dot is not None:
        subprocess.run([dot, "-Tcanon"], input=text, text=True, check=True, capture_output=True, timeout=60)


@pytest.fixture
def shop(terminal: Terminal) -> Terminal:
    assert terminal.run("install", terminal.write(HOSTILE), "-d", "shop").exit_code == 0
    return terminal


def test_a_deployment_is_drawn_with_its_instances_by_state(shop: Terminal) -> None:
    shown = shop.run("deployments", "graph", "shop").stdout.splitlines()
    assert shown == ["shop", "", 'b"a<s>e \\N  Thing  1 started', "top  Thing  2 started", '    depends_on b"a<s>e \\N']
    code, answer = shop.ask("deployments", "graph", "shop")
    assert code == 0
    assert [one["name"] for one in answer["nodes"]] == ['b"a<s>e \\N', "top"]
    assert answer["edges"] == [{"source": "top", "target": 'b"a<s>e \\N', "type": "depends_on", "round": 0}]
    assert shop.ask("deployments", "graph", "shpo")[1]["problems"][0]["code"] == "PL-C010"


@pytest.mark.parametrize("words", ["deployments graph shop", "blueprints graph blueprint.yaml", "plan heal -d shop"])
def test_each_is_written_for_mermaid_and_graphviz(shop: Terminal, words: str) -> None:
    dot = shop.run(*words.split(), "--format", "dot").stdout
    assert r"b\"a<s>e \\N" in dot
    read_by_graphviz(dot)
    mermaid = shop.run(*words.split(), "--format", "mermaid").stdout
    assert "flowchart TD" in mermaid
    assert "b#34;a#60;s#62;e #92;N" in mermaid


def test_a_blueprint_is_a_picture(shop: Terminal) -> None:
    picture = ET.fromstring(shop.run("blueprints", "graph", "blueprint.yaml", "--format", "svg").stdout)
    assert 'b"a<s>e \\N' in [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert shop.run("blueprints", "graph", "nothing.yaml").exit_code == 1


@pytest.mark.parametrize(
    "words",
    [
        "plan install blueprint.yaml",
        "plan uninstall -d shop",
        "plan update -d shop blueprint.yaml -i word=other",
        "plan update -d shop blueprint.yaml",
        "plan execute_operation -d shop -p operation=cloudify.interfaces.lifecycle.create",
    ],
)
def test_every_plan_is_a_diagram_and_its_document_stays_the_same(shop: Terminal, words: str) -> None:
    read_by_graphviz(shop.run(*words.split(), "--format", "dot").stdout)
    assert shop.ask(*words.split(), "--format", "dot") == shop.ask(*words.split())
    assert shop.run(*words.split(), "--format", "text").stdout == shop.run(*words.split()).stdout


def test_rounds_of_a_plan_stand_one_by_one(shop: Terminal) -> None:
    dot = shop.run("plan", "reinstall", "-d", "shop", "--format", "dot").stdout
    assert 'label="round 1 of 2: uninstall"' in dot
    assert 'label="round 2 of 2: install"' in dot
