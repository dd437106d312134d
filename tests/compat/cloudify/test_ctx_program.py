"""The ``ctx`` program as scripts call it, in real processes (S5, decision 30)."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.compat.cloudify.builders import SmallWorld, node_call, said, stored

from phaseline.calls.protocol.call import PluginCall
from phaseline.compat.cloudify.ctx_client import ask
from phaseline.compat.cloudify.ctx_program import SOURCE, _write_executable
from phaseline.compat.cloudify.ctx_server import Served, serve

FEWEST_TRIES, MOST_TRIES = 7, 40
Ctx = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def call(tmp_path: Path) -> PluginCall:
    (tmp_path / "page.html").write_text("{{ ctx.node.properties.port }} {{ who }}")
    return node_call(folder=tmp_path)


@pytest.fixture(params=["unix", "http"])
def served(request: pytest.FixtureRequest, call: PluginCall) -> Iterator[Served]:
    from cloudify.context import CloudifyContext

    served = serve(CloudifyContext(call), request.param)
    yield served
    served.close()


@pytest.fixture
def ctx(served: Served) -> Ctx:
    """Run the program with words."""

    def program(*words: str, url: str = served.url) -> "subprocess.CompletedProcess[str]":
        environment = {"CTX_SOCKET_URL": url, "PATH": os.environ["PATH"]}
        return subprocess.run(
            [str(served.program / "ctx"), *words], env=environment, capture_output=True, text=True, check=False
        )

    return program


def test_s5_value_is_printed_as_text(ctx: Ctx) -> None:
    assert ctx("node", "properties", "port").stdout == "8080"
    assert ctx("instance", "host-ip").stdout == "10.0.0.5"
    assert ctx("node", "properties", "deep").stdout == "{'list': [{'name': 'first'}]}"


@pytest.mark.parametrize("is_call", [True, False])
def test_s5_ctx_ends_the_script_of_a_call_whose_process_was_killed(near: Path, served: Served, is_call) -> None:
    path = str(near / "ctx.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(path)
        left.listen()
    environment = {"CTX_SOCKET_URL": f"unix://{path}?token", "PATH": os.environ["PATH"]}
    environment |= {"PHASELINE_CALL": "a:1:0"} if is_call else {}
    command = f"{served.program}/ctx instance id; echo went on"
    done = subprocess.run(
        ["sh", "-c", command], env=environment, start_new_session=True, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == ((-9, "") if is_call else (0, "went on\n"))


def test_s5_a_script_that_has_outlived_its_call_hears_an_error_and_goes_on(served: Served, tmp_path: Path) -> None:
    environment = {
        "CTX_SOCKET_URL": f"unix://{tmp_path}/ctx.sock?token",
        "PATH": os.environ["PATH"],
        "PHASELINE_CALL": "a:1:0",
    }
    command = f"{served.program}/ctx instance id; echo went on"
    done = subprocess.run(
        ["sh", "-c", command], env=environment, start_new_session=True, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "went on\n")


def test_s5_json_on_request_wherever_the_option_stands(ctx: Ctx) -> None:
    for words in (("-j", "node", "properties", "deep"), ("node", "properties", "deep", "--json-output")):
        assert ctx(*words).stdout == '{"list": [{"name": "first"}]}'


def test_s5_false_like_values_print_nothing_without_json(ctx: Ctx) -> None:
    for words in (("node", "properties", "off"), ("operation", "retry-number"), ("instance", "runtime-properties")):
        assert ctx(*words).stdout == ""
        assert ctx("-j", *words).stdout in {"false", "0", "{}"}


def test_s5_setting_text_and_json(ctx: Ctx, call: PluginCall, served: Served) -> None:
    assert ctx("instance", "runtime-properties", "a.b", "text").stdout == ""
    assert ctx("instance", "runtime-properties", "a.c", '@{"n": [1, null]}').returncode == 0
    assert ctx("--json-arg-prefix", "%", "instance", "runtime-properties", "d", "%true").returncode == 0
    assert ctx("--json-arg-prefix=%", "instance", "runtime-properties", "e", "@plain").returncode == 0
    assert ctx("-j", "instance", "runtime-properties").stdout == (
        '{"a": {"b": "text", "c": {"n": [1, null]}}, "d": true, "e": "@plain"}'
    )


def test_s5_absent_key_is_an_illegal_path(ctx: Ctx) -> None:
    done = ctx("node", "properties", "nope")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "illegal path: nope\n")


def test_s5_error_of_the_context_is_shown(ctx: Ctx) -> None:
    done = ctx("source", "instance", "id")
    assert done.returncode == 1
    assert "relationship-instance" in done.stderr


def test_s5_what_cannot_be_printed_says_so(ctx: Ctx) -> None:
    done = ctx("instance")
    assert done.returncode == 1
    assert "name one of its parts" in done.stderr


def test_s5_logger(ctx: Ctx, call: PluginCall) -> None:
    assert ctx("logger", "info", "100% done, -j is no option in here").returncode == 0
    assert ctx("logger", "warning", "several", "words").returncode == 0
    assert said(call).lines == [("info", "100% done, -j is no option in here"), ("warning", "several words")]


def test_s5_words_after_two_dashes_are_no_options(ctx: Ctx, call: PluginCall) -> None:
    assert ctx("logger", "info", "--", "-j").returncode == 0
    assert said(call).texts == ["-j"]


def test_s5_resources(ctx: Ctx) -> None:
    assert ctx("get-resource", "page.html").stdout == "{{ ctx.node.properties.port }} {{ who }}"
    path = Path(ctx("download-resource", "page.html").stdout)
    assert path.read_text() == "{{ ctx.node.properties.port }} {{ who }}"
    path.unlink()
    path = Path(ctx("download-resource-and-render", "page.html", '@{"template_variables": {"who": "ann"}}').stdout)
    assert path.read_text() == "8080 ann"
    path.unlink()
    assert ctx("get-resource", "none").returncode == 1


def test_s5_text_of_any_language_and_length(ctx: Ctx, call: PluginCall) -> None:
    for text in ("Größe ☃", "two\nlines", "x" * 100_000):
        assert ctx("instance", "runtime-properties", "text", text).returncode == 0
        assert ctx("instance", "runtime-properties", "text").stdout == text


def test_s5_bad_json_is_an_error(ctx: Ctx) -> None:
    done = ctx("instance", "runtime-properties", "a", "@{nonsense")
    assert done.returncode == 1
    assert "JSON" in done.stderr


def test_s5_usage(ctx: Ctx) -> None:
    assert ctx("--help").stdout.startswith("usage: ctx")
    assert ctx("-t").returncode == 2
    assert ctx("-j").stderr.startswith("usage: ctx")
    assert ctx("-t", "soon", "node", "name").returncode == 2
    assert ctx("-t", "5", "node", "name").stdout == "web"


def test_decision_30_call_without_its_token_is_refused(ctx: Ctx, served: Served) -> None:
    done = ctx("node", "name", url=served.url[:-1])
    assert (done.returncode, done.stdout) == (1, "")
    assert "CTX_SOCKET_URL is not its own" in done.stderr


def test_decision_30_call_that_ended_answers_no_more(ctx: Ctx, served: Served, call: PluginCall) -> None:
    others = [serve(call, kind) for kind in ("unix", "http")]
    served.close()
    assert "this call has ended" in ctx("node", "name").stderr
    for other in others:
        other.close()


def test_decision_30_two_calls_do_not_see_each_other(ctx: Ctx, call: PluginCall, served: Served) -> None:
    from cloudify.context import CloudifyContext

    other = node_call(instance="db_1", world=SmallWorld())
    second = serve(CloudifyContext(other))
    assert ctx("instance", "id", url=second.url).stdout == "db_1"
    assert ctx("instance", "id").stdout == "web_1"
    second.close()


def test_decision_30_socket_lies_in_a_folder_of_this_user_alone(near: Path, call: PluginCall) -> None:
    served = serve(call)
    try:
        path = Path(served.url.removeprefix("unix://").partition("?")[0])
        assert path.is_socket()
        assert path.is_relative_to(near)
        assert path.parent.stat().st_mode & 0o077 == 0
    finally:
        served.close()


def test_s3_where_the_path_of_a_socket_would_be_too_long_a_local_port_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: PluginCall
) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("CFY_EXEC_TEMP", str(deep))
    served = serve(call)
    served.close()
    assert served.url.startswith("http://127.0.0.1:")


def test_s5_outside_an_operation_it_says_where_it_works(ctx: Ctx) -> None:
    done = ctx("node", "name", url="")
    assert done.returncode == 1
    assert "only in scripts that an operation runs" in done.stderr
    assert "cannot be asked" in ctx("node", "name", url="unix:///nowhere?x").stderr


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        ("POST /{token} HTTP/1.0\r\nContent-Length: 8\r\n\r\nnonsense", "400"),
        ("POST /wrong HTTP/1.0\r\nContent-Length: 0\r\n\r\n", "403"),
        ("POST /{token} HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n", ""),
        ("nonsense\r\n\r\n", ""),
        ("", ""),
    ],
)
def test_s5_requests_that_are_none_do_no_harm(call: PluginCall, request_text: str, status: str) -> None:
    served = serve(call, "http")
    address, _, token = served.url.removeprefix("http://").partition("/")
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request_text.format(token=token).encode())
        connection.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    served.close()
    assert said[9:12] == status


@pytest.mark.parametrize("interpreter", ["with blank/python", f"{'long/' * 40}python"])
def test_s5_program_finds_an_interpreter_that_no_first_line_can_name(
    served: Served, tmp_path: Path, interpreter: str
) -> None:
    link = tmp_path / interpreter
    link.parent.mkdir(parents=True)
    link.symlink_to(sys.executable)
    _write_executable(tmp_path / "ctx", (SOURCE / "ctx").read_text(), str(link))
    done = subprocess.run(
        [str(tmp_path / "ctx"), "node", "name"],
        env={"CTX_SOCKET_URL": served.url, "PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("web", "")


def test_s5_protocol_is_open_to_other_programs(served: Served) -> None:
    assert ask(served.url, ["node", "properties", "port"]) == {"type": "result", "payload": 8080}
    refused = ask(served.url, ["node", "properties", "nope"])
    assert refused["type"] == "error"
    assert refused["payload"]["message"] == "illegal path: nope"
    assert refused["payload"]["type"] == "IllegalPathError"
    assert "Traceback" in refused["payload"]["traceback"]


def test_s5_python_in_a_process_of_its_own_can_ask_too(served: Served) -> None:
    from cloudify.proxy import client, server

    assert client.client_req(served.url, ["node", "name"]) == "web"
    with pytest.raises(client.RequestError, match="illegal path"):
        client.client_req(served.url, ["node", "properties", "nope"])
    proxy = server.HTTPCtxProxy(object())
    with pytest.raises(client.RequestError):
        client.client_req(proxy.socket_url, ["name"])
    proxy.close()


SOURCED = """
{source} ctx-sh
ctx logger info before
{failing}
echo not reached
"""


@pytest.mark.parametrize(("shell", "source"), [("bash", "source"), ("sh", ".")])
@pytest.mark.parametrize("failing", ["ctx node properties nope", 'value="$(ctx node properties nope)"'])
def test_s5_sourced_ctx_sh_ends_the_script_when_ctx_fails(
    served: Served, call: PluginCall, shell: str, source: str, failing: str
) -> None:
    environment = {"CTX_SOCKET_URL": served.url, "PATH": f"{os.environ['PATH']}{os.pathsep}{served.program}"}
    text = SOURCED.format(source=source, failing=failing)
    done = subprocess.run([shell, "-c", text], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "illegal path: nope" in done.stderr
    assert said(call).texts == ["before"]


def test_s5_sourced_ctx_sh_changes_nothing_when_ctx_succeeds(served: Served) -> None:
    environment = {"CTX_SOCKET_URL": served.url, "PATH": f"{os.environ['PATH']}{os.pathsep}{served.program}"}
    text = '. ctx-sh; echo "$(ctx node name) $(ctx node properties port)"'
    done = subprocess.run(["sh", "-c", text], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "web 8080\n")


@pytest.mark.alone
def test_s5_ctx_starts_faster_than_a_python_with_its_site(served: Served, ctx: Ctx) -> None:
    """The anchor pays a whole Python start for each call; ours stays below twice the bare interpreter's."""

    def seconds(command: list[str]) -> float:
        environment = {"CTX_SOCKET_URL": served.url, "PATH": os.environ["PATH"]}
        before = time.perf_counter()
        subprocess.run(command, env=environment, capture_output=True, check=True)
        return time.perf_counter() - before

    bare = ours = float("inf")
    for tries in range(
        1, MOST_TRIES + 1
    ):  # the best of several is what it costs; more are made only while others disturb
        bare = min(bare, seconds([sys.executable, "-IS", "-c", "pass"]))
        ours = min(ours, seconds([str(served.program / "ctx"), "node", "name"]))
        if tries >= FEWEST_TRIES and ours < 2 * bare + 0.005:
            return
    pytest.fail(f"{ours:.4f} s, where a bare interpreter takes {bare:.4f} s")


def test_s5_what_a_script_writes_through_ctx_is_stored(ctx: Ctx, call: PluginCall, served: Served) -> None:
    from cloudify.context import CloudifyContext

    context: Any = CloudifyContext(call)
    second = serve(context)
    ctx("instance", "runtime-properties", "machine", "i-1", url=second.url)
    second.close()
    context._give_back()
    assert stored(call.instance) == {"machine": "i-1"}
