"""The plan of a blueprint: everything merged and checked, as one document (B50)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phaseline.dsl import reader
from phaseline.dsl.documents import merged_plan
from phaseline.use_cases.loading import blueprint_loading

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext


def planned(
    ctx: RequestContext, file: str, *, plugin_folders: Sequence[str] = (), open_types: bool = False
) -> dict[str, Any]:
    """The plan that Cloudify's parser makes of the same file. Raises ``ProblemsError`` with all problems of the file."""
    opened = blueprint_loading.open_blueprint(ctx, file, plugin_folders)
    return merged_plan.plan_document(*reader.read_whole(opened.file, opened.files, open_types=open_types))
