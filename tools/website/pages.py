"""The tree of pages from which the site is built: ``docs/``, the front page, the changelog and the examples, linked to one another.

The pages stay where a reader of the repository finds them. Links that lead out of ``docs/`` are rewritten to the
place that their target has in the tree; a link to something that the site does not show becomes plain text.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRONT = {"README.md": "index.md", "docs/README.md": "contents.md", "CHANGELOG.md": "changelog.md"}
"""{source: place in the tree} of pages that are called otherwise on the site."""
STYLES = Path(__file__).with_name("site.css")
OTHERS = ("CONTRIBUTING.md", "SECURITY.md")
API = {
    "phaseline": "What plugins and programs import",
    "phaseline.planning": "What planners of workflows are made of",
    "phaseline.testing": "The kit for testing plugins and blueprints",
    "phaseline.policies": "Hook classes that come with the product",
}
"""{public module: what it is for}: each gets a page, made of its docstrings."""
SHOWN_WHOLE = {"phaseline.policies"}
"""Packages of which every module is public; the others say their names in ``__all__``."""
MODULES_OF = {
    "phaseline.planning": {
        "operations": "phaseline.plan.graph.operation_names",
        "restrictions": "phaseline.plan.requests.restriction_validation",
        "scaling": "phaseline.plan.topology.scale_request",
        "under_way": "phaseline.plan.topology.modification_lifecycle",
    },
    "phaseline.testing": {"crash_points": "phaseline.testing.crash_points"},
}
"""{public module: {public name in it: the module that it is, or that has its name}}."""

_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
_COMMAND = re.compile(r"^## (phaseline(?: [\w-]+)*)$", re.MULTILINE)
KIND = re.compile(
    r"\A# [^\n]+\n\n\*\*(?P<kind>Tutorial|Guide|Concept|Reference)\*\* for (?P<reader>[^.]+?)\.\s+"
    r"You\s+will\s+have:\s+(?P<result>(?:[^\n]|\n(?!\n))+?)\.\n\n"
)
"""The sentence below the title of a page: its kind, its reader, and what a reader has at its end."""

KIND_BOOSTS = {"Tutorial": 8, "Guide": 8, "Concept": 2, "Reference": 1}
BOOSTS = {
    "adr/": 0.1,
    "changelog": 0.1,
    "conformance": 0.1,
    "python/": 0.2,
    "departures": 0.2,
    "cli": 0.5,
    "glossary": 1.5,
}
"""{beginning of a place: what its words count}, before the kind of the page decides."""

WORDS = {
    "ci.md": "pipeline continuous integration gitops exit",
    "coming-from-other-tools.md": "terraform ansible helm nomad",
    "interruptions.md": "timeout limit interrupt retries",
    "coming-from-heat.md": "openstack stack template",
    "day-2.md": "heal scale update upgrade drift",
    "first-plugin.md": "plugin write operation function",
    "operators.md": "wait stuck hang slow retry failed cancel resume crash kill disk",
    "policies.md": "approve approval quota budget placement freeze",
    "secrets.md": "password token credential key encrypt",
    "testing.md": "test rehearse mock simulate",
    "tutorial.md": "begin start install crash kill resume",
    "writing-blueprints.md": "validate check lint editor explain diff",
}
"""{page: words of readers that lead to it, whether or not the page uses them}."""


def sources(root: Path = ROOT) -> dict[str, str]:
    """{place in the repository: place in the tree} of every page and picture."""
    found = dict(FRONT)
    for file in sorted((root / "docs").rglob("*")):
        name = file.relative_to(root).as_posix()
        if file.suffix in {".md", ".svg", ".png", ".cast"}:
            found.setdefault(name, name.removeprefix("docs/"))
    for name in OTHERS:
        if (root / name).exists():
            found[name] = name.lower()
    for page in sorted((root / "examples").glob("*/README.md")):
        found[page.relative_to(root).as_posix()] = f"examples/{page.parent.name}.md"
    return found


def rewrite(text: str, source: str, places: Mapping[str, str], commands: Mapping[str, str]) -> str:
    """The text with each link led to where its target is in the tree. Blocks of code stay unchanged.

    ``commands``: {anchor of a command: its page}, because the site has a page for each noun of the command line.

    >>> rewrite("[c](../CHANGELOG.md#a) [s](../src)", "docs/api.md", {"CHANGELOG.md": "changelog.md"}, {})
    '[c](changelog.md#a) s'
    """
    here = places.get(source, source.removeprefix("docs/"))

    def lead(found: re.Match[str]) -> str:
        target, _, anchor = found["target"].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        place = places.get(wanted) or places.get(f"{wanted}/README.md")
        if place is None:
            return found["text"]
        if place == "cli.md":
            place = commands.get(anchor, place)
        way = posixpath.relpath(place, posixpath.dirname(here) or ".")
        return f"{found['image']}[{found['text']}]({way}{'#' if anchor else ''}{anchor})"

    return outside_fences(text, lambda part: _LINK.sub(lead, part))


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """The text with every part changed that is not a block of code."""
    parts, at = [], 0
    for block in _FENCE.finditer(text):
        parts += [change(text[at : block.start()]), block[0]]
        at = block.end()
    return "".join([*parts, change(text[at:])])


def split_commands(text: str) -> dict[str, str]:
    r"""``cli.md`` as {place: text}: the page about all commands, and one for each word after ``phaseline``.

    >>> sorted(split_commands("# Commands\n\n## phaseline\n\nx\n\n## phaseline plan\n\ny\n"))
    ['cli.md', 'cli/plan.md']
    """
    heads = list(_COMMAND.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    pages: dict[str, str] = {"cli.md": text[: heads[0].start()]}
    listed: list[str] = []
    for head, end in zip(heads, ends, strict=True):
        section = text[head.start() : end]
        words = head[1].split()
        if len(words) == 1:
            pages["cli.md"] += section
            continue
        place = f"cli/{words[1]}.md"
        if place not in pages:
            listed.append(f"- [{head[1]}](cli/{words[1]}.md)")
            pages[place] = "# " + section.removeprefix("## ")
        else:
            pages[place] += section
    pages["cli.md"] += "## Every command\n\n" + "\n".join(listed) + "\n"
    return pages


def command_pages(text: str) -> dict[str, str]:
    """{anchor in ``cli.md``: the page on which the command is}."""
    return {
        head.replace(" ", "-"): "cli.md" if head == "phaseline" else f"cli/{head.split()[1]}.md"
        for head in _COMMAND.findall(text)
    }


def decisions(pages: Mapping[str, str]) -> str:
    """A page that lists the decisions, by their titles."""
    lines = [
        f"- [{title_of(text)}]({name.removeprefix('adr/')})"
        for name, text in sorted(pages.items())
        if re.match(r"adr/\d", name)
    ]
    return (
        "# Decisions\n\nChoices that are costly to undo, each with its reasons and its measurements.\n\n"
        + "\n".join([*lines, ""])
    )


def api_pages(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """(place, text) of the pages that are made of docstrings."""
    links = "\n".join(f"- [`{module}`]({module}.md): {what}" for module, what in API.items())
    yield (
        "python/index.md",
        f"# Python names\n\nEvery public name with its docstring. [From Python](../api.md) tells how they are used.\n\n{links}\n",
    )
    for module, what in API.items():
        below = dict(MODULES_OF.get(module, {}))
        if module in SHOWN_WHOLE:
            files = sorted((root / "src" / module.replace(".", "/")).glob("[!_]*.py"))
            below |= {file.stem: f"{module}.{file.stem}" for file in files}
        parts = "".join(
            f"\n## {name}\n\n::: {home}\n    options: {{heading_level: 3}}\n" for name, home in below.items()
        )
        yield f"python/{module}.md", f"# {module}\n\n{what}.\n\n::: {module}\n{parts}"


def with_boost(place: str, text: str) -> str:
    """The text with how much its words count in the search: a guide more than a list, a list more than history."""
    kind = KIND.match(text)
    boost = next((value for start, value in BOOSTS.items() if place.startswith(start)), None)
    if boost is None:
        boost = KIND_BOOSTS[kind["kind"]] if kind else 1
    tags = f"tags: [{', '.join(WORDS[place].split())}]\n" if place in WORDS else ""
    return f"---\n{tags}search:\n  boost: {boost}\n---\n\n{text}"


def title_of(text: str) -> str:
    """The first heading."""
    return text.partition("# ")[2].partition("\n")[0].strip()


def tree(root: Path = ROOT) -> dict[str, str]:
    """{place in the tree: text} of all pages."""
    places = sources(root)
    commands = command_pages((root / "docs/cli.md").read_text("utf-8"))
    pages: dict[str, str] = {}
    for source, place in places.items():
        if not place.endswith(".md"):
            continue
        text = rewrite((root / source).read_text("utf-8"), source, places, commands)
        pages.update(split_commands(text) if place == "cli.md" else {place: text})
    pages["adr/index.md"] = decisions(pages)
    pages.update(api_pages(root))
    return pages


def write(folder: Path, root: Path = ROOT) -> dict[str, str]:
    """Write the tree into ``folder``, which is made anew; what was written."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = tree(root)
    for place, text in pages.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(with_boost(place, text), "utf-8")
    for source, place in sources(root).items():
        if not place.endswith(".md"):
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / source, folder / place)
    (folder / "assets").mkdir()
    shutil.copyfile(STYLES, folder / "assets/site.css")
    return pages
