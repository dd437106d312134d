"""What authors of blueprints ask of them: where things come from, what has changed, a schema for the editor."""

from __future__ import annotations

from typing import Any

from phaseline.model.problem import fail
from phaseline.use_cases.typos import did_you_mean


def blueprint_schema(version: str) -> dict[str, Any]:
    """The JSON Schema of blueprints in a version of the language. Raises: PL-B011 for a version that is none."""
    from phaseline.dsl.json_schema import json_schema
    from phaseline.dsl.versions import LATEST, PHASELINE, version_name

    versions = {version_name(minor): minor for minor in (*range(LATEST + 1), PHASELINE)}
    if version not in versions:
        hint = did_you_mean(version, list(versions))
        raise fail("PL-B011", f"'{version}' is no version of the language", f"{hint or 'One'} of {', '.join(versions)}.")
    return json_schema(versions[version])
