"""Runs scripts of operations: each script is fetched, made executable, run and removed (rules S1 to S5).

A Python script is evaluated in the process of the operation. Any other script is run as a process of its own: its
output is logged line by line, and it uses the operation's context through the program ``ctx``.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import shlex
import shutil
import sys
import tempfile
import textwrap
import traceback
import urllib.parse
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any, Final, cast

from phaseline.calls.threads import guarded_calls
from phaseline.compat.cloudify import enable
from phaseline.compat.cloudify.ctx_client import CTX_SOCKET_URL
from phaseline.compat.cloudify.ctx_server import Served, serve
from phaseline.compat.cloudify.process_exception import ProcessException, last_line
from phaseline.compat.cloudify.script_process import FinishedProcess, run_command
from phaseline.compat.cloudify.temp_folder import own_folder
from phaseline.lang.fast_dataclasses import frozen

PROXY_TYPES = ("auto", "unix", "http", "tcp", "none")
OPTIONS = (
    "args", "command_prefix", "ctx_proxy_type", "cwd", "env", "eval_python", "log_stderr", "log_stdout",
    "stderr_to_stdout",
)  # fmt: skip
FETCH_TIMEOUT_S = 60
MAX_FETCHED_BYTES = 64 * 1024 * 1024
WORKER_MARK = "PHASELINE_CALL"
"""Environment variable that is set while a worker process runs a call."""
SHELL_SIGNS = frozenset(";&|<>()\n")
"""Characters by which a command uses the shell for more than starting one program."""
PARSE_ONLY = 0x400
"""Flag of ``compile`` that only parses (``ast.PyCF_ONLY_AST``)."""
CANNOT_START = (126, 127)
"""Exit codes by which a shell reports that the program could not be started (decision 6)."""
_UNSET: Final = object()


@frozen
class ProcessOptions:
    """The options of an operation's input ``process`` (S3)."""

    env: Mapping[str, Any] = field(default_factory=dict)
    cwd: str | None = None
    args: tuple[str, ...] = ()
    command_prefix: str | None = None
    eval_python: bool | None = None
    ctx_proxy_type: str = "auto"
    log_stdout: bool = True
    log_stderr: bool = True
    stderr_to_stdout: bool = False

    @classmethod
    def from_input(cls, given: Mapping[str, Any] | None) -> ProcessOptions:
        """Return the options written in the blueprint. Raises ``NonRecoverableError`` for an unknown option."""
        given = dict(given or {})
        unknown = sorted(set(given) - set(OPTIONS))
        if unknown:
            raise _final(f"process.{unknown[0]} is not an option; there are {', '.join(OPTIONS)}")
        kind = given.get("ctx_proxy_type") or "auto"
        if kind not in PROXY_TYPES:
            raise _final(f"process.ctx_proxy_type is {kind!r}; it is one of {', '.join(PROXY_TYPES)}")
        arguments = given.get("args") or ()
        if isinstance(arguments, str) or not isinstance(arguments, list | tuple):
            raise _final("process.args is a list of texts")
        if not isinstance(given.get("env") or {}, Mapping):
            raise _final("process.env is a mapping of names to values")
        return cls(
            env=given.get("env") or {},
            cwd=given.get("cwd"),
            args=tuple(str(argument) for argument in arguments),
            command_prefix=given.get("command_prefix") or None,
            eval_python=given.get("eval_python"),
            ctx_proxy_type=kind,
            log_stdout=given.get("log_stdout", True),
            log_stderr=given.get("log_stderr", True),
            stderr_to_stdout=given.get("stderr_to_stdout", False),
        )


@frozen
class Script:
    """A fetched script: ``path`` is the temporary copy, ``name`` the script's name in the blueprint."""

    path: Path
    name: str
    origin: str = ""


def run(
    ctx: Any,
    *,
    script_path: str | None = None,
    script_source: str | None = None,
    process: Mapping[str, Any] | None = None,
    ssl_cert_content: str | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> Any:
    """Run one script to its end, and return what it returned through ``ctx returns``.

    Raises ``ProcessException`` for an exit code other than 0. Raises ``NonRecoverableError`` for a script that cannot
    be fetched or started, or that aborted the operation. A request of the script for a retry is kept in ``ctx``.
    """
    enable()
    if bool(script_path) == bool(script_source):
        raise _final("exactly one of script_path and script_source names the script")
    options = ProcessOptions.from_input(process)
    with fetched(ctx, script_path, script_source, ssl_cert_content) as script, _verdict(ctx) as said:
        if is_python(script, options):
            evaluate(script, options, dict(inputs or {}))
        else:
            execute(ctx, script, options, dict(inputs or {}), said)
    return said.settle(ctx)


def is_python(script: Script, options: ProcessOptions) -> bool:
    """Return True for a Python script, which is evaluated in this process (S2)."""
    if options.eval_python is None:
        return script.path.suffix.lower() == ".py"
    return bool(options.eval_python)


def reads_as_python(source: str) -> bool:
    """Return True if an inline script is Python: Python can parse it, and its first line names no other interpreter
    (B31).

    >>> reads_as_python("import os\\nprint(os.name)\\n"), reads_as_python("#!/bin/sh\\ntrue\\n"), reads_as_python("echo hello\\n")
    (True, False, False)
    """
    if source.startswith("#!") and "python" not in source.partition("\n")[0]:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's warnings about a shell script mean nothing
            compile(source, "script", "exec", PARSE_ONLY)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


# Fetching


@contextmanager
def fetched(ctx: Any, path: str | None, source: str | None, certificate: str | None) -> Iterator[Script]:
    """Provide the script as a temporary executable file for a ``with`` block, and remove the file afterwards (S1)."""
    with own_folder() as home:
        folder = Path(tempfile.mkdtemp(prefix="script-", dir=home))
        if source:
            source = textwrap.dedent(source)
            name = "script.py" if reads_as_python(source) else "script"
            script = Script(folder / name, "the inline script")
            script.path.write_text(source if source.endswith("\n") else source + "\n", "utf-8")
        else:
            assert path is not None
            script = _fetch(ctx, path, folder, certificate)
        script.path.chmod(0o755)
        try:
            yield script
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _fetch(ctx: Any, path: str, folder: Path, certificate: str | None) -> Script:
    split = urllib.parse.urlsplit(path)
    target = folder / (Path(split.path).name or "script")
    if split.scheme in {"http", "https"}:
        target.write_bytes(_download(path, certificate))
        return Script(target, path)
    if split.scheme == "file":
        origin = urllib.parse.unquote(split.path)
        try:
            shutil.copyfile(origin, target)
        except OSError as error:
            raise _final(f"script {path} cannot be read: {error.strerror or error}") from error
        return Script(target, path, origin)
    target = folder / Path(path).name
    ctx.download_resource(path, str(target))
    return Script(target, path, _origin(ctx, path))


def _origin(ctx: Any, path: str) -> str:
    """Return the path of the script in the blueprint's folder, so that tracebacks show the author's own file."""
    files = getattr(ctx, "_files", None)
    return files.locate(path) if files is not None and not hasattr(ctx, "_resources") else ""


def _download(url: str, certificate: str | None) -> bytes:
    import ssl  # late: it takes 60 ms, and most scripts are files of the blueprint
    import urllib.error
    import urllib.request

    secured = ssl.create_default_context(cadata=certificate) if certificate else None
    try:
        with urllib.request.urlopen(url, timeout=FETCH_TIMEOUT_S, context=secured) as response:
            if response.status != 200:
                raise _final(f"script {url} cannot be fetched: status {response.status}")
            content = cast("bytes", response.read(MAX_FETCHED_BYTES + 1))
    except urllib.error.HTTPError as error:
        raise _final(f"script {url} cannot be fetched: status {error.code} {error.reason}") from error
    except OSError as error:
        raise _recoverable(f"script {url} cannot be fetched: {getattr(error, 'reason', error)}") from error
    if len(content) > MAX_FETCHED_BYTES:
        raise _final(f"script {url} is longer than {MAX_FETCHED_BYTES} bytes")
    return content


# Outcomes that the script sets


@dataclass
class _Said:
    """The result that a script set by ``ctx returns``, ``abort-operation`` or ``retry-operation``;
    it may set only one.
    """

    value: Any = _UNSET
    refused: str = ""

    def keep(self, value: Any) -> None:
        if self.value is not _UNSET:
            self.refused = "ctx may only return, abort or retry once in one run of a script"
            raise RuntimeError(self.refused)
        self.value = value

    @property
    def ended_operation(self) -> bool:
        """True if the script has asked to abort or retry; its exit code then has no meaning."""
        from cloudify.proxy.client import ScriptException

        return isinstance(self.value, ScriptException)

    def explains(self, error: BaseException) -> bool:
        """Return True for an error that is only a consequence of the abort, retry or refusal recorded here."""
        from cloudify.proxy.client import ScriptException

        ended = self.ended_operation and isinstance(error, ProcessException | SystemExit | ScriptException)
        return ended or bool(self.refused and isinstance(error, Exception))

    def settle(self, ctx: Any) -> Any:
        """Return the value that the script returned, or raise the abort or retry that it requested."""
        if self.refused:
            raise _final(self.refused)
        if not self.ended_operation:
            return None if self.value is _UNSET else self.value
        if not self.value.retry:
            raise _final(str(self.value) or "the script aborted the operation")
        return ctx.operation.retry(message=str(self.value), retry_after=self.value.retry_after)


@contextmanager
def _verdict(ctx: Any) -> Iterator[_Said]:
    """Add ``returns``, ``abort_operation`` and ``retry_operation`` to ``ctx`` while one script runs, and record its
    result.
    """
    from cloudify.proxy.client import ScriptException

    said = _Said()

    def returns(value: Any = None, **mapping: Any) -> None:
        said.keep(mapping if mapping and value is None else value)

    def abort_operation(message: Any = None) -> Any:
        said.keep(_stop(ScriptException, message, retry=False))
        return said.value

    def retry_operation(message: Any = None, retry_after: Any = None, retry_interval: Any = None) -> Any:
        after = retry_interval if retry_after is None else retry_after
        said.keep(_stop(ScriptException, message, retry=True, after=after))
        return said.value

    ctx.returns, ctx.abort_operation, ctx.retry_operation = returns, abort_operation, retry_operation
    try:
        yield said
    except (Exception, SystemExit) as error:
        if said.explains(error):
            return
        raise
    finally:
        for name in ("returns", "abort_operation", "retry_operation"):
            delattr(ctx, name)


def _stop(kind: Any, message: Any, *, retry: bool, after: Any = None) -> Any:
    exception = kind("" if message is None else str(message), retry)
    exception.retry_after = after
    return exception


# Python


def evaluate(script: Script, options: ProcessOptions, inputs: Mapping[str, Any]) -> None:
    """Evaluate a Python script in this process, as ``__main__`` (S2). Raises what the script raises."""
    shown = script.origin or script.name
    source = script.path.read_bytes()
    if not Path(shown).exists():
        text = source.decode("utf-8", "replace")
        linecache.cache[shown] = (len(text), None, text.splitlines(keepends=True), shown)
    namespace = {"__name__": "__main__", "__file__": str(script.path), "__builtins__": __builtins__}
    try:
        with _surroundings(script, options, inputs):
            _exec(compile(source, shown, "exec"), namespace)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if code:
            raise ProcessException(
                script.name, code, "", str(ended.code) if isinstance(ended.code, str) else ""
            ) from None
    except SyntaxError as error:
        where = "".join(traceback.format_exception_only(error)).strip()
        wanted = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
        raise _final(f"script {script.name} is no {wanted}: {where}") from error


def _exec(code: CodeType, namespace: dict[str, Any]) -> None:
    """Run the code. If the code forks this process, end the copy here, before it restores or removes anything."""
    before = guarded_calls.copies()
    try:
        exec(code, namespace)
    except BaseException as error:
        if guarded_calls.copies() != before:
            guarded_calls.end_copy(error)
        raise
    if guarded_calls.copies() != before:
        guarded_calls.end_copy(None)


@contextmanager
def _surroundings(script: Script, options: ProcessOptions, inputs: Mapping[str, Any]) -> Iterator[None]:
    """Set environment, folder and arguments for a script that is evaluated in this process, and restore them
    afterwards.

    Done only in a worker, which runs one call at a time. In any other process, other calls use the same environment.
    """
    if WORKER_MARK not in os.environ:
        yield
        return
    former = dict(os.environ), Path.cwd(), sys.argv, list(sys.path)
    try:
        os.environ.update(environment_of(inputs, options.env, None))
        if options.cwd:
            os.chdir(options.cwd)
        sys.argv = [str(script.path), *options.args]
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)  # lines are logged as they come
        yield
    finally:
        environment, folder, sys.argv, sys.path[:] = former
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)


# Processes


def execute(ctx: Any, script: Script, options: ProcessOptions, inputs: Mapping[str, Any], said: _Said) -> None:
    """Run a script as a process until it ends (S3, S4)."""
    prefix = options.command_prefix or ("powershell" if script.name.endswith(".ps1") else None)
    words = [*([prefix] if prefix else []), shlex.quote(str(script.path)), *options.args]
    command = " ".join(words)
    shown = " ".join([*words[: 1 if prefix else 0], script.name, *options.args])
    served = serve(ctx, options.ctx_proxy_type) if options.ctx_proxy_type != "none" else None
    try:
        environment = environment_of(inputs, options.env, served)
        ctx.logger.debug("Executing: %s", shown)
        finished = run_command(without_shell(command, prefix), environment, _Output(ctx), options)
    finally:
        if served is not None:
            served.close()
    ctx.logger.debug("Execution done (exit code %s): %s", finished.code, shown)
    if finished.code and not said.ended_operation and not said.refused:
        raise _failure(script, shown, finished)


class _Output:
    """Logger for a script's output: it passes several lines at once to the call, without the plugin's own logger."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx

    def log_lines(self, lines: list[str]) -> bool:
        """Store the lines. Return False if no more lines are accepted."""
        call = getattr(self._ctx, "_call", None)
        if call is not None and hasattr(call, "log_lines"):
            return bool(call.log_lines("info", lines))
        for line in lines:
            self._ctx.logger.info("%s", line)
        return True

    def warning(self, text: str) -> None:
        """Log a warning of Phaseline itself."""
        self._ctx.logger.warning(text)


def without_shell(command: str, prefix: str | None) -> str:
    """Return the command with ``exec`` if the shell does nothing else, so that the script replaces the shell.

    A shell that waits for the script would die first when the call is ended; then the last output of the script would
    be lost.
    """
    return command if prefix or SHELL_SIGNS.intersection(command) else f"exec {command}"


def environment_of(inputs: Mapping[str, Any], given: Mapping[str, Any], served: Served | None) -> dict[str, str]:
    """Return the environment of a script: this process's variables, the inputs, ``process.env``, and the variables for
    ``ctx``.

    If a variable occurs in several of these, the last one in this order is used.
    """
    environment = dict(os.environ)
    for name, value in {**inputs, **given}.items():
        text = as_text(value)
        if not name or "=" in name or "\0" in name or "\0" in text:
            raise _final(f"'{name}' cannot be an environment variable of the script; rename the input")
        environment[name] = text
    environment.pop(CTX_SOCKET_URL, None)
    if served is not None:
        environment[CTX_SOCKET_URL] = served.url
        environment["PATH"] = os.pathsep.join([environment.get("PATH", os.defpath), str(served.program)])
    return environment


def as_text(value: Any) -> str:
    """Return a value as text for an environment variable: mappings, lists and booleans become JSON."""
    if isinstance(value, dict | list | tuple | bool):
        return json.dumps(value)
    return str(value)


def _failure(script: Script, shown: str, finished: FinishedProcess) -> Exception:
    if finished.code in CANNOT_START:
        cause = _cannot_start(script)
        if cause:
            return _final(f"{shown} could not be started (exit code {finished.code}): {cause}")
        said = last_line(finished.stderr).replace(str(script.path), shown) or "see its output"
        return _final(f"{shown}, or a command in it, could not be started (exit code {finished.code}): {said}")
    return ProcessException(shown, finished.code, finished.stdout, finished.stderr)


def _cannot_start(script: Script) -> str:
    """Return what is wrong with the first line of a script, or an empty text."""
    with script.path.open("rb") as stream:
        first = stream.readline(1024)
    if not first.startswith(b"#!"):
        return ""
    if first.endswith(b"\r\n"):
        return "its lines end as on Windows (CR LF), so the interpreter of its first line is not found; save it with LF"
    words = first[2:].decode("utf-8", "replace").split()
    if words and not Path(words[0]).exists():
        return f"its first line names {words[0]}, which is not here"
    if words and words[0].endswith("/env") and len(words) > 1 and shutil.which(words[1]) is None:
        return f"its first line names {words[1]}, which is not on PATH"
    return ""


def _final(message: str) -> Exception:
    from cloudify.exceptions import NonRecoverableError

    return cast("Exception", NonRecoverableError(message))


def _recoverable(message: str) -> Exception:
    from cloudify.exceptions import RecoverableError

    return cast("Exception", RecoverableError(message))
