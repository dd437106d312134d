"""Packages as mappings of files, one that is all right in each format, and what is different in them."""

from phaseline.model.packages.package import Package
from phaseline.model.problems.problem import Problem
from phaseline.packages.reader import read_package

TASK = "- role: ['web']\n  stage: post_deployment\n  type: shell\n  parameters: {cmd: ./a.sh, timeout: 60}\n"
GRANULAR = "- id: a\n  type: shell\n  version: 2.0.0\n  role: ['web']\n  parameters: {cmd: ./a.sh}\n"
FUEL = {1: "6.0", 2: "6.1", 3: "7.0", 4: "8.0", 5: "9.0"}
SCRIPTS = {"deployment_scripts/a.sh": "", "repositories/ubuntu/": ""}


def metadata(number: int, more: str = "") -> str:
    """``metadata.yaml`` of a package ``lma-1.0.2`` in the format ``number``.0.0."""
    text = f"name: lma\ntitle: LMA\nversion: 1.0.2\npackage_version: {number}.0.0\ndescription: Alerts\n"
    if number <= 5:
        text += f"fuel_version: ['{FUEL[number]}']\nreleases:\n- os: ubuntu\n  version: mitaka-9.0\n  mode: [ha]\n"
        text += "  deployment_scripts_path: deployment_scripts/\n  repository_path: repositories/ubuntu\n"
    if 2 <= number <= 5:
        text += "licenses: [Apache-2.0]\nauthors: [me]\nhomepage: https://example.org\ngroups: [monitoring]\n"
    if 4 <= number <= 5:
        text += "is_hotpluggable: true\n"
    return text + more


def files(number: int, /, **more: str | None) -> dict[str, bytes]:
    """All files; ``tasks="…"`` stands for ``tasks.yaml``, None takes one out."""
    found: dict[str, str | None] = {"metadata.yaml": metadata(number), **SCRIPTS}
    if number <= 5:
        found["environment_config.yaml"] = ""
    if number <= 3:
        found["tasks.yaml"] = TASK
    if 3 <= number <= 5:
        found["deployment_tasks.yaml"] = GRANULAR
    found |= {f"{name}.yaml": text for name, text in more.items()}
    return {name: text.encode() for name, text in found.items() if text is not None}


def problems(number: int, /, **more: str | None) -> tuple[Problem, ...]:
    """What is said of it."""
    return read_package(files(number, **more)).problems


def messages(number: int, /, **more: str | None) -> list[str]:
    """The same, as sentences with their mending."""
    return [f"{problem.message}; {problem.mend}" for problem in problems(number, **more)]


def codes(number: int, /, **more: str | None) -> list[str]:
    """The same, as codes."""
    return [problem.code for problem in problems(number, **more)]


def package(number: int, /, **more: str | None) -> Package:
    """The package, which must be all right."""
    read = read_package(files(number, **more))
    assert read.package is not None, [str(problem) for problem in read.problems]
    return read.package
