"""What values are called in sentences for people."""

from __future__ import annotations

from typing import Final

_WORDS: Final[dict[type, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "nothing",
    dict: "a mapping",
    list: "a list",
}


def word_for(value: object) -> str:
    """What a value is, in words.

    >>> word_for(1), word_for([])
    ('a whole number', 'a list')
    """
    return _WORDS.get(type(value), type(value).__name__)
