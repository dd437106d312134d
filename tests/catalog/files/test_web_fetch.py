"""B6: imports by http and https, against a real server on this machine."""

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.catalog.files.web_fetch import WebFiles, is_below
from phaseline.dsl.reader import read_blueprint
from phaseline.model.problems.problem import Problem, ProblemsError

Answer = tuple[int, dict[str, str], bytes]
LIMIT_BYTES = 10_000


class Server:
    """Answers each path with the next of its answers, the last one again and again; remembers what was asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[str] = []
        self.is_closing = threading.Event()
        server = self

        class Answering(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                found = server.answers.get(self.path, [(404, {}, b"")])
                code, headers, body = found.pop(0) if len(found) > 1 else found[0]
                if code == 0:
                    server.is_closing.wait(60)
                    return
                self.send_response(code)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def has(self, path: str, *answers: Answer | str) -> str:
        """The address of a path with these answers; a text is what a good answer holds."""
        self.answers[path] = [(200, {}, item.encode()) if isinstance(item, str) else item for item in answers]
        return self.url + path

    def close(self) -> None:
        self.is_closing.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    found = Server()
    yield found
    found.close()


@pytest.fixture
def pauses() -> list[float]:
    """How long was waited between tries, instead of waiting."""
    return []


@pytest.fixture
def files(server: Server, pauses: list[float]) -> WebFiles:
    return WebFiles([f"{server.url}/open"], limit_bytes=LIMIT_BYTES, timeout_s=60, pause=pauses.append)


def refusal(fetch: Callable[[str], str | None], url: str) -> Problem:
    with pytest.raises(ProblemsError) as caught:
        fetch(url)
    (found,) = caught.value.problems
    return found


def test_b06_a_file_below_an_allowed_address_is_fetched(server: Server, files: WebFiles) -> None:
    assert files.fetch(server.has("/open/a.yaml", "inputs: {}\n")) == "inputs: {}\n"
    assert files.fetch(server.has("/open/b.yaml", "\ufeffname: Grüße")) == "name: Grüße"


def test_b06_by_default_nothing_is_allowed_and_the_problem_names_the_setting(server: Server) -> None:
    url = server.has("/open/a.yaml", "inputs: {}")
    found = refusal(WebFiles(limit_bytes=LIMIT_BYTES).fetch, url)
    assert (found.code, found.cloudify_code) == ("PL-B028", 13)
    assert "'blueprints.allowed_imports'" in found.mend
    assert server.asked == []


def test_b06_what_lies_elsewhere_on_the_server_is_refused_unasked(server: Server, files: WebFiles) -> None:
    for path in ("/closed.yaml", "/opened/a.yaml", "/open/../closed.yaml", "/open/%2e%2e/closed.yaml"):
        assert refusal(files.fetch, server.url + path).code == "PL-B028"
    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/blueprints/a.yaml",  # another scheme
        "https://example.org.evil.net/blueprints/a.yaml",
        "https://example.org:8443/blueprints/a.yaml",
        "https://example.org@evil.net/blueprints/a.yaml",
        "https://me:secret@example.org/blueprints/a.yaml",
        "https://example.org/blueprints2/a.yaml",
        "https://example.org/blueprints/..%2fa.yaml",
        "https://example.org/blueprints//../a.yaml",
        "https://example.org/blueprints/..\\a.yaml",
        "https://example.org:x/blueprints/a.yaml",
        "file:///blueprints/a.yaml",
    ],
)
def test_b06_an_address_that_only_looks_like_an_allowed_one_is_not(url: str) -> None:
    assert not is_below(url, "https://example.org/blueprints")
    assert not is_below(url, "https://example.org/blueprints/")


@pytest.mark.parametrize(
    "beginning", ["https://example.org", "https://EXAMPLE.org:443/", "https://example.org/a/b.yaml"]
)
def test_b06_an_address_at_or_below_an_allowed_one_is_allowed(beginning: str) -> None:
    assert is_below("https://example.org/a/b.yaml", beginning)


def test_b06_a_file_that_the_server_does_not_have_is_none(server: Server, files: WebFiles, pauses: list[float]) -> None:
    assert files.fetch(f"{server.url}/open/nothing.yaml") is None
    assert (len(server.asked), pauses) == (1, [])


@pytest.mark.parametrize("code", [400, 401, 403, 429])
def test_b06_other_answers_fail_at_once(server: Server, files: WebFiles, pauses: list[float], code: int) -> None:
    found = refusal(files.fetch, server.has("/open/a.yaml", (code, {}, b"")))
    assert found.code == "PL-B029"
    assert f"the server answers {code}" in found.message
    assert (len(server.asked), pauses) == (1, [])


def test_b06_a_5xx_is_tried_again_a_second_apart(server: Server, files: WebFiles, pauses: list[float]) -> None:
    url = server.has("/open/a.yaml", (503, {}, b""), (500, {}, b""), "inputs: {}")
    assert files.fetch(url) == "inputs: {}"
    assert pauses == [1.0, 1.0]


def test_b06_after_five_more_tries_it_is_given_up(server: Server, files: WebFiles, pauses: list[float]) -> None:
    found = refusal(files.fetch, server.has("/open/a.yaml", (502, {}, b"")))
    assert found.message.endswith("the server answers 502 Bad Gateway (tried 6 times)")
    assert (len(server.asked), pauses) == (6, [1.0] * 5)


def test_b06_no_connection_is_tried_again(pauses: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        found = refusal(WebFiles([url], limit_bytes=LIMIT_BYTES, pause=pauses.append).fetch, f"{url}/a.yaml")
    assert found.code == "PL-B029"
    assert "Connection refused (tried 6 times)" in found.message
    assert pauses == [1.0] * 5


def test_b06_a_server_that_says_nothing_is_tried_again(server: Server, pauses: list[float]) -> None:
    told: list[str] = []
    files = WebFiles([server.url], limit_bytes=LIMIT_BYTES, timeout_s=0.5, pause=pauses.append, tell=told.append)
    url = server.has("/open/a.yaml", (0, {}, b""), "inputs: {}")
    assert files.fetch(url) == "inputs: {}"
    assert pauses == [1.0] * (len(server.asked) - 1), "once, unless this machine stood still meanwhile"
    assert pauses
    (line,) = told
    assert line.startswith(f"'{url}': ")
    assert line.endswith("tried 5 more times, for 8 s at most")


def test_b06_a_redirection_is_followed_where_that_is_allowed_too(server: Server, files: WebFiles) -> None:
    server.has("/open/b.yaml", "inputs: {}")
    assert files.fetch(server.has("/open/a.yaml", (302, {"Location": "/open/b.yaml"}, b""))) == "inputs: {}"


def test_b06_a_redirection_to_elsewhere_is_refused(server: Server, files: WebFiles) -> None:
    server.has("/closed.yaml", "secret: 1")
    for there in ("/closed.yaml", "file:///etc/hostname", "http://localhost:1/open/"):
        found = refusal(files.fetch, server.has("/open/a.yaml", (302, {"Location": there}, b"")))
        assert found.code in {"PL-B028", "PL-B029"}
    assert "/closed.yaml" not in server.asked


def test_b06_a_file_that_is_too_large_is_given_up(server: Server, files: WebFiles) -> None:
    assert refusal(files.fetch, server.has("/open/a.yaml", "x" * (LIMIT_BYTES + 1))).code == "PL-B003"
    assert files.fetch(server.has("/open/b.yaml", "x" * LIMIT_BYTES)) == "x" * LIMIT_BYTES


def test_b06_a_file_that_is_no_text_is_refused(server: Server, files: WebFiles) -> None:
    assert refusal(files.fetch, server.has("/open/a.yaml", (200, {}, b"\xff\xfe"))).code == "PL-B002"


def test_b06_an_address_that_cannot_be_one_is_not_tried_again(
    server: Server, files: WebFiles, pauses: list[float]
) -> None:
    assert refusal(files.fetch, f"{server.url}/open/a b.yaml").code == "PL-B029"
    assert pauses == []


def blueprint(folder: Path, *lines: str) -> str:
    file = folder / "blueprint.yaml"
    file.write_text("\n".join(["tosca_definitions_version: cloudify_dsl_1_4", *lines, ""]))
    return str(file)


def test_b06_a_blueprint_imports_from_the_web_and_files_there_import_others_beside_them(
    server: Server, tmp_path: Path
) -> None:
    (tmp_path / "beside.yaml").write_text("inputs: {local: {default: 1}}")
    server.has("/open/a/main.yaml", "imports: [beside.yaml, ../b.yaml, /open/c.yaml]\ninputs: {one: {default: 1}}")
    server.has("/open/a/beside.yaml", "inputs: {two: {default: 1}}")
    server.has("/open/b.yaml", "imports: [a/main.yaml, cloudify/types/types.yaml]\ninputs: {three: {default: 1}}")
    server.has("/open/c.yaml", "inputs: {four: {default: 1}}")
    main = blueprint(tmp_path, f"imports: ['{server.url}/open/a/main.yaml']")
    found = read_blueprint(main, BlueprintFiles(main, allowed_imports=[server.url]))
    assert list(found.inputs) == ["one", "two", "three", "four"]
    assert len(server.asked) == 4


def test_b06_what_a_web_file_imports_must_be_allowed_too(server: Server, tmp_path: Path) -> None:
    server.has("/open/a.yaml", "imports: [../closed.yaml]")
    main = blueprint(tmp_path, f"imports: ['{server.url}/open/a.yaml']")
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(main, BlueprintFiles(main, allowed_imports=[f"{server.url}/open/"]))
    (found,) = caught.value.problems
    assert (found.code, found.place.file) == ("PL-B028", f"{server.url}/open/a.yaml")


def test_b06_problems_in_a_web_file_stand_at_their_line_there(server: Server, tmp_path: Path) -> None:
    url = server.has("/open/a.yaml", "inputs:\n  port: {typ: integer}\n")
    main = blueprint(tmp_path, f"imports: ['{url}']")
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(main, BlueprintFiles(main, allowed_imports=[server.url]))
    (found,) = caught.value.problems
    assert (found.code, found.place.file, found.place.line) == ("PL-B014", url, 2)


def test_b06_a_web_file_that_is_not_there_is_13(server: Server, tmp_path: Path) -> None:
    main = blueprint(tmp_path, f"imports: ['{server.url}/open/nothing.yaml']")
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(main, BlueprintFiles(main, allowed_imports=[server.url]))
    (found,) = caught.value.problems
    assert (found.code, found.cloudify_code, found.place.line) == ("PL-B020", 13, 2)
