"""``python -m tools.api_changes [REPOSITORY]``: breaking changes of the public Python names since the last release.

Run by ``make apicheck`` in the environment of the site, which has griffe. Modules are read, not imported.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = ("phaseline", "phaseline.planning", "phaseline.testing", "phaseline.policies")


def last_tag(repository: Path) -> str | None:
    """The newest tag of a release that this commit comes from; None before the first."""
    words = ["git", "-C", repository, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def breaking_changes(repository: Path, tag: str) -> list[str]:
    """One line for each public name that a program can no longer use as at the tag."""
    before = griffe.load_git("phaseline", ref=tag, repo=repository, search_paths=["src"], resolve_aliases=True)
    after = griffe.load("phaseline", search_paths=[repository / "src"], resolve_aliases=True)
    found = []
    for name in reversed(PUBLIC):  # the package last: modules below it are forgotten then
        below = name.partition(".")[2]
        if below and (below not in before.members or below not in after.members):
            found += [f"{name}: module was removed"] if below in before.members else []
            continue
        old, new = (before[below], after[below]) if below else (before, after)
        for module in (old, new):
            forget_inner_modules(module)
        changes = griffe.find_breaking_changes(old, new)
        found += [re.sub(r"\x1b\[\d+m", "", change.explain(griffe.ExplanationStyle.ONE_LINE)) for change in changes]
    return sorted(set(found))


def forget_inner_modules(module: griffe.Object | griffe.Alias) -> None:
    """Leave out modules below one that says its public names, unless they are among them: they are free to change."""
    for name, member in list(module.members.items()):
        if module.exports is not None and name not in module.exports and not member.is_alias and member.is_module:
            del module.members[name]


def main() -> int:
    """Print them; 1 if there are any."""
    repository = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    tag = last_tag(repository)
    if tag is None:
        print("no release is tagged yet (v0.1.0 and the like): there is nothing to compare with")
        return 0
    changes = breaking_changes(repository, tag)
    print("\n".join(changes) or f"nothing public is broken since {tag}")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
