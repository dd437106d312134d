"""The groups in which the help of the program shows its commands."""

from __future__ import annotations

import click

GROUPS = {
    "Start here": {
        "init": "Create a small blueprint or plugin package in a new folder.",
        "demo": "Run a one-minute demonstration with a store and ports of its own.",
        "plan": "Show what a command would do, without doing it.",
        "install": "Create a deployment from a blueprint and install it.",
        "status": "Show the store, the engine, open executions and pending decisions.",
        "doctor": "Check machine, settings and store; show how to fix each finding.",
    },
    "Change a deployment": {
        "uninstall": "Stop and delete every instance of a deployment.",
        "suspend": "Freeze a deployment's instances; stop those that cannot be frozen.",
        "resume": "Resume the suspended instances of a deployment.",
        "check": "Check every instance of a deployment, and report all problems.",
        "restore": "Restore a deployment to a snapshot.",
        "adopt": "Create a deployment from existing resources that a document lists.",
        "abandon": "Remove a deployment's records without touching its resources.",
        "export": "Print a deployment as a document for adopt.",
    },
    "Look at deployments": {
        "deployments": "Create, update, show and delete deployments.",
        "instances": "List, explain, signal and restrict node instances.",
        "executions": "Start, follow, inspect and control executions of workflows.",
        "plans": "List, show, apply and delete stored plans.",
        "breakpoints": "Add, list and clear breakpoints, at which instances wait for a person.",
        "groups": "Create, list, change and run deployment groups: many deployments as one.",
        "schedules": "Create, list, change and preview schedules of deployments.",
        "snapshots": "Create, list, show and delete snapshots of deployments.",
        "abandoned": "List and print the documents of abandoned deployments.",
    },
    "Blueprints and code": {
        "blueprints": "Validate, compare, draw, store and package blueprints.",
        "plugins": "Install, check, list and try plugins and packages.",
        "hooks": "List, test, disable and reload hook classes.",
        "secrets": "Create, show, replace and delete the secrets of the store.",
    },
    "Resources and phases": {
        "resources": "Apply, list, move and explain resources.",
        "phases": "List, show, pause and forget phases.",
        "records": "Format records, and evaluate expressions on them.",
    },
    "Engine and store": {
        "engine": "Run, show or stop the process that carries out executions.",
        "store": "Check, back up, restore, copy and compact the store.",
    },
    "This program": {
        "docs": "Print a page of the documentation, or search all pages.",
        "completion": "Print the script that completes commands and names in a shell.",
        "version": "Show the version of Phaseline.",
    },
}
"""{title: {command: first sentence of its help}}; each command is in one group. No command is imported for it."""


def write(formatter: click.HelpFormatter) -> None:
    """Write the commands with the first sentence of their help, group by group, in columns of equal width."""
    widest = max(len(name) for commands in GROUPS.values() for name in commands)
    limit = formatter.width - 6 - widest
    for title, commands in GROUPS.items():
        with formatter.section(title):
            rows = [
                (name.ljust(widest), click.Command(name, help=text).get_short_help_str(limit))
                for name, text in commands.items()
            ]
            formatter.write_dl(rows)
