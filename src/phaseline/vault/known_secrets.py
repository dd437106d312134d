"""Secret values that must not be written in clear: how they are found in a text and masked.

A value is searched for unchanged, line by line if it has several lines, and as JSON, Python ``repr``, URL and base64
write it. Other derived forms (a hash, a part, reversed letters) are not recognised, and cannot be.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

MASK = "********"
WHOLE_FROM = 4
"""Least length of a value that is masked inside words; shorter values are masked only as whole words."""
LINE_FROM = 8
"""Least length of a line of a value with several lines; such a line is masked by itself, too."""
BASE64_FROM = 8
"""Least length of a value whose base64 form is masked, too."""
CUT_FROM = 8
"""Least length of a cut value that is masked.

If a text ends with at least this many first characters of a value, the value was cut off there and is masked. The same
holds for a text that begins with the last characters of a value.
"""
LEFT_OUT = r"\n\.\.\. \d+ characters left out \.\.\.\n"
"""Pattern of the note in a long text whose middle was left out."""


class KnownValues:
    """The secret values that this process must mask. Values are only added; any thread may use the object.

    While there are no values, masking costs nothing.
    """

    def __init__(self) -> None:
        self._whole: set[str] = set()
        self._texts: list[str] = []
        self._words: list[re.Pattern[str]] = []
        self._heads: dict[str, list[str]] = {}
        self._tails: dict[str, list[str]] = {}
        self._longest = 0
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        """Return True if there is any value to mask."""
        return bool(self._whole)

    def learn(self, value: Value) -> None:
        """Add all texts and numbers within the value, at any depth, to the values that are masked."""
        for text in leaves(value):
            self._learn(text)

    def _learn(self, text: str) -> None:
        if text in self._whole or not text.strip():
            return
        with self._lock:  # threads that mask meanwhile iterate over lists that only grow
            if len(text) < WHOLE_FROM:
                self._words.append(re.compile(rf"(?<!\w){re.escape(text)}(?!\w)"))
            else:
                for form in dict.fromkeys(form for form in forms(text) if len(form) >= WHOLE_FROM):
                    self._add(form)
            self._whole.add(text)

    def _add(self, form: str) -> None:
        self._texts.append(form)
        if len(form) > CUT_FROM:
            self._longest = max(self._longest, len(form))
            self._heads.setdefault(form[:CUT_FROM], []).append(form)
            self._tails.setdefault(form[-CUT_FROM:], []).append(form)

    def masked(self, text: str) -> str:
        """Return the text with every known value, in any of its forms, replaced by asterisks."""
        if not self._whole or not text:
            return text
        pieces = re.split(LEFT_OUT, text)
        if len(pieces) == 1:
            return self._masked(text)
        notes = re.findall(LEFT_OUT, text)
        shown = [self._masked(piece) for piece in pieces]
        return shown[0] + "".join(note + piece for note, piece in zip(notes, shown[1:], strict=True))

    def holds(self, text: str) -> bool:
        """Return True if the text contains a whole known value."""
        return any(value in text for value in self._texts) or any(pattern.search(text) for pattern in self._words)

    def within(self, text: str) -> list[str]:
        """Return the known values that the text contains whole. Usually there are none, which is found quickly."""
        if not self._whole or not self.holds(text):
            return []
        return [text[begin:end] for begin, end in _merged(list(self._whole_spans(text)))]

    def is_number(self, value: object) -> bool:
        """Return True if the value is a known number. Short numbers never count, because they are too common."""
        return value.__class__ in (int, float) and len(text := str(value)) >= WHOLE_FROM and text in self._whole

    def _masked(self, text: str) -> str:
        spans = self._spans(text)
        if not spans:
            return text
        shown: list[str] = []
        last = 0
        for begin, end in _merged(spans):
            shown += (text[last:begin], MASK)
            last = end
        return "".join((*shown, text[last:]))

    def _spans(self, text: str) -> list[tuple[int, int]]:
        return [*self._whole_spans(text), *self._cut_spans(text)]

    def _cut_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield (begin, end) of parts at both ends of the text that may be a known value of which the rest was cut off."""
        last = len(text) - CUT_FROM
        for at in range(max(0, len(text) - self._longest + 1), last + 1):
            for value in self._heads.get(text[at : at + CUT_FROM], ()):
                if value.startswith(text[at:]):
                    yield at, len(text)
        for at in range(min(last, self._longest - CUT_FROM - 1) + 1):
            for value in self._tails.get(text[at : at + CUT_FROM], ()):
                if value.endswith(text[: at + CUT_FROM]):
                    yield 0, at + CUT_FROM

    def _whole_spans(self, text: str) -> Iterator[tuple[int, int]]:
        for value in self._texts:
            begin = text.find(value)
            while begin >= 0:
                yield begin, begin + len(value)
                begin = text.find(value, begin + 1)
        for pattern in self._words:
            yield from (found.span() for found in pattern.finditer(text))


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans in order, with those that touch or overlap joined."""
    begin, end = -1, -1
    for first, last in sorted(spans):
        if first > end:
            if end >= 0:
                yield begin, end
            begin, end = first, last
        else:
            end = max(end, last)
    yield begin, end


def leaves(value: Value) -> Iterator[str]:
    """Yield the texts and numbers within a value. A text that is a JSON mapping or list is searched, too.

    >>> sorted(leaves({"a": ["x", 5], "b": True, "c": None}))
    ['5', 'x']
    >>> sorted(leaves('{"user": "ann"}'))
    ['ann', '{"user": "ann"}']
    """
    if isinstance(value, str):
        yield value
        if value.lstrip()[:1] in {"{", "["}:
            try:
                yield from leaves(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value.__class__ in (int, float):
        yield str(value)


def forms(text: str) -> Iterator[str]:
    """Yield the forms that a value can have in a text: unchanged, its lines, escaped, and in base64.

    It is escaped as JSON, Python and URLs escape it.

    >>> sorted(set(forms("a&b c")))
    ['a%26b%20c', 'a%26b+c', 'a&b c']
    """
    from urllib.parse import quote, quote_plus  # 3 ms that a command without secrets need not pay

    plain = [text, text.strip()]
    if "\n" in text.strip():
        plain += [line.strip() for line in text.splitlines() if len(line.strip()) >= LINE_FROM]
    for one in plain:
        yield one
        yield json.dumps(one)[1:-1]
        yield json.dumps(one, ensure_ascii=False)[1:-1]
        yield repr(one)[1:-1]
        yield quote(one)
        yield quote(one, safe="")
        yield quote_plus(one)
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) >= BASE64_FROM:
        for shift in range(3):
            yield from _in_base64(raw, shift)


def _in_base64(raw: bytes, shift: int) -> Iterator[str]:
    """Yield the base64 characters that depend only on the value.

    ``shift``: number of bytes, modulo 3, that precede the value in a longer text; it changes how base64 groups the
    bytes.
    """
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        coded = encode(b"\0" * shift + raw).decode().rstrip("=")
        begin = (0, 2, 3)[shift]
        whole = (shift + len(raw)) * 8 // 6
        yield coded[begin:whole]
