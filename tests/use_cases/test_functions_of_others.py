"""B40: functions that installed distributions announce, of the ancestor's group and of ours."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from phaseline.cli.command_tree import root
from phaseline.dsl.functions.third_party import ANNOUNCED

CODE = """
from dsl_parser import exceptions, functions

class Wrap(functions.Function):
    def parse_args(self, args):
        if not isinstance(args, list) or len(args) != 2:
            raise ValueError('it takes [text, input]')
        self.text, self.input = args

    def validate(self, plan):
        if plan.version.definitions_version < (1, 3) or len(plan.node_templates) != 1:
            raise ValueError('it is too early')
        if self.input not in plan.inputs:
            raise exceptions.UnknownInputError('there is no input %s' % self.input)

    def evaluate(self, handler):
        if functions.parse(self.text) != self.text:
            return self.raw
        return '<%s %s>' % (self.text, handler.get_input(self.input))

@functions.register(name='acme_serials', func_eval_type=functions.RUNTIME_FUNC)
class Serials(functions.Function):
    def parse_args(self, args):
        self.node = args

    def validate(self, plan):
        pass

    def evaluate(self, handler):
        assert handler.runtime_only_evaluation and handler.get_node(self.node)['name'] == self.node
        return [item['runtime_properties']['serial'] for item in handler.get_node_instances(self.node)]

class Older(functions.Function):
    def parse_args(self, args):
        pass

    def validate(self, plan):
        pass

    def evaluate(self, plan):
        return self.raw

    def evaluate_runtime(self, storage):
        return {'concat': [storage.get_sys('deployment', 'id'), ' of old']}

def shout(argument):
    return argument.upper() + '!'
"""
POINTS = """
[cloudify.tosca.ext.functions]
acme_wrap = acme_functions:Wrap
acme_serials = acme_functions:Serials
acme_older = acme_functions:Older
acme_broken = acme_nowhere:Nothing
get_input = acme_functions:Older
acme_shout = acme_functions:Older
[phaseline.functions]
acme_shout = acme_functions:shout
"""
PLUGIN = """
from cloudify import ctx

def create(title, loud, **_):
    ctx.instance.runtime_properties.update(title=title, serial=loud)
"""
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs: {name: {default: web}}
plugins: {acme: {executor: central_deployment_agent, install: false}}
node_templates:
  web:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: acme.acme_create.create
          inputs: {title: {acme_wrap: [hello, name]}, loud: {acme_shout: {concat: [no-, {get_input: name}]}}}
outputs:
  title: {value: {get_attribute: [web, title]}}
  wrapped: {value: {acme_wrap: [{get_attribute: [web, serial]}, name]}}
  serials: {value: {acme_serials: web}}
  loud: {value: {acme_shout: {get_attribute: [web, serial]}}}
  old: {value: {acme_older: anything}}
  wrong: {value: {acme_shout: {get_attributes_list: [web, serial]}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A blueprint's folder; what is installed is looked for anew, and forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHASELINE_STORE_URL", f"sqlite:///{tmp_path}/store.db")
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/acme_create.py").write_text(PLUGIN)
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    ANNOUNCED.look_in(None)
    yield tmp_path
    ANNOUNCED.look_in(None)


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution, as pip leaves it."""
    info = folder / "site/acme_functions-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "site/acme_functions.py").write_text(CODE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-functions\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(folder / "site"))


def phaseline(*words: str, code: int = 0) -> str:
    """What a command says."""
    done = CliRunner().invoke(root, list(words))
    assert done.exit_code == code, done.output
    return done.output


def test_b40_functions_of_others_are_checked_and_evaluated_and_their_end_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(folder, monkeypatch)
    phaseline("install", "blueprint.yaml", "-d", "shop")
    said = phaseline("deployments", "outputs", "shop").splitlines()
    assert said[:5] == [
        "title: <hello web>",
        "wrapped: <NO-WEB! web>",
        'serials: ["NO-WEB!"]',
        "loud: NO-WEB!!",
        "old: shop of old",
    ]
    assert said[5] == "wrong: <ERROR: 'acme_shout': 'list' object has no attribute 'upper'>"
    ANNOUNCED.look_in(None)  # as a process that begins after it was removed
    (folder / "site/acme_functions-1.0.dist-info/entry_points.txt").unlink()
    assert "loud: <ERROR: the function 'acme_shout' is not installed any longer>" in phaseline(
        "deployments", "outputs", "shop"
    )


@pytest.mark.parametrize(
    ("written", "kind", "said"),
    [
        ("{acme_wrap: hello}", "ValueError", "it takes [text, input]"),
        ("{acme_wrap: [hello, nam]}", "UnknownInputError", "there is no input nam"),
        ("{acme_shout: [5]}", "AttributeError", "'list' object has no attribute 'upper'"),
        ("{acme_broken: 5}", "ModuleNotFoundError", "No module named 'acme_nowhere'"),
    ],
)
def test_b40_what_is_wrong_with_a_function_of_others_is_a_problem_with_its_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch, written: str, kind: str, said: str
) -> None:
    installed(folder, monkeypatch)
    (folder / "blueprint.yaml").write_text(BLUEPRINT.replace("{acme_serials: web}", written))
    found = phaseline("plan", "install", "blueprint.yaml", "--json", code=1)
    for part in ('"PL-B07', f'"{kind}"', said, '"outputs.serials.value"'):
        assert part in found
    assert "Traceback" not in found


def test_b40_functions_of_others_are_listed_among_the_plugins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(folder, monkeypatch)
    (folder / "site/acme_functions.py").write_text("raise RuntimeError('nobody asked')")
    found = json.loads(phaseline("plugins", "list", "--json"))
    told = {each["name"]: each for each in found if each["kind"] == "function"}
    assert {"acme_wrap", "acme_shout", "acme_broken"} <= told.keys()
    assert (told["acme_shout"]["package"], told["acme_shout"]["version"]) == ("acme-functions", "1.0")
    assert told["acme_shout"]["function"] == "acme_functions:shout"
    assert str(told["acme_wrap"]["where"]).endswith("acme_functions.py")
    assert (told["acme_wrap"]["status"], told["acme_broken"]["status"]) == ("good", "refused")
    shown = phaseline("plugins", "show", "acme_broken")
    assert "there is no module for the function 'acme_broken': acme_nowhere:Nothing" in shown


def test_b40_our_own_functions_are_ours_and_nothing_is_imported_that_nobody_uses(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(folder, monkeypatch)
    (folder / "site/acme_functions.py").write_text("raise RuntimeError('nobody asked')")
    (folder / "blueprint.yaml").write_text(
        "tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml]\ninputs: {a: {default: {b: c}}}\n"
        "node_templates: {web: {type: cloudify.nodes.Root}}\noutputs: {a: {value: {x: {get_input: a}}}}\n"
    )
    assert "is valid" in phaseline("blueprints", "validate", "blueprint.yaml")
