"""The methods ``client.deployments``: deployments are blueprints with inputs, under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun
from phaseline.client.execution_options import adoption_of, following, manner_of, order_of, update_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from phaseline.app.watcher import Watcher
    from phaseline.client.option_types import (
        ExecutionOptionsDict,
        FollowOptionsDict,
        UpdateExecutionOptionsDict,
    )
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.plan.preview.diagram import Drawing
    from phaseline.use_cases.commands.labels import Labels
    from phaseline.use_cases.queries.deployment_history import DeploymentHistory
    from phaseline.use_cases.queries.estate.dependencies import DependenciesView
    from phaseline.use_cases.queries.estate.drift import DriftView
    from phaseline.views.views import DeploymentDetails, DeploymentView, ExecutionView, Outputs, Page


class DeploymentsNoun(Noun):
    """Deployments: blueprints with inputs, under a name."""

    def list(
        self,
        *,
        status: str | None = None,
        text: str = "",
        labels: Sequence[str] = (),
        filter: str = "",  # noqa: A002 - the word of the command
        rules: Sequence[str] = (),
        site: str = "",
        limit: int | None = None,
    ) -> Page[DeploymentView]:
        """Return deployments by name, with the states of their instances and their latest execution.

        ``status``: only deployments with this status. ``text``: part of the name, the description or the blueprint's
        path. ``labels``: only deployments that have all of these labels. ``filter``: an expression over the row, or
        ``@NAME`` for a saved filter. ``rules``: only deployments for which all of these rules hold. ``site``: only
        deployments at this site.
        """
        return self._call(
            ops.LIST_DEPLOYMENTS,
            status=status, text=text, labels=labels, where=filter, rules=rules, site=site, limit=limit,
        )  # fmt: skip

    def tree(self, name: str) -> Sequence[DeploymentView]:
        """Return a deployment and all that belongs to it, each after one to which it belongs."""
        return self._call(ops.DEPLOYMENT_TREE, name=name)

    def drift(
        self,
        names: Sequence[str] = (),
        *,
        filter: str = "",  # noqa: A002 - the word of the command
        rules: Sequence[str] = (),
    ) -> Sequence[DriftView]:
        """Return the results of the latest checks of instances: of these deployments, or of those of a filter."""
        return self._call(ops.DEPLOYMENT_DRIFT, names=names, where=filter, rules=rules)

    def labels(self, name: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Labels:
        """Add labels (``KEY=VALUE``), remove labels (``KEY=VALUE`` or ``KEY``), and return all labels."""
        return self._call(ops.LABELS, name=name, add=add, remove=remove)

    def history(self, name: str, *, limit: int | None = None) -> DeploymentHistory:
        """Return the creation and executions of the deployment and the decisions of users, each with its user."""
        return self._call(ops.DEPLOYMENT_HISTORY, name=name, limit=limit)

    def show(self, name: str) -> DeploymentDetails:
        """Return one deployment with its inputs, its nodes and the folders of its code."""
        return self._call(ops.SHOW_DEPLOYMENT, name=name)

    def find(self, name: str) -> DeploymentDetails:
        """Return the deployment with exactly this name. Raises: PL-C010 with the name that was probably intended."""
        return self._call(ops.FIND_DEPLOYMENT, name=name)

    def graph(self, name: str) -> Drawing:
        """Return the nodes with their relationships and the states of their instances, as a diagram."""
        return self._call(ops.DRAW_DEPLOYMENT, name=name)

    def create(
        self,
        file: str,
        deployment: str | None = None,
        *,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] = (),
        labels: Sequence[str] = (),
        yes_many: bool = False,
        runtime_only_evaluation: bool = False,
        allow_missing_providers: bool = False,
        site: str | None = None,
        environment: str | None = None,
        watcher: Watcher | None = None,
    ) -> DeploymentDetails:
        """Create a deployment from a blueprint file, with all its instances, without calling any operation.

        ``deployment`` None: use the name of the file's folder. ``labels``: ``KEY=VALUE``, added to those of the
        blueprint. The other arguments are those of ``executions.install``.
        """
        order = order_of(
            file, deployment, inputs, plugins, labels, yes_many=yes_many, runtime_only=runtime_only_evaluation,
            allow_missing_providers=allow_missing_providers,
            site=site, environment=environment,
        )  # fmt: skip
        return self._call(ops.CREATE_DEPLOYMENT, order=order, watcher=watcher)

    def update(self, name: str, file: str, **options: Unpack[UpdateExecutionOptionsDict]) -> ExecutionView:
        """Update a deployment to another blueprint, or to other inputs. For a preview, call ``plans.update``."""
        order = update_of(name, file, options)
        return self._call(ops.UPDATE, order=order, manner=manner_of(options), **following(options))

    def export(self, deployment: str, *, heat: bool = False) -> Mapping[str, Value]:
        """Return the deployment as a document for ``adopt``. ``heat``: only with keys that documents of Heat have."""
        return self._call(ops.EXPORT, name=deployment, only_others=heat)

    def adopt(
        self,
        document: str,
        deployment: str | None = None,
        *,
        blueprint: str | None = None,
        inputs: Mapping[str, Value] | None = None,
        plugins: Sequence[str] | None = None,
        allow_type_change: bool = False,
        check: bool = True,
        **options: Unpack[ExecutionOptionsDict],
    ) -> ExecutionView:
        """Create a deployment of existing resources from the document in a file; no resource is created.

        ``deployment`` None: use the name in the document.
        """
        order = adoption_of(
            document, deployment, blueprint, inputs, plugins, allow_type_change=allow_type_change, check=check
        )
        return self._call(ops.ADOPT, order=order, manner=manner_of(options), **following(options))

    def abandon(self, deployment: str, *, force: bool = False, **options: Unpack[FollowOptionsDict]) -> ExecutionView:
        """Remove a deployment from the store without touching its resources.

        Its document is stored for 30 days under the execution's id.
        """
        return self._call(ops.ABANDON, name=deployment, force=force, **options)

    def inputs(self, name: str) -> Mapping[str, Value]:
        """Return the inputs of the deployment, including defaults; hidden inputs are shown as ``(hidden)``."""
        return self.show(name).inputs

    def outputs(self, name: str, *, reveal: bool = False) -> Mapping[str, Value]:
        """Return the outputs of the deployment; secrets in them are shown as ``(hidden)``, except with ``reveal``."""
        return self.compute(name, reveal=reveal).outputs

    def capabilities(self, name: str, *, reveal: bool = False) -> Mapping[str, Value]:
        """Return the capabilities of the deployment; secrets in them are shown as ``(hidden)`` without ``reveal``."""
        return self.compute(name, reveal=reveal).capabilities

    def compute(self, name: str, *, reveal: bool = False) -> Outputs:
        """Return the outputs and capabilities of the deployment, computed from the present data of its instances.

        Secrets in them are shown as ``(hidden)``, except with ``reveal``.
        """
        return self._call(ops.OUTPUTS, name=name, reveal=reveal)

    def dependencies(self, name: str, *, of: bool = True, on: bool = True, tree: bool = False) -> DependenciesView:
        """Return which deployments this one reads (``of``), and which read it (``on``).

        ``tree``: also what those read or are read by, and so on.
        """
        return self._call(ops.DEPENDENCIES, name=name, of=of, on=on, tree=tree)

    def delete(self, name: str, *, force: bool = False) -> DeploymentView:
        """Delete a deployment. Its name becomes free; its executions stay stored.

        ``force``: delete it even if some of its instances may still exist.
        """
        return self._call(ops.DELETE_DEPLOYMENT, name=name, force=force)
