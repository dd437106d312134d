"""Stores of earlier schemas as their programs left them, laid out to be used by the program of today."""

from __future__ import annotations

import base64
import json
import lzma
import os
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import chdir, closing
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from phaseline.cli.command_tree import root

DATA = Path(__file__).parents[1] / "cases" / "old_stores"
KEY = base64.b64encode(b"a key that only tests ever use!!").decode()
"""Of the secrets in the stores."""
SCHEMAS = (2, 3, 4, 5, 6, 7)
WEEK_MS = 7 * 24 * 3_600_000


def unpack(schema: int, path: Path) -> None:
    """Write the store to ``path``, byte for byte as it was kept."""
    path.write_bytes(lzma.decompress((DATA / f"store-v{schema}.db.xz").read_bytes()))


class OldWorld:
    """A store of ``schema`` in ``folder`` with the code that it needs; the gate is open, and machines are up."""

    def __init__(self, schema: int, folder: Path) -> None:
        """Folders that the store names are moved to ``folder``."""
        self.schema, self.folder, self.store = schema, folder, folder / "store.db"
        shutil.copytree(DATA / "world", folder, dirs_exist_ok=True)
        (folder / "gate").touch()
        (folder / "up").touch()
        shutil.copy(DATA / f"store-v{schema}.calls", folder / "calls")
        if schema >= 5:
            (folder / "hooks.toml").rename(folder / "phaseline.toml")
        unpack(schema, self.store)
        self._move()

    def _move(self) -> None:
        there, here = f"/tmp/phaseline-v{self.schema}", str(self.folder)
        with closing(sqlite3.connect(self.store)) as db, db:
            tables = [name for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
            self._date(db, tables)
            for table in tables:
                columns = [row[1] for row in db.execute(f"pragma table_info({table})") if row[2] == "TEXT"]
                for column in columns:
                    db.execute(
                        f"update {table} set {column} = replace({column}, ?, ?) where instr({column}, ?)",
                        (there, here, there),
                    )
            if self.schema >= 6:  # otherwise it were a copy, and what is open would wait
                found = self.store.stat()
                db.execute("update store set inode = ?, device = ?", (found.st_ino, found.st_dev))

    def _date(self, db: sqlite3.Connection, tables: list[str]) -> None:
        """As if it had been made just now: what is kept for some hours or days is still there."""
        (made,) = db.execute("select max(created_at) from execution").fetchone()
        passed = time.time_ns() // 1_000_000 - made
        for table in tables:
            for column in [row[1] for row in db.execute(f"pragma table_info({table})") if "INT" in row[2]]:
                db.execute(
                    f"update {table} set {column} = {column} + ? where {column} between ? and ?",
                    (passed, made - WEEK_MS, made + WEEK_MS),
                )

    @property
    def environment(self) -> dict[str, str]:
        """Of its commands."""
        own = {
            "OLD_WORLD": str(self.folder),
            "HOME": str(self.folder),
            "LOGNAME": "ann",
            "PHASELINE_STORE_URL": f"sqlite:///{self.store}",
            "PHASELINE_LOG_FILE": "none",
            "PHASELINE_PLUGINS_PATH": ":".join(str(self.folder / name) for name in ("code", "phases")),
            "PHASELINE_SECRETS_KEY": KEY,
        }
        return {**os.environ, **own}

    def say(self, *words: str, codes: tuple[int, ...] = (0,), user: str = "ann") -> Any:
        """The document that a command of today answers, run in this process: a start of Python costs more than it does."""
        environment = {**self.environment, "LOGNAME": user}
        with chdir(self.folder):
            done = CliRunner().invoke(root, [*words, "--json"], prog_name="phaseline", env=environment)
        assert done.exit_code in codes, (words, done.exit_code, done.stdout, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None

    @property
    def calls(self) -> Counter[str]:
        """How often what was called, by all programs together."""
        return Counter((self.folder / "calls").read_text().splitlines())
