"""Resolve the text of an implementation: a script file, the text of a script, or a function of a plugin (B31)."""

from __future__ import annotations

import posixpath
import re
import textwrap
from collections.abc import Collection, Mapping
from typing import Literal

from phaseline.dsl.text.document import NAMESPACE
from phaseline.dsl.text.file_source import FileSource
from phaseline.dsl.text.problem_report import ProblemReport
from phaseline.dsl.text.value_words import quoted_list
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint.blueprint import Plugin

SCRIPT_PLUGIN = "script"
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*://"
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_SCRIPT_ENDING = re.compile(r"\.(sh|bash|zsh|py|ps1|bat|cmd|rb|pl|js)$|/")

Form = Literal["function", "script", "inline"]


class Scripts:
    """Finds scripts in the blueprint's folder, and in uploaded blueprints by their namespace."""

    def __init__(self, source: FileSource, namespaces: Mapping[str, str]) -> None:
        """Store the source and ``namespaces``: {namespace: the uploaded blueprint imported under it, or ""}."""
        self._source = source
        self._namespaces = dict(sorted(namespaces.items(), key=lambda item: -len(item[0])))

    def find(self, text: str) -> str | None:
        """Return the path of the script that a text names, or None.

        The path is relative to the blueprint's folder; for an uploaded blueprint it begins with the namespace.
        """
        if self._source.exists(text):
            return text
        if not self._namespaces or NAMESPACE not in text:
            return None
        for namespace, uploaded in self._namespaces.items():
            path = text.removeprefix(f"{namespace}{NAMESPACE}")
            if path == text:
                continue
            main = self._source.uploaded(uploaded) if uploaded else None
            if main is not None:
                return text if self._source.exists(posixpath.join(posixpath.dirname(main), path)) else None
            return path if self._source.exists(path) else None
        return None


class Mapped(NamedTuple):
    """Meaning of an implementation text."""

    form: Form
    plugin: str
    implementation: str


class ImplementationProblem(NamedTuple):
    """Reason why an implementation text has no meaning."""

    code: str
    message: str
    mend: str


class Mappings:
    """Resolves implementation texts with the plugins and files of the blueprint; each text only once."""

    def __init__(
        self,
        plugins: Mapping[str, Plugin],
        broken: Collection[str],
        scripts: Scripts,
        report: ProblemReport,
        *,
        is_open: bool = False,
        otherwise: str = "",
    ) -> None:
        """Store the plugins. ``broken`` are plugins that exist but have errors and cannot be used.

        With ``is_open``, undeclared plugins count as declared. ``otherwise`` is the advice for a missing plugin.
        """
        self._is_open = is_open
        self._otherwise = otherwise
        self.plugins = plugins
        self._names = {*plugins, *broken}
        self._scripts = scripts
        self._report = report
        self._known: dict[str, Mapped | ImplementationProblem] = {}

    def resolve(self, text: str) -> Mapped | ImplementationProblem:
        """Return the first possible meaning of the text, in the order that B31 defines."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._resolve(text)
        return found

    def _resolve(self, text: str) -> Mapped | ImplementationProblem:
        if "://" in text and re.match(_SCHEME, text):
            return self._script("script", text)
        if "\n" in text:
            return self._script("inline", textwrap.dedent(text))
        path = self._scripts.find(text)
        if path is not None:
            return self._script("script", path)
        fitting = [name for name in self._names if text.startswith(f"{name}.")]
        if len(fitting) > 1:
            return ImplementationProblem(
                "PL-B061", f"'{text}' fits several plugins: {quoted_list(fitting)}", "rename one of the plugins"
            )
        if fitting:
            function = text[len(fitting[0]) + 1 :]
            if all(part.isidentifier() for part in function.split(".")):
                return Mapped("function", fitting[0], function)
            return ImplementationProblem(
                "PL-B060",
                f"'{text}' does not name a function of the plugin '{fitting[0]}'",
                f"write '{fitting[0]}.MODULE.FUNCTION'",
            )
        return self._nothing(text)

    def _script(self, form: Form, text: str) -> Mapped | ImplementationProblem:
        plugin = self._script_plugin()
        if not plugin:
            return ImplementationProblem(
                "PL-B062",
                "a script needs the plugin 'script', which is not declared",
                "import 'cloudify/types/types.yaml'",
            )
        return Mapped(form, plugin, text)

    def _script_plugin(self) -> str:
        """Return the name of the plugin that runs scripts, or "": the usual one first, then one under a namespace."""
        if SCRIPT_PLUGIN in self._names:
            return SCRIPT_PLUGIN
        return next((name for name in sorted(self._names) if name.endswith(f"{NAMESPACE}{SCRIPT_PLUGIN}")), "")

    def _nothing(self, text: str) -> Mapped | ImplementationProblem:
        if _SCRIPT_ENDING.search(text):
            return ImplementationProblem(
                "PL-B067",
                f"there is no script '{text}' beside the blueprint",
                "check the path; it is relative to the blueprint's folder",
            )
        plugin, _, function = text.partition(".")
        if self._is_open and _FUNCTION.fullmatch(function):
            return Mapped("function", plugin, function)
        otherwise = (
            self._otherwise
            or f"write PLUGIN.MODULE.FUNCTION with one of {quoted_list(self._names)}, or the path of a script"
        )
        return ImplementationProblem(
            "PL-B060",
            f"'{text}' is neither a script nor a function of a declared plugin",
            self._report.suggest(plugin, self._names, otherwise),
        )
