"""Where use cases work: the settings, the clock, the store and who asks."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from phaseline.lang.fast_dataclasses import shared_property
from phaseline.model.deployment.code_location import CodePlaces
from phaseline.model.rows.rows import Actor

if TYPE_CHECKING:
    from phaseline.app.settings import Settings
    from phaseline.catalog import PluginCatalog
    from phaseline.compat.fuel.judge import Judge
    from phaseline.model.packages.package import Package
    from phaseline.model.rows.orders import RequestId
    from phaseline.ports import Store
    from phaseline.vault.vault import Vault
    from phaseline.views.background import Background


P = TypeVar("P")
T = TypeVar("T")
HAS_HOOKS = "has hooks"
"""The key under which it is kept whether there are hook classes."""
HOW_TO_BEGIN = "There is no store yet ({}); the first install makes it: phaseline init hello, then phaseline install hello/blueprint.yaml"


class SystemClock:
    """Milliseconds of the wall clock at start plus the monotonic time since, so that time never goes back.

    Whoever sets the machine's clock meanwhile, forwards or back, wakes nothing early and lets nothing wait longer.
    """

    def __init__(
        self, wall: Callable[[], int] = time.time_ns, monotonic: Callable[[], int] = time.monotonic_ns
    ) -> None:
        """Read the wall clock, for the only time. Both are functions that give nanoseconds."""
        self._monotonic = monotonic
        self._start = wall() - monotonic()

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return (self._start + self._monotonic()) // 1_000_000


def _say_nothing(_text: str) -> None:
    """For programs that want to hear of nothing."""


def _do_nothing() -> None:
    """For programs that need not be ready for code of plugins."""


def _offer_heat(options: str) -> None:
    """Let hook classes of Heat's group import what they name, and read these options, a text of JSON, by ``oslo.config``."""
    import json

    from phaseline.compat.heat.heat_modules import configure, offer

    offer()
    configure(json.loads(options) if options else {})


class Workplace:
    """Everything a use case needs of the process it runs in. ``command`` is what others are told who owns the store.

    ``launch`` starts a background engine for executions that are open when this process leaves; None: they stay open.
    ``tell`` hears what opening the store did, such as an upgrade. ``makes_store``: one that is not there is made.
    ``before_code`` is called before code of a plugin is imported, each time. ``only_lists``: where no store is named and none was made yet, an empty one in memory is shown, and ``tell`` hears how to begin.
    ``ports``: what carries out for use cases what lies above them; made when one is asked for.
    """

    def __init__(
        self,
        settings: Settings,
        command: str,
        launch: Callable[[Workplace], Background | None] | None = None,
        tell: Callable[[str], None] = _say_nothing,
        *,
        makes_store: bool = True,
        ports: Callable[[], Sequence[object]] = tuple,
    ) -> None:
        """Nothing is opened yet."""
        self.settings = settings
        self.command = command
        self.launch = launch
        self.tell = tell
        self.makes_store = makes_store
        self.only_lists = False
        self.before_code: Callable[[], None] = _do_nothing
        self._ports = ports
        self._requests: threading.local | None = None
        self._built: dict[str, object] = {}
        self._building: dict[str, threading.RLock] = {}

    def port(self, kind: type[P]) -> P:
        """What whoever made this workplace has given of a kind. Raises: ``LookupError`` if nothing of it."""
        found = next((one for one in self._ports() if isinstance(one, kind)), None)
        if found is None:
            raise LookupError(f"this workplace was made without a {kind.__name__}")
        return found

    @property
    def requested(self) -> RequestId | None:
        """The request id under which this thread gives an order, if any."""
        return None if self._requests is None else getattr(self._requests, "id", None)

    @contextmanager
    def requesting(self, id: str, part: str = "") -> Iterator[RequestId]:
        """Give orders under a request id within; only of this thread. ``part``: of an order that gives others. Raises: PL-C094 for what is no id."""
        from phaseline.model.problems.name_rules import MEND, shown_name, why_no_name
        from phaseline.model.problems.problem import fail
        from phaseline.model.rows.orders import RequestId

        why = why_no_name(id) if id else "is empty"
        if why and not part:
            raise fail("PL-C094", f"'{shown_name(id)}' is no request id: it {why}", MEND)
        if self._requests is None:
            self._requests = threading.local()
        former = self.requested
        self._requests.id = requested = RequestId(f"{id}/{part}" if part else id)
        try:
            yield requested
        finally:
            self._requests.id = former

    @shared_property
    def clock(self) -> SystemClock:
        """The clock of this process."""
        return SystemClock()

    @shared_property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
        from phaseline.app.function_discovery import offer_functions
        from phaseline.store import open_store

        offer_functions(self.before_code)
        if self.only_lists and self._is_new():
            self.tell(HOW_TO_BEGIN.format(self.settings.store_url))
            return open_store("memory:", self.clock)
        store = open_store(self.settings.store_url, self.clock, makes=self.makes_store)
        for notice in store.notices:
            self.tell(notice)
        return store

    def _is_new(self) -> bool:
        """Whether the store is the user's own, which nothing has made yet; a path that was named may be mistyped."""
        from phaseline.app.settings import default_store_url
        from phaseline.app.store_location import has_store

        return not has_store(self) and self.settings.store_url == default_store_url(os.environ)

    @shared_property
    def vault(self) -> Vault:
        """The secrets of the store; their master key is read, or made, when the first of them is used."""
        from phaseline.app.settings import KEY_FILE, own_folder
        from phaseline.vault.master_keys import MasterKeys
        from phaseline.vault.vault import Vault

        in_memory = self.settings.store_url == "memory:"
        file = self.settings.secrets_key_file or str(own_folder(os.environ) / KEY_FILE)
        keys = MasterKeys("" if in_memory else file)
        return Vault(self.store.secrets, self.store.identity(), keys, self.clock)

    @shared_property
    def passing_folder(self) -> Path:
        """A folder that goes when this workplace is closed."""
        import tempfile

        self._passing = tempfile.TemporaryDirectory(prefix="phaseline-")
        return Path(self._passing.name)

    @shared_property
    def catalog(self) -> PluginCatalog:
        """The plugins, read anew for each command."""
        from phaseline.catalog import PluginCatalog

        return PluginCatalog(partial(_offer_heat, self.settings.heat_options), before_code=self.before_code)

    def cache(self, key: str, build: Callable[[], T]) -> T:
        """What ``build`` makes, once until it is forgotten, also when two threads ask for it first; who builds it gives it its type."""
        with self._building.setdefault(key, threading.RLock()):
            if key not in self._built:
                self._built[key] = build()
            return cast("T", self._built[key])

    def forget(self, key: str) -> None:
        """Have it made anew when it is needed next."""
        self._built.pop(key, None)

    def has_hooks(self) -> bool:
        """Whether hook classes are announced or named in the settings, to be known before what reads them is loaded."""
        return self.cache(HAS_HOOKS, self._has_hooks)

    def _has_hooks(self) -> bool:
        from phaseline.catalog.code.entry_points import HEAT_GROUP, HOOK_GROUP, is_announced

        groups = (HOOK_GROUP, HEAT_GROUP) if self.settings.heat_compat else (HOOK_GROUP,)
        return bool(self.settings.hook_classes) or is_announced(*groups)

    @shared_property
    def packages_read(self) -> dict[str, Package]:
        """{digest: what an installed package says}, of those that this process has read."""
        return {}

    @shared_property
    def judge(self) -> Judge:
        """Who evaluates YAQL of packages and matches patterns that RE2 cannot take; its process begins with the first question."""
        from phaseline.compat.fuel.judge import Judge

        return Judge()

    @shared_property
    def actor(self) -> Actor:
        """The operating-system user."""
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

    def code_places(self, blueprint_file: str, more_folders: tuple[str, ...] = ()) -> CodePlaces:
        """Where the code of a blueprint is looked for; ``more_folders`` before those of the settings."""
        folders = tuple(str(Path(folder).absolute()) for folder in more_folders)
        return CodePlaces(
            str(Path(blueprint_file).absolute().parent), tuple(dict.fromkeys(folders + self.settings.plugin_folders))
        )

    def close(self) -> None:
        """Let go of what was opened."""
        store = self.__dict__.pop("store", None)
        if store is not None:
            store.close()
        judge = self.__dict__.pop("judge", None)
        if judge is not None:
            judge.close()
        if self.__dict__.pop("passing_folder", None) is not None:
            self._passing.cleanup()
