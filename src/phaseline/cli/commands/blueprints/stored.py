"""``phaseline blueprints upload|list|show|delete|package``: blueprints that are kept in the store."""

from __future__ import annotations

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, plugins_option, watchable

stored_argument = click.argument("name", metavar="ID[@VERSION]", shell_complete=completing.stored_blueprints)


@click.command(epilog="Example: phaseline blueprints upload shop/blueprint.yaml shop")
@click.argument("path")
@click.argument("id", required=False)
@click.option("--main", "main_file", metavar="NAME", help="Main file of a folder or archive. [default: blueprint.yaml]")
@plugins_option
@json_option
@click.pass_obj
def upload(desk: Desk, path: str, id: str | None, main_file: str | None, plugin_folders: tuple[str, ...]) -> None:
    """Store all files of a blueprint's folder under an ID: what runs later is what was uploaded.

    PATH is the main file, its folder, or an archive (zip, tar, wheel). Without ID the name of the folder or the archive is
    taken. An upload of other files under the same ID is its next version; an upload of equal ones changes nothing.
    """
    from phaseline.cli.render.authoring.stored_blueprints import uploaded_text
    from phaseline.use_cases.commands.upload_blueprint import upload as run

    with desk.open(makes_store=True) as place:
        done = run(place, path, id, main_file=main_file, plugin_folders=plugin_folders)
    for warning in done.warnings:
        desk.notice(f"warning {warning}. {warning.mend}")
    desk.answer(done, lambda: uploaded_text(done))


@click.command("list", epilog="Example: phaseline blueprints list --json")
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk) -> None:
    """List stored blueprints, each with its newest version."""
    from phaseline.cli.render.authoring.stored_blueprints import blueprint_list
    from phaseline.use_cases.commands.upload_blueprint import list_blueprints

    with desk.open(lists=True) as place:
        found = list_blueprints(place)
    desk.answer({"blueprints": found, "total": len(found)}, lambda: blueprint_list(found))


@click.command(epilog="Example: phaseline blueprints show shop")
@stored_argument
@json_option
@click.pass_obj
def show(desk: Desk, name: str) -> None:
    """Show one version of a stored blueprint: its files, what it imports, and who needs it."""
    from phaseline.cli.render.authoring.stored_blueprints import blueprint_text
    from phaseline.use_cases.commands.upload_blueprint import show_blueprint

    with desk.open() as place:
        found = show_blueprint(place, name)
    desk.answer(found, lambda: blueprint_text(found))


@click.command(epilog="Example: phaseline blueprints delete shop@1")
@stored_argument
@json_option
@click.pass_obj
def delete(desk: Desk, name: str) -> None:
    """Forget a stored blueprint, or one version of it. Refused while a deployment or another blueprint needs it."""
    from phaseline.use_cases.commands.upload_blueprint import delete_blueprint

    with desk.open() as place:
        gone = delete_blueprint(place, name)
    desk.answer({"deleted": gone}, lambda: f"Forgotten: {', '.join(map(str, gone))}.")


@click.command(epilog="Example: phaseline blueprints package shop/blueprint.yaml --output shop.tar.gz")
@click.argument("file", metavar="BLUEPRINT", shell_complete=completing.stored_blueprints)
@click.option("--output", metavar="FILE", help="The archive: .zip, .tar.gz or .tgz. [default: its name with .zip]")
@json_option
@click.pass_obj
def package(desk: Desk, file: str, output: str | None) -> None:
    """Write all files of a blueprint into an archive that can be uploaded elsewhere.

    BLUEPRINT is a file, or the id of a stored blueprint. Equal blueprints make equal archives.
    """
    from phaseline.use_cases.commands.upload_blueprint import package as run

    with desk.open() as place:
        done = run(place, file, output)
    desk.answer(done, lambda: f"{done.file}: {done.files} files, {done.size_bytes:,} bytes.")
