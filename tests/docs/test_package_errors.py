"""Every problem that the catalogue shows of a package is what reading such a package says now."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.packages.made import GRANULAR, TASK, metadata, package, problems

from phaseline.model.packages.package import Package
from phaseline.model.problems.problem import Problem
from phaseline.model.problems.text import render_problem
from phaseline.packages.compatibility import misfits, overlaps
from phaseline.packages.format.settings_values import chosen

PAGE = (Path(__file__).resolve().parents[2] / "docs/errors/PL-F.md").read_text("utf-8")
SECTIONS = {
    found[1]: found[0] for found in re.finditer(r"^## (PL-F\d{3}) .*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
URL = "attributes:\n  url:\n    type: text\n    label: URL\n    weight: 10\n    value: ''\n    restrictions:\n"
CASES: Mapping[str, tuple[int, Mapping[str, str | None]]] = {
    "PL-F001": (2, {"tasks": None}),
    "PL-F002": (2, {"tasks": ""}),
    "PL-F003": (2, {"metadata": metadata(2).replace("package_version: 2.0.0", "package_version: 9.9.9")}),
    "PL-F004": (2, {"metadata": metadata(2).replace("name: lma", "name: Log Alerting")}),
    "PL-F005": (2, {"metadata": metadata(2).replace("homepage:", "home:")}),
    "PL-F006": (4, {"components": "- name: network:lma\n  label: L\n  labels: x\n"}),
    "PL-F007": (2, {"metadata": metadata(2).replace("[monitoring]", "[monitoring, monitoring]")}),
    "PL-F010": (2, {"tasks": TASK.replace("post_deployment", "post_deployment/1e3")}),
    "PL-F011": (2, {"tasks": TASK.replace("['web']", "web")}),
    "PL-F012": (5, {"deployment_tasks": GRANULAR.replace("['web']", "/(/")}),
    "PL-F013": (2, {"tasks": TASK.replace("shell", "sync")}),
    "PL-F014": (5, {"deployment_tasks": GRANULAR * 2}),
    "PL-F015": (5, {"deployment_tasks": f"{GRANULAR}  requires: [b]\n{GRANULAR.replace('id: a', 'id: b')}  requires: [a]\n"}),
    "PL-F018": (5, {"deployment_tasks": GRANULAR + "  condition: {yaql_exp: '$.x'}\n"}),
    "PL-F023": (2, {"metadata": metadata(2).replace("'6.1'", "'6.0'")}),
    "PL-F024": (2, {"metadata": metadata(2).replace("deployment_scripts/", "scripts/")}),
    "PL-F025": (10, {"metadata": metadata(10, "requires_product: '1.x'\n")}),
    "PL-F030": (2, {"environment_config": f"{URL}    - settings:lma.local.value = true\n"}),
    "PL-F031": (2, {"environment_config": f"{URL}    - {{'settings:a.b': m, 'settings:c.d': m}}\n"}),
    "PL-F040": (10, {"metadata": metadata(10, "types: [types.yaml]\n")}),
    "PL-F041": (10, {"metadata": metadata(10, "hooks: ['acme.hooks:Quota']\n")}),
    "PL-F050": (2, {"tasks": TASK + "  fail_on_errors: false\n"}),
    "PL-F051": (2, {"tasks": TASK.replace("post_deployment", "post_deployment/4100")}),
    "PL-F052": (2, {"tasks": TASK.replace("['web']", "['*']")}),
    "PL-F053": (2, {"tasks": TASK.replace("['web']", "[]")}),
    "PL-F054": (2, {"tasks": TASK.replace("60", "0")}),
    "PL-F055": (5, {"deployment_tasks": GRANULAR.replace("  role: ['web']\n", "")}),
    "PL-F056": (2, {"node_roles": ""}),
    "PL-F057": (2, {"metadata": metadata(2, "hooks: []\n")}),
    "PL-F058": (
        5,
        {"deployment_tasks": GRANULAR.replace("  version: 2.0.0\n", "") + "  cross-depends: [{name: b}]\n"},
    ),
}  # fmt: skip
"""{code: a package whose reading says it}; what several packages or a choice of settings say is told in tests/packages."""


@pytest.mark.parametrize("code", CASES)
def test_the_catalogue_shows_what_is_said(code: str) -> None:
    number, changes = CASES[code]
    shown = next(render_problem(problem) for problem in problems(number, **changes) if problem.code == code)
    assert f"$ phaseline plugins check lma\n{shown}\n```" in SECTIONS[code]


def test_the_catalogue_shows_what_is_said_of_packages_together() -> None:
    tasks = GRANULAR.replace("id: a", "id: make-volumes")
    one, other = (named(f"storage-{letter}", deployment_tasks=tasks) for letter in "ab")
    shows("PL-F016", overlaps([one, other]))
    networks = [
        named("contrail", components="- {name: 'network:contrail', label: C, incompatible: [{name: 'network:*'}]}"),
        named("nsx", deployment_tasks="[]", components="- {name: 'network:nsx', label: N}"),
    ]
    shows("PL-F017", misfits(networks))


def test_the_catalogue_shows_what_is_said_of_settings() -> None:
    form = package(
        5,
        environment_config="""attributes:
  local: {type: checkbox, label: L, weight: 0, value: true}
  port: {type: number, label: P, weight: 1, value: '80', min: 1, max: 65535}
  url:
    {type: text, label: U, weight: 2, value: '', restrictions: [{'settings:lma.local.value == true': Only for a server elsewhere}]}
""",
    ).form
    shows("PL-F032", chosen("lma-1.0.2", form, {"port": "many"}).problems)
    shows("PL-F033", chosen("lma-1.0.2", form, {"prot": 80}).problems)
    shows("PL-F034", chosen("lma-1.0.2", form, {"url": "http://10.0.0.2"}).problems)


def named(name: str, **more: str) -> Package:
    """A package of another name."""
    return package(5, metadata=metadata(5).replace("lma", name).replace("1.0.2", "1.0.0"), **more)


def shows(code: str, said: Sequence[Problem]) -> None:
    """The section of a code has the one problem that was said, as it is shown."""
    (problem,) = said
    assert problem.code == code
    assert f"\n{render_problem(problem)}\n```" in SECTIONS[code]
