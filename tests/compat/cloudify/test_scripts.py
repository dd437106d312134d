"""Scripts of a blueprint, run as real processes (S1 to S4)."""

import http.server
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.compat.cloudify.builders import node_call, said, stored

from phaseline.calls.protocol.call import Outcome, PluginCall
from phaseline.compat.cloudify.callers import FunctionCaller, ScriptCaller
from phaseline.model.graph.status import OutcomeKind

RETRY, FAILED, COMPLETED = OutcomeKind.RETRY, OutcomeKind.FAILED, OutcomeKind.COMPLETED
Run = Callable[..., tuple[Outcome, PluginCall]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a script of the blueprint: (outcome, call)."""

    def run_script(source: str, *, name: str = "scripts/run.sh", **inputs: Any) -> tuple[Outcome, PluginCall]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
        call = node_call(form="script", implementation=name, folder=tmp_path, inputs=inputs)
        return ScriptCaller().call(call), call

    return run_script


def lines(call: PluginCall) -> list[str]:
    return said(call).texts


# S1


def test_s1_script_is_a_copy_made_executable_and_removed_afterwards(run: Run) -> None:
    outcome, call = run("#!/bin/sh\n[ -x $0 ] && echo $0\n")
    assert outcome.kind is COMPLETED
    copy = lines(call)[0].removeprefix("<out> ")
    assert copy.endswith("/run.sh")
    assert not Path(copy).parent.parent.exists()


def test_s1_inline_script(tmp_path: Path) -> None:
    call = node_call(form="inline", implementation="echo one\necho $word", folder=tmp_path, inputs={"word": "two"})
    assert ScriptCaller().call(call).kind is COMPLETED
    assert lines(call) == ["<out> one", "<out> two"]


PYTHON_TEXT = """
    import os
    from cloudify import ctx
    from cloudify.state import ctx_parameters
    ctx.instance.runtime_properties["word"] = ctx_parameters.word
"""


@pytest.mark.parametrize("first_line", ["", "#!/usr/bin/env python3\n"])
def test_b31_an_inline_script_that_is_python_is_evaluated_with_cloudify_at_hand(tmp_path: Path, first_line) -> None:
    source = first_line + textwrap.dedent(PYTHON_TEXT) if first_line else PYTHON_TEXT
    call = node_call(form="inline", implementation=source, folder=tmp_path, inputs={"word": "two"})
    assert ScriptCaller().call(call).kind is COMPLETED
    assert stored(call.instance) == {"word": "two"}


@pytest.mark.parametrize(
    ("source", "process"), [("#!/bin/sh\nexit\n", {}), ("print\n", {"eval_python": False, "command_prefix": "true"})]
)
def test_b31_an_inline_script_is_no_python_that_names_another_interpreter_or_is_said_to_be_none(
    tmp_path: Path, source, process
) -> None:
    call = node_call(form="inline", implementation=source, folder=tmp_path, inputs={"process": process})
    assert ScriptCaller().call(call).kind is COMPLETED
    assert "Executing: " in "".join(text for level, text in said(call).lines if level == "debug")


@pytest.mark.parametrize("name", ["CFY_EXEC_TEMP", "CFY_EXEC_TEMPDIR"])
def test_s11_scripts_lie_where_cfy_exec_temp_says(run: Run, tmp_path: Path, monkeypatch, name) -> None:
    (tmp_path / "executable").mkdir()
    monkeypatch.setenv(name, str(tmp_path / "executable"))
    outcome, call = run("#!/bin/sh\necho $0; ctx instance id\n")
    assert outcome.kind is COMPLETED
    assert lines(call)[0].startswith(f"<out> {tmp_path}/executable/phaseline-")
    assert list((tmp_path / "executable").iterdir()) == []


def test_s11_a_cfy_exec_temp_that_is_no_folder_is_passed_over(run: Run, monkeypatch) -> None:
    monkeypatch.setenv("CFY_EXEC_TEMP", "/no/such/folder")
    outcome, _ = run("#!/bin/sh\nexit 0\n")
    assert outcome.kind is COMPLETED


def test_s1_name_of_a_script_may_have_blanks(run: Run) -> None:
    _, call = run("echo $1", name="my script.sh", process={"args": ["word"]})
    assert lines(call) == ["<out> word"]


def test_s1_missing_script_fails_for_good(tmp_path: Path) -> None:
    outcome = ScriptCaller().call(node_call(form="script", implementation="no.sh", folder=tmp_path))
    assert outcome.kind is FAILED
    assert "404 (no.sh)" in outcome.message


def test_s1_script_outside_the_blueprint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "blueprint").mkdir()
    (tmp_path / "run.sh").write_text("echo no")
    call = node_call(form="script", implementation="../run.sh", folder=tmp_path / "blueprint")
    assert ScriptCaller().call(call).kind is FAILED
    assert lines(call) == []


def test_s1_file_url(tmp_path: Path) -> None:
    (tmp_path / "a b.sh").write_text("echo from a file\n")
    url = (tmp_path / "a b.sh").as_uri()
    call = node_call(form="script", implementation=url, folder=tmp_path / "elsewhere")
    assert ScriptCaller().call(call).kind is COMPLETED
    assert lines(call) == ["<out> from a file"]


class Site(http.server.BaseHTTPRequestHandler):
    """Serves ``/run.sh``; everything else is missing, ``/odd.sh`` has an odd status."""

    def do_GET(self) -> None:
        status = {"/run.sh": 200, "/odd.sh": 202}.get(self.path, 404)
        body = b"#!/bin/sh\necho fetched\n"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_s1_script_from_the_web(site: str) -> None:
    call = node_call(form="script", implementation=f"{site}/run.sh")
    assert ScriptCaller().call(call).kind is COMPLETED
    assert lines(call) == ["<out> fetched"]


@pytest.mark.parametrize(("path", "status"), [("odd.sh", "202"), ("none.sh", "404")])
def test_s1_any_status_but_200_fails(site: str, path: str, status: str) -> None:
    outcome = ScriptCaller().call(node_call(form="script", implementation=f"{site}/{path}"))
    assert outcome.kind is FAILED
    assert f"status {status}" in outcome.message


def test_s1_server_that_is_away_is_tried_again(site: str) -> None:
    outcome = ScriptCaller().call(node_call(form="script", implementation="http://127.0.0.1:1/run.sh"))
    assert outcome.kind is RETRY


def test_s1_script_runner_run_can_be_called_as_a_function(tmp_path: Path) -> None:
    from script_runner.tasks import run

    (tmp_path / "run.sh").write_text("echo $word")
    call = node_call(run, folder=tmp_path, inputs={"script_path": "run.sh", "word": "hello"})
    assert FunctionCaller().call(call).kind is COMPLETED
    assert lines(call) == ["<out> hello"]


@pytest.mark.parametrize("inputs", [{}, {"script_path": "a", "script_source": "b"}])
def test_s1_exactly_one_of_path_and_source(inputs: dict[str, Any]) -> None:
    from script_runner.tasks import run

    outcome = FunctionCaller().call(node_call(run, inputs=inputs))
    assert outcome.kind is FAILED
    assert "exactly one" in outcome.message


# S2


def test_s2_python_is_evaluated_in_this_process_as_main(run: Run) -> None:
    text = """
import os
from cloudify import ctx
from cloudify.state import ctx_parameters
if __name__ == '__main__':
    ctx.instance.runtime_properties['seen'] = {'process': os.getpid(), 'port': ctx_parameters['port']}
    ctx.returns(ctx_parameters.port + 1)
"""
    outcome, call = run(text, name="run.py", port=80)
    assert (outcome.kind, outcome.result) == (COMPLETED, 81)
    assert stored(call.instance) == {"seen": {"process": os.getpid(), "port": 80}}


def test_s2_eval_python_decides_over_the_name(run: Run) -> None:
    outcome, _ = run(
        "from cloudify import ctx\nctx.returns(1)\n", name="named_otherwise", process={"eval_python": True}
    )
    assert outcome.result == 1
    outcome, call = run(f"#!{sys.executable}\nprint('apart')\n", name="run.py", process={"eval_python": False})
    assert lines(call) == ["<out> apart"]


def test_s2_error_in_a_python_script_shows_the_line_of_the_authors_file(run: Run, tmp_path: Path) -> None:
    outcome, _ = run("def deep():\n    raise ValueError('no')  # here\n\ndeep()\n", name="run.py")
    assert (outcome.kind, outcome.message) == (RETRY, "no")
    assert f'File "{tmp_path / "run.py"}", line 2' in outcome.error["traceback"]
    assert "# here" in outcome.error["traceback"]


def test_s2_python_2_fails_for_good_with_file_and_line(run: Run) -> None:
    outcome, _ = run("try:\n    pass\nexcept Exception, e:\n    pass\n", name="run.py")
    assert outcome.kind is FAILED
    assert "line 3" in outcome.message


@pytest.mark.parametrize(("code", "kind"), [("0", COMPLETED), ("", COMPLETED), ("3", RETRY), ("'sorry'", RETRY)])
def test_s2_sys_exit_of_a_python_script_is_its_exit_code(run: Run, code: str, kind: OutcomeKind) -> None:
    outcome, _ = run(f"import sys\nsys.exit({code})\n", name="run.py")
    assert outcome.kind is kind


def test_s2_abort_and_retry_of_a_python_script(run: Run) -> None:
    outcome, _ = run("from cloudify import ctx\nctx.abort_operation('never')\n", name="run.py")
    assert (outcome.kind, outcome.message) == (FAILED, "never")
    outcome, _ = run("from cloudify import ctx\nctx.retry_operation('later', 4)\n", name="run.py")
    assert (outcome.kind, outcome.delay_ms) == (RETRY, 4000)


SURROUNDINGS = """
import os, sys
from cloudify import ctx
ctx.returns([os.environ.get('word'), os.environ.get('more'), os.getcwd(), sys.argv[1:]])
os.environ['word'] = 'spoiled'
sys.path.append('spoiled')
os.chdir('/')
"""


def test_s2_python_in_a_worker_has_surroundings_like_a_process_and_leaves_them_as_they_were(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHASELINE_CALL", "1-0")
    process = {"env": {"more": 1}, "cwd": str(tmp_path), "args": ["a", "b"]}
    before = dict(os.environ), Path.cwd(), list(sys.path), list(sys.argv)
    outcome, _ = run(SURROUNDINGS, name="run.py", word="hi", process=process)
    assert outcome.result == ["hi", "1", str(tmp_path), ["a", "b"]]
    assert (dict(os.environ), Path.cwd(), sys.path, sys.argv) == before


def test_s2_python_elsewhere_leaves_the_surroundings_of_others_alone(run: Run) -> None:
    outcome, _ = run(
        "import os\nfrom cloudify import ctx\nctx.returns(os.environ.get('word'))\n", name="a.py", word="hi"
    )
    assert outcome.result is None


# S3


def test_s3_inputs_are_environment_variables(run: Run) -> None:
    _, call = run(
        'echo "$text|$number|$flag|$mapping|$sequence"',
        text="a b", number=1.5, flag=True, mapping={"k": [1]}, sequence=["x"],
    )  # fmt: skip
    assert lines(call) == ['<out> a b|1.5|true|{"k": [1]}|["x"]']


def test_s3_process_env_goes_over_inputs(run: Run) -> None:
    _, call = run("echo $a $b", a="input", b="input", process={"env": {"b": "env"}})
    assert lines(call) == ["<out> input env"]


def test_s3_folder_of_ctx_is_appended_to_path(run: Run) -> None:
    _, call = run('echo "$PATH"; command -v ctx; test -n "$CTX_SOCKET_URL" && echo url')
    path, where, url = (line.removeprefix("<out> ") for line in lines(call))
    assert path == f"{os.environ['PATH']}{os.pathsep}{Path(where).parent}"
    assert url == "url"


def test_s3_cwd_args_and_command_prefix(run: Run, tmp_path: Path) -> None:
    _, call = run("pwd; echo $2", process={"cwd": str(tmp_path), "args": ["one", 2], "command_prefix": "/bin/sh -e"})
    assert lines(call) == [f"<out> {tmp_path}", "<out> 2"]


def test_s3_output_is_logged_with_prefixes(run: Run) -> None:
    _, call = run("echo out; echo err >&2; printf 'no end'")
    assert sorted(lines(call)) == ["<err> err", "<out> no end", "<out> out"]


def test_s3_output_is_logged_while_the_script_runs(run: Run, tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    seen = threading.Event()
    path = tmp_path / "run.sh"
    path.write_text(f"echo waiting; read line <{fifo}; echo $line\n")
    call = node_call(form="script", implementation="run.sh", folder=tmp_path)
    channel = said(call)
    keep = channel.log

    def log(about: PluginCall, level: str, text: str) -> None:
        keep(about, level, text)
        if text == "<out> waiting":
            seen.set()

    channel.log = log  # type: ignore[method-assign]  # this one channel also tells when a line came
    thread = threading.Thread(target=lambda: ScriptCaller().call(call))
    thread.start()
    assert seen.wait(60)
    fifo.write_text("went on\n")
    thread.join(60)
    assert lines(call) == ["<out> waiting", "<out> went on"]


def test_s3_output_that_is_not_to_be_logged_is_still_in_the_error(run: Run) -> None:
    outcome, call = run("echo out; echo why >&2; exit 1", process={"log_stdout": False, "log_stderr": False})
    assert lines(call) == []
    assert outcome.message.endswith("why")


def test_s3_stderr_to_stdout(run: Run) -> None:
    _, call = run("echo err >&2", process={"stderr_to_stdout": True})
    assert lines(call) == ["<out> err"]


def test_s3_proxy_type_none_gives_no_ctx(run: Run) -> None:
    _, call = run('echo "[$CTX_SOCKET_URL]"; command -v ctx || echo none', process={"ctx_proxy_type": "none"})
    assert lines(call) == ["<out> []", "<out> none"]


def test_s3_proxy_type_http_answers_on_a_local_port(run: Run) -> None:
    _, call = run('echo "$CTX_SOCKET_URL"; ctx node properties port', process={"ctx_proxy_type": "http"})
    assert lines(call)[0].startswith("<out> http://127.0.0.1:")
    assert lines(call)[1] == "<out> 8080"


def test_s3_proxy_type_auto_is_a_unix_socket(near: Path, run: Run) -> None:
    _, call = run('echo "$CTX_SOCKET_URL"')
    assert lines(call)[0].startswith("<out> unix://")


@pytest.mark.parametrize(
    ("process", "named"),
    [
        ({"envv": {}}, "process.envv"),
        ({"ctx_proxy_type": "zmq"}, "zmq"),
        ({"args": "one"}, "process.args"),
        ({"env": []}, ""),
        ({"env": ["a"]}, "process.env"),
    ],
)
def test_s3_options_that_are_none_fail_for_good(run: Run, process: dict[str, Any], named: str) -> None:
    outcome, _ = run("true", process=process)
    assert outcome.kind is (FAILED if named else COMPLETED)
    assert named in outcome.message


def test_s3_input_that_cannot_be_a_variable_is_named(run: Run) -> None:
    outcome, _ = run("true", **{"a=b": "1"})
    assert outcome.kind is FAILED
    assert "'a=b'" in outcome.message


def test_s3_long_output_arrives_whole(run: Run) -> None:
    _, call = run("i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done")
    assert lines(call) == [f"<out> line {number}" for number in range(5000)]


def test_s3_process_left_running_does_not_hold_the_operation(run: Run) -> None:
    _, call = run("sleep 30 & echo $!")
    started, warning = lines(call)
    assert "redirected" in warning
    os.kill(int(started.removeprefix("<out> ")), 9)


# S4


def test_s4_exit_code_is_a_failure_that_can_be_retried(run: Run) -> None:
    outcome, _ = run("echo one >&2; echo the reason >&2; exit 3")
    assert outcome.kind is RETRY
    assert outcome.message == "scripts/run.sh ended with exit code 3: the reason"
    assert outcome.error == {"type": "ProcessException", "traceback": "one\nthe reason"}


def test_s4_exception_has_command_code_and_both_outputs(tmp_path: Path) -> None:
    from cloudify.context import CloudifyContext
    from script_runner.tasks import ProcessException, run

    (tmp_path / "run.sh").write_text("echo out; echo err >&2; exit 5")
    ctx = CloudifyContext(node_call(folder=tmp_path))
    with pytest.raises(ProcessException) as caught:
        run(script_path="run.sh", process={"args": ["x"]}, ctx=ctx)
    error = caught.value
    assert (error.command, error.exit_code, error.stdout, error.stderr) == ("run.sh x", 5, "out", "err")


def test_s4_runtime_properties_are_stored_after_a_failure(run: Run) -> None:
    outcome, call = run("ctx instance runtime-properties machine i-17; exit 1")
    assert outcome.kind is RETRY
    assert stored(call.instance) == {"machine": "i-17"}


def test_s4_abort_fails_for_good_whatever_the_exit_code(run: Run) -> None:
    for end in ("exit 0", "exit 9", "true"):
        outcome, _ = run(f"ctx abort-operation 'quota is used up'\n{end}\n")
        assert (outcome.kind, outcome.message) == (FAILED, "quota is used up")


def test_s4_retry_whatever_the_exit_code(run: Run) -> None:
    outcome, _ = run("ctx retry-operation 'not ready' 20; exit 1")
    assert (outcome.kind, outcome.delay_ms) == (RETRY, 20_000)
    assert outcome.message.startswith("not ready")


@pytest.mark.parametrize(
    "twice",
    [
        "ctx returns 1; ctx returns 2",
        "ctx returns 1; ctx abort-operation x",
        "ctx retry-operation; ctx abort-operation x",
    ],
)
def test_s5_more_than_one_of_returns_abort_and_retry_is_an_error(run: Run, twice: str) -> None:
    outcome, _ = run(twice + "\nexit 0\n")
    assert outcome.kind is FAILED
    assert "once" in outcome.message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("#!/nowhere/bash\necho\n", "/nowhere/bash"),
        ("#!/usr/bin/env nowhere-sh\necho\n", "nowhere-sh"),
        ("#!/bin/sh\r\necho\r\n", "CR LF"),
        ("no-such-command\n", "no-such-command"),
    ],
)
def test_decision_6_script_that_cannot_start_fails_for_good(run: Run, text: str, reason: str) -> None:
    outcome, _ = run(text)
    assert outcome.kind is FAILED
    assert "could not be started" in outcome.message
    assert reason in outcome.message


def test_decision_6_a_command_that_is_not_there_is_not_told_as_a_script_that_did_not_start(run: Run) -> None:
    outcome, _ = run("#!/bin/bash\nctx logger info begun\nno-such-command\n")
    assert "or a command in it, could not be started (exit code 127)" in outcome.message
    assert "line 3: no-such-command" in outcome.message
    assert "/phaseline-" not in outcome.message, "the place of our copy tells the author nothing"


def test_s4_script_ended_by_a_signal_can_be_retried(run: Run) -> None:
    outcome, _ = run("kill -9 $$")
    assert outcome.kind is RETRY


# What is left behind

LEAVING = """
import os, sys
from phaseline.compat.cloudify.ctx_server import serve
served = serve(object())
print(served.program, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), 9)
served.close()
os._exit(0)
"""


def test_nothing_is_left_of_a_process_or_the_next_one_sweeps_it(tmp_path: Path) -> None:
    def program_of(how: str) -> Path:
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", LEAVING, how], env=environment, capture_output=True, text=True, check=False
        )
        return Path(done.stdout.strip())

    assert not program_of("ended").exists()
    assert program_of("killed").exists()
    program_of("ended")
    assert list(tmp_path.iterdir()) == []


def test_s4_a_script_that_a_signal_ended_is_not_said_to_have_left_something_running(run: Run) -> None:
    _, call = run("#!/bin/sh\nsleep 5 &\nkill -TERM $$\n")
    assert not [line for line in lines(call) if "still holds its output" in line]
