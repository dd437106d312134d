"""Damage blueprints a little: copies beside each file of a folder, each with one change that is drawn from a seed."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from differences import blueprints

VALUES: tuple[Any, ...] = (
    None,
    5,
    True,
    "text",
    "",
    [],
    {},
    ["a"],
    {"a": 1},
    {"get_input": "nowhere"},
    {"get_secret": ["a"]},
)
MARK = ".damaged-"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def damage(document: Any, draw: random.Random) -> None:
    """One change: something is left out, misspelt, or becomes something else."""
    path = draw.choice(list(places(document)))
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    last = path[-1]
    how = draw.choice(("leave out", "misspell", "replace", "replace"))
    if how == "replace":
        holder[last] = draw.choice(VALUES)
    elif how == "misspell" and isinstance(holder, dict):
        holder[f"{last}x"] = holder.pop(last)
    else:
        del holder[last]


def main() -> None:
    """Write the copies."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("folder", type=Path)
    said.add_argument("--copies", type=int, default=3)
    said.add_argument("--seed", type=int, default=1)
    given = said.parse_args()
    draw = random.Random(given.seed)
    for file in [path for path in blueprints(given.folder) if MARK not in path.name]:
        try:
            text = yaml.safe_load(file.read_text("utf-8"))
        except (yaml.YAMLError, ValueError):
            continue
        for number in range(given.copies if isinstance(text, dict) and text else 0):
            document = yaml.safe_load(yaml.safe_dump(text))
            damage(document, draw)
            beside = file.with_name(f"{file.stem}{MARK}{number}.yaml")
            beside.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")


if __name__ == "__main__":
    main()
