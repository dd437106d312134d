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
        help="""Print the merged plan of a blueprint as JSON.

        It has nodes with all they inherit, operations, relationships and plugins, in the form of Cloudify's parser.
        Inputs are not given yet, so functions are not evaluated. To see what a workflow would do: "phaseline plan".
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
        help="""Show the differences between two blueprints.

        Nodes, properties, operations, types, inputs and outputs are compared after all imports and types are merged, so
        order, comments and anchors do not matter. Probable renames are marked. Exit code 0: equal; 3: different; 1: one
        of them is invalid.
        """,
        example="blueprints diff old/blueprint.yaml blueprint.yaml",
    ),
    command_for(
        "blueprints.explain",
        click.argument("file"),
        click.argument("node"),
        click.option(
            "--only", metavar="BEGINNING", default="", help="Beginning of the paths to show, such as properties.port."
        ),
        plugins_option,
        render="authoring.provenance:explained_text",
        help="""Show where each part of a node comes from.

        For every merged property, operation, input and relationship: its value, file, line and column, and what it
        overrides in the template, types, parent types, data types and imports.
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
            help="Version of the language.",
        ),
        render=lambda found: json.dumps(found, indent=2),
        help="""Print a JSON Schema of blueprints for editors.

        It is made from the tables that "validate" uses. It describes forms, not names: only "validate" checks whether a
        type or an input exists.
        """,
        example="blueprints schema --version cloudify_dsl_1_4 > blueprint.schema.json",
    ),
)
