"""The contexts that use cases run in: ``AppContext`` for the process, ``RequestContext`` for one request (ADR 0035)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from phaseline.lang.fast_dataclasses import altered, frozen, shared_property
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.rows.rows import Actor

if TYPE_CHECKING:
    from phaseline.app.settings import Settings
    from phaseline.catalog.plugin_catalog import PluginCatalog
    from phaseline.compat.fuel.judge import YaqlJudge
    from phaseline.model.rows.orders import RequestId
    from phaseline.ports.store import Store
    from phaseline.ports.store_upkeep import StoreUpkeep
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.vault.vault import Vault
    from phaseline.views.background import Background


T = TypeVar("T")
HAS_HOOKS = "has hooks"
"""Key of the cached answer to the question whether there are hook classes."""
HOW_TO_BEGIN = "There is no store yet ({}); the first install creates it: phaseline init hello, then phaseline install hello/blueprint.yaml"


class SystemClock:
    """A clock that never goes back: the wall clock at its creation plus the monotonic time since then, in ms.

    A later change of the machine's clock neither shortens nor lengthens any wait.
    """

    def __init__(
        self, wall: Callable[[], int] = time.time_ns, monotonic: Callable[[], int] = time.monotonic_ns
    ) -> None:
        """Read the wall clock once. ``wall`` and ``monotonic``: functions that return nanoseconds."""
        self._monotonic = monotonic
        self._start = wall() - monotonic()

    def now(self) -> int:
        """Return the current time in milliseconds since 1970."""
        return (self._start + self._monotonic()) // 1_000_000


def _ignore_news(_text: str) -> None:
    """Do nothing with a message: the default for programs that do not show messages."""


def _do_nothing() -> None:
    """Do nothing: the default for programs that need no preparation for plugin code."""


def _never_moves() -> object:
    """Return a constant version, for cached values that do not depend on a store."""
    return 0


def _offer_heat(options: str) -> None:
    """Prepare for hook classes of Heat plugins: replace missing modules of Heat, and set options in ``oslo.config``.

    ``options``: {name: value} as JSON; empty if there are none.
    """
    import json

    from phaseline.compat.heat.heat_modules import configure, offer

    offer()
    configure(json.loads(options) if options else {})


class AppContext:
    """The process in which use cases run: its settings, clock, store, vault, catalog and caches.

    ``command`` is the name that other processes see. ``launch`` starts a background engine for executions that are open
    when this process ends; if it is None, they stay open. ``notice`` receives messages of the process, such as that a
    store was upgraded. ``makes_store``: create a missing store. ``before_code`` is called each time before plugin code
    is imported. ``only_lists``: if the store of the settings is the user's default and does not exist, use an empty
    store in memory, and give ``notice`` a hint how to begin.
    """

    def __init__(
        self,
        settings: Settings,
        command: str,
        launch: Callable[[AppContext], Background | None] | None = None,
        notice: Callable[[str], None] = _ignore_news,
        *,
        makes_store: bool = True,
    ) -> None:
        """Keep the arguments; nothing is opened yet."""
        self.settings = settings
        self.command = command
        self.launch = launch
        self.notice = notice
        self.makes_store = makes_store
        self.only_lists = False
        self.before_code: Callable[[], None] = _do_nothing
        self._built: dict[str, tuple[object, object]] = {}
        self._building: dict[str, threading.RLock] = {}

    def request(self, id: str | None = None) -> RequestContext:
        """Return the context of one request by the user of this process.

        ``id``: its request id. Raises: PL-C094 for an invalid id.
        """
        return RequestContext(self, self.user, self.notice, None if id is None else _request_id(id))

    @shared_property
    def clock(self) -> SystemClock:
        """The clock of this process."""
        return SystemClock()

    @shared_property
    def store(self) -> Store:
        """The whole store, opened when it is first needed. Only the engine may use it: use cases have their tenant's."""
        from phaseline.app.function_discovery import offer_functions
        from phaseline.store import open_store

        offer_functions(self.before_code)
        if self.only_lists and self._is_new():
            self.notice(HOW_TO_BEGIN.format(self.settings.store_url))
            return open_store("memory:", self.clock)
        store = open_store(self.settings.store_url, self.clock, makes=self.makes_store)
        for notice in store.notices:
            self.notice(notice)
        return store

    @property
    def upkeep(self) -> StoreUpkeep:
        """What an operator of the whole store does: check, back up, compact, and replace the master key."""
        return self.store

    def _is_new(self) -> bool:
        """Return True if the store is the user's default and does not exist yet.

        Only the default counts, because a path in the settings that does not exist may be a typing error.
        """
        from phaseline.app.settings import default_store_url
        from phaseline.app.store_location import has_store

        return not has_store(self) and self.settings.store_url == default_store_url(os.environ)

    @shared_property
    def vault(self) -> Vault:
        """The vault of the default tenant; the master key is read or created when the first secret is used."""
        from phaseline.app.settings import KEY_FILE, own_folder
        from phaseline.vault.master_keys import MasterKeys
        from phaseline.vault.vault import Vault

        in_memory = self.settings.store_url == "memory:"
        file = self.settings.secrets_key_file or str(own_folder(os.environ) / KEY_FILE)
        keys = MasterKeys("" if in_memory else file, command=self.settings.secrets_key_command)
        return Vault(lambda tenant: self.store.of(tenant).secrets, self.store.identity(), keys, self.clock)

    @shared_property
    def passing_folder(self) -> Path:
        """A temporary folder, which is removed when this context is closed."""
        import tempfile

        self._passing = tempfile.TemporaryDirectory(prefix="phaseline-")
        return Path(self._passing.name)

    @shared_property
    def catalog(self) -> PluginCatalog:
        """The plugins, which are read once in a process."""
        from phaseline.catalog.plugin_catalog import PluginCatalog

        return PluginCatalog(partial(_offer_heat, self.settings.heat_options), before_code=self.before_code)

    def cache(self, key: str, build: Callable[[], T], version: Callable[[], object] = _never_moves) -> T:
        """Return the cached value of a key; ``build`` creates it once for all threads.

        The value is created again after ``forget``, or when the result of ``version`` has changed. ``version`` is
        called each time. It returns the version of the stored data from which the value was computed, such as the
        installed packages.
        """
        with self._building.setdefault(key, threading.RLock()):
            now = version()
            kept = self._built.get(key)
            if kept is None or kept[0] != now:
                kept = self._built[key] = (now, build())
            return cast("T", kept[1])

    def forget(self, key: str) -> None:
        """Drop a cached value: its next use creates it again."""
        self._built.pop(key, None)

    def has_hooks(self) -> bool:
        """Return True if an installed package declares hook classes as entry points, or the settings name some.

        The question must be answered before the code that reads hook classes is loaded.
        """
        return self.cache(HAS_HOOKS, self._has_hooks, self.last_reload)

    def last_reload(self) -> int:
        """Return the number of the last reload by any process; 0 if there was none, or no store is open.

        It is the version of cached hook classes.
        """
        store = self.__dict__.get("store")
        return 0 if store is None else store.last_reload()

    def _has_hooks(self) -> bool:
        from phaseline.catalog.code.entry_points import HEAT_GROUP, HOOK_GROUP, is_announced

        groups = (HOOK_GROUP, HEAT_GROUP) if self.settings.heat_compat else (HOOK_GROUP,)
        return bool(self.settings.hook_classes) or is_announced(*groups)

    @shared_property
    def judge(self) -> YaqlJudge:
        """The evaluator for YAQL in packages and for patterns that RE2 does not support.

        Its process is started at the first use.
        """
        from phaseline.compat.fuel.judge import YaqlJudge

        return YaqlJudge()

    @shared_property
    def user(self) -> Actor:
        """The operating-system user of this process."""
        # As ``getpass.getuser`` finds it, whose module loads what it takes to read passwords.
        named = next(
            (os.environ[name] for name in ("LOGNAME", "USER", "LNAME", "USERNAME") if os.environ.get(name)), None
        )
        if named is not None:
            return Actor(named)
        import pwd

        try:
            return Actor(pwd.getpwuid(os.getuid()).pw_name)
        except KeyError:
            return Actor(str(os.getuid()))

    def code_places(self, blueprint_file: str, more_folders: tuple[str, ...] = ()) -> CodeLocation:
        """Return the folders in which a blueprint's code is searched.

        ``more_folders`` come before the folders of the settings.
        """
        folders = tuple(str(Path(folder).absolute()) for folder in more_folders)
        return CodeLocation(
            str(Path(blueprint_file).absolute().parent), tuple(dict.fromkeys(folders + self.settings.plugin_folders))
        )

    def close(self) -> None:
        """Close everything that was opened."""
        store = self.__dict__.pop("store", None)
        if store is not None:
            store.close()
        judge = self.__dict__.pop("judge", None)
        if judge is not None:
            judge.close()
        if self.__dict__.pop("passing_folder", None) is not None:
            self._passing.cleanup()


@frozen
class RequestContext:
    """One request of a user in a process; use cases receive it as ``ctx``.

    ``notice`` receives sentences that are shown beside the answer. ``requested`` is the request id of the order, or
    None if the user gave none.
    """

    app: AppContext
    actor: Actor
    notice: Callable[[str], None]
    requested: RequestId | None = None

    def under(self, requested: RequestId) -> RequestContext:
        """Return a copy of this context with a request id."""
        return altered(self, requested=requested)

    @property
    def settings(self) -> Settings:
        """The settings of the process."""
        return self.app.settings

    @property
    def clock(self) -> SystemClock:
        """The clock of the process."""
        return self.app.clock

    @property
    def store(self) -> TenantStore:
        """What the user's tenant has in the store, which is opened when it is first needed."""
        return self.app.store.of(self.actor.tenant)

    @property
    def vault(self) -> Vault:
        """The secrets of the user's tenant."""
        return self.app.vault.of_tenant(self.actor.tenant)

    @property
    def catalog(self) -> PluginCatalog:
        """The plugins of the process."""
        return self.app.catalog


def _request_id(id: str) -> RequestId:
    from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name
    from phaseline.model.problems.problem import problem_error
    from phaseline.model.rows.orders import RequestId

    why = why_no_name(id) if id else "is empty"
    if why:
        raise problem_error("PL-C094", f"'{shown_name(id)}' is not a request id: it {why}", MEND)
    return RequestId(id)
