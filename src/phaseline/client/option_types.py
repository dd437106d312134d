"""The types of options that many methods of the client share, for type checkers; commands do not load this module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.execution import IfBusy
    from phaseline.use_cases.prepare.options import OnFailure


class FollowOptionsDict(TypedDict, total=False):
    """How long the caller waits.

    ``watcher``: receives the progress. ``detach``: return as soon as an engine has started the execution.
    """

    watcher: Watcher | None
    detach: bool


class StopOptionsDict(TypedDict, total=False):
    """Breakpoints of the execution.

    ``breakpoints``: points at which instances stop until they are cleared, such as ``pre-create=app_*``.
    ``break_timeout``: a span such as ``10m`` after which an instance that is still stopped fails.
    """

    breakpoints: Sequence[str]
    break_timeout: str | None


class RunOptionsDict(StopOptionsDict, total=False):
    """How an execution reacts to failures, time limits and other executions.

    ``task_retries``: number of retries of a failed call; None: the value of the settings; -1: without limit.
    ``on_failure``: ``continue``, ``stop`` or ``rollback``. ``stop_after``: ``3``, ``10%`` or ``30s``; begin nothing new
    after more than 3 failures, after more than 10 % failed calls of a node, or 30 seconds after the first failure.
    ``if_busy``: what to do if other executions have a claim on the same instances: ``wait`` for them, ``refuse`` or
    ``force``. ``timeout``: ``90s``, ``10m`` or ``2h``; an execution that takes longer is canceled.
    ``subgraph_retries``: number of repetitions of a failed life cycle. ``breakpoints``: points at which instances stop
    until they are cleared, such as ``pre-create=app_*``. ``break_timeout``: a span such as ``10m`` after which an
    instance that is still stopped fails.
    """

    task_retries: int | None
    on_failure: OnFailure
    stop_after: str | None
    if_busy: IfBusy
    timeout: str | None
    subgraph_retries: int | None


class ExecutionOptionsDict(RunOptionsDict, FollowOptionsDict, total=False):
    """How an execution is run.

    ``task_retries``: number of retries of a failed call; None: the value of the settings; -1: without limit.
    ``on_failure``: ``continue``, ``stop`` or ``rollback``. ``stop_after``: ``3``, ``10%`` or ``30s``; begin nothing new
    after more than 3 failures, after more than 10 % failed calls of a node, or 30 seconds after the first failure.
    ``if_busy``: what to do if other executions have a claim on the same instances: ``wait`` for them, ``refuse`` or
    ``force``. ``timeout``: ``90s``, ``10m`` or ``2h``; an execution that takes longer is canceled.
    ``subgraph_retries``: number of repetitions of a failed life cycle. ``breakpoints``: points at which instances stop
    until they are cleared, such as ``pre-create=app_*``. ``break_timeout``: a span such as ``10m`` after which an
    instance that is still stopped fails. ``watcher``: receives the progress. ``detach``: return as soon as an engine
    has started the execution.
    """


class UpdateOptionsDict(TypedDict, total=False):
    """What an update does.

    ``inputs``: new values; all other inputs stay. ``plugins``: folders of plugins; None: those of the deployment.
    ``parameters``: any parameters of the workflow ``update``. The other options are those of the command ``phaseline
    deployments update``.
    """

    inputs: Mapping[str, Value] | None
    plugins: Sequence[str] | None
    parameters: Mapping[str, Value] | None
    runtime_only_evaluation: bool
    allow_missing_providers: bool
    force: bool
    workflow_id: str | None
    reinstall: Sequence[str]
    allow_replace: bool
    skip_uninstall: bool
    skip_install: bool
    skip_drift_check: bool
    skip_heal: bool
    skip_reinstall: bool
    force_reinstall: bool
    ignore_failure: bool
    auto_correct_types: bool


class UpdateAndRunOptionsDict(UpdateOptionsDict, RunOptionsDict, total=False):
    """What an update does and how it is run.

    The options ``inputs`` … ``auto_correct_types`` are those of ``UpdateOptionsDict``, the options ``task_retries`` …
    ``break_timeout`` those of ``RunOptionsDict``.
    """


class UpdateExecutionOptionsDict(UpdateOptionsDict, ExecutionOptionsDict, total=False):
    """What an update does (``inputs`` … ``auto_correct_types``), and how it is run (``task_retries`` … ``detach``).

    ``inputs``: new values; all other inputs stay. ``plugins``: folders of plugins; None: those of the deployment.
    ``parameters``: any parameters of the workflow ``update``. The other options are those of the command ``phaseline
    deployments update`` and of ``executions.install``.
    """
