"""Check ``metadata.yaml``, which has the name, format and purpose of a package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from phaseline.model.packages.package import Release
from phaseline.packages.format.format_versions import FORMATS, Format
from phaseline.packages.format.native_metadata import NATIVE_KEYS, check_native, native_keys
from phaseline.packages.format.package_contents import PackageContents
from phaseline.packages.format.problem_report import FileElement, listed
from phaseline.packages.format.value_forms import TEXTS, Form, FormKey, choice, mapping, required, rows, text, truth

NAME: Final = text(r"[a-z0-9_-]+", "small letters a-z, digits, '-' and '_'")
VERSION: Final = text(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}", "three numbers with dots, such as 1.0.2")
BUILD_HOOK: Final = "pre_build_hook"
"""Name of a program in a package that runs when the package is built, often to make its repositories."""
_RELEASE: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})*")


def format_of(metadata: Any) -> Format | None:
    """Return the format that a package declares, or None if it declares no known format."""
    version = metadata.get("package_version") if isinstance(metadata, dict) else None
    return FORMATS.get(version) if isinstance(version, str) else None


def title_of(metadata: Any, otherwise: str) -> str:
    """Return ``name-version``, the name alone if the version is not usable, or ``otherwise`` without a usable name."""
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= 100:
        return otherwise
    version = metadata.get("version")
    return f"{name}-{version}" if isinstance(version, str) and re.fullmatch(r"[0-9.]{1,40}", version) else name


def check_metadata(value: Any, spot: FileElement, contents: PackageContents) -> None:
    """Report all problems of the metadata. If the format is unknown, check only what all formats have in common."""
    package_format = format_of(value)
    keys: dict[str, FormKey | Form] = {
        "name": required(NAME),
        "title": required(text()),
        "version": required(VERSION),
        "package_version": required(_package_version),
        "description": required(text()),
        "fuel_version": _fuel_version(package_format),
        "releases": rows(_release(contents, package_format), of="releases"),
        "licenses": TEXTS,
        "authors": TEXTS,
        "homepage": text(),
        "groups": rows(_groups(package_format), is_unique=True, of="groups"),
        "is_hotpluggable": truth,
        "build_version": text(),
        "requires_product": _requirement,
    }
    for name in _needed(package_format):
        form = keys[name]
        keys[name] = required(form.form if isinstance(form, FormKey) else form)
    if package_format is not None and package_format.is_native:
        keys |= native_keys()
    mapping("metadata.yaml", keys)(value, spot)
    if isinstance(value, dict) and package_format is not None:
        if package_format.is_native:
            check_native(value, spot, contents)
        else:
            _warn_of_native(value, spot)


def _needed(package_format: Format | None) -> tuple[str, ...]:
    if package_format is None or package_format.is_native:
        return ()
    needed = ["fuel_version", "releases"]
    if package_format.number >= 2:
        needed += ["licenses", "authors", "homepage", "groups"]
    if package_format.number >= 4:
        needed.append("is_hotpluggable")
    return tuple(needed)


def _package_version(value: Any, spot: FileElement) -> None:
    if not isinstance(value, str) or value not in FORMATS:
        in_quotes = "; write it in quotes" if not isinstance(value, str) else ""
        spot.wrong("PL-F003", "is not supported", f"use {listed(FORMATS)}{in_quotes}", value=value)


def _groups(package_format: Format | None) -> Form:
    groups = package_format.groups if package_format is not None else FORMATS["5.0.0"].groups
    known = choice(*groups)

    def check(value: Any, spot: FileElement) -> None:
        if value == "equipment" and value not in groups:
            mend = f"use {listed(groups)}; equipment needs package_version 4.0.0 or higher"
            spot.wrong("PL-F004", "is not known here", mend, value=value)
        else:
            known(value, spot)

    return check


def _fuel_version(package_format: Format | None) -> Form:
    """Return a form for a list of Fuel releases, each of which must support the package's format."""

    def check(value: Any, spot: FileElement) -> None:
        TEXTS(value, spot)
        for place, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, str):
                _check_release(item, spot.at(place), package_format)

    return check


def _check_release(release: str, spot: FileElement, package_format: Format | None) -> None:
    if _RELEASE.fullmatch(release) is None:
        spot.wrong("PL-F004", "is no release of Fuel", "use numbers with dots, such as '6.1'", value=release)
    elif package_format is not None and package_format.least_fuel and _older(release, package_format.least_fuel):
        what = f"is older than what package_version {package_format.version} is for"
        mend = f"Fuel must be {package_format.least_fuel} or higher; for older ones use a lower package_version"
        spot.wrong("PL-F023", what, mend, value=release)


def _older(one: str, other: str) -> bool:
    return tuple(map(int, one.split("."))) < tuple(map(int, other.split(".")))


def _requirement(value: Any, spot: FileElement) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    text()(value, spot)
    if isinstance(value, str):
        try:
            SpecifierSet(value)
        except InvalidSpecifier:
            spot.wrong(
                "PL-F025", "specifies no versions", "write a specifier of PEP 440, such as '>=1.0,<2'", value=value
            )


def _release(contents: PackageContents, package_format: Format | None) -> Form:
    def folder(value: Any, spot: FileElement) -> None:
        text()(value, spot)
        if isinstance(value, str) and not contents.has_folder(value):
            mend = f"make the folder '{value}' in the package, or name another one"
            if contents.has_file(BUILD_HOOK):
                what = f"is no folder of the package yet; {BUILD_HOOK} may make it"
                spot.odd("PL-F024", what, "build it: phaseline plugins build FOLDER", value=value)
            else:
                spot.wrong("PL-F024", "is no folder of the package", mend, value=value)

    is_required = package_format is not None and not package_format.is_native
    return mapping(
        "a release",
        {
            "version": required(text()),
            "os": required(choice("ubuntu", "centos")),
            "mode": required(rows(choice("ha", "multinode"), of="modes")),
            "deployment_scripts_path": FormKey(folder, is_required=is_required),
            "repository_path": FormKey(folder, is_required=is_required),
        },
    )


def _warn_of_native(value: Mapping[str, Any], spot: FileElement) -> None:
    for key in NATIVE_KEYS:
        if key in value:
            mend = "write package_version: 10.0.0, or remove it"
            spot.at(key).odd("PL-F057", "has no effect in a package of this version", mend, point="key")


def made_releases(value: Any) -> tuple[Release, ...]:
    """Return the releases of a file that has been checked."""
    return tuple(
        Release(
            item["version"],
            item["os"],
            tuple(item["mode"]),
            item.get("deployment_scripts_path", ""),
            item.get("repository_path", ""),
        )
        for item in value or ()
    )
