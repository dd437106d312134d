"""Every setting there is, as a table, and where its value comes from.

An option of the command line wins over the environment, the environment over the settings file, the file over the
default. Of the settings files only the first found is read: the one named, ``phaseline.toml`` here, or the one in the
user's configuration folder (decision 28).
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from phaseline.model.frozen import frozen
from phaseline.model.problem import Place, Problem, ProblemsError, fail
from phaseline.use_cases.typos import did_you_mean

FILE_NAME = "phaseline.toml"
KEY_FILE = "secrets.key"
"""Name of the file with the master key, in the user's configuration folder."""
MOST_SLOTS = 10_000
"""More calls at once than this are taken for a mistake."""

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


@frozen
class Setting:
    """One setting: dotted name, what it does, how its text is read, and its default as text."""

    name: str
    meaning: str
    kind: str
    default: str
    example: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "PHASELINE_" + self.name.replace(".", "_").upper()


SETTINGS = (
    Setting(
        "store.url",
        "Where everything is remembered: sqlite:/// and the path of a file, or memory: for nothing kept.",
        "url",
        "a file in the user's data folder",
        "sqlite:////srv/phaseline/store.db",
    ),
    Setting(
        "plugins.path",
        "Folders in which modules of plugins are looked for, separated by colons; in the file also a list.",
        "folders",
        "",
        "/srv/plugins:/home/ann/plugins",
    ),
    Setting(
        "plugins.allow_master",
        "Whether tasks of plugin packages with the role master may run: on the machine of the engine.",
        "yes or no",
        "no",
        "yes",
    ),
    Setting(
        "blueprints.allowed_imports",
        "Beginnings of http(s) addresses that blueprints may import files from, separated by spaces; in the file also a list.",
        "addresses",
        "",
        "https://example.org/blueprints/ http://10.0.0.5:8080/",
    ),
    Setting(
        "blueprints.import_rules",
        "What the beginning of an import is replaced by, as OLD=NEW, separated by spaces; in the file also a list. Those that fit are "
        "tried in order; NEW is an address or a folder of this machine.",
        "rules",
        "",
        "https://example.org/=/srv/mirror/ http://old.example.org/=https://new.example.org/",
    ),
    Setting(
        "blueprints.import_fallback",
        "Whether an import is tried as it is written, too, where no rule that fits it leads to a file.",
        "yes or no",
        "yes",
        "no",
    ),
    Setting(
        "secrets.key_file",
        "The file with the master key of secrets, made on first use for its user alone; keep a copy apart from the store's.",
        "path",
        "secrets.key in the user's configuration folder",
        "/etc/phaseline/secrets.key",
    ),
    Setting(
        "run.task_retries",
        "How often a failed operation is tried again where it does not say so itself; -1: without end.",
        "whole number, -1 or more",
        "60",
        "5",
    ),
    Setting(
        "run.task_retry_interval",
        "Seconds between a failure and the next try where the operation does not say so itself.",
        "seconds",
        "15",
        "2.5",
    ),
    Setting(
        "run.threads",
        "How many calls of Python functions for single instances run at once.",
        "whole number, 1 or more",
        "16",
        "64",
    ),
    Setting(
        "run.workers",
        "How many scripts, and functions with a time-out, run at once, each in a process of its own.",
        "whole number, 1 or more",
        "8",
        "32",
    ),
    Setting(
        "ssh.host_keys",
        "Which hosts tasks are run on over SSH: those whose key is known, also those never seen before (their key is "
        "remembered), or any at all.",
        "known, accept_new or any",
        "known",
        "accept_new",
    ),
    Setting(
        "ssh.known_hosts",
        "The file with the keys of hosts, as OpenSSH writes it.",
        "path",
        "known_hosts in the user's folder .ssh",
        "/etc/phaseline/known_hosts",
    ),
    Setting(
        "hooks.classes",
        "Hook classes that no distribution announces, as module:Class, separated by spaces; in the file also tables "
        "[[hooks.classes]] with class, name, folder (where its module is) and options (what it is made with).",
        "classes",
        "",
        "phaseline.policies:FreezeWindows acme.hooks:Quota",
    ),
    Setting(
        "hooks.heat_compat",
        "Whether hook classes that are announced for Heat (heat.stack_lifecycle_plugins) are called, too.",
        "yes or no",
        "no",
        "yes",
    ),
    Setting(
        "hooks.heat_critical",
        "Whether an action fails when a class that is announced for Heat fails after it; with no it is a warning, as in Heat.",
        "yes or no",
        "yes",
        "no",
    ),
    Setting(
        "hooks.on_broken",
        "What becomes of actions while a hook class cannot be loaded: refused, or done without it.",
        "refuse or ignore",
        "refuse",
        "ignore",
    ),
    Setting(
        "hooks.verify",
        "Whether it is looked after each call of a hook class, by digests, if it has changed the deployment behind its view.",
        "off or digest",
        "off",
        "digest",
    ),
    Setting(
        "log.file",
        "Where the engine writes what it does, or none. The file is put aside at 10 MiB; five of those are kept.",
        "path",
        "the store's file with .log at its end",
        "/var/log/phaseline/engine.log",
    ),
    Setting("log.level", "How much the engine writes there.", "debug, info, warning or error", "info", "warning"),
    Setting("log.format", "Lines for people, or one JSON object a line for programs.", "text or json", "text", "json"),
)
"""All settings, in the order in which the documentation shows them."""


SEPARATORS = {"folders": os.pathsep, "addresses": " ", "rules": " "}
"""{kind: what stands between several}"""


@frozen
class Settings:
    """The values of all settings for one run of the program."""

    store_url: str
    plugin_folders: tuple[str, ...] = ()
    task_retries: int = 60
    task_retry_interval_s: float = 15.0
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
    """As ``hook_settings.canonical`` gives them."""
    heat_compat: bool = False
    heat_critical: bool = True
    on_broken_hooks: OnBroken = "refuse"
    verify_hooks: Verify = "off"
    allow_master: bool = False

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
            "run.task_retries": str(self.task_retries),
            "run.task_retry_interval": str(self.task_retry_interval_s),
            "run.threads": str(self.threads),
            "run.workers": str(self.workers),
            "ssh.host_keys": self.ssh_host_keys,
            "ssh.known_hosts": self.ssh_known_hosts,
            "hooks.classes": self.hook_classes,
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
    texts = {setting.name: (setting.default, "the default") for setting in SETTINGS}
    file = _find_file(config, variables, place)
    problems: list[Problem] = []
    if file is not None:
        found, problems = _read_file(file)
        texts.update({name: (text, str(file)) for name, text in found.items()})
    for setting in SETTINGS:
        if variables.get(setting.variable):
            texts[setting.name] = (variables[setting.variable], setting.variable)
    texts.update({name: (text, "the command line") for name, text in (given or {}).items()})
    retries = _checked("run.task_retries", texts, _retries, problems, 60)
    interval = _checked("run.task_retry_interval", texts, _seconds, problems, 15.0)
    threads, workers = (_checked(f"run.{pool}", texts, _slots, problems, 1) for pool in ("threads", "workers"))
    url = texts["store.url"][0] if texts["store.url"][1] != "the default" else default_store_url(variables)
    level = _word("log.level", texts, LEVELS, problems)
    form = _word("log.format", texts, FORMS, problems)
    host_keys = _word("ssh.host_keys", texts, HOST_KEY_POLICIES, problems)
    allowed = _addresses(texts, problems)
    rules = _rules(texts, problems)
    fallback = _word("blueprints.import_fallback", texts, YES_OR_NO, problems) == "yes"
    compat, critical = (_word(f"hooks.heat_{word}", texts, YES_OR_NO, problems) for word in ("compat", "critical"))
    on_broken = _word("hooks.on_broken", texts, ON_BROKEN, problems)
    verify = _word("hooks.verify", texts, VERIFY, problems)
    allow_master = _word("plugins.allow_master", texts, YES_OR_NO, problems) == "yes"
    classes = _hook_classes(texts["hooks.classes"][0], place, problems)
    if problems:
        raise ProblemsError(problems)
    return Settings(
        url,
        _folders(texts["plugins.path"][0], place),
        int(retries),
        interval,
        int(threads),
        int(workers),
        allowed,
        log_file=_log_file(texts["log.file"], url, place),
        log_level=level,
        log_format=form,
        import_rules=rules,
        import_fallback=fallback,
        secrets_key_file=_path(texts["secrets.key_file"], own_folder(variables) / KEY_FILE, place),
        ssh_host_keys=host_keys,
        ssh_known_hosts=_path(
            texts["ssh.known_hosts"], Path(variables.get("HOME") or Path.home(), ".ssh", "known_hosts"), place
        ),
        hook_classes=classes,
        heat_compat=compat == "yes",
        heat_critical=critical == "yes",
        on_broken_hooks=on_broken,
        verify_hooks=verify,
        allow_master=allow_master,
    )


def default_store_url(environment: Mapping[str, str]) -> str:
    """The SQLite file in the user's data folder."""
    home = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".local" / "share")
    return f"sqlite:///{Path(home).absolute() / 'phaseline' / 'store.db'}"


def own_folder(environment: Mapping[str, str]) -> Path:
    """The user's configuration folder."""
    home = environment.get("XDG_CONFIG_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".config")
    return Path(home).absolute() / "phaseline"


def _find_file(config: str | None, environment: Mapping[str, str], folder: Path) -> Path | None:
    if config:
        path = folder / config
        if not path.is_file():
            message = f"the settings file '{config}' does not exist"
            raise fail("PL-C002", message, "Correct the path after --config, or leave the option out.")
        return path
    candidates = (folder / FILE_NAME, own_folder(environment) / FILE_NAME)
    return next((path for path in candidates if path.is_file()), None)


def _read_file(path: Path) -> tuple[dict[str, str], list[Problem]]:
    import tomllib

    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the settings file cannot be read: {error}"
        raise ProblemsError([Problem("PL-C002", message, "Correct the file; it is TOML.", Place(str(path)))]) from error
    known = [setting.name for setting in SETTINGS]
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for name, value in _flatten(content):
        if name in known:
            found[name] = _text(value, next(setting.kind for setting in SETTINGS if setting.name == name))
        else:
            hint = did_you_mean(name, known)
            mend = f"Correct or remove the line; {hint}" if hint else f"The settings are: {', '.join(known)}."
            problems.append(Problem("PL-C001", f"'{name}' is not a setting", mend, Place(str(path), path=name)))
    return found, problems


def _text(value: object, kind: str) -> str:
    """A value of the file as it would stand in the environment."""
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
    texts: Mapping[str, tuple[str, str]],
    read: Callable[[str], float],
    problems: list[Problem],
    default: float,
) -> float:
    text, origin = texts[name]
    try:
        return read(text)
    except ValueError:
        kind = next(setting.kind for setting in SETTINGS if setting.name == name)
        message = f"'{text}' is no value for the setting '{name}' (from {origin})"
        problems.append(Problem("PL-C003", message, f"Give a value of this kind: {kind}."))
        return default


def _word(name: str, texts: Mapping[str, tuple[str, str]], words: tuple[W, ...], problems: list[Problem]) -> W:
    text, origin = texts[name]
    for word in words:
        if text == word:
            return word
    message = f"'{text}' is no value for the setting '{name}' (from {origin})"
    problems.append(Problem("PL-C003", message, f"Write one of: {', '.join(words)}."))
    return words[0]


def _hook_classes(text: str, folder: Path, problems: list[Problem]) -> str:
    if not text:
        return ""
    from phaseline.use_cases.hook_settings import canonical

    try:
        return canonical(text, folder)
    except ProblemsError as error:
        problems.extend(error.problems)
        return ""


def _log_file(told: tuple[str, str], store_url: str, folder: Path) -> str:
    """The path of the log; empty for none: when that is said, and for a store that is no file."""
    text, origin = told
    if text == "none":
        return ""
    if origin != "the default":
        return str((folder / Path(text).expanduser()).absolute())
    file = store_url.removeprefix("sqlite:///")
    return "" if file in {store_url, ""} else f"{(folder / Path(file).expanduser()).absolute()}.log"


def _path(told: tuple[str, str], default: Path, folder: Path) -> str:
    text, origin = told
    return str(default if origin == "the default" else (folder / Path(text).expanduser()).absolute())


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


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return number


def _addresses(texts: Mapping[str, tuple[str, str]], problems: list[Problem]) -> tuple[str, ...]:
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


def _rules(texts: Mapping[str, tuple[str, str]], problems: list[Problem]) -> tuple[tuple[str, str], ...]:
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
