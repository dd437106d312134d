"""A store that has no database server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence


class Serverless:
    """The methods of ``ports.store.Store`` for a server, of a store that has none."""

    def server_checks(self) -> Sequence[tuple[Literal["ok", "warn", "fail"], str, str, str]]:
        """Return findings about the database server; there is none."""
        return ()
