"""Between what plugin code leaves in runtime properties and what can be stored: plain JSON values (C4)."""

from math import isfinite

from phaseline.model.deployment.runtime_properties import SCALARS, is_same, storable as plain

FUNCTIONS = frozenset((
    'get_input', 'get_property', 'get_attribute', 'get_attributes_dict', 'get_attributes_list', 'get_secret',
    'get_capability', 'get_environment_capability', 'get_group_capability', 'get_label', 'get_sys', 'concat', 'merge',
    'string_replace', 'string_split', 'string_lower', 'string_upper', 'string_find',
))


def storable(document, before, id):
    """(the document in plain values, texts about what could not be kept).

    A first-level property that cannot be stored keeps its former value, so that its neighbours are not lost.
    """
    kept, problems = {}, []
    for key, value in document.items():
        if type(key) is not str:
            key = str(key)
        if type(value) in SCALARS and (type(value) is not float or isfinite(value) or value is before.get(key)):
            kept[key] = value
            continue
        try:
            kept[key] = plain(value, key)
        except TypeError as error:
            problems.append('runtime property %s of %s' % (error, id))
            if key in before:
                kept[key] = before[key]
    return kept, problems


def with_functions_evaluated(document, call):
    """The document, or if intrinsic functions stand in it, a new one with their values."""
    for value in document.values():
        if type(value) not in SCALARS and _has_function(value):
            break
    else:
        return document
    return {key: call.world.evaluate(value, call) if _has_function(value) else value
            for key, value in document.items()}


def _has_function(value):
    if isinstance(value, dict):
        return any(key in FUNCTIONS for key in value) or any(_has_function(item) for item in value.values())
    return isinstance(value, list) and any(_has_function(item) for item in value)


def raw_where_unchanged(document, evaluated, before):
    """The document with functions back in place where the value they gave was not changed."""
    return {
        key: before[key] if key in before and key in evaluated and is_same(value, evaluated[key]) else value
        for key, value in document.items()
    }
