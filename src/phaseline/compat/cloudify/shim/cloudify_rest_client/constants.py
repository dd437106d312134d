"""Words of the REST interface."""


class VisibilityState(object):
    PRIVATE = 'private'
    TENANT = 'tenant'
    GLOBAL = 'global'


class AvailabilityState(VisibilityState):
    pass


VISIBILITY_EXCEPT_PRIVATE = [VisibilityState.TENANT, VisibilityState.GLOBAL]
VISIBILITY_EXCEPT_GLOBAL = [VisibilityState.PRIVATE, VisibilityState.TENANT]
