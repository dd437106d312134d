"""``script_runner.tasks.run`` as blueprints and plugins name it (rules S1 to S5)."""

from phaseline.compat.cloudify.scripts import ProcessException, run as _run

from cloudify._later import later
from cloudify.decorators import operation
from cloudify.state import current_ctx

__all__ = ('ProcessException', 'execute_workflow', 'run')


@operation
def run(script_path=None, process=None, ssl_cert_content=None, script_source=None, ctx=None, **kwargs):
    """Run a script for the running operation."""
    return _run(
        ctx if ctx is not None else current_ctx.get_ctx(),
        script_path=script_path,
        script_source=script_source,
        process=process,
        ssl_cert_content=ssl_cert_content,
        inputs=kwargs,
    )


later(globals(), 'execute_workflow')
