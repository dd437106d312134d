"""The policy of notices: posts signed notices about the start and end of actions to a web address, with retries."""

from __future__ import annotations

import hashlib
import hmac
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from phaseline import LifecycleHook

SIGNATURE, TIMESTAMP, DELIVERY = "X-Phaseline-Signature", "X-Phaseline-Timestamp", "X-Phaseline-Delivery"


def signature(key: str, timestamp: str, body: bytes) -> str:
    """Return the signature by which a receiver checks a notice: HMAC-SHA256 over the timestamp, a dot, and the body.

    >>> signature("key", "1700000000", b"{}")[:23]
    'sha256=9d713ed406bb7076'
    """
    return "sha256=" + hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


class Notify(LifecycleHook):
    """Posts JSON to ``url`` when an action begins (``before``) and when it has ended (``after``).

    ``secret``: the name of the secret for the signature (``phaseline secrets create``); if empty, notices are not
    signed. A notice is accepted if the answer within ``timeout_s`` has a status of 2xx. Otherwise it is sent again
    every ``interval_s``, at most ``tries`` times in total; no thread waits meanwhile. After the last attempt the hook
    adds a warning, or fails if ``required`` is true. All attempts have the same delivery id.
    """

    critical = False

    def __init__(
        self,
        url: str,
        secret: str = "",
        before: bool = True,  # noqa: FBT001, FBT002 - options of the settings
        after: bool = True,  # noqa: FBT001, FBT002
        tries: int = 5,
        interval_s: float = 10,
        timeout_s: float = 10,
        required: bool = False,  # noqa: FBT001, FBT002
        actions: Sequence[str] = (),
    ) -> None:
        """Check the options. Raises ``ValueError`` for an address that is not http or https."""
        if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
            raise ValueError(f"'{url}' is no address such as https://example.org/hooks")
        if tries < 1:
            raise ValueError("'tries' is 1 or more")
        self.url, self.secret, self.before, self.after = url, secret, before, after
        self.tries, self.interval_s, self.timeout_s, self.required = tries, interval_s, timeout_s, required
        self.actions = tuple(actions)

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: Any = None) -> None:
        """Send the notice of the start."""
        if self.before:
            self._send(cnxt, stack, is_failure=False)

    def do_post_op(
        self,
        cnxt: Any,
        stack: Any,
        current_stack: Any = None,
        action: Any = None,
        is_stack_failure: bool = False,  # noqa: FBT001, FBT002 - Heat's signature
    ) -> None:
        """Send the notice of the end."""
        if self.after:
            self._send(cnxt, stack, is_failure=is_stack_failure)

    def _send(self, cnxt: Any, stack: Any, *, is_failure: bool) -> None:
        body = cnxt.data.setdefault("body", self._body(cnxt, stack, is_failure=is_failure))
        tried = cnxt.data["tried"] = cnxt.data.get("tried", 0) + 1
        problem = self._post(cnxt, body.encode())
        if not problem:
            return
        if tried < self.tries:
            cnxt.again(self.interval_s, f"{urlsplit(self.url).hostname} did not take the notice: {problem}")
            return
        text = f"{urlsplit(self.url).hostname} did not take the notice in {tried} tries: {problem}"
        if self.required:
            raise ConnectionError(text)
        cnxt.warn(text)

    def _post(self, cnxt: Any, body: bytes) -> str:
        """Send the notice once. Return why it failed, or an empty text if it was accepted."""
        timestamp = str(int(cnxt.at.timestamp()))
        headers = {"Content-Type": "application/json", TIMESTAMP: timestamp, DELIVERY: _delivery(cnxt)}
        if self.secret:
            headers[SIGNATURE] = signature(cnxt.secret(self.secret), timestamp, body)
        request = urllib.request.Request(self.url, body, headers, method="POST")  # noqa: S310 - http(s), as was checked
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s):  # noqa: S310 - as above
                return ""
        except urllib.error.HTTPError as error:
            error.close()
            return f"status {error.code}"
        except (OSError, ValueError) as error:
            return str(getattr(error, "reason", error))

    @staticmethod
    def _body(cnxt: Any, stack: Any, *, is_failure: bool) -> str:
        told = {
            "deployment": stack.name,
            "execution": cnxt.execution_id,
            "workflow": cnxt.workflow,
            "action": cnxt.action,
            "phase": cnxt.hook.phase,
            "reason": cnxt.hook.reason,
            "is_failure": is_failure,
            "status": stack.status,
            "instances": len(stack.resources),
            "user": cnxt.user,
            "at": cnxt.at.isoformat(),
        }
        return json.dumps(told, sort_keys=True)


def _delivery(cnxt: Any) -> str:
    return f"{cnxt.execution_id}-{cnxt.hook.name}-{cnxt.hook.phase}"
