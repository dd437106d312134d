"""Rules of a PasswordSecret: how long, and at least how many characters of which kind (CO19)."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping

    from phaseline.model.blueprint.blueprint import Value

LEAST = 6
"""The shortest password."""
MOST = 1024
GROUPS: Mapping[str, str] = {
    "uppercase": string.ascii_uppercase,
    "lowercase": string.ascii_lowercase,
    "digits": string.digits,
    "symbols": string.punctuation + " ",
}
"""{property: characters of the group}."""


def flaws(properties: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """Yield (what is wrong, how to mend it) of a node's properties; values that are functions are not looked at."""
    numbers = {name: properties.get(name, 8 if name == "length" else 0) for name in ("length", *GROUPS)}
    for name, value in numbers.items():
        if isinstance(value, dict):
            return
        least = LEAST if name == "length" else -1
        if isinstance(value, bool) or not isinstance(value, int) or value < least or value > MOST:
            yield f"'{name}' of a password is {value!r}", f"give a whole number from {least} to {MOST}"
            return
    counts = {name: int(str(value)) for name, value in numbers.items()}
    length = counts.pop("length")
    if all(count < 0 for count in counts.values()):
        yield "a password has no kind of characters", "give one of the kinds another number than -1"
    needed = sum(count for count in counts.values() if count > 0)
    if needed > length:
        yield f"a password of {length} characters cannot have {needed}", f"make it at least {needed} characters long"


def draw(properties: Mapping[str, Value], chance: random.SystemRandom) -> str:
    """Return a password that has the wanted number of characters of each kind."""
    length = int(str(properties.get("length", 8)))
    counts = {name: int(str(properties.get(name, 0))) for name in GROUPS}
    found = [chance.choice(GROUPS[name]) for name, count in counts.items() for _ in range(max(count, 0))]
    allowed = "".join(GROUPS[name] for name, count in counts.items() if count >= 0)
    found += [chance.choice(allowed) for _ in range(length - len(found))]
    chance.shuffle(found)
    return "".join(found)
