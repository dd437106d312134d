"""Classes that were written for Heat run unchanged, where Heat is not installed (source 2's home; H26, H37-H40)."""

from pathlib import Path

import pytest

import phaseline
from phaseline.app.settings import load_settings
from phaseline.hooks.discovery import HEAT_GROUP

OSLO = """
class _Conf:
    def __init__(self): self._known = {}
    def register_opt(self, opt): self._known[opt.name] = opt.default
    def import_opt(self, name, module):
        __import__(module)
        if name not in self._known: raise KeyError(name)
    def __getattr__(self, name): return self._known[name]
class BoolOpt:
    def __init__(self, name, default=None): self.name, self.default = name, default
CONF = _Conf()
"""
"""The part of oslo.config that a plug-in uses, which it brings along itself."""
OSLO_CONFIG = """
import configparser

class Opt:
    def __init__(self, name, default=None): self.name, self.default = name, default
StrOpt = Opt

class ConfigOpts:
    '''As the library: asked without arguments it parses those of the program; options are read from files when asked.'''
    def __init__(self): self._known, self._file = {}, configparser.ConfigParser()
    def __call__(self, args=None, project=None, default_config_files=None):
        if args is None: raise SystemExit(2)  # the words of the program, which are not for it
        self._file.read(default_config_files or [])
    def register_opts(self, opts, group='DEFAULT'):
        for opt in opts: self._known[group, opt.name] = opt.default
    def register_opt(self, opt): self.register_opts([opt])
    def value(self, group, name): return self._file.get(group, name, fallback=self._known[group, name])
CONF = ConfigOpts()
"""
"""The same with what a plug-in needs that registers options of its own."""
OWN_OPTIONS = """
from heat.common.i18n import _, _LI
from heat.engine import lifecycle_plugin
from oslo_config import cfg

cfg.CONF.register_opts([cfg.StrOpt('url', 'none'), cfg.StrOpt('retries', '3')], group='valet')
cfg.CONF(project='heat')

class Own(lifecycle_plugin.LifecyclePlugin):
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        found = cfg.CONF.value('valet', 'url'), cfg.CONF.value('valet', 'retries')
        uuids = [one.uuid for one in stack.preview_resources()]
        raise ValueError(_('%s after %s: %s') % (*found, all(uuids)))
"""
PLACEMENT = """
from heat.engine import lifecycle_plugin
from oslo_config import cfg
from pathlib import Path

cfg.CONF.import_opt('stack_scheduler_hints', 'heat.common.config')

class Placement(lifecycle_plugin.LifecyclePlugin):
    '''As the placement plug-ins in the field: plans on CREATE, gives back on DELETE, plans anew on UPDATE.'''

    def say(self, *words):
        with Path(r'LOG').open('a') as file:
            file.write(' '.join(map(str, words)) + '\\n')

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        self.say('pre', action, stack.status, bool(stack), cfg.CONF.stack_scheduler_hints)
        if action == 'CREATE':
            if stack.status != 'IN_PROGRESS':
                return
            found = [one.name for one in stack.preview_resources()]
            self.say('plan of', stack.name, *sorted(found))
        elif action == 'DELETE':
            if stack.status != 'IN_PROGRESS':
                return
            self.say('give back', stack.id, cnxt.auth_token)
        elif action == 'UPDATE' and current_stack and current_stack.status == 'IN_PROGRESS':
            before = {name: one.parsed_template()['Properties'] for name, one in stack.resources.items()}
            after = {name: one.parsed_template()['Properties'] for name, one in current_stack.resources.iteritems()}
            self.say('update of', sorted(before), 'to', sorted(after))
            for one in current_stack.resources.values():
                self.say(one.type(), one.uuid, one.resource_id)

    def do_post_op(self, c, s, cs=None, a=None, failed=False):
        self.say('post', a, s.status, failed)

    def get_ordinal(self):
        return 100

class Short(lifecycle_plugin.LifecyclePlugin):
    def do_post_op(self, c, s, cs, a):
        with Path(r'LOG').open('a') as file:
            file.write(f'short {a}\\n')
"""
BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_types:
  server: {derived_from: cloudify.nodes.Root, properties: {flavor: {default: small}}}
node_templates:
  vm: {type: server}
MORE
"""


class Installed:
    """A distribution that announces classes for Heat, and a blueprint."""

    def __init__(self, site, folder: Path) -> None:
        self.log, self.folder = folder / "calls.txt", folder
        (site.folder / "oslo_config").mkdir()
        (site.folder / "oslo_config" / "__init__.py").write_text("")
        (site.folder / "oslo_config" / "cfg.py").write_text(OSLO)
        site.module("heat_placement", PLACEMENT.replace("LOG", str(self.log)))
        self.blueprint()

    def blueprint(self, more: str = "") -> str:
        """Write it; its file."""
        (self.folder / "blueprint.yaml").write_text(BLUEPRINT.replace("MORE", more))
        return str(self.folder / "blueprint.yaml")

    def open(self, compat: str = "yes") -> phaseline.Phaseline:
        """The use cases."""
        return phaseline.open("memory:", settings={"hooks.heat_compat": compat, "plugins.path": ""})

    def calls(self) -> list[str]:
        """What was said."""
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def installed(site, tmp_path: Path) -> Installed:
    return Installed(site, tmp_path)


def test_h37_h39_a_placement_plug_in_plans_gives_back_and_plans_anew(site, installed: Installed) -> None:
    site.announce("placement", HEAT_GROUP, **{"valet.lifecycle_plugin": "heat_placement:Placement"})
    with installed.open() as shop:
        assert shop.executions.install(installed.blueprint(), "shop").status == "completed"
        assert installed.calls() == [
            "pre CREATE IN_PROGRESS True False",
            f"plan of shop {shop.instances.list(deployment='shop').items[0].id}",
            "post CREATE COMPLETE False",
        ]
        installed.log.unlink()
        assert shop.deployments.update("shop", installed.blueprint("  disk: {type: server}")).status == "completed"
        told = installed.calls()
        assert told[0] == "pre UPDATE COMPLETE True False"
        assert told[1].startswith("update of ['vm_")
        assert "disk_" in told[1].partition(" to ")[2]
        assert "disk_" not in told[1].partition(" to ")[0]
        assert {line.split()[0] for line in told[2:4]} == {"server"}
        assert told[-1] == "post UPDATE COMPLETE False"
        installed.log.unlink()
        assert shop.executions.uninstall("shop").status == "completed"
        assert [line.split()[:2] for line in installed.calls()] == [
            ["pre", "DELETE"],
            ["give", "back"],
            ["post", "DELETE"],
        ]
        assert installed.calls()[1].endswith(" None")


def test_h37_without_the_setting_they_are_not_called(site, installed: Installed) -> None:
    site.announce("placement", HEAT_GROUP, valet="heat_placement:Placement")
    with installed.open("no") as shop:
        assert shop.hooks.list().hooks == []
        assert shop.executions.install(installed.blueprint(), "shop").status == "completed"
    assert installed.calls() == []


def test_h37_where_there_is_a_real_heat_its_base_class_is_used(site, installed: Installed) -> None:
    for name in ("heat", "heat/engine", "heat/common"):
        (site.folder / name).mkdir()
        (site.folder / name / "__init__.py").write_text("")
    (site.folder / "heat/engine/lifecycle_plugin.py").write_text(
        "class LifecyclePlugin:\n get_ordinal = lambda self: 42\n"
    )
    (site.folder / "heat/common/config.py").write_text(
        "from oslo_config import cfg\ncfg.CONF.register_opt(cfg.BoolOpt('stack_scheduler_hints', default=True))"
    )
    site.announce("placement", HEAT_GROUP, short="heat_placement:Short")
    with installed.open() as shop:
        assert [hook.ordinal for hook in shop.hooks.list().hooks] == [42]


def test_h38_one_that_takes_no_failure_is_called_and_warned_of_once(site, installed: Installed) -> None:
    site.announce("placement", HEAT_GROUP, short="heat_placement:Short", refuses="heat_refuses:Refuses")
    site.module(
        "heat_refuses",
        """
        class Refuses:
            def get_ordinal(self): return 200
            def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
                raise RuntimeError("no host")
        """,
    )
    with installed.open() as shop:
        done = shop.executions.install(installed.blueprint(), "shop")
        warnings = [line.text for line in shop.executions.logs(done.id).lines if line.level == "warning"]
    assert (done.status, done.reason) == ("failed", "pre hook refuses: no host")
    assert installed.calls() == ["short CREATE"]
    assert warnings == ["do_post_op of short takes no is_stack_failure, so it is not called after a failure"]


def test_h40_a_deployment_without_instances_is_true(site, installed: Installed) -> None:
    site.announce("placement", HEAT_GROUP, valet="heat_placement:Placement")
    empty = installed.blueprint().replace("blueprint.yaml", "empty.yaml")
    Path(empty).write_text(
        "tosca_definitions_version: cloudify_dsl_1_3\nimports: [cloudify/types/types.yaml]\nnode_templates: {}\n"
    )
    with installed.open() as shop:
        assert shop.executions.install(empty, "shop").status == "completed"
    assert installed.calls()[0] == "pre CREATE IN_PROGRESS True False"


def test_a_plug_in_reads_options_that_it_registers_itself_from_the_settings(site, tmp_path: Path) -> None:
    found = Installed(site, tmp_path)
    (site.folder / "oslo_config" / "cfg.py").write_text(OSLO_CONFIG)
    site.module("heat_own", OWN_OPTIONS)
    site.announce("own", HEAT_GROUP, own="heat_own:Own")
    settings = {"hooks.heat_compat": "yes", "plugins.path": "", "hooks.heat_options": "valet.url=http://here:8090"}
    with phaseline.open("memory:", settings=settings) as shop:
        done = shop.executions.install(found.blueprint(), "shop")
    assert done.reason == "pre hook own: http://here:8090 after 3: True"


def test_options_of_heat_are_a_table_of_the_settings_file(tmp_path: Path) -> None:
    text = "[hooks.heat_options]\ndebug = true\n[hooks.heat_options.valet]\nzones = ['a']\n"
    (tmp_path / "phaseline.toml").write_text(text)
    found = load_settings(environment={"HOME": str(tmp_path)}, folder=tmp_path)
    assert found.heat_options == '{"debug": true, "valet.zones": ["a"]}'


@pytest.mark.parametrize("text", ["valet.url", "=x", '{"a": {"b": 1}}', "{"])
def test_options_of_heat_that_say_nothing_are_refused(tmp_path: Path, text: str) -> None:
    variables = {"HOME": str(tmp_path), "PHASELINE_HOOKS_HEAT_OPTIONS": text}
    with pytest.raises(phaseline.ProblemsError, match=r"PL-C003 .*hooks\.heat_options"):
        load_settings(environment=variables, folder=tmp_path)
