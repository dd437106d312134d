"""``phaseline docs``."""

from __future__ import annotations

from functools import partial

import click

from phaseline.app.manual import CODE, ManualPage, read_manual, search_manual, section_of
from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import json_option
from phaseline.model.problems.problem import problem_error

MOST = 8
"""The largest number of pages that a search lists."""


@click.command(epilog="Example: phaseline docs retry what failed")
@click.argument("words", nargs=-1, metavar="[WORD|CODE]...")
@json_option
@click.pass_obj
def docs(cli: CliContext, words: tuple[str, ...]) -> None:
    """Print a page of the documentation, or search all pages.

    Give the name of a page, the code of an error, or the words of a question. The pages are those of the installed
    version; no network is needed. Without arguments, list all pages.
    """
    pages = read_manual()
    question = " ".join(words)
    named = {page.name: page for page in pages}
    if not question:
        kinds = [page for page in pages if page.kind]
        cli.answer({"pages": [summary(page) for page in kinds], "total": len(kinds)}, partial(page_list, kinds))
    elif CODE.fullmatch(question) and (section := section_of(pages, question)):
        cli.answer({"code": question.upper(), "text": section}, section.strip)
    elif question in named:
        page = named[question]
        cli.answer({**summary(page), "text": page.text}, page.text.rstrip)
    elif hits := search_manual(pages, question)[:MOST]:
        rows = [{"page": hit.page, "title": hit.title} for hit in hits]
        cli.answer({"hits": rows, "total": len(rows)}, partial(hit_list, rows))
    else:
        raise problem_error("PL-C120", f"no page has '{question}'", "list the pages: phaseline docs")


def summary(page: ManualPage) -> dict[str, str]:
    """Return a page as a document, without its text."""
    return {"page": page.name, "title": page.title, "kind": page.kind, "result": page.result}


def page_list(pages: list[ManualPage]) -> str:
    """Return the pages by kind, each with what a reader can do after reading it."""
    widest = max(len(page.name) for page in pages)
    parts = []
    for kind in dict.fromkeys(("Tutorial", "Guide", "Concept", "Reference")):
        lines = [f"  {page.name:{widest}}  {page.result}" for page in pages if page.kind == kind]
        parts.append("\n".join([kind, *lines]))
    return "\n\n".join([*parts, "Read one: phaseline docs tutorial"])


def hit_list(rows: list[dict[str, str]]) -> str:
    """Return the pages that a search found, and the command that shows the first of them."""
    widest = max(len(row["page"]) for row in rows)
    lines = [f"{row['page']:{widest}}  {row['title']}" for row in rows]
    return "\n".join([*lines, "", f"Read one: phaseline docs {rows[0]['page']}"])
