"""The server, running: what it answers, to whom, and how it ends."""

from contextlib import closing
from http.client import HTTPConnection
import json
import re
import signal
import socket
import subprocess
import time

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from lossscale_app.command_line import main
from lossscale_app.page import DESCRIPTION, TITLE
from lossscale_app.server import _endings

from .loops import run
from .markup import Elements
from .processes import Server, command, environment, free_port

FOREIGN = "http://courses.example"


ENDING = {number.name: number for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT))}


@pytest.fixture(scope="module", autouse=True)
def servers(tmp_path_factory):
    """All servers of this file, started at once, since each takes its time to load Panel."""
    file = tmp_path_factory.mktemp("files") / "grads.txt"
    file.write_text("2^-26 8", "utf-8")
    running = {name: Server() for name in ("plain", *ENDING)}
    # Reached under other names too: one given as an option, one by the environment.
    running["open"] = Server("--allow-websocket-origin", "courses.example", LOSSSCALE_ORIGINS="slides.example:8000")
    running["file"] = Server(str(file))
    try:
        yield running
    finally:
        for each in running.values():
            each.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def server(servers):
    return servers["plain"].wait()


@pytest.fixture(scope="module")
def open_server(servers):
    return servers["open"].wait()


@pytest.fixture(scope="module")
def page(server):
    status, headers, text = server.get("/")
    assert status == 200
    assert headers.get_content_type() == "text/html"
    return text


def test_the_page_has_language_viewport_title_and_description(page):
    elements = Elements(page)
    assert elements.of("html")[0]["lang"] == "en"
    metas = {meta.get("name"): meta.get("content") for meta in elements.of("meta")}
    assert "width=device-width" in metas["viewport"]
    assert metas["description"] == DESCRIPTION
    assert f"<title>{TITLE}</title>" in page
    assert len(elements.of("main")) == len(elements.of("h1")) == 1


def test_the_page_asks_no_other_host(page):
    elements = Elements(page)
    addresses = [
        attributes[name] for _, attributes in elements.found for name in ("src", "href") if attributes.get(name)
    ]
    assert addresses
    assert [address for address in addresses if re.match(r"(?!data:)[\w+.-]*:|//", address)] == []
    # Nor is there one in what the scripts on the page hand to Bokeh.
    assert re.findall(r"https?://(?!127\.0\.0\.1|localhost)[\w.-]+", page) == []


def test_the_files_of_the_page_are_there(server, page):
    elements = Elements(page)
    sources = [script["src"] for script in elements.of("script") if "src" in script]
    sources += [link["href"] for link in elements.of("link") if link["rel"] == "stylesheet"]
    assert sources
    for source in sources:
        assert server.get("/" + source.lstrip("/"))[0] == 200


def test_liveness(server):
    status, _, text = server.get("/liveness")
    assert (status, text.strip()) == (200, '{"/liveness": true}')


def test_the_browser_is_told_to_ask_no_other_host(server):
    policy = server.get("/")[1].get("Content-Security-Policy", "")
    sources = {source for part in policy.split(";") for source in part.split()[1:]}
    assert "default-src 'self'" in policy
    assert "'unsafe-eval'" not in sources
    assert sources <= {"'self'", "'unsafe-inline'", "blob:", "data:", "ws:", "wss:"}


def handshake(server, origin):
    """The status of opening the page's websocket from a page of some origin: 101 where it is opened."""
    token = re.search(r'"token":"([^"]+)"', server.get("/")[2])[1]
    request = HTTPRequest(f"ws://127.0.0.1:{server.port}/ws", headers={"Origin": origin})

    async def connect():
        try:
            connection = await websocket_connect(request, subprotocols=["bokeh", token])
        except HTTPClientError as error:
            return error.code
        assert (await connection.read_message()) is not None
        connection.close()
        return 101

    return run(connect())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_pages_of_this_machine_may_connect(server, host):
    assert handshake(server, f"http://{host}:{server.port}") == 101


@pytest.mark.parametrize("origin", [FOREIGN, "http://127.0.0.1:1", "http://localhost.courses.example", "null"])
def test_pages_of_elsewhere_may_not(server, origin):
    assert handshake(server, origin) == 403


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (FOREIGN, 101),
        ("http://slides.example:8000", 101),
        ("http://slides.example", 403),
        ("http://other.example", 403),
    ],
)
def test_pages_of_allowed_hosts_may_connect(open_server, origin, status):
    assert handshake(open_server, origin) == status


def test_allowing_others_keeps_this_machine_allowed(open_server):
    assert handshake(open_server, f"http://localhost:{open_server.port}") == 101


@pytest.mark.parametrize("name", ENDING)
def test_a_signal_ends_it_quickly_and_quietly(servers, name):
    running = servers[name].wait()
    running.get("/")
    before = time.monotonic()
    code, out, err = running.stop(ENDING[name])
    assert time.monotonic() - before < 5
    assert err == ""
    assert out.count("\n") == 1
    assert f":{running.port}" in out
    # As the first process of a container it would not even notice a signal that it does not handle.
    assert code == 0


def test_a_file_is_what_the_address_opens(servers):
    running = servers["file"].wait()
    assert running.get("/?v=1&view=distribution")[0] == 200
    out = running.stop()[1]
    assert out.endswith(f"http://localhost:{running.port}/?v=1&view=distribution\n")


def test_a_hangup_that_is_to_be_ignored_is():
    """As with `nohup`."""
    hangup = getattr(signal, "SIGHUP", None) or pytest.skip("this system has no hangups")
    assert hangup in _endings()
    before = signal.signal(hangup, signal.SIG_IGN)
    try:
        assert hangup not in _endings()
    finally:
        signal.signal(hangup, before)


def upload(server, origin, name="grads.txt"):
    """The status of sending a file from a page of some origin."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    with closing(connection):
        connection.request("POST", f"/upload?name={name}", b"2^-26 8", {"Origin": origin})
        answer = connection.getresponse()
        assert set(json.loads(answer.read())) == ({"upload"} if answer.status == 200 else {"problem"})
        return answer.status


def test_only_the_page_itself_sends_files(server):
    assert upload(server, f"http://127.0.0.1:{server.port}") == 200
    assert upload(server, f"http://127.0.0.1:{server.port}", "grads.md") == 400
    for origin in (FOREIGN, "null"):
        assert upload(server, origin) == 403


def test_a_page_behind_a_proxy_sends_files(open_server):
    assert upload(open_server, "http://slides.example:8000") == 200
    assert upload(open_server, "http://other.example") == 403


@pytest.fixture
def port_in_use():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_in_use_is_refused_in_one_line(port_in_use):
    words = command("serve", "--port", str(port_in_use), "--no-show")
    ran = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(rf"lossscale: [^\n]*127\.0\.0\.1:{port_in_use}[^\n]*\.\n", ran.stderr)


def refused(capfd, *words):
    """The one line with which the command refuses to serve, in this process."""
    assert main([*words, "--no-show"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(r"lossscale: [^\n]+\.\n", err)
    return err


def test_the_port_of_the_environment_is_what_is_listened_on(capfd, monkeypatch, port_in_use):
    monkeypatch.setenv("PORT", str(port_in_use))
    assert f"127.0.0.1:{port_in_use}" in refused(capfd)


@pytest.mark.parametrize("port", ["http", "65536", "-1"])
def test_a_bad_port_of_the_environment_is_refused_in_one_line(capfd, monkeypatch, port):
    monkeypatch.setenv("PORT", port)
    assert f"PORT: a port is a number from 0 to 65535, and “{port}” is not" in refused(capfd)


def test_a_file_that_cannot_be_read_is_refused_before_anything_listens(capfd, tmp_path):
    """The address is none of this machine's, which would be said otherwise."""
    damaged = tmp_path / "grads.npz"
    damaged.write_bytes(b"PK\x03\x04 and no more")
    assert "“grads.npz” is " in refused(capfd, "serve", str(damaged), "--address", "192.0.2.1")


def test_an_address_of_another_machine_is_refused_in_one_line(capfd):
    assert "192.0.2.1:" in refused(capfd, "--port", str(free_port()), "--address", "192.0.2.1")
