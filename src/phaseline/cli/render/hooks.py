"""Hook classes as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean, colored, facts, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.embedded.reload_plugins import HooksReloaded
    from phaseline.use_cases.queries.hooks import HookList, HookView, Switched
    from phaseline.use_cases.tools.hook_trial import HookTried

NO_HOOKS = (
    "No hook classes. They are searched in the installed packages (entry points of the group phaseline.hooks;\n"
    "with hooks.heat_compat also heat.stack_lifecycle_plugins) and in the settings ([[hooks.classes]])."
)


def hook_list(found: HookList) -> str:
    """Return a table of hook classes, the problems of broken classes, and warnings.

    If there are no classes, return the folders that were searched.
    """
    if not found.hooks:
        return NO_HOOKS
    columns: Columns[HookView] = {
        "name": lambda hook: hook.name,
        "state": lambda hook: hook.state,
        "ordinal": lambda hook: hook.ordinal,
        "class": lambda hook: hook.implementation,
        "from": origin,
        "actions": lambda hook: hook.actions or "all",
    }
    lines = [table(columns, found.hooks)]
    lines += [f"{clean(hook.name)}: {clean(hook.fault)}" for hook in found.hooks if hook.state == "broken"]
    lines += [f"{clean(hook.name)} was disabled by {clean(hook.off)}" for hook in found.hooks if hook.off]
    lines += [f"note: {clean(text)}" for text in found.warnings]
    return "\n".join(lines)


def origin(hook: HookView) -> str:
    """Return the distribution or the setting that announces a hook class."""
    return hook.distribution or hook.group


def hook_text(hook: HookView) -> str:
    """Return a text with everything about one hook class."""
    lines = facts(
        10,
        ("class", hook.implementation),
        ("from", " of ".join(filter(None, (hook.group, hook.distribution)))),
        ("ordinal", hook.ordinal),
        ("methods", hook.methods or "none"),
        ("actions", hook.actions or "all"),
        ("timeout", f"{hook.timeout_s:g} s"),
        ("marks", ["critical"] * hook.critical + ["optional"] * hook.optional or "none"),
        ("folder", hook.folder),
        ("options", json.dumps(dict(hook.options)) if hook.options else None),
        ("fault", hook.fault),
        ("off", hook.off and f"by {hook.off}"),
        ("off for", hook.deployments),
    )
    return "\n".join([f"{clean(hook.name)}: {colored(hook.state)}", *map(clean, lines)])


def hooks_text(hooks: Sequence[HookView]) -> str:
    """Return a text about several hook classes of one name."""
    return "\n\n".join(hook_text(hook) for hook in hooks)


def switched_text(done: Switched) -> str:
    """Return a text about whether the hook class is on or off from now on."""
    where = f" for '{done.deployment}'" if done.deployment else ""
    if done.was_so and done.is_on:
        return f"The hook class '{done.name}' was enabled{where} before."
    if done.was_so:
        now = f" The reason is now: {clean(done.reason)}" if done.reason else ""
        return f"The hook class '{done.name}' was disabled{where} before, by {clean(done.former)}.{now}"
    word = "enabled" if done.is_on else "disabled"
    return f"The hook class '{done.name}' is {word}{where} from the next action on; running actions are not affected."


def reloaded_text(done: HooksReloaded) -> str:
    """Return a text with the number of hook classes, the process that reads them, and their problems."""
    broken = [hook for hook in done.hooks if hook.state == "broken"]
    count = f"{len(done.hooks)} hook class{'es' * (len(done.hooks) != 1)}"
    who = f"the engine (process {done.pid}) reloads them" if done.pid else "no engine runs"
    lines = [f"{count}, of which {len(broken)} cannot be used; {who}."]
    lines += [f"{clean(hook.name)}: {clean(hook.fault)}" for hook in broken]
    return "\n".join([*lines, *(f"note: {clean(text)}" for text in done.warnings)])


def tried_text(tried: HookTried) -> str:
    """Return the verdict of the tested class and everything that it recorded, as text."""
    head = f"{tried.name}.{tried.method} for {tried.action} of '{tried.deployment}' {tried.answer} after {tried.took_ms} ms"
    lines = [f"{head}: {tried.message}" if tried.message else head]
    lines += [f"  warned   {text}" for text in tried.warnings]
    lines += [f"  decided  {one}: {json.dumps(dict(said))}" for one, said in tried.decisions.items()]
    lines += [f"  {text}" for text in tried.lines if not text.startswith("warning: ")]
    if tried.traceback:
        lines += [f"  {line}" for line in tried.traceback.rstrip().splitlines()]
    return "\n".join(map(clean, lines))
