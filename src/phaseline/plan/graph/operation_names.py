"""The names of the operations that the built-in workflows call (spec 7.3, 10.1, 10.2)."""

from __future__ import annotations

from phaseline.model.health import checks

LIFECYCLE = "cloudify.interfaces.lifecycle"
VALIDATION = "cloudify.interfaces.validation"
MONITORING = "cloudify.interfaces.monitoring"
FREEZE = "cloudify.interfaces.freeze"
SNAPSHOT = "cloudify.interfaces.snapshot"
MONITORING_AGENT = "cloudify.interfaces.monitoring_agent"
RELATIONSHIP = "cloudify.interfaces.relationship_lifecycle"

VALIDATE_CREATION = f"{VALIDATION}.create"
PRECREATE = f"{LIFECYCLE}.precreate"
CREATE = f"{LIFECYCLE}.create"
CONFIGURE = f"{LIFECYCLE}.configure"
START = f"{LIFECYCLE}.start"
POSTSTART = f"{LIFECYCLE}.poststart"
PRESTOP = f"{LIFECYCLE}.prestop"
STOP = f"{LIFECYCLE}.stop"
DELETE = f"{LIFECYCLE}.delete"
POSTDELETE = f"{LIFECYCLE}.postdelete"
PULL = f"{LIFECYCLE}.pull"
VALIDATE_DELETION = f"{VALIDATION}.delete"
GET_STATE = "cloudify.interfaces.host.get_state"
FREEZE_SUSPEND = f"{FREEZE}.suspend"
FREEZE_RESUME = f"{FREEZE}.resume"
SNAPSHOT_CREATE = f"{SNAPSHOT}.create"
SNAPSHOT_APPLY = f"{SNAPSHOT}.apply"
SNAPSHOT_DELETE = f"{SNAPSHOT}.delete"
MONITORING_START = f"{MONITORING}.start"
MONITORING_STOP = f"{MONITORING}.stop"
MONITORING_AGENT_INSTALL = f"{MONITORING_AGENT}.install"
MONITORING_AGENT_START = f"{MONITORING_AGENT}.start"
MONITORING_AGENT_STOP = f"{MONITORING_AGENT}.stop"
MONITORING_AGENT_UNINSTALL = f"{MONITORING_AGENT}.uninstall"
PRECONFIGURE = f"{RELATIONSHIP}.preconfigure"
POSTCONFIGURE = f"{RELATIONSHIP}.postconfigure"
ESTABLISH = f"{RELATIONSHIP}.establish"
UNLINK = f"{RELATIONSHIP}.unlink"
CHECK_STATUS = checks.CHECK_STATUS
CHECK_DRIFT = checks.CHECK_DRIFT
CHECK_RELATIONSHIP_DRIFT = checks.CHECK_RELATIONSHIP_DRIFT
PREHEAL = checks.PREHEAL
HEAL = checks.HEAL
POSTHEAL = checks.POSTHEAL

INSTALL_RELATIONSHIP_OPERATIONS = (PRECONFIGURE, POSTCONFIGURE, ESTABLISH)
UNINSTALL_RELATIONSHIP_OPERATIONS = (UNLINK,)
