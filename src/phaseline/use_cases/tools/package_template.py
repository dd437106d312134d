"""Create the files of a new package in each format: small, complete and valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from phaseline.model.packages.package import NATIVE
from phaseline.packages.format import stage_ranges
from phaseline.packages.format.format_versions import FORMATS

PROGRAMS: Final = ("deployment_scripts/deploy.sh", "pre_build_hook")
"""Paths of the files that must be executable."""


def new_package(name: str, package_format: str) -> Mapping[str, str]:
    """Return {path: text} of a package with this name. A path that ends with ``/`` is an empty folder."""
    number = FORMATS[package_format].number
    files = {
        "metadata.yaml": _metadata(name, package_format),
        "environment_config.yaml": _SETTINGS,
        "deployment_scripts/deploy.sh": _SCRIPT,
        "pre_build_hook": _HOOK,
        "README.md": _readme(name),
    }
    if package_format == NATIVE:
        return files | {"tasks.yaml": _tasks(_stage_tasks), "python/": "", "LICENSE": _LICENSE}
    files |= {"repositories/ubuntu/": "", "repositories/centos/": ""}
    files["tasks.yaml"] = _tasks(_stage_tasks if number >= 2 else _first_tasks)
    if number >= 3:
        files["deployment_tasks.yaml"] = _granular(name)
        files |= {"node_roles.yaml": _ROLES, "volumes.yaml": _VOLUMES, "network_roles.yaml": _NETWORK_ROLES}
    if number >= 4:
        files["components.yaml"] = _COMPONENTS
    return files


def _metadata(name: str, package_format: str) -> str:
    number = FORMATS[package_format].number
    title = name.replace("-", " ").replace("_", " ").capitalize()
    lines = [
        "# What the package is called: small letters, digits, '-' and '_'. It keeps this name.",
        f"name: {name}",
        f"title: {title}",
        "version: '1.0.0'",
        f"description: What {name} does, in a sentence.",
        f"package_version: '{package_format}'",
    ]
    if number >= 2:
        lines += ["authors: ['Your name']", "licenses: ['Apache-2.0']", "homepage: 'https://example.org'"]
        lines += ["# network, storage, hypervisor, monitoring: where the numbers of its stages belong.", "groups: []"]
    if number >= 4:
        lines += ["# Whether it may be enabled for a deployment that is installed already.", "is_hotpluggable: false"]
    if package_format == NATIVE:
        lines += [
            "# Which versions of Phaseline it is for.",
            "requires_product: '>=0.1'",
            "# Also, if you like: types: [types.yaml], phases: [phases], hooks: ['module:Class'],",
            "# python: {paths: [python]}, stages: {on: [install, uninstall]}.",
        ]
        return "\n".join(lines) + "\n"
    least = FORMATS[package_format].least_fuel
    lines += [f"fuel_version: ['{least}']", "releases:"]
    for system in ("ubuntu", "centos"):
        lines += [
            f"  - os: {system}",
            f"    version: 2014.2-{least}",
            "    mode: [ha, multinode]",
            "    deployment_scripts_path: deployment_scripts/",
            f"    repository_path: repositories/{system}",
        ]
    return "\n".join(lines) + "\n"


def _tasks(tasks: Callable[[], str]) -> str:
    return stage_ranges.as_comments() + tasks()


def _stage_tasks() -> str:
    return """- role: '*'
  stage: post_deployment/6100
  type: shell
  parameters:
    cmd: ./deploy.sh
    timeout: 60
"""


def _first_tasks() -> str:
    return """# Numbers after a stage need package_version 2.0.0 or higher.
- role: '*'
  stage: post_deployment
  type: shell
  parameters:
    cmd: ./deploy.sh
    timeout: 60
"""


def _granular(name: str) -> str:
    return f"""# Tasks with an order among themselves, by requires and required_for.
- id: {name}-deploy
  version: 2.1.0
  type: shell
  role: '*'
  parameters:
    cmd: ./deploy.sh
    timeout: 60
"""


_SETTINGS = """# The settings of the package: a form for each deployment.
attributes:
  greeting:
    type: text
    label: Greeting
    description: What the script prints.
    weight: 10
    value: hello
"""
_SCRIPT = """#!/bin/sh
# Runs on every instance that the task is for.
echo "deployed on $(hostname)"
"""
_HOOK = """#!/bin/sh
# "phaseline plugins build" runs this in the folder of the package before it packs it.
exit 0
"""
_ROLES = """# Roles that instances may have by the label role, such as:
# cache:
#   name: Cache
#   description: Keeps what is asked for often.
#   limits: {max: 3}
{}
"""
_VOLUMES = """volumes: []
volumes_roles_mapping: {}
"""
_NETWORK_ROLES = """[]
"""
_COMPONENTS = """# What the package brings, and what that needs or cannot be with.
[]
"""
_LICENSE = "Apache-2.0\n"


def _readme(name: str) -> str:
    return f"""# {name}

    phaseline plugins check .
    phaseline plugins build .
    phaseline plugins install {name}-1.0.0.tar.gz
    phaseline plugins order
"""
