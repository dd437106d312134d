"""The known word that somebody meant when they wrote an unknown one."""

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean 'name'?``, or nothing when no known word is near.

    >>> did_you_mean("stor.url", ["store.url", "plugins.path"])
    "did you mean 'store.url'?"
    >>> did_you_mean("zebra", ["store.url"])
    ''
    """
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else ""
