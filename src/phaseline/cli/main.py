"""The entry point of the program: it runs the tree of commands and shows no traceback to a user."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import NoReturn

from phaseline.cli.startup import fast_start as lean


def main() -> NoReturn:
    """Run the ``phaseline`` command."""
    sys.excepthook = report_defect
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from phaseline.cli.streams.output import open_closed

        open_closed()
    lean.begin()
    code = _run()
    lean.end(code)
    sys.exit(code)


def _run() -> int:
    """Run the command that was typed and return its exit code."""
    try:
        # Imported inside the try, so that Ctrl-C is handled from the start.
        lean.load_click()
        from phaseline.cli.command_tree import root
        from phaseline.cli.streams.output import errors, forget, is_lost_answer, output

        code = root.main(prog_name="phaseline", standalone_mode=False)
        output().flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does: no error, and no further output is possible.
        forget(output())
        return 0
    except SystemExit:
        if getattr(sys.stdout, "wrapped", None) is not None:
            # Click wraps the stream when its reader has left; buffered output would fail at the very end.
            forget(output())
        raise
    except OSError as error:
        if not is_lost_answer(error):
            raise
        report_lost_answer(error)
        return 1
    except KeyboardInterrupt:
        errors().write("Interrupted.\n")
        return 1


def report_lost_answer(error: OSError) -> None:
    """Report that the answer could not be written; the effects of the command remain."""
    from phaseline.cli.render.problems import problem_text
    from phaseline.cli.streams.output import echo_err, forget, output
    from phaseline.model.problems.problem import Problem

    forget(output())
    mend = "free space on the disk, then repeat the query; what the command did is stored"
    echo_err(problem_text(Problem("PL-C026", f"the answer cannot be written: {error.strerror}", mend)))


def report_defect(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report a defect of the program, and keep the traceback in a file for a bug report."""
    import tempfile
    import traceback

    from phaseline.app.engine_log import without_values

    text = "".join(traceback.format_exception(kind, error, trace))
    with tempfile.NamedTemporaryFile("w", prefix="phaseline-defect-", suffix=".txt", delete=False) as file:
        file.write(f"{without_values(sys.argv)}\n{text}")
    from phaseline.cli.render.problems import defect_text
    from phaseline.cli.streams.output import echo_err

    echo_err(defect_text(f"{kind.__name__}: {error}", file.name))
