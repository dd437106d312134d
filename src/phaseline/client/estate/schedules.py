"""The methods ``client.schedules``: workflows of deployments that start by the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.queries.estate.schedules import ScheduleHistory, SchedulePreview, ScheduleView
    from phaseline.use_cases.tools.timer_units import TimerUnits


class SchedulesNoun(Noun):
    """Schedules of deployments: when a workflow starts, and how often."""

    def create(
        self,
        name: str,
        deployment: str,
        *,
        workflow: str,
        parameters: Mapping[str, Value] | None = None,
        rrule: str | None = None,
        cron: str | None = None,
        every: str | None = None,
        weekdays: Sequence[str] = (),
        count: int | None = None,
        at: str | None = None,
        since: str | None = None,
        until: str | None = None,
        zone: str | None = None,
        slip: int | None = None,
        stop_on_fail: bool | None = None,
        catch_up: str | None = None,
    ) -> ScheduleView:
        """Store a schedule of a deployment. Give one of ``rrule``, ``cron``, ``every`` and ``at`` (once)."""
        from phaseline.use_cases.commands.estate.schedules import ScheduleOrder

        order = ScheduleOrder(
            workflow,
            parameters,
            rrule,
            cron,
            every,
            weekdays,
            count,
            at,
            since,
            until,
            zone,
            slip,
            stop_on_fail,
            catch_up,
        )
        return self._call(ops.CREATE_SCHEDULE, name=name, deployment=deployment, order=order)

    def update(
        self,
        name: str,
        deployment: str,
        *,
        workflow: str | None = None,
        parameters: Mapping[str, Value] | None = None,
        rrule: str | None = None,
        cron: str | None = None,
        every: str | None = None,
        weekdays: Sequence[str] = (),
        count: int | None = None,
        at: str | None = None,
        since: str | None = None,
        until: str | None = None,
        zone: str | None = None,
        slip: int | None = None,
        stop_on_fail: bool | None = None,
        catch_up: str | None = None,
    ) -> ScheduleView:
        """Change what is given of a schedule; None keeps it, and an empty ``until`` removes the end."""
        from phaseline.use_cases.commands.estate.schedules import ScheduleOrder

        order = ScheduleOrder(
            workflow,
            parameters,
            rrule,
            cron,
            every,
            weekdays,
            count,
            at,
            since,
            until,
            zone,
            slip,
            stop_on_fail,
            catch_up,
        )
        return self._call(ops.UPDATE_SCHEDULE, name=name, deployment=deployment, order=order)

    def list(self, deployment: str | None = None) -> Sequence[ScheduleView]:
        """Return the schedules of one deployment or of all."""
        return self._call(ops.LIST_SCHEDULES, deployment=deployment)

    def show(self, name: str, deployment: str) -> ScheduleView:
        """Return one schedule."""
        return self._call(ops.SHOW_SCHEDULE, name=name, deployment=deployment)

    def preview(self, name: str, deployment: str, *, count: int = 5) -> SchedulePreview:
        """Return the next times of a schedule, on the clock of its zone and in UTC."""
        return self._call(ops.PREVIEW_SCHEDULE, name=name, deployment=deployment, count=count)

    def history(self, name: str, deployment: str, *, count: int = 20) -> ScheduleHistory:
        """Return what became of the times at which a schedule was due, latest first."""
        return self._call(ops.SCHEDULE_HISTORY, name=name, deployment=deployment, count=count)

    def timer(self, *, install_user: bool = False) -> TimerUnits:
        """Return units of systemd that start each minute what is due; ``install_user``: write them for this user."""
        return self._call(ops.SCHEDULES_TIMER, install_user=install_user)

    def enable(self, name: str, deployment: str) -> ScheduleView:
        """Enable a schedule from its next time on."""
        return self._call(ops.ENABLE_SCHEDULE, name=name, deployment=deployment)

    def disable(self, name: str, deployment: str, *, reason: str = "") -> ScheduleView:
        """Disable a schedule until it is enabled again."""
        return self._call(ops.DISABLE_SCHEDULE, name=name, deployment=deployment, reason=reason)

    def delete(self, name: str, deployment: str) -> ScheduleView:
        """Delete a schedule with its history, and return it as it was."""
        return self._call(ops.DELETE_SCHEDULE, name=name, deployment=deployment)
