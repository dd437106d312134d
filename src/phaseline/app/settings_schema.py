"""The table of all settings, by which files and variables are read and from which the documentation is generated."""

from __future__ import annotations

from math import inf

from phaseline.lang.fast_dataclasses import frozen

MOST_MIB = 1 << 30
"""Upper bound of settings for memory, in MiB; more than any machine has."""
MOST_SLOTS = 10_000
"""Largest number of simultaneous calls that a setting may allow."""


@frozen
class Setting:
    """One setting: dotted name, field of ``Settings``, effect, kind of its value, and default as text.

    ``least`` and ``most``: the bounds of a number; ``is_described``: the default is a description, not a value.
    """

    name: str
    field: str
    meaning: str
    kind: str
    default: str
    example: str
    least: float = 0
    most: float = inf
    is_described: bool = False

    @property
    def variable(self) -> str:
        """The environment variable for this setting."""
        return "PHASELINE_" + self.name.replace(".", "_").upper()

    @property
    def words(self) -> tuple[str, ...]:
        """The only allowed values of the setting; empty if its kind decides what is allowed."""
        first, last = self.kind.rpartition(" or ")[::2]
        return () if "number" in first or not first else (*first.split(", "), last)


SETTINGS = (
    Setting(
        "store.url",
        "store_url",
        "URL of the store: sqlite:/// and the path of a file, or memory: to keep nothing.",
        "url",
        "a file in the user's data folder",
        "sqlite:////srv/phaseline/store.db",
        is_described=True,
    ),
    Setting(
        "plugins.path",
        "plugin_folders",
        "Folders that are searched for plugin modules, separated by colons; in the file also a list.",
        "folders",
        "",
        "/srv/plugins:/home/ann/plugins",
    ),
    Setting(
        "plugins.allow_master",
        "allow_master",
        "Whether tasks of plugin packages with the role master may run, on the engine's machine.",
        "yes or no",
        "no",
        "yes",
    ),
    Setting(
        "blueprints.allowed_imports",
        "allowed_imports",
        "Beginnings of http(s) addresses that blueprints may import files from, separated by spaces; in the file also a list.",
        "addresses",
        "",
        "https://example.org/blueprints/ http://10.0.0.5:8080/",
    ),
    Setting(
        "blueprints.import_rules",
        "import_rules",
        "Replacements of the beginnings of imports, as OLD=NEW, separated by spaces; in the file also a list. Those that match are "
        "tried in order; NEW is an address or a local folder.",
        "rules",
        "",
        "https://example.org/=/srv/mirror/ http://old.example.org/=https://new.example.org/",
    ),
    Setting(
        "blueprints.import_fallback",
        "import_fallback",
        "Whether an import is also tried unchanged if no matching rule leads to a file.",
        "yes or no",
        "yes",
        "no",
    ),
    Setting(
        "secrets.key_file",
        "secrets_key_file",
        "File with the master key of secrets, made on first use for its user alone; keep a copy away from the store.",
        "path",
        "secrets.key in the user's configuration folder",
        "/etc/phaseline/secrets.key",
        is_described=True,
    ),
    Setting(
        "secrets.key_command",
        "secrets_key_command",
        "Command that prints the master keys of secrets in base64, the newest first, in place of the file; no shell runs it.",
        "command",
        "",
        "pass show phaseline/master-key",
    ),
    Setting(
        "run.task_retries",
        "task_retries",
        "Retries of a failed operation that does not set a number itself; -1: no limit.",
        "whole number, -1 or more",
        "3, or 60 in cloudify_dsl_*",
        "5",
        least=-1,
        is_described=True,
    ),
    Setting(
        "run.task_retry_interval",
        "task_retry_interval_s",
        "Seconds between a failure and the next try, unless the operation sets them itself.",
        "seconds",
        "2, then 8, then 30, or 15 in cloudify_dsl_*",
        "2.5",
        is_described=True,
    ),
    Setting(
        "run.subgraph_retries",
        "subgraph_retries",
        "Times to remove and recreate an instance whose life cycle failed; -1: no limit.",
        "whole number, -1 or more",
        "0",
        "2",
        least=-1,
    ),
    Setting(
        "run.threads",
        "threads",
        "How many calls of Python functions for single instances run at once.",
        "whole number, 1 or more",
        "16",
        "64",
        least=1,
        most=MOST_SLOTS,
    ),
    Setting(
        "run.workers",
        "workers",
        "How many scripts, and functions with a time-out, run at once, each in a process of its own.",
        "whole number, 1 or more",
        "8",
        "32",
        least=1,
        most=MOST_SLOTS,
    ),
    Setting(
        "run.cache_mib",
        "cache_mib",
        "MiB of deployments without an open execution that an engine keeps in memory, the least recently used are dropped "
        "first; 0: none are kept.",
        "whole number, 0 or more",
        "256",
        "1024",
        most=MOST_MIB,
    ),
    Setting(
        "orders.keep_hours",
        "keep_orders_hours",
        "Hours for which a request id is remembered: a repeated request is answered, not carried out again.",
        "whole number, 1 or more",
        "24",
        "72",
        least=1,
        most=MOST_SLOTS,
    ),
    Setting(
        "retention.executions",
        "retention_executions",
        "How long after its end an execution is kept, until an engine removes it with all its data: 90m, 12h, 30d, 8w, or never "
        "to keep all.",
        "age",
        "never",
        "90d",
    ),
    Setting(
        "retention.logs",
        "retention_logs",
        "How long after the end of an execution its log lines and events are kept; the execution itself stays.",
        "age",
        "never",
        "30d",
    ),
    Setting(
        "ssh.host_keys",
        "ssh_host_keys",
        "Hosts on which tasks may run over SSH: those with a known key, also new ones (their key is stored), or any.",
        "known, accept_new or any",
        "known",
        "accept_new",
    ),
    Setting(
        "ssh.known_hosts",
        "ssh_known_hosts",
        "File with the keys of hosts, in the format of OpenSSH.",
        "path",
        "known_hosts in the user's folder .ssh",
        "/etc/phaseline/known_hosts",
        is_described=True,
    ),
    Setting(
        "hooks.classes",
        "hook_classes",
        "Hook classes that no distribution announces, as module:Class, separated by spaces; in the file also tables "
        "[[hooks.classes]] with class, name, folder (of its module) and options (passed to the class).",
        "classes",
        "",
        "acme.hooks:Audit acme.hooks:Quota",
    ),
    Setting(
        "hooks.heat_compat",
        "heat_compat",
        "Whether hook classes that are announced for Heat (heat.stack_lifecycle_plugins) are also called.",
        "yes or no",
        "no",
        "yes",
    ),
    Setting(
        "dependencies.cloudify_compat",
        "dependencies_cloudify_compat",
        "Whether other deployments that read this one block only stop, uninstall, update and heal, as in Cloudify, whatever "
        "these touch.",
        "yes or no",
        "no",
        "yes",
    ),
    Setting(
        "groups.concurrency",
        "groups_concurrency",
        "Number of executions of a run over a deployment group that are open at a time; 0: all of them, so that they share "
        "their calls.",
        "whole number, 0 or more",
        "0",
        "5",
        most=1_000_000,
    ),
    Setting(
        "hooks.heat_options",
        "heat_options",
        "Options that hook classes of Heat read by oslo.config, as group.option=value; in the file the table [hooks.heat_options].",
        "options",
        "",
        "valet.url=http://127.0.0.1:8090 valet.timeout=30",
    ),
    Setting(
        "hooks.heat_critical",
        "heat_critical",
        "Whether an action fails if a class that is announced for Heat fails after it; no: a warning only, as in Heat.",
        "yes or no",
        "yes",
        "no",
    ),
    Setting(
        "hooks.on_broken",
        "on_broken_hooks",
        "What happens to actions while a hook class cannot be loaded: refuse them, or ignore the class.",
        "refuse or ignore",
        "refuse",
        "ignore",
    ),
    Setting(
        "hooks.verify",
        "verify_hooks",
        "Whether digests show after each call of a hook class if it has changed the deployment without permission.",
        "off or digest",
        "off",
        "digest",
    ),
    Setting(
        "log.file",
        "log_file",
        "File of the engine log, or none. It is renamed at 10 MiB; five old files are kept.",
        "path",
        "the store's file with .log at its end",
        "/var/log/phaseline/engine.log",
        is_described=True,
    ),
    Setting(
        "log.level",
        "log_level",
        "Lowest level of lines in the engine log.",
        "debug, info, warning or error",
        "info",
        "warning",
    ),
    Setting(
        "log.format",
        "log_format",
        "Lines of text, or one JSON object per line.",
        "text or json",
        "text",
        "json",
    ),
)
"""All settings, in the order in which the documentation shows them."""
