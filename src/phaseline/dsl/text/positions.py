"""Find the positions of elements in a text, by their paths: a second pass, made only for texts with problems."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from phaseline.model.problems.problem import Place

if TYPE_CHECKING:
    from phaseline.dsl.text.document import Document
    from phaseline.dsl.text.problem_report import Path


FEW = 20
"""Largest number of keys in a mapping that is searched for each lookup; larger mappings get an index."""


_TRUTHS = frozenset(
    one for word in ("yes", "no", "on", "off", "true", "false") for one in (word, word.title(), word.upper())
)
"""All spellings of true and false in YAML 1.1."""


class Positions:
    """Positions of the elements in one text, which is parsed at the first lookup."""

    def __init__(self, document: Document) -> None:
        """Store the document; its text is parsed at the first lookup."""
        self._document = document
        self._lines: list[str] | None = None
        self._tree: Any = None
        self._is_composed = False
        self._entries: dict[int, tuple[Any, Mapping[str, tuple[Any, Any]]]] = {}
        self._near: tuple[tuple[object, str], Any] = (("", ""), None)
        self._next: dict[str, dict[str, tuple[int, int]]] = {}

    def place(self, path: Path, point: Literal["key", "value"], line: int = 0, column: int = 0) -> Place:
        """Return the position of an element; ``line`` and ``column`` are used if they are known already."""
        if not line:
            line, column = self._find(path, point)
        if self._lines is None:
            self._lines = self._document.readable.splitlines()
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        if self._document.gaps:
            column = self._document.own_column(line, column)
            text = self._document.text.splitlines()[line - 1]
        return Place(self._document.name, line, column, dotted(path), text)

    def _find(self, path: Path, point: Literal["key", "value"]) -> tuple[int, int]:
        """Return line and column, from 1, of the deepest element of ``path`` that exists in the text."""
        found = self._find_near(path, point)
        if found is not None:
            return found
        node = self._root()
        return (1, 1) if node is None else self._within(node, path, point)

    def _find_near(self, path: Path, point: Literal["key", "value"]) -> tuple[int, int] | None:
        """Find a position by parsing only the text of the element that contains it.

        Return None if that text cannot be parsed without the rest of the file.
        """
        section = path[0] if len(path) > 1 else ""
        if section not in self._document.marks:
            return None
        name = self._document.own_name(str(path[1]))
        place = self._document.marks[section].get(name)
        if place is None:
            return None
        if self._near[0] != (section, name):
            # The next question is mostly about the same one; all of them would fill the memory.
            self._near = ((section, name), self._element(str(section), name, place))
        node = self._near[1]
        if node is None:
            return None
        line, column = self._within(node, (name, *path[2:]), point)
        return (line + place[0] - 1, column + place[1] - 1 if line == 1 else column)

    def _element(self, section: str, name: str, place: tuple[int, int]) -> Any:
        """Parse one element: the text from its key to the next key."""
        import yaml

        from phaseline.dsl.text.yaml_reader import Loader

        if section not in self._next:
            places = list(self._document.marks[section].items())
            self._next[section] = {key: following for (key, _), (_, following) in pairwise(places)}
        following = self._next[section].get(name)
        if self._lines is None:
            self._lines = self._document.readable.splitlines()
        if following is None or following <= place:
            return None
        lines = self._lines[place[0] - 1 : following[0]]
        lines[-1] = lines[-1][: following[1] - 1]
        lines[0] = lines[0][place[1] - 1 :]
        try:
            return Loader("\n".join(lines).rstrip(" ,\n\t")).get_single_node()
        except yaml.YAMLError:
            return None  # it has an alias of something outside, for example

    def _within(self, node: Any, path: Path, point: Literal["key", "value"]) -> tuple[int, int]:
        """Return line and column of the deepest element of ``path`` that exists below a node."""
        mark = node.start_mark
        for depth, step in enumerate(path):
            found = self._child(node, step)
            if found is None and depth == 1 and isinstance(step, str):
                found = self._child(node, self._document.own_name(step))
            if found is None:
                break
            key, node = found
            is_last = depth == len(path) - 1
            mark = key.start_mark if key is not None and (point == "key" or not is_last) else node.start_mark
            if is_last and point == "value" and key is not None and _is_elsewhere(key, node):
                mark = key.start_mark
        return (mark.line + 1, mark.column + 1)

    def _root(self) -> Any:
        if not self._is_composed:
            import yaml

            from phaseline.dsl.text.yaml_reader import Loader

            self._is_composed = True
            try:
                self._tree = Loader(self._document.readable).get_single_node()
            except yaml.YAMLError:
                self._tree = None  # JSON is not always YAML: a letter may be written as two halves
        return self._tree

    def _child(self, node: Any, step: str | int) -> tuple[Any, Any] | None:
        import yaml

        if isinstance(node, yaml.SequenceNode):
            return (None, node.value[step]) if isinstance(step, int) and step < len(node.value) else None
        if not isinstance(node, yaml.MappingNode) or not isinstance(step, str):
            return None
        if len(node.value) <= FEW:
            return _entries(node).get(step)
        if id(node) not in self._entries:
            self._entries[id(node)] = (node, _entries(node))  # kept with it, so that no other one gets its id
        return self._entries[id(node)][1].get(step)


def _entries(node: Any) -> dict[str, tuple[Any, Any]]:
    """Return {key: (key node, value node)} of a mapping, including the keys that ``<<`` merges into it."""
    import yaml

    merged: dict[str, tuple[Any, Any]] = {}
    own: dict[str, tuple[Any, Any]] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.tag == "tag:yaml.org,2002:merge":
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(source, yaml.MappingNode):
                    merged = {**_entries(source), **merged}
        else:
            own.setdefault(_text_of(key), (key, value))
    return {**merged, **own}


def _text_of(key: Any) -> str:
    """Return the text of a key as in the read values: numbers and truth values are written as in JSON."""
    from phaseline.dsl.text.scalars import PlainScalars, as_key

    text = str(key.value)
    if key.style or (text[:1].isalpha() and text not in _TRUTHS):
        return text
    value = as_key(PlainScalars()[text])
    return value if isinstance(value, str) else text


def _is_elsewhere(key: Any, node: Any) -> bool:
    """Return True if the value of a key is empty or an alias, so that only the key itself has a position here."""
    import yaml

    return bool(
        node.start_mark.index < key.start_mark.index
        or (isinstance(node, yaml.ScalarNode) and not node.value and not node.style)
    )


def dotted(path: Path) -> str:
    """Return the path as text, such as ``node_templates.web.relationships[0].target``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
