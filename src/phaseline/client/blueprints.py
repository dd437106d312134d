"""Blueprints: files, and those that are kept in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import manner_of, order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Unpack

    from phaseline.client.execution_options import StopOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.diff import Differences
    from phaseline.model.blueprint.provenance import Explained
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.plan.preview.diagram import Drawing
    from phaseline.use_cases.commands.upload_blueprint import Packaged, Shelved, Stored, Uploaded
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.views.views import Validated


class BlueprintsNoun(Noun):
    """What can be known before anything is stored, and blueprints that are kept in the store.

    ``file``: a file, or the name of a stored blueprint: ``shop``, ``shop@2``.
    """

    def upload(
        self, path: str, id: str | None = None, *, main: str | None = None, plugins: Sequence[str] = ()
    ) -> Uploaded:
        """Store all files of a blueprint's folder as the next version of an id; equal ones change nothing."""
        return self._call(ops.UPLOAD, path=path, id=id, main_file=main, plugin_folders=plugins)

    def list(self) -> Sequence[Shelved]:
        """All stored blueprints by id, each with its newest version."""
        return self._call(ops.LIST_BLUEPRINTS)

    def show(self, name: str) -> Stored:
        """One version with its files, and what needs it."""
        return self._call(ops.SHOW_BLUEPRINT, name=name)

    def delete(self, name: str) -> Sequence[StoredBlueprint]:
        """Forget all versions of an id, or one of them."""
        return self._call(ops.DELETE_BLUEPRINT, name=name)

    def package(self, file: str, output: str | None = None) -> Packaged:
        """Write all files of a blueprint into an archive: .zip, .tar.gz or .tgz."""
        return self._call(ops.PACKAGE_BLUEPRINT, name=file, output=output)

    def validate(self, file: str, *, plugins: Sequence[str] = (), open_types: bool = False) -> Validated:
        """What is in the blueprint, and warnings. Raises ``ProblemsError`` with everything that is wrong with it.

        ``open_types``: types of definition files that are not available are taken as open, with a warning each.
        """
        return self._call(ops.VALIDATE, file=file, plugin_folders=plugins, open_types=open_types)

    def plan(
        self,
        file: str,
        deployment: str | None = None,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] = (),
        labels: Sequence[str] = (),
        yes_many: bool = False,
        open_types: bool = False,
        **options: Unpack[StopOptionsDict],
    ) -> PlanPreview:
        """What installing it would do; no code of the blueprint or of a plugin is run.

        ``deployment``: whether this name is free is looked at. ``open_types``: as of ``validate``; the rest as of ``executions.install``.
        """
        order = order_of(file, deployment, inputs, plugins, labels, yes_many=yes_many)
        return self._call(ops.PLAN_INSTALL, order=order, open_types=open_types, manner=manner_of(options))

    def merge(self, file: str, *, plugins: Sequence[str] = (), open_types: bool = False) -> dict[str, Any]:
        """The blueprint with all that its nodes inherit, as one document in the form of Cloudify's parser."""
        return self._call(ops.MERGE, file=file, plugin_folders=plugins, open_types=open_types)

    def diff(self, old: str, new: str, *, plugins: Sequence[str] = (), open_types: bool = False) -> Differences:
        """What a blueprint says differently than another one, both merged with all they import and inherit."""
        return self._call(ops.DIFF, old=old, new=new, plugin_folders=plugins, open_types=open_types)

    def explain(self, file: str, node: str, *, only: str = "", plugins: Sequence[str] = ()) -> Explained:
        """Where each part of a node came from; ``only``: parts whose path begins so, such as ``properties.port``."""
        return self._call(ops.EXPLAIN, file=file, node=node, only=only, plugin_folders=plugins)

    def schema(self, *, version: str = "cloudify_dsl_1_5") -> dict[str, Any]:
        """A JSON Schema of blueprints of a version of the language, for editors."""
        return self._call(ops.SCHEMA, version=version)

    def graph(self, file: str, *, plugins: Sequence[str] = ()) -> Drawing:
        """The nodes with their relationships, as a diagram; none of its code is run."""
        return self._call(ops.DRAW_BLUEPRINT, file=file, plugin_folders=plugins)
