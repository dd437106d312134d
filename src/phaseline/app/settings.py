"""The values of all settings, and where they come from.

A value comes from the first of these that has one: the option of the command line, the environment variable, the
settings file, the default. Only one settings file is read: the file that the user names, otherwise ``phaseline.toml``
in the current folder, otherwise the file in the user's configuration folder (decision 28).
"""

import os
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from phaseline.app.settings_schema import SETTINGS, Setting
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error

if TYPE_CHECKING:
    from phaseline.run.executors.local_executor import Slots
    from phaseline.run.loop.retention import RetentionAges

FILE_NAME = "phaseline.toml"
KEY_FILE = "secrets.key"
"""Name of the file with the master key, in the user's configuration folder."""
Level = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")
"""Levels of log messages, from the least to the most important."""
Form = Literal["text", "json"]
HostKeyPolicy = Literal["known", "accept_new", "any"]
OnBroken = Literal["refuse", "ignore"]
Verify = Literal["off", "digest"]
YES_OR_NO = ("yes", "no")
LOG_FILE = "log.file"
NO_FILE = "none"
DEFAULT = "the default"
NEVER = "never"
"""The value of an age after which nothing is removed."""
Texts = Mapping[str, tuple[str, str]]
"""{setting: (its value as text, where the text comes from)}"""


SEPARATORS = {"folders": os.pathsep, "addresses": " ", "rules": " "}
"""{kind of a setting: separator between its values}"""


@frozen
class Settings:
    """The values of all settings for one run of the program."""

    store_url: str
    plugin_folders: tuple[str, ...] = ()
    task_retries: int | None = None
    """Number of retries; None means the default of the blueprint's language (decision 34).

    If ``task_retry_interval_s`` is None, the default interval of the language applies.
    """
    task_retry_interval_s: float | None = None
    threads: int = 16
    workers: int = 8
    allowed_imports: tuple[str, ...] = ()
    log_file: str = ""
    log_level: Level = "info"
    log_format: Form = "text"
    secrets_key_file: str = ""
    secrets_key_command: str = ""
    import_rules: tuple[tuple[str, str], ...] = ()
    import_fallback: bool = True
    ssh_host_keys: HostKeyPolicy = "known"
    ssh_known_hosts: str = ""
    hook_classes: str = ""
    """Hook classes in the form of ``hook_settings.canonical``."""
    heat_options: str = ""
    """Options for Heat's hook classes as JSON: {``option`` or ``group.option``: value}."""
    heat_compat: bool = False
    dependencies_cloudify_compat: bool = False
    groups_concurrency: int = 0
    """How many executions of a run over a group are open at a time; 0: all of them."""
    heat_critical: bool = True
    on_broken_hooks: OnBroken = "refuse"
    verify_hooks: Verify = "off"
    allow_master: bool = False
    subgraph_retries: int = 0
    cache_mib: int = 256
    keep_orders_hours: int = 24
    retention_executions: str = NEVER
    """An age such as ``30d``, or ``never``."""
    retention_logs: str = NEVER

    def variables(self) -> dict[str, str]:
        """Return the settings as environment variables, for another process with the same settings."""
        told = {setting.variable: _text(getattr(self, setting.field), setting.kind) for setting in SETTINGS}
        return {**told, "PHASELINE_LOG_FILE": self.log_file or NO_FILE}


def load_settings(
    *,
    config: str | None = None,
    given: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Return the settings of this process.

    ``config``: the settings file; ``given``: {name: text} of options of the command line; ``environment`` and
    ``folder``: by default those of the process.

    Raises: ProblemsError with all problems (PL-C001 unknown key, PL-C002 unreadable file, PL-C003 invalid value).
    """
    variables = os.environ if environment is None else environment
    place = folder or Path.cwd()
    texts, problems = _gathered(config, given or {}, variables, place)
    found: dict[str, Any] = {}
    for setting in SETTINGS:
        text, origin = texts[setting.name]
        try:
            found[setting.field] = (
                None if origin == DEFAULT and setting.is_described else _read(setting, text, origin, place)
            )
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    if found["store_url"] is None:
        found["store_url"] = default_store_url(variables)
    if found["secrets_key_file"] is None:
        found["secrets_key_file"] = str(own_folder(variables) / KEY_FILE)
    if found["ssh_known_hosts"] is None:
        found["ssh_known_hosts"] = str(Path(variables.get("HOME") or Path.home(), ".ssh", "known_hosts"))
    if texts["log.file"][1] == DEFAULT:
        found["log_file"] = _log_file(found["store_url"], place)
    return Settings(**found)


def _gathered(
    config: str | None, given: Mapping[str, str], variables: Mapping[str, str], folder: Path
) -> tuple[Texts, list[Problem]]:
    """Return (the text of each setting and its origin, the problems of the settings file)."""
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


def default_store_url(environment: Mapping[str, str]) -> str:
    """Return the URL of the SQLite file in the user's data folder."""
    home = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".local" / "share")
    return f"sqlite:///{Path(home).absolute() / 'phaseline' / 'store.db'}"


def own_folder(environment: Mapping[str, str]) -> Path:
    """Return the user's configuration folder."""
    home = environment.get("XDG_CONFIG_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".config")
    return Path(home).absolute() / "phaseline"


def _find_file(config: str | None, environment: Mapping[str, str], folder: Path) -> Path | None:
    if config == os.devnull:
        return None
    if config:
        path = folder / config
        if not os.path.isfile(path):  # noqa: PTH113 - as below
            message = f"the settings file '{config}' does not exist"
            raise problem_error("PL-C002", message, "correct the path after --config, or omit the option")
        return path
    candidates = (folder / FILE_NAME, own_folder(environment) / FILE_NAME)
    # Unlike ``Path.is_file`` this is False for inaccessible paths, such as root's home, which sudo may leave in HOME.
    return next((path for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113


HEAT_OPTIONS = "hooks.heat_options"
"""The one setting that is a table whose keys are not defined by Phaseline."""


def _read_file(path: Path) -> tuple[dict[str, str], list[Problem]]:
    import tomllib

    raise_if_foreign(path, os.getuid())
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the settings file cannot be read: {error}"
        raise ProblemsError([Problem("PL-C002", message, "correct the file; it is TOML", Place(str(path)))]) from error
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
            mend = f"correct or remove the line; {hint}" if hint else f"the settings are: {', '.join(known)}"
            problems.append(Problem("PL-C001", f"'{name}' is not a setting", mend, Place(str(path), path=name)))
    return found, problems


def raise_if_foreign(path: Path, user: int) -> None:
    """Raise PL-C004 for a settings file of another user (except root), or that other users may write.

    The check is necessary because settings name code that is run.
    """
    try:
        found = path.stat()
    except OSError:
        return  # the reader of the file reports it
    mode = f"{stat.filemode(found.st_mode)} ({stat.S_IMODE(found.st_mode):04o})"
    is_others = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != os.getgid())
    if found.st_uid not in (user, 0):
        why, mend = f"it belongs to user {found.st_uid}", f"chown {user} {path}"
    elif is_others:
        why, mend = "other users can write it", f"chmod go-w {path}"
    else:
        return
    message = f"the settings file is not used: {why}, its mode is {mode}"
    raise ProblemsError([Problem("PL-C004", message, mend, Place(str(path)))])


def _text(value: object, kind: str) -> str:
    """Return a value of the settings file or of a field of ``Settings`` as an environment variable holds it."""
    if isinstance(value, list | tuple):
        if kind == "classes":
            import json

            return json.dumps(value, default=str)
        return SEPARATORS.get(kind, " ").join("=".join(one) if isinstance(one, tuple) else str(one) for one in value)
    if isinstance(value, bool):
        return YES_OR_NO[not value]
    return "" if value is None else str(value)


def _flatten(content: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


# -- values ----------------------------------------------------------------------------------------------------------


def _read(setting: Setting, text: str, origin: str, folder: Path) -> Any:
    """Convert the text of a setting to its value. Raises: PL-C003."""
    if setting.words:
        if text not in setting.words:
            raise _unsuitable(setting, text, origin, f"write one of: {', '.join(setting.words)}")
        return text == YES_OR_NO[0] if setting.words == YES_OR_NO else text
    if setting.kind in READERS:
        return READERS[setting.kind](setting, text, origin, folder)
    try:
        number = float(text) if setting.kind == "seconds" else int(text)
    except ValueError:
        number = inf
    if not setting.least <= number <= setting.most or number == inf:
        raise _unsuitable(setting, text, origin, f"give a value of this kind: {setting.kind}")
    return number


def _unsuitable(setting: Setting, text: str, origin: str, mend: str) -> ProblemsError:
    return problem_error("PL-C003", f"'{text}' is not a value of the setting '{setting.name}' (from {origin})", mend)


def _as_written(_setting: Setting, text: str, _origin: str, _folder: Path) -> str:
    return text


def _path(setting: Setting, text: str, _origin: str, folder: Path) -> str:
    """Return the absolute path. For the log file, the word "none" is allowed too and becomes an empty text."""
    is_none = text == NO_FILE and setting.name == LOG_FILE
    return "" if is_none else str((folder / Path(text).expanduser()).absolute())


def _log_file(store_url: str, folder: Path) -> str:
    """Return the path of the log file beside the store; empty if the store is not a file."""
    file = store_url.removeprefix("sqlite:///")
    return "" if file in {store_url, ""} else f"{(folder / Path(file).expanduser()).absolute()}.log"


def _command(setting: Setting, text: str, origin: str, _folder: Path) -> str:
    """Return the text of a command, whose words must be separable. Raises: PL-C003."""
    try:
        shlex.split(text)
    except ValueError as error:
        raise _unsuitable(setting, text, origin, f"write words and quotes as in a shell: {error}") from error
    return text


def _folders(_setting: Setting, text: str, _origin: str, folder: Path) -> tuple[str, ...]:
    return tuple(str((folder / part).absolute()) for part in text.split(os.pathsep) if part)


def _addresses(setting: Setting, text: str, origin: str, _folder: Path) -> tuple[str, ...]:
    mend = "give addresses such as https://example.org/blueprints/"
    return _all_of(setting, text.split(), origin, _is_address, mend)


def _is_address(text: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return False


def _rules(setting: Setting, text: str, origin: str, _folder: Path) -> tuple[tuple[str, str], ...]:
    mend = "give rules such as https://example.org/=/srv/mirror/"
    rules = _all_of(setting, text.split(), origin, lambda rule: all(rule.partition("=")), mend)
    return tuple((old, new) for old, _, new in (rule.partition("=") for rule in rules))


def _all_of(
    setting: Setting, words: Sequence[str], origin: str, fits: Callable[[str], bool], mend: str
) -> tuple[str, ...]:
    """Return the words if all are valid. Raises: PL-C003 with a problem for each invalid word."""
    wrong = [word for word in words if not fits(word)]
    if wrong:
        raise ProblemsError([one for word in wrong for one in _unsuitable(setting, word, origin, mend).problems])
    return tuple(words)


def _age(setting: Setting, text: str, origin: str, _folder: Path) -> str:
    """Return an age such as ``30d``, or ``never``, for which an empty text may be written."""
    if text in {"", NEVER}:
        return NEVER
    from phaseline.lang.durations import read_age_ms

    try:
        read_age_ms(text)
    except ValueError:
        raise _unsuitable(setting, text, origin, "write an age such as 90m, 12h, 30d or 8w, or never") from None
    return text


def _hooks(setting: Setting, text: str, _origin: str, folder: Path) -> str:
    if not text:
        return ""
    from phaseline.app.hook_settings import canonical, canonical_options

    return canonical(text, folder) if setting.kind == "classes" else canonical_options(text)


READERS: Mapping[str, Callable[[Setting, str, str, Path], Any]] = {
    "url": _as_written,
    "path": _path,
    "command": _command,
    "folders": _folders,
    "addresses": _addresses,
    "rules": _rules,
    "age": _age,
    "classes": _hooks,
    "options": _hooks,
}
"""{kind of a setting: function that converts its text}; for words and numbers, ``_read`` uses the setting's row."""


def slots(settings: Settings) -> "Slots":
    """Return the settings of how many calls may run at the same time: in threads and in worker processes."""
    from phaseline.run.executors.local_executor import Slots

    return Slots(threads=settings.threads, workers=settings.workers)


def retention_ages(settings: Settings) -> "RetentionAges | None":
    """Return the settings of how long old executions and their lines are kept; None if all are kept for ever."""
    texts = (settings.retention_executions, settings.retention_logs)
    if texts == (NEVER, NEVER):
        return None
    from phaseline.lang.durations import read_age_ms
    from phaseline.run.loop.retention import RetentionAges

    executions, lines = (0 if text == NEVER else read_age_ms(text) for text in texts)
    return RetentionAges(executions, lines)
