"""List the operations that built-in types declare or workflows call, and warn of unknown ones."""

from __future__ import annotations

from phaseline.dsl.text.value_words import closest

_PREFIX = "cloudify.interfaces."

KNOWN: dict[str, frozenset[str]] = {
    _PREFIX + interface: frozenset(names.split())
    for interface, names in {
        "lifecycle": "precreate create configure start poststart prestop stop delete postdelete preupdate update "
        "postupdate update_config update_apply update_postapply preheal heal postheal pull check_drift refresh",
        "validation": "create delete check_status creation deletion",
        "monitoring": "start stop",
        "monitoring_agent": "install start stop uninstall",
        "host": "get_state",
        "cloudify_agent": "create configure start stop delete restart create_amqp validate_amqp stop_amqp restart_amqp "
        "install_plugins uninstall_plugins",
        "worker_installer": "install start stop uninstall restart",
        "plugin_installer": "install",
        "relationship_lifecycle": "preconfigure postconfigure establish unlink check_drift update update_preconfigure "
        "update_postconfigure update_establish",
    }.items()
}
"""{built-in interface: its operations} in all releases; a test compares the table with the built-in types."""


def doubt(interface: str, name: str) -> tuple[str, str] | None:
    """Return (why an operation is probably a mistake, how to mend it), or None.

    A user's own interface may have any operation. In a built-in interface, or one with a nearly equal name, an
    operation that no built-in type has is suspicious, because only ``execute_operation`` can call it.

    >>> doubt("cloudify.interfaces.lifecycle", "satrt")
    ("no built-in type has an operation 'satrt' in 'cloudify.interfaces.lifecycle'", "did you mean 'start'?")
    >>> doubt("cloudify.interfaces.lifecycle", "start"), doubt("shop.backup", "satrt")
    (None, None)
    """
    known = KNOWN.get(interface)
    if known is None:
        meant = _meant(interface)
        if meant is None:
            return None
        return f"no built-in type has an interface '{interface}'", f"did you mean '{meant}'?"
    if name in known:
        return None
    near = closest(name, known)
    otherwise = "it may stay: the workflow execute_operation can call it, no other one does"
    return (
        f"no built-in type has an operation '{name}' in '{interface}'",
        f"did you mean '{near}'?" if near else otherwise,
    )


def _meant(interface: str) -> str | None:
    """Return the built-in interface that was probably intended, or None; only the part after the prefix is compared."""
    if not interface.startswith(_PREFIX):
        return None
    near = closest(interface.removeprefix(_PREFIX), [known.removeprefix(_PREFIX) for known in KNOWN])
    return _PREFIX + near if near else None
