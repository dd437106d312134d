"""``phaseline blueprints plan|explain|diff|schema``: tools for authors of blueprints."""

from __future__ import annotations

import json

import click

from phaseline.cli.shell.cli_context import command_for, local_command_for
from phaseline.cli.shell.options import open_types_option, plugins_option

DIFFERENT = 3
"""Exit code for two blueprints that differ; 1 means that one of them cannot be read."""

COMMANDS = (
    command_for(
        "blueprints.merge",
        click.argument("file"),
        plugins_option,
        open_types_option,
        name="plan",
        render=lambda found: json.dumps(found, indent=1, ensure_ascii=False),
        help="""Print the plan of a blueprint as JSON: its nodes with all they inherit, operations, relationships, plugins.

        It has the form that the parser of Cloudify gives. Inputs are not given yet, so functions stand as they are written;
        what a workflow would do is told by "phaseline plan".
        """,
        example="blueprints plan blueprint.yaml > plan.json",
    ),
    command_for(
        "blueprints.diff",
        click.argument("old"),
        click.argument("new"),
        plugins_option,
        open_types_option,
        render="authoring.diff:differences_text",
        code=lambda found: 0 if found.is_same else DIFFERENT,
        help="""Show what a blueprint says differently than another one: nodes, properties, operations, types, inputs, outputs.

        Both are merged with all they import and inherit, so that order, comments and anchors make no difference. What was
        probably renamed is hinted. Exit code 0: they say the same; 3: they differ; 1: one of them is wrong.
        """,
        example="blueprints diff old/blueprint.yaml blueprint.yaml",
    ),
    command_for(
        "blueprints.explain",
        click.argument("file"),
        click.argument("node"),
        click.option(
            "--only", metavar="BEGINNING", default="", help="Only parts whose path begins so, such as properties.port."
        ),
        plugins_option,
        render="authoring.provenance:explained_text",
        help="""Show where each part of a node came from: the template, a type, a parent of it, a data type, an import.

        For every merged property, operation, input and relationship: its value, file, line and column, and what it overrides.
        """,
        example="blueprints explain blueprint.yaml web --only properties",
    ),
    local_command_for(
        "blueprints.schema",
        click.option(
            "--version",
            "version",
            metavar="VERSION",
            default="cloudify_dsl_1_5",
            show_default=True,
            help="Of the language.",
        ),
        render=lambda found: json.dumps(found, indent=2),
        help="""Print a JSON Schema of blueprints, for editors that complete and check while you type.

        It is made from the tables that "validate" checks with. It knows forms, not names: only "validate" can tell whether
        a type or an input exists.
        """,
        example="blueprints schema --version cloudify_dsl_1_4 > blueprint.schema.json",
    ),
)
