"""The server, running: what it answers, to whom, and how it ends."""

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

from .loops import run
from .markup import Elements
from .processes import Server, command, environment, free_port

FOREIGN = "http://courses.example"


ENDING = {number.name: number for number in (signal.SIGTERM, signal.SIGINT)}


@pytest.fixture(scope="module", autouse=True)
def servers():
    """All servers of this file, started at once, since each takes its time to load Panel."""
    running = {name: Server() for name in ("plain", *ENDING)}
    # Reached under other names too: one given as an option, one by the environment.
    running["open"] = Server("--allow-websocket-origin", "courses.example", LOSSSCALE_ORIGINS="slides.example:8000")
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


def test_an_address_of_another_machine_is_refused_in_one_line(capfd):
    assert "192.0.2.1:" in refused(capfd, "--port", str(free_port()), "--address", "192.0.2.1")
