"""``python -m tests.fuzz [SECONDS]``: blueprints by the million, until the time is over or one makes the reader fail.

atheris looks at which lines a blueprint reached and changes those that reached new ones. Where it cannot be installed, plain
chance takes its place. What fails is shown with the files that did it, and is to be kept as a test.
"""

from __future__ import annotations

import contextlib
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

try:
    import atheris
except ImportError:
    atheris = None

with atheris.instrument_imports(include=["phaseline.dsl"]) if atheris else contextlib.nullcontext():
    from tests.dsl.garbling import Garbler, try_reading
    from tests.dsl.readers import MAIN
    from tests.dsl.test_round_trip import Maker

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 60
SLOW_S = 10.0
"""A blueprint of a few kilobytes that takes more of the processor is a find, too."""
HANGS_S = 120
"""One that takes so long by the clock hangs."""


class Drawn:
    """The bytes of the fuzzer as chance."""

    def __init__(self, provider: Any) -> None:
        self.provider = provider

    def randrange(self, stop: int) -> int:
        """A number below ``stop``."""
        return int(self.provider.ConsumeIntInRange(0, stop - 1))


def tried(files: dict[str, str]) -> None:
    """Read the files; show them if that fails or takes too long."""
    began = time.process_time()
    try:
        try_reading(files)
    except BaseException:
        print(f"\nthese files make the reader fail:\n{files!r}", file=sys.stderr)
        raise
    if time.process_time() - began > SLOW_S:
        raise TimeoutError(f"these files take longer than {SLOW_S} s: {files!r}")


def of_bytes(content: bytes) -> None:
    """One case: as a text, as garbage of the right shape, or as a blueprint that is right but for one part."""
    provider = atheris.FuzzedDataProvider(content)
    kind = provider.ConsumeIntInRange(0, 2)
    if kind == 0:
        tried({MAIN: provider.ConsumeUnicodeNoSurrogates(4_000)})
    elif kind == 1:
        tried(Garbler(Drawn(provider)).files())
    else:
        tried(spoilt(Maker(Drawn(provider))))


def spoilt(maker: Maker) -> dict[str, str]:
    """A blueprint that is right, with garbage in one place."""
    import json

    whole = maker.blueprint()
    place: Any = whole
    while isinstance(place, dict) and place:
        key = maker.one(list(place))
        if not isinstance(place[key], dict) or not place[key] or maker.chance.randrange(3) == 0:
            place[key] = maker.value()
            break
        place = place[key]
    return {MAIN: json.dumps(whole)}


def by_chance(seconds: float) -> int:
    """How many cases plain chance has made in the time."""
    count = 0
    ways: list[Callable[[Random], dict[str, str]]] = [
        lambda chance: Garbler(chance).files(),
        lambda chance: spoilt(Maker(chance)),
    ]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        count += 1
        tried(ways[count % 2](Random(count)))
    return count


def main() -> None:
    """Run for the time that is given."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    if atheris is None:
        print(f"{by_chance(seconds):,} blueprints by chance (atheris is not installed): none makes the reader fail")
        return
    print(f"{by_chance(seconds / 4):,} blueprints by chance, now by coverage", flush=True)
    limits = [f"-max_total_time={seconds * 3 // 4}", f"-timeout={HANGS_S}", "-rss_limit_mb=1024", "-max_len=4096"]
    atheris.Setup([sys.argv[0], *limits, "-print_final_stats=1", "-verbosity=0"], of_bytes)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
