"""A trial of a function as text: the call, and the outcome of each item."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean

if TYPE_CHECKING:
    from phaseline.use_cases.tools.try_function import Attempt, Tried


MOST_SHOWN = 20
"""The largest number of items shown one by one; of the others only the outcomes are counted."""
FORMS = {"bulk": "in bulk", "each": "one by one", "ctx": "one by one, with ctx"}


def attempt_text(found: Attempt) -> str:
    """Return the result of a trial as text: the call, then the outcome of each item."""
    count = len(found.items)
    calls = f"{found.calls} call{'s' * (found.calls != 1)} for {count} item{'s' * (count != 1)}"
    again = "may be repeated after a crash" if found.is_repeatable else "is unsure after a crash"
    lines = [f"{found.function}: {FORMS[found.form]}, {calls}; {again}"]
    for item in found.items[:MOST_SHOWN]:
        lines.extend(map(clean, _item(item)))
    tally = Counter(item.outcome for item in found.items)
    if count > 1:
        lines.append(", ".join(f"{number} {outcome}" for outcome, number in tally.items()))
    return "\n".join(lines)


def _item(item: Tried) -> Iterator[str]:
    after = f" in {item.after_s:g} s" if item.after_s is not None else ""
    message = f": {item.message}" if item.message else ""
    yield f"{item.instance}  {item.outcome}{after}{message}"
    for level, text in item.lines:
        yield f"  {level:<7}  {text}"
    for name, value in item.runtime_properties.items():
        yield f"  {name} = {json.dumps(value, ensure_ascii=False)}"
    if item.data is not None:
        yield f"  kept for the next call: {json.dumps(item.data, ensure_ascii=False)}"
    if item.traceback:
        yield from (f"  | {line}" for line in item.traceback.rstrip().splitlines())
