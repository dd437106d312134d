"""The values of all settings, and where they come from.

An option of the command line wins over the environment, the environment over the settings file, the file over the
default. Of the settings files only the first found is read: the one named, ``phaseline.toml`` here, or the one in the
user's configuration folder (decision 28).
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from phaseline.app.settings_schema import SETTINGS
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error

if TYPE_CHECKING:
    from phaseline.run.executors.local_executor import Slots

FILE_NAME = "phaseline.toml"
KEY_FILE = "secrets.key"
"""Name of the file with the master key, in the user's configuration folder."""
MOST_MIB = 1 << 30
"""More memory than any machine has."""
MOST_SLOTS = 10_000
"""Most calls at once that a setting may allow."""

N = TypeVar("N", int, float)
Level = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")
"""From the most talkative one to the most silent one."""
Form = Literal["text", "json"]
FORMS: tuple[Form, ...] = ("text", "json")
HostKeyPolicy = Literal["known", "accept_new", "any"]
HOST_KEY_POLICIES: tuple[HostKeyPolicy, ...] = ("known", "accept_new", "any")
"""From the most careful one to none."""
OnBroken = Literal["refuse", "ignore"]
ON_BROKEN: tuple[OnBroken, ...] = ("refuse", "ignore")
Verify = Literal["off", "digest"]
VERIFY: tuple[Verify, ...] = ("off", "digest")
YES_OR_NO = ("yes", "no")
W = TypeVar("W", bound=str)
DEFAULT = "the default"
Texts = Mapping[str, tuple[str, str]]
"""{setting: (its text, the origin of that)}"""


SEPARATORS = {"folders": os.pathsep, "addresses": " ", "rules": " "}
"""{kind: separator between values}"""


@frozen
class Settings:
    """The values of all settings for one run of the program."""

    store_url: str
    plugin_folders: tuple[str, ...] = ()
    task_retries: int | None = None
    """None: the default of the blueprint's language (decision 34); the same applies to the interval."""
    task_retry_interval_s: float | None = None
    threads: int = 16
    workers: int = 8
    allowed_imports: tuple[str, ...] = ()
    log_file: str = ""
    log_level: Level = "info"
    log_format: Form = "text"
    secrets_key_file: str = ""
    import_rules: tuple[tuple[str, str], ...] = ()
    import_fallback: bool = True
    ssh_host_keys: HostKeyPolicy = "known"
    ssh_known_hosts: str = ""
    hook_classes: str = ""
    """Hook classes in the form of ``hook_settings.canonical``."""
    heat_options: str = ""
    """As JSON: {``option`` or ``group.option``: value}."""
    heat_compat: bool = False
    heat_critical: bool = True
    on_broken_hooks: OnBroken = "refuse"
    verify_hooks: Verify = "off"
    allow_master: bool = False
    subgraph_retries: int = 0
    cache_mib: int = 256
    keep_orders_hours: int = 24

    def variables(self) -> dict[str, str]:
        """The same values as environment variables, for a process that is to work as this one does."""
        told = {
            "store.url": self.store_url,
            "plugins.path": os.pathsep.join(self.plugin_folders),
            "plugins.allow_master": YES_OR_NO[not self.allow_master],
            "blueprints.allowed_imports": " ".join(self.allowed_imports),
            "blueprints.import_rules": " ".join("=".join(rule) for rule in self.import_rules),
            "blueprints.import_fallback": YES_OR_NO[not self.import_fallback],
            "secrets.key_file": self.secrets_key_file,
            "run.task_retries": _number_text(self.task_retries),
            "run.task_retry_interval": _number_text(self.task_retry_interval_s),
            "run.subgraph_retries": str(self.subgraph_retries),
            "run.threads": str(self.threads),
            "run.workers": str(self.workers),
            "run.cache_mib": str(self.cache_mib),
            "orders.keep_hours": str(self.keep_orders_hours),
            "ssh.host_keys": self.ssh_host_keys,
            "ssh.known_hosts": self.ssh_known_hosts,
            "hooks.classes": self.hook_classes,
            "hooks.heat_options": self.heat_options,
            "hooks.heat_compat": YES_OR_NO[not self.heat_compat],
            "hooks.heat_critical": YES_OR_NO[not self.heat_critical],
            "hooks.on_broken": self.on_broken_hooks,
            "hooks.verify": self.verify_hooks,
            "log.file": self.log_file or "none",
            "log.level": self.log_level,
            "log.format": self.log_format,
        }
        return {setting.variable: told[setting.name] for setting in SETTINGS}


def load_settings(
    *,
    config: str | None = None,
    given: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """The settings that hold here.

    ``config`` names the settings file, ``given`` is {name: text} of options of the command line, ``environment`` and
    ``folder`` default to those of the process.

    Raises: ProblemsError (PL-C001 unknown key, PL-C002 unreadable file, PL-C003 unsuitable value), all at once.
    """
    variables = os.environ if environment is None else environment
    place = folder or Path.cwd()
    texts, problems = _gathered(config, given or {}, variables, place)
    found = {
        **_of_run(texts, problems),
        **_of_log(texts, problems),
        **_of_strangers(texts, place, problems),
        **_of_hooks(texts, place, problems),
    }
    if problems:
        raise ProblemsError(problems)
    url = _store_url(texts, variables)
    known_hosts = Path(variables.get("HOME") or Path.home(), ".ssh", "known_hosts")
    return Settings(
        url,
        log_file=_log_file(texts["log.file"], url, place),
        secrets_key_file=_path(texts["secrets.key_file"], own_folder(variables) / KEY_FILE, place),
        ssh_known_hosts=_path(texts["ssh.known_hosts"], known_hosts, place),
        **found,
    )


def _gathered(
    config: str | None, given: Mapping[str, str], variables: Mapping[str, str], folder: Path
) -> tuple[Texts, list[Problem]]:
    """The text of each setting, and what is wrong with the settings file."""
    texts = {setting.name: (setting.default, DEFAULT) for setting in SETTINGS}
    file = _find_file(config, variables, folder)
    problems: list[Problem] = []
    if file is not None:
        found, problems = _read_file(file)
        texts.update({name: (text, str(file)) for name, text in found.items()})
    for setting in SETTINGS:
        if variables.get(setting.variable):
            texts[setting.name] = (variables[setting.variable], setting.variable)
    texts.update({name: (text, "the command line") for name, text in given.items()})
    return texts, problems


def _number_text(number: float | None) -> str:
    """A number as the text of a variable, empty if it is not set."""
    return "" if number is None else str(number)


def _if_set(name: str, texts: Texts, read: Callable[[str], N], problems: list[Problem]) -> N | None:
    """The value; None if it is not set, so that the caller's default applies."""
    return None if texts[name][1] == DEFAULT else _checked(name, texts, read, problems, read("0"))


def _of_run(texts: Texts, problems: list[Problem]) -> dict[str, Any]:
    """{field of ``Settings``: its value}, of how calls are made."""
    return {
        "task_retries": _if_set("run.task_retries", texts, _retries, problems),
        "subgraph_retries": int(_checked("run.subgraph_retries", texts, _retries, problems, 0)),
        "task_retry_interval_s": _if_set("run.task_retry_interval", texts, _seconds, problems),
        "threads": int(_checked("run.threads", texts, _slots, problems, 1)),
        "workers": int(_checked("run.workers", texts, _slots, problems, 1)),
        "cache_mib": int(_checked("run.cache_mib", texts, _mib, problems, 0)),
        "keep_orders_hours": int(_checked("orders.keep_hours", texts, _slots, problems, 1)),
    }


def _of_log(texts: Texts, problems: list[Problem]) -> dict[str, Any]:
    """The same of what is logged."""
    return {
        "log_level": _word("log.level", texts, LEVELS, problems),
        "log_format": _word("log.format", texts, FORMS, problems),
    }


def _of_strangers(texts: Texts, folder: Path, problems: list[Problem]) -> dict[str, Any]:
    """Settings about foreign hosts, files and code."""
    return {
        "ssh_host_keys": _word("ssh.host_keys", texts, HOST_KEY_POLICIES, problems),
        "allowed_imports": _addresses(texts, problems),
        "import_rules": _rules(texts, problems),
        "import_fallback": _word("blueprints.import_fallback", texts, YES_OR_NO, problems) == "yes",
        "allow_master": _word("plugins.allow_master", texts, YES_OR_NO, problems) == "yes",
        "plugin_folders": _folders(texts["plugins.path"][0], folder),
    }


def _store_url(texts: Texts, variables: Mapping[str, str]) -> str:
    text, origin = texts["store.url"]
    return default_store_url(variables) if origin == DEFAULT else text


def default_store_url(environment: Mapping[str, str]) -> str:
    """The SQLite file in the user's data folder."""
    home = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".local" / "share")
    return f"sqlite:///{Path(home).absolute() / 'phaseline' / 'store.db'}"


def own_folder(environment: Mapping[str, str]) -> Path:
    """The user's configuration folder."""
    home = environment.get("XDG_CONFIG_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".config")
    return Path(home).absolute() / "phaseline"


def _find_file(config: str | None, environment: Mapping[str, str], folder: Path) -> Path | None:
    if config == os.devnull:
        return None
    if config:
        path = folder / config
        if not os.path.isfile(path):  # noqa: PTH113 - as below
            message = f"the settings file '{config}' does not exist"
            raise problem_error("PL-C002", message, "Correct the path after --config, or leave the option out.")
        return path
    candidates = (folder / FILE_NAME, own_folder(environment) / FILE_NAME)
    # Unlike ``Path.is_file`` this is False for inaccessible paths, such as root's home, which sudo may leave in HOME.
    return next((path for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113


HEAT_OPTIONS = "hooks.heat_options"
"""The setting that is a table of names which are not ours."""


def _read_file(path: Path) -> tuple[dict[str, str], list[Problem]]:
    import tomllib

    raise_if_foreign(path, os.getuid())
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the settings file cannot be read: {error}"
        raise ProblemsError([Problem("PL-C002", message, "Correct the file; it is TOML.", Place(str(path)))]) from error
    known = [setting.name for setting in SETTINGS]
    found: dict[str, str] = {}
    problems: list[Problem] = []
    options: dict[str, object] = {}
    for name, value in _flatten(content):
        if name.startswith(HEAT_OPTIONS + "."):
            options[name.removeprefix(HEAT_OPTIONS + ".")] = value
            found[HEAT_OPTIONS] = _text([options], "classes").strip()[1:-1]
        elif name in known:
            found[name] = _text(value, next(setting.kind for setting in SETTINGS if setting.name == name))
        else:
            from phaseline.lang.did_you_mean import did_you_mean

            hint = did_you_mean(name, known)
            mend = f"Correct or remove the line; {hint}" if hint else f"The settings are: {', '.join(known)}."
            problems.append(Problem("PL-C001", f"'{name}' is not a setting", mend, Place(str(path), path=name)))
    return found, problems


def raise_if_foreign(path: Path, user: int) -> None:
    """Raise PL-C004 for a file that is not this user's (nor root's), or that others may write: its settings name code that is run."""
    try:
        found = path.stat()
    except OSError:
        return  # the reader of the file reports it
    mode = f"{stat.filemode(found.st_mode)} ({stat.S_IMODE(found.st_mode):04o})"
    is_others = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != os.getgid())
    if found.st_uid not in (user, 0):
        why, mend = f"the user {found.st_uid} owns it", f"chown {user} {path}"
    elif is_others:
        why, mend = "others may write it", f"chmod go-w {path}"
    else:
        return
    message = f"the settings file is not used: {why}, its mode is {mode}"
    raise ProblemsError([Problem("PL-C004", message, mend, Place(str(path)))])


def _text(value: object, kind: str) -> str:
    """A value of the file in the form of an environment variable."""
    if isinstance(value, list):
        if kind == "classes":
            import json

            return json.dumps(value, default=str)
        return SEPARATORS.get(kind, " ").join(map(str, value))
    return YES_OR_NO[not value] if isinstance(value, bool) else str(value)


def _flatten(content: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _checked(
    name: str,
    texts: Texts,
    read: Callable[[str], N],
    problems: list[Problem],
    default: N,
) -> N:
    text, origin = texts[name]
    try:
        return read(text)
    except ValueError:
        kind = next(setting.kind for setting in SETTINGS if setting.name == name)
        message = f"'{text}' is no value for the setting '{name}' (from {origin})"
        problems.append(Problem("PL-C003", message, f"Give a value of this kind: {kind}."))
        return default


def _word(name: str, texts: Texts, words: tuple[W, ...], problems: list[Problem]) -> W:
    text, origin = texts[name]
    for word in words:
        if text == word:
            return word
    message = f"'{text}' is no value for the setting '{name}' (from {origin})"
    problems.append(Problem("PL-C003", message, f"Write one of: {', '.join(words)}."))
    return words[0]


def _of_hooks(texts: Texts, folder: Path, problems: list[Problem]) -> dict[str, Any]:
    """The same of hook classes."""
    return {
        "hook_classes": _hook_classes(texts["hooks.classes"][0], folder, problems),
        "heat_options": _heat_options(texts["hooks.heat_options"][0], problems),
        "heat_compat": _word("hooks.heat_compat", texts, YES_OR_NO, problems) == "yes",
        "heat_critical": _word("hooks.heat_critical", texts, YES_OR_NO, problems) == "yes",
        "on_broken_hooks": _word("hooks.on_broken", texts, ON_BROKEN, problems),
        "verify_hooks": _word("hooks.verify", texts, VERIFY, problems),
    }


def _heat_options(text: str, problems: list[Problem]) -> str:
    if not text:
        return ""
    from phaseline.app.hook_settings import canonical_options

    try:
        return canonical_options(text)
    except ProblemsError as error:
        problems.extend(error.problems)
        return ""


def _hook_classes(text: str, folder: Path, problems: list[Problem]) -> str:
    if not text:
        return ""
    from phaseline.app.hook_settings import canonical

    try:
        return canonical(text, folder)
    except ProblemsError as error:
        problems.extend(error.problems)
        return ""


def _log_file(told: tuple[str, str], store_url: str, folder: Path) -> str:
    """The path of the log; empty for none: if the setting is "none", or the store is no file."""
    text, origin = told
    if text == "none":
        return ""
    if origin != DEFAULT:
        return str((folder / Path(text).expanduser()).absolute())
    file = store_url.removeprefix("sqlite:///")
    return "" if file in {store_url, ""} else f"{(folder / Path(file).expanduser()).absolute()}.log"


def _path(told: tuple[str, str], default: Path, folder: Path) -> str:
    text, origin = told
    return str(default if origin == DEFAULT else (folder / Path(text).expanduser()).absolute())


def _retries(text: str) -> int:
    number = int(text)
    if number < -1:
        raise ValueError(text)
    return number


def _slots(text: str) -> int:
    number = int(text)
    if not 1 <= number <= MOST_SLOTS:
        raise ValueError(text)
    return number


def _mib(text: str) -> int:
    number = int(text)
    if not 0 <= number <= MOST_MIB:
        raise ValueError(text)
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return number


def _addresses(texts: Texts, problems: list[Problem]) -> tuple[str, ...]:
    text, origin = texts["blueprints.allowed_imports"]
    for address in text.split():
        if not _is_address(address):
            message = f"'{address}' is no value for the setting 'blueprints.allowed_imports' (from {origin})"
            problems.append(Problem("PL-C003", message, "Give addresses such as https://example.org/blueprints/."))
    return tuple(text.split())


def _is_address(text: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return False


def _rules(texts: Texts, problems: list[Problem]) -> tuple[tuple[str, str], ...]:
    text, origin = texts["blueprints.import_rules"]
    found: list[tuple[str, str]] = []
    for rule in text.split():
        old, equals, new = rule.partition("=")
        if old and equals and new:
            found.append((old, new))
        else:
            message = f"'{rule}' is no value for the setting 'blueprints.import_rules' (from {origin})"
            problems.append(Problem("PL-C003", message, "Give rules such as https://example.org/=/srv/mirror/."))
    return tuple(found)


def _folders(text: str, folder: Path) -> tuple[str, ...]:
    return tuple(str((folder / part).absolute()) for part in text.split(os.pathsep) if part)


def slots(settings: Settings) -> "Slots":
    """How many calls run at once, from the settings."""
    from phaseline.run.executors.local_executor import Slots

    return Slots(threads=settings.threads, workers=settings.workers)
