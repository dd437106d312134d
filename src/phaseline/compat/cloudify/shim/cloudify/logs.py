"""``ctx.logger``: a logger of the standard library whose lines belong to a call."""

import logging

_LEVELS = ((logging.ERROR, 'error'), (logging.WARNING, 'warning'), (logging.INFO, 'info'))
_TEXT = logging.Formatter('%(message)s')


class _NoLock(object):
    """What ``logging`` may enter, acquire and release: from Python 3.13 on it enters a handler's lock unseen."""

    def acquire(self, blocking=True, timeout=-1):
        return True

    def release(self):
        pass

    def __enter__(self):
        return True

    def __exit__(self, *exc_info):
        pass


_NO_LOCK = _NoLock()


class CloudifyCtxHandler(logging.Handler):
    """Gives log records to the call they belong to, live."""

    def __init__(self, ctx):
        logging.Handler.__init__(self)
        self.context = ctx
        self._call = getattr(ctx, '_call', ctx)

    def createLock(self):
        # The engine's side is safe from any thread; a lock for each call would only cost.
        self.lock = _NO_LOCK

    def flush(self):
        pass

    def emit(self, record):
        for number, level in _LEVELS:
            if record.levelno >= number:
                break
        else:
            level = 'debug'
        try:
            text = _TEXT.format(record)
        except (TypeError, ValueError, KeyError):
            # `ctx logger info two words` comes as a message and an argument: show both, lose nothing.
            args = record.args if isinstance(record.args, tuple) else (record.args,)
            text = ' '.join(str(part) for part in (record.msg,) + args)
        self._call.log(level, text)


class _CallLogger(logging.Logger):
    """A logger that lives as long as its call and is in no registry, so that nothing piles up."""

    def __init__(self, name, parent=None):
        logging.Logger.__init__(self, name, logging.DEBUG)
        self.propagate = parent is not None
        self.parent = parent

    def getChild(self, suffix):
        return _CallLogger('%s.%s' % (self.name, suffix), self)

    def isEnabledFor(self, level):
        return level >= self.level

    def setLevel(self, level):
        self.level = logging._checkLevel(level)


def call_logger(call):
    """The logger of a call."""
    logger = _CallLogger('ctx')
    logger.handlers.append(CloudifyCtxHandler(call))
    return logger


def init_cloudify_logger(handler, logger_name, logging_level=logging.DEBUG):
    """A registered logger with the one handler."""
    logger = logging.getLogger(logger_name)
    logger.setLevel(logging_level)
    logger.propagate = False
    logger.handlers = [handler]
    return logger
