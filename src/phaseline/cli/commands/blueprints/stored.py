"""``phaseline blueprints upload|list|show|delete|package``: blueprints that are kept in the store."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext, command_for, counted, list_of
from phaseline.cli.shell.options import completing, json_option, plugins_option, watchable

stored_argument = click.argument("name", metavar="ID[@VERSION]", shell_complete=completing("blueprints"))


@click.command(epilog="Example: phaseline blueprints upload shop/blueprint.yaml shop")
@click.argument("path")
@click.argument("id", required=False)
@click.option("--main", metavar="NAME", help="Main file of a folder or archive. [default: blueprint.yaml]")
@plugins_option
@json_option
@click.pass_obj
def upload(cli: CliContext, path: str, id: str | None, main: str | None, plugins: tuple[str, ...]) -> None:
    """Store all files of a blueprint's folder under an ID.

    PATH is the main file, its folder, or an archive (zip, tar, wheel). Without ID, the name of the folder or archive is
    used. Deployments use the uploaded files. Other files under the same ID make its next version; equal files change
    nothing.
    """
    with cli.open() as client:
        done = client.blueprints.upload(path, id, main=main, plugins=plugins)
    for warning in done.warnings:
        cli.notice(f"warning {warning}; {warning.mend}")
    cli.answer(done, lambda: cli.renderer("authoring.stored_blueprints:uploaded_text")(done))


COMMANDS = (
    upload,
    command_for(
        "blueprints.list",
        watchable,
        render="authoring.stored_blueprints:blueprint_list",
        answer=counted("blueprints"),
        help="List stored blueprints, each with its newest version.",
        example="blueprints list --json",
    ),
    command_for(
        "blueprints.show",
        stored_argument,
        render="authoring.stored_blueprints:blueprint_text",
        help="Show a version of a stored blueprint: files, imports and users.",
        example="blueprints show shop",
    ),
    command_for(
        "blueprints.delete",
        stored_argument,
        render=lambda gone: f"Deleted: {', '.join(map(str, gone))}.",
        answer=list_of("deleted"),
        help="Delete a stored blueprint, or one version of it.\n\nRefused while a deployment or another blueprint needs it.",
        example="blueprints delete shop@1",
    ),
    command_for(
        "blueprints.package",
        click.argument("file", metavar="BLUEPRINT", shell_complete=completing("blueprints")),
        click.option(
            "--output",
            metavar="FILE",
            help="Archive to write: .zip, .tar.gz or .tgz. [default: name of the blueprint with .zip]",
        ),
        render=lambda done: f"{done.file}: {done.files} files, {done.size_bytes:,} bytes.",
        help="""Pack all files of a blueprint into an archive for upload elsewhere.

        BLUEPRINT is a file, or the id of a stored blueprint. Equal blueprints make equal archives.
        """,
        example="blueprints package shop/blueprint.yaml --output shop.tar.gz",
    ),
)
