"""Conversion of a ``PrePost`` (hooks and stage tasks before and after an execution) to JSON, and back."""

from __future__ import annotations

import json
from types import ModuleType
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import as_dict
from phaseline.model.execution.pre_post import PinnedHookClass, PrePost
from phaseline.store.codec.json_documents import to_text

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection


def around_to_text(around: PrePost) -> str:
    """Return a ``PrePost`` as JSON."""
    return to_text(
        {
            "hooks": [as_dict(hook) for hook in around.hooks],
            "taking_back": [as_dict(hook) for hook in around.taking_back],
            "stages": None if around.stages is None else _stage_tasks().to_json(around.stages),
        }
    )


def around_from_text(text: str) -> PrePost:
    """Return the ``PrePost`` that ``around_to_text`` has converted to JSON."""
    found = json.loads(text)
    return PrePost(
        hooks=tuple(PinnedHookClass(**hook) for hook in found["hooks"]),
        taking_back=tuple(PinnedHookClass(**hook) for hook in found["taking_back"]),
        stages=None if found["stages"] is None else _stage_tasks().from_json(found["stages"]),
    )


def _stage_tasks() -> ModuleType:
    from phaseline.model.packages import stage_tasks

    return stage_tasks


def add_around(db: Connection, execution: int, around: PrePost) -> None:
    """Store the hooks and stage tasks before and after an execution."""
    db.execute("insert into around values (?, ?)", (execution, around_to_text(around)))


def read_around(db: Connection, execution: int) -> PrePost:
    """Return the hooks and stage tasks before and after an execution; empty if none were stored with the execution."""
    found = db.execute("select body from around where execution = ?", (execution,)).fetchone()
    return around_from_text(found[0]) if found else PrePost()
