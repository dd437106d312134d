"""Properties of nodes (read-only) and runtime properties of node instances (tracked), rules C3 and C4."""

import copy

from cloudify.exceptions import NonRecoverableError


class ImmutableProperties(dict):
    """Properties of a node: reading is free, writing at the first level is refused. Copies are plain and writable."""

    def _refuse(self, *args, **kwargs):
        raise NonRecoverableError(
            'Cannot override read only properties: node properties come from the blueprint; '
            'keep what an operation finds out in ctx.instance.runtime_properties')

    __setitem__ = __delitem__ = __ior__ = _refuse
    setdefault = update = clear = pop = popitem = _refuse

    def __copy__(self):
        return dict(self)

    def __deepcopy__(self, memo):
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self):
        return dict, (dict(self),)


class DirtyTrackingDict(dict):
    """Runtime properties: ``dirty`` after a change of the first level; ``modifiable`` False refuses changes.

    Changes deeper down do not set ``dirty`` (as ever), but are found and stored when the call has ended.
    """

    modifiable = True
    dirty = False

    def _set_changed(self):
        if not self.modifiable:
            raise NonRecoverableError('Cannot modify runtime properties of relationship node instances')
        self.dirty = True

    def __setitem__(self, key, value):
        self._set_changed()
        super(DirtyTrackingDict, self).__setitem__(key, value)

    def __delitem__(self, key):
        if key in self:
            self._set_changed()
        super(DirtyTrackingDict, self).__delitem__(key)

    def __ior__(self, other):
        self._set_changed()
        return super(DirtyTrackingDict, self).__ior__(other)

    def update(self, *args, **kwargs):
        self._set_changed()
        super(DirtyTrackingDict, self).update(*args, **kwargs)

    def setdefault(self, key, default=None):
        if key not in self:
            self._set_changed()
        return super(DirtyTrackingDict, self).setdefault(key, default)

    def clear(self):
        self._set_changed()
        super(DirtyTrackingDict, self).clear()

    def pop(self, key, default=None):
        # Missing keys give the default even where none is named: plugins count on it.
        self._set_changed()
        return super(DirtyTrackingDict, self).pop(key, default)

    def popitem(self):
        self._set_changed()
        return super(DirtyTrackingDict, self).popitem()

    def __copy__(self):
        return dict(self)

    def __deepcopy__(self, memo):
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self):
        return dict, (dict(self),)
