"""Tools for authors of blueprints: explain the origin of each part, compare, merge, and write a schema for editors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phaseline.dsl import reader
from phaseline.dsl.documents import diff, merged_plan, provenance
from phaseline.dsl.grammar import json_schema as grammar_json_schema
from phaseline.dsl.text import dsl_versions
from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import problem_error
from phaseline.use_cases.loading import blueprint_loading

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.dsl.imports.section_merge import MergedSections
    from phaseline.model.blueprint.blueprint import Blueprint
    from phaseline.model.blueprint.diff import Differences
    from phaseline.model.blueprint.provenance import Explained

NAMED = 8
"""Number of nodes that a message names if the requested one does not exist."""


def blueprint_schema(version: str) -> dict[str, Any]:
    """Return the JSON Schema of blueprints in a version of the language. Raises: PL-B011 for an unknown version."""
    versions = {
        dsl_versions.version_name(minor): minor for minor in (*range(dsl_versions.LATEST + 1), dsl_versions.PHASELINE)
    }
    if version not in versions:
        hint = did_you_mean(version, list(versions))
        raise problem_error(
            "PL-B011", f"'{version}' is no version of the language", f"{hint or 'one'} of {', '.join(versions)}"
        )
    return grammar_json_schema.json_schema(versions[version])


def explain_node(
    ctx: RequestContext, file: str, node: str, *, only: str = "", plugin_folders: Sequence[str] = ()
) -> Explained:
    """Return the origin of each part of a blueprint's node. ``only``: return only parts whose path begins with this text.

    Raises: ProblemsError with all problems of the blueprint; PL-B126 if it has no such node.
    """
    opened = blueprint_loading.open_blueprint(ctx, file, plugin_folders)
    blueprint, sections = reader.read_whole(opened.file, opened.files)
    if node not in blueprint.nodes:
        hint = did_you_mean(node, blueprint.nodes)
        known = ", ".join(list(blueprint.nodes)[:NAMED]) + (", …" if len(blueprint.nodes) > NAMED else "")
        mend = hint or (f"it has {known}" if known else "it has no nodes")
        raise problem_error("PL-B126", f"'{file}' has no node '{node}'", mend)
    whole = provenance.explain(blueprint, sections, node)
    return altered(whole, pieces=tuple(piece for piece in whole.pieces if piece.path.startswith(only)))


def compare_blueprints(
    ctx: RequestContext, old: str, new: str, *, plugin_folders: Sequence[str] = (), open_types: bool = False
) -> Differences:
    """Return the differences that lead from blueprint ``old`` to ``new`` (files, or names of stored blueprints).

    Raises: ProblemsError with all problems of one of them.
    """

    def read(file: str) -> tuple[Blueprint, MergedSections]:
        opened = blueprint_loading.open_blueprint(ctx, file, plugin_folders)
        return reader.read_whole(opened.file, opened.files, open_types=open_types)

    return diff.compare(read(old), read(new))


def planned(
    ctx: RequestContext, file: str, *, plugin_folders: Sequence[str] = (), open_types: bool = False
) -> dict[str, Any]:
    """Return the plan that Cloudify's parser makes of a file. Raises ``ProblemsError`` with all its problems."""
    opened = blueprint_loading.open_blueprint(ctx, file, plugin_folders)
    return merged_plan.plan_document(*reader.read_whole(opened.file, opened.files, open_types=open_types))
