"""The groups in which the help of the program shows its commands."""

from __future__ import annotations

import click

GROUPS = {
    "Start here": {
        "init": "Write something to begin with into a new folder.",
        "demo": "Show what Phaseline does, in under a minute, with a store and ports of its own.",
        "plan": "Show what a command would do. Runs no code of a blueprint or plugin, stores nothing but the plan, with --save.",
        "install": "Make a deployment of a blueprint and install it.",
        "status": "Tell in one screen how everything stands: store, engine, open executions, what needs a person.",
        "doctor": "Examine machine, settings and store; each finding with what mends it.",
    },
    "Change a deployment": {
        "uninstall": 'Stop and delete every instance of a deployment. Its record stays; "deployments delete" forgets it.',
        "suspend": "Freeze what runs of a deployment, or stop what cannot be frozen; dependents first. Twice is once.",
        "resume": "Have what is suspended go on, in the order of dependencies.",
        "check": "Ask every instance how it is; all that is wrong is told, and what could not be asked.",
        "restore": "Bring a deployment back to a snapshot: an update to what it was, then the operation snapshot.apply.",
        "adopt": "Make a deployment of what is there already, by a document that export or abandon has written. Nothing is created.",
        "abandon": "Forget a deployment and leave alone what it stands for; its document is printed, and kept for 30 days.",
        "export": "Print a deployment as the document that adopt takes. Nothing is changed; secrets in it are sealed.",
    },
    "Look at deployments": {
        "deployments": "What was made of blueprints.",
        "instances": "Node instances: the things a deployment consists of.",
        "executions": "Runs of workflows. Without an ID: the latest of -d NAME.",
        "plans": "Plans that were kept with --save, and those of every update; read, then carried out as they were read.",
        "breakpoints": "Where instances and resources stop until a person lets them go on: at a --break, or at a breakpoint of their deployment or cluster.",
        "snapshots": "Deployments as they were; phaseline restore brings one back. To copy a whole store: phaseline store backup.",
        "abandoned": "Documents of deployments that were abandoned in the last 30 days.",
    },
    "Blueprints and code": {
        "blueprints": "Blueprints: files, and those that are kept in the store.",
        "plugins": "Code that operations are mapped to, phases of states, types that blueprints import, and packages of all of these.",
        "hooks": "Classes that are called before and after every action of a deployment.",
        "secrets": "Values that lie encrypted in the store, for get_secret. They are never shown unless you say so.",
    },
    "Resources and phases": {
        "resources": "Resources: what phases move from state to state.",
        "phases": "What is done with resources in a state.",
        "records": "Records in files, and expressions over them.",
    },
    "Engine and store": {
        "engine": "The one process that runs what everybody asked for. Commands start it by themselves when they need it.",
        "store": "The file in which everything is remembered. All of it works while engines run.",
    },
    "This program": {
        "docs": "Print a page of the documentation, the section about an error, or the pages that answer a question.",
        "completion": "Print what makes a shell complete commands, options, and names of deployments, executions and instances.",
        "version": "Say which version this is.",
    },
}
"""{title: {command: first sentence of its help}}; each command is in one group. Listing them imports none."""


def write(formatter: click.HelpFormatter) -> None:
    """The commands with the first sentence of their help, group by group, in columns of one width."""
    widest = max(len(name) for commands in GROUPS.values() for name in commands)
    limit = formatter.width - 6 - widest
    for title, commands in GROUPS.items():
        with formatter.section(title):
            rows = [
                (name.ljust(widest), click.Command(name, help=text).get_short_help_str(limit))
                for name, text in commands.items()
            ]
            formatter.write_dl(rows)
