"""What a label may be (LB1): one check for blueprints, options, labels of groups and components, and the API.

Keys are kept in lower case and values in Unicode's normal form NFKC, as in Cloudify.
"""

from __future__ import annotations

import math
import re
import unicodedata

from phaseline.model.blueprint.labels import OBJECT_TYPE, PARENT, Label

LONGEST = 256
"""Largest number of characters in a key, and in a value."""
RESERVED_PREFIX = "csys-"
"""How keys begin that have a meaning for the product."""
CONSUMER = "csys-consumer-id"
"""Key of the label that is computed and cannot be set."""
LATITUDE, LONGITUDE = "csys-location-lat", "csys-location-long"
RESERVED_KEYS = (
    "csys-obj-name",
    OBJECT_TYPE,
    "csys-env-type",
    "csys-wrcp-services",
    "csys-wrcp-group-id",
    "csys-location-name",
    LATITUDE,
    LONGITUDE,
    PARENT,
    "csys-environment",
    CONSUMER,
    "csys-breakpoint",
)
"""The keys that begin with ``csys-`` and may be used: those of Cloudify, and ``csys-breakpoint``, which is ours.

``csys-consumer-id`` is only for filters.
"""
_KEY = re.compile(r"[A-Za-z0-9._-]+")
_LIMITS = {LATITUDE: 90.0, LONGITUDE: 180.0}
"""Keys whose values are numbers: {key: largest number of degrees}."""


class InvalidLabelError(ValueError):
    """A key or value that a label cannot have, with the reason. Callers turn it into a problem."""


def valid_key(key: str, *, to_set: bool = True) -> str:
    """Return the key as it is stored. ``to_set``: a label with this key is to be added.

    Raises: ``InvalidLabelError``.

    >>> valid_key("Team"), valid_key("csys-obj-type")
    ('team', 'csys-obj-type')
    """
    if not _KEY.fullmatch(key):
        raise InvalidLabelError("a key has letters, digits, '-', '.' and '_'")
    if len(key) > LONGEST:
        raise InvalidLabelError(f"a key has at most {LONGEST} characters, this one has {len(key)}")
    key = key.lower()
    if to_set and key == CONSUMER:
        raise InvalidLabelError(f"'{CONSUMER}' is computed and cannot be set")
    if to_set and key.startswith(RESERVED_PREFIX) and key not in RESERVED_KEYS:
        known = ", ".join(each for each in RESERVED_KEYS if each != CONSUMER)
        raise InvalidLabelError(f"keys that begin with '{RESERVED_PREFIX}' are reserved; there are: {known}")
    return key


def valid_value(value: str, key: str = "") -> str:
    """Return the value as it is stored. ``key`` is a valid key, some of which allow only certain values.

    Raises: ``InvalidLabelError``.

    >>> valid_value("\N{SUPERSCRIPT TWO}"), valid_value("Environment", "csys-obj-type")
    ('2', 'environment')
    """
    value = unicodedata.normalize("NFKC", value)
    if not value:
        raise InvalidLabelError("the value is empty")
    if len(value) > LONGEST:
        raise InvalidLabelError(f"a value has at most {LONGEST} characters, this one has {len(value)}")
    if '"' in value or any(unicodedata.category(sign) in {"Cc", "Cs"} for sign in value):
        raise InvalidLabelError("a value has no control characters and no '\"'")
    if key == OBJECT_TYPE:
        return value.lower()
    if key in _LIMITS and not is_within(value, _LIMITS[key]):
        raise InvalidLabelError(f"'{key}' is a number from -{_LIMITS[key]:g} to {_LIMITS[key]:g}")
    return value


def valid_label(key: str, value: str) -> Label:
    """Return the label as it is stored. Raises: ``InvalidLabelError``."""
    key = valid_key(key)
    return Label(key, valid_value(value, key))


def is_within(text: str, limit: float) -> bool:
    """Return whether the text is a finite number from -limit to limit.

    >>> is_within("48.1", 90), is_within("91", 90), is_within("nan", 90)
    (True, False, False)
    """
    try:
        number = float(text)
    except ValueError:
        return False
    return math.isfinite(number) and -limit <= number <= limit
