"""Words of the script plugin."""

ILLEGAL_CTX_OPERATION_ERROR = 'ctx may only return, abort or retry once in one run of a script'
