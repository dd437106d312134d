"""Create a new package from a template, and build its archive."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from phaseline.catalog.files import archive_writer, package_files
from phaseline.compat.fuel import judge as fuel_judge
from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.packages.package import NATIVE
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.packages import reader
from phaseline.packages.format.format_versions import FORMATS
from phaseline.use_cases.tools.package_template import PROGRAMS, new_package

NAME = re.compile(r"[a-z0-9_-]{1,100}")
HOOK = "pre_build_hook"
"""Name of the program that runs before a package is packed, in the package's folder."""
TOLD_LINES = 20
"""Number of lines of the hook's output that are shown."""


@frozen
class Created:
    """A new package that ``create`` has written."""

    name: str
    folder: str
    format: str
    files: Sequence[str]


@frozen
class Built:
    """A built archive of a package. ``said`` is the output of its ``pre_build_hook``."""

    package: str
    file: str
    files: int
    size_bytes: int
    said: str = ""
    warnings: Sequence[Problem] = ()


def create(name: str, *, package_version: str = NATIVE, output: str | None = None) -> Created:
    """Write a new package into the new folder ``output``; by default the folder has the package's name.

    Raises: PL-F072 for an invalid name or format, an existing folder, or one that cannot be written.
    """
    if not NAME.fullmatch(name):
        raise problem_error(
            "PL-F072", f"'{name}' cannot be the name of a package", "use small letters, digits, '-' and '_'"
        )
    if package_version not in FORMATS:
        hint = did_you_mean(package_version, FORMATS)
        message = f"package_version {package_version} is not supported"
        mend = f"{hint} use one of {', '.join(FORMATS)}".strip()
        raise problem_error("PL-F072", message, mend)
    folder = Path(output or name)
    files = new_package(name, package_version)
    try:
        folder.mkdir(parents=True)
        for path, text in files.items():
            _write(folder / path, text, is_folder=path.endswith("/"), runs=path in PROGRAMS)
    except FileExistsError as error:
        raise problem_error("PL-F072", f"'{folder}' is there already", "name another folder with --output") from error
    except OSError as error:
        message = f"'{folder}' cannot be written: {error.strerror or error}"
        raise problem_error("PL-F072", message, "name another folder with --output") from error
    return Created(name, str(folder), package_version, sorted(files))


def _write(file: Path, text: str, *, is_folder: bool, runs: bool) -> None:
    (file if is_folder else file.parent).mkdir(parents=True, exist_ok=True)
    if not is_folder:
        file.write_text(text, "utf-8")
        if runs:
            file.chmod(0o755)


def build(folder: str, output: str | None = None) -> Built:
    """Check a package and pack its folder with checksums; the same files make the same archive.

    Its ``pre_build_hook`` is run first, if it is a program. The archive is ``output``, by default
    ``NAME-VERSION.tar.gz`` in the folder.

    Raises: ProblemsError with all problems of the package; PL-F073 if the hook fails, or the archive exists already or
    cannot be written.
    """
    where = Path(folder)
    if not where.is_dir():
        raise problem_error("PL-F060", f"there is no folder '{folder}'", "name the folder of a package", subject=folder)
    said = _run_hook(where)
    own = Path(output).absolute() if output is not None else None
    old = where / package_files.CHECKSUMS
    with package_files.opened(
        where, leave_out=lambda path: Path(path) in {own, old.absolute()} or _is_built(path, where)
    ) as files:
        with fuel_judge.YaqlJudge() as judge:
            read = reader.read_package(files.documents, where.absolute().name, judge)
        package = read.package
        if package is None:
            raise ProblemsError(read.problems)
        target = output or f"{package}.tar.gz"
        _raise_if_wrong_ending(target)
        try:
            archive_writer.pack(
                files.tree, str(package), target, {package_files.CHECKSUMS: package_files.checksums(files.tree)}
            )
        except FileExistsError as error:
            raise problem_error(
                "PL-F073", f"'{target}' is there already", "remove it, or name another with --output"
            ) from error
        except OSError as error:
            message = f"'{target}' cannot be written: {error.strerror or error}"
            raise problem_error("PL-F073", message, "name another file with --output") from error
        size = Path(target).stat().st_size
        return Built(str(package), target, len(files.tree.files), size, said, read.problems)


def _raise_if_wrong_ending(target: str) -> None:
    if not target.endswith((".tar.gz", ".tgz", ".fp", ".zip")):
        raise problem_error(
            "PL-F073",
            f"the name '{target}' does not end like that of an archive",
            "let it end with .tar.gz, .fp or .zip",
        )


def _is_built(path: str, folder: Path) -> bool:
    """Return True for an archive that an earlier build left in the folder, which is no part of the package."""
    whole = Path(path)
    return whole.parent == folder.absolute() and whole.name.endswith((".tar.gz", ".fp", ".rpm"))


def _run_hook(folder: Path) -> str:
    """Run the package's hook and return its output. Raises: PL-F073 if it fails."""
    import subprocess

    program = folder.absolute() / HOOK
    if not program.is_file() or not os.access(program, os.X_OK):
        return ""
    try:
        done = subprocess.run([program], cwd=folder, capture_output=True, check=False)
    except OSError as error:
        message = f"{HOOK} cannot be started: {error.strerror or error}"
        raise problem_error("PL-F073", message, "see that its first line names a program, such as #!/bin/sh") from error
    said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    if done.returncode:
        last = "\n".join(said.splitlines()[-TOLD_LINES:])
        message = f"{HOOK} ended with {done.returncode}" + (f": {last}" if last else "")
        raise problem_error("PL-F073", message, "correct the script; nothing was packed", subject=str(program))
    return said
