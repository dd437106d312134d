"""Find the workflows of a blueprint's plugins and of installed distributions, and built-in ones under other names.

A name is looked up in this order: the blueprint's mapping, the built-in workflows, the workflows of distributions
(B23, W62).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.plan.workflows import PLANNERS, built_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint, WorkflowMapping
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import GoOn, History, Request, Reshape, Verdict
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare
    from phaseline.plan.graph.workflow import Planner, Workflow
    from phaseline.ports.catalog import Catalog

GROUP = "phaseline.workflows"
"""Group of entry points for planners; the name of an entry point is that of its workflow."""
REFUSED: Mapping[str, str] = dict.fromkeys(
    ("install_new_agents", "validate_agents"),
    "there are no agents on hosts: operations run where the engine is, or are sent to hosts by the plugin",
)
"""{built-in workflow of Cloudify that is not supported: reason} (decision 8)."""


def find_own(catalog: Catalog, blueprint: Blueprint, code: CodeLocation, name: str) -> Workflow | None:
    """Return the workflow of this name from a plugin, or None if it is built in or does not exist.

    Raises: PL-P011 for a workflow that cannot be run here, PL-P036 for one that cannot be loaded.
    """
    mapped = blueprint.workflows.get(name)
    if mapped is None and name in REFUSED:
        raise problem_error("PL-P011", f"the workflow '{name}' cannot be run: {REFUSED[name]}", _usable(blueprint))
    if mapped is None:
        return None if name in PLANNERS else _announced(name)
    if mapped.built_in == name and name in PLANNERS:
        return None
    if mapped.built_in in PLANNERS:
        return _as(mapped.built_in)
    if mapped.built_in:
        why = REFUSED.get(mapped.built_in, "Phaseline has no workflow of that name")
        raise problem_error(
            "PL-P011", f"the workflow '{name}' is the built-in '{mapped.built_in}': {why}", _usable(blueprint)
        )
    if mapped.form != "function":
        what = "an inline script" if mapped.form == "inline" else f"the script '{mapped.mapping}'"
        message = f"the workflow '{name}' is {what}, and scripts cannot plan"
        raise problem_error("PL-P011", message, f"write it as a planner (phaseline.planning); {_usable(blueprint)}")
    return _of_plugin(catalog, code, mapped, blueprint)


def planner_of(ctx: RequestContext, blueprint: Blueprint, code: CodeLocation, name: str) -> Planner | None:
    """Return the planner of a workflow for a deployment, or None if there is no such workflow.

    Raises: the errors of ``find_own``.
    """
    own = find_own(ctx.catalog, blueprint, code, name)
    return PLANNERS.get(name) if own is None else own.plan


def unknown_workflow(name: str, blueprint: Blueprint) -> ProblemsError:
    """Return PL-P009: the blueprint has no workflow of this name."""
    known = sorted({*PLANNERS, *blueprint.workflows, *announced_names()})
    hint = did_you_mean(name, known)
    mend = f"{hint} there are: {', '.join(known)}".strip()
    return problem_error("PL-P009", f"there is no workflow '{name}'", mend)


def is_built_in(name: str) -> bool:
    """Return True if a built-in workflow has this name."""
    return name in PLANNERS


def announced_names() -> list[str]:
    """Return the names of the workflows that installed distributions announce."""
    from importlib.metadata import entry_points

    return sorted({point.name for point in entry_points(group=GROUP)})


def _announced(name: str) -> Workflow | None:
    from importlib.metadata import entry_points

    points = [point for point in entry_points(group=GROUP) if point.name == name]
    return _loaded(points[0].load, f"the workflow '{name}' of an installed package") if points else None


def _of_plugin(catalog: Catalog, code: CodeLocation, mapped: WorkflowMapping, blueprint: Blueprint) -> Workflow:
    what = f"the workflow '{mapped.name}' is the function '{mapped.mapping}'"
    found = _loaded(lambda: catalog.load(mapped.mapping, code), what)
    if found is None:
        message = f"{what}, which is no planner"
        mend = f"mark a planner with @workflow of phaseline.planning; workflows for Cloudify's own engine cannot run here; {_usable(blueprint)}"
        raise problem_error("PL-P011", message, mend)
    return found


def _loaded(load: Callable[[], object], what: str) -> Workflow | None:
    """Return the loaded object if it is marked as a workflow, or None.

    Raises: PL-P036 with the error of its import.
    """
    from phaseline.planning import MARK, Workflow

    try:
        loaded = load()
    except ProblemsError:
        raise
    except Exception as error:  # third-party code may raise any exception
        message = f"{what}, which cannot be loaded: {type(error).__name__}: {error}"
        raise problem_error("PL-P036", message, "install what it needs, or correct it") from error
    found = loaded if isinstance(loaded, Workflow) else getattr(loaded, MARK, None)
    return altered(found, plan=_guarded(found.plan, what)) if isinstance(found, Workflow) else None


def _guarded(planner: Planner, what: str) -> Planner:
    """Return a planner that calls a third-party planner and converts its exceptions to problems.

    So an exception ends only the execution for which it was raised. ``what`` is the beginning of these problems.
    """

    def plan(
        topology: Topology, request: Request, history: History, declare: Declare
    ) -> Graph | Reshape | GoOn | Verdict:
        try:
            return planner(topology, request, history, declare)
        except ProblemsError:
            raise
        except Exception as error:
            told = f"{what}, which failed while it planned: {type(error).__name__}: {error}"
            raise problem_error("PL-P037", told, "correct the planner; phaseline.testing.rehearse tries it") from error

    return plan


def _as(name: str) -> Workflow:
    """Return the built-in workflow of this name, for use under another name in a blueprint."""
    known = built_in(name)
    return altered(
        known,
        plan=lambda topology, request, history, declare: known.plan(
            topology, altered(request, workflow=name), history, declare
        ),
        problems=lambda topology, request: known.problems(topology, altered(request, workflow=name)),
        warnings=lambda topology, request: known.warnings(topology, altered(request, workflow=name)),
        claims=lambda topology, request: known.claims(topology, altered(request, workflow=name)),
    )


def _usable(blueprint: Blueprint) -> str:
    usable = [name for name in PLANNERS if (found := blueprint.workflows.get(name)) is None or found.built_in == name]
    return f"these can: {', '.join(sorted(usable))}"
