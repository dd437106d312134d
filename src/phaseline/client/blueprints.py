"""The methods ``client.blueprints``: blueprint files, and blueprints in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import manner_of, order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Unpack

    from phaseline.client.option_types import StopOptionsDict
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.diff import Differences
    from phaseline.model.blueprint.provenance import Explained
    from phaseline.model.blueprint.stored_blueprints import StoredBlueprint
    from phaseline.plan.preview.diagram import Drawing
    from phaseline.use_cases.commands.upload_blueprint import Packaged, Shelved, Stored, Uploaded
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.views.views import Validated


class BlueprintsNoun(Noun):
    """Check, preview and compare blueprints, and manage the blueprints in the store.

    ``file``: the path of a blueprint file, or the name of a stored blueprint: ``shop`` for its newest version, or
    ``shop@2``.
    """

    def upload(
        self, path: str, id: str | None = None, *, main: str | None = None, plugins: Sequence[str] = ()
    ) -> Uploaded:
        """Store all files of a blueprint's folder as the next version of an id; unchanged files make no new version."""
        return self._call(ops.UPLOAD, path=path, id=id, main_file=main, plugin_folders=plugins)

    def list(self) -> Sequence[Shelved]:
        """Return all stored blueprints by id, each with its newest version."""
        return self._call(ops.LIST_BLUEPRINTS)

    def show(self, name: str) -> Stored:
        """Return one version with its files, and the deployments and blueprints that need it."""
        return self._call(ops.SHOW_BLUEPRINT, name=name)

    def delete(self, name: str) -> Sequence[StoredBlueprint]:
        """Delete all versions of an id, or one of them (``shop@2``)."""
        return self._call(ops.DELETE_BLUEPRINT, name=name)

    def package(self, file: str, output: str | None = None) -> Packaged:
        """Write all files of a blueprint into an archive: .zip, .tar.gz or .tgz."""
        return self._call(ops.PACKAGE_BLUEPRINT, name=file, output=output)

    def validate(self, file: str, *, plugins: Sequence[str] = (), open_types: bool = False) -> Validated:
        """Check a blueprint; return a summary and warnings. Raises ``ProblemsError`` with all its problems.

        ``open_types``: accept types whose definition files are not available, with a warning each.
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
        """Return what an install of the blueprint would do; no code of the blueprint or of a plugin runs.

        ``deployment``: check that no deployment has this name. ``open_types``: accept types without available
        definition files. The other arguments are those of ``executions.install``.
        """
        order = order_of(file, deployment, inputs, plugins, labels, yes_many=yes_many)
        return self._call(ops.PLAN_INSTALL, order=order, open_types=open_types, manner=manner_of(options))

    def merge(self, file: str, *, plugins: Sequence[str] = (), open_types: bool = False) -> dict[str, Any]:
        """Return the blueprint with everything that its nodes inherit, as one document.

        The document has the form that Cloudify's parser returns.
        """
        return self._call(ops.MERGE, file=file, plugin_folders=plugins, open_types=open_types)

    def diff(self, old: str, new: str, *, plugins: Sequence[str] = (), open_types: bool = False) -> Differences:
        """Return the differences between two blueprints, including everything that each imports and inherits."""
        return self._call(ops.DIFF, old=old, new=new, plugin_folders=plugins, open_types=open_types)

    def explain(self, file: str, node: str, *, only: str = "", plugins: Sequence[str] = ()) -> Explained:
        """Return where each part of a node comes from: the blueprint, an import or a type.

        ``only``: return only parts whose path begins with this text, such as ``properties.port``.
        """
        return self._call(ops.EXPLAIN, file=file, node=node, only=only, plugin_folders=plugins)

    def schema(self, *, version: str = "cloudify_dsl_1_5") -> dict[str, Any]:
        """Return the JSON Schema of blueprints in this version of the blueprint language, for editors."""
        return self._call(ops.SCHEMA, version=version)

    def graph(self, file: str, *, plugins: Sequence[str] = ()) -> Drawing:
        """Return the nodes and their relationships as a diagram. No code of the blueprint runs."""
        return self._call(ops.DRAW_BLUEPRINT, file=file, plugin_folders=plugins)
