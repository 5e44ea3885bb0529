"""Files on their way from a browser to a session: what is taken, what is refused, and what is left behind."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
import http.client
import io
import json
import os
from pathlib import Path
import signal
import socket
import tempfile
from threading import Event, Thread
import time
from urllib.parse import quote as percent_encoded

import numpy as np
import pytest
from tornado.httpserver import HTTPServer
from tornado.web import Application

from lossscale_app import uploads
from lossscale_app.command_line import DEFAULT_MAX_UPLOAD
from lossscale_app.uploads import MAX_FILES, RefusedError, UploadHandler, Uploads
from lossscale_core import InputError, read_tensors
from lossscale_core.errors import quoted
from lossscale_core.files import FILE_SUFFIXES

from .processes import Server

MIB = 1 << 20
LIMIT = 4 * MIB


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def serving(kept, **named):
    """A server in a thread of its own; yields its port."""
    ready, ports, ends = Event(), [], []

    async def run():
        end = asyncio.Event()
        application = Application([("/upload", UploadHandler, {"uploads": kept, **named})])
        # A small limit stands for Tornado's own, which is 100 MiB.
        server = HTTPServer(application, max_body_size=1000)
        server.listen(0, "127.0.0.1")
        ports.append(next(iter(server._sockets.values())).getsockname()[1])
        loop = asyncio.get_running_loop()
        ends.append(lambda: loop.call_soon_threadsafe(end.set))
        ready.set()
        await end.wait()
        server.stop()
        await server.close_all_connections()

    thread = Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert ready.wait(10)
    try:
        yield ports[0]
    finally:
        ends[0]()
        thread.join()
        kept.close()


@pytest.fixture
def kept():
    return Uploads(LIMIT)


@pytest.fixture
def port(kept):
    with serving(kept) as port:
        yield port


def post(port, name, body=b"1 2", path="upload", **headers):
    """Status and JSON of the answer to a file; a body that is no bytes is sent in chunks."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with closing(connection):
        given = {key.replace("_", "-"): value for key, value in headers.items()}
        connection.request("POST", f"/{path}?name={percent_encoded(name, safe='')}", body, given)
        answer = connection.getresponse()
        assert answer.headers.get_content_type() == "application/json"
        assert "Set-Cookie" not in answer.headers
        return answer.status, json.loads(answer.read())


def sent(*arguments, **named):
    """The id of a file that is taken."""
    status, answer = post(*arguments, **named)
    assert (status, list(answer)) == (200, ["upload"]), answer
    return answer["upload"]


def refused(*arguments, **named):
    """Status and sentence of a file that is not."""
    status, answer = post(*arguments, **named)
    assert list(answer) == ["problem"]
    sentence = answer["problem"]
    assert status >= 400
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert 15 < len(sentence) < 200
    return status, sentence


def files_in(folder):
    # Unlike `rglob`, this bears that a folder goes away meanwhile.
    return [Path(parent, name) for parent, _, names in os.walk(folder) for name in names]


def soon(true, seconds=5):
    """Whether something becomes true."""
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(true())


def npz_bytes(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize("chunks", [False, True])
def test_a_file_arrives_as_it_was_sent(kept, port, temporary, chunks):
    body = npz_bytes(first=np.arange(300_000, dtype=np.float32), second=np.float16([2**-24]))
    upload_id = sent(port, "grads.npz", io.BytesIO(body) if chunks else body)
    with kept.take(upload_id) as uploaded:
        assert (uploaded.name, uploaded.path.name) == ("grads.npz", "grads.npz")
        assert uploaded.path.read_bytes() == body
        assert [tensor.name for tensor in read_tensors(uploaded.path)] == ["first", "second"]
    assert not uploaded.path.parent.exists()
    assert files_in(temporary) == []


@pytest.mark.parametrize("suffix", [*FILE_SUFFIXES, ".NPY"])
def test_each_kind_of_file(kept, port, suffix):
    with kept.take(sent(port, f"g{suffix}")) as uploaded:
        assert uploaded.path.suffix == suffix


def problem_of(path):
    with pytest.raises(InputError) as caught:
        read_tensors(path)
    return str(caught.value)


NAMES = [
    "gradients of step 3.txt",
    " .. .txt",
    "..txt.txt",
    "“ü” 漢字 🎲.txt",
    "a&name=b%2F;c+d#e?.txt",
    "run 10:20:30.txt",
    "no-break\u00a0space.txt",
    "x" * 251 + ".txt",
    "漢" * 251 + ".txt",
    "🎲" * 100 + ".txt",
]


@pytest.mark.parametrize("name", NAMES)
def test_errors_quote_the_name_that_was_sent(kept, port, name):
    with kept.take(sent(port, name, b"eight")) as uploaded:
        assert uploaded.name == name
        assert quoted(name) in problem_of(uploaded.path)


def test_a_name_that_is_no_utf8_is_taken_as_far_as_it_is(kept, port):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with closing(connection):
        connection.request("POST", "/upload?name=%ff%c3.txt", b"8")
        upload_id = json.loads(connection.getresponse().read())["upload"]
    with kept.take(upload_id) as uploaded:
        assert uploaded.name == "��.txt"


BAD_NAMES = {
    "": "The name of the file is missing.",
    "notes.md": "“notes.md” is no .npy, .npz, .safetensors, .csv or .txt file.",
    "npz": "“npz” is no .npy",
    ".npz": "“.npz” is no .npy",
    "..": "“..” is no .npy",
    "grads.npz ": "“grads.npz ” is no .npy",
    "grads.npz.gz": "“grads.npz.gz” is no .npy",
    "../grads.npz": "“../grads.npz” is a path, and no name of a file.",
    "/etc/grads.npz": "“/etc/grads.npz” is a path",
    "C:\\grads.npz": "“C:\\grads.npz” is a path",
    "a\0.npz": "The file name “a\\x00.npz” holds control characters.",
    "a\n.npz": "The file name “a\\n.npz” holds control characters.",
    "\x1b[31m.npz": "holds control characters.",
    "a\x85.npz": "holds control characters.",
    "x" * 252 + ".npz": f"The file name “{'x' * 60}…” is too long.",
    "x" * 20_000: "is too long.",
}


@pytest.mark.parametrize("name", BAD_NAMES)
def test_what_is_no_name_of_a_file_is_refused(port, temporary, name):
    status, sentence = refused(port, name)
    assert status == 400
    assert BAD_NAMES[name] in sentence
    assert files_in(temporary) == []


def test_an_upload_without_a_name_is_refused(port):
    assert "missing" in refused(port, "x", path="upload?name")[1]


def test_an_empty_file_is_refused(port, temporary):
    assert refused(port, "empty.txt", b"") == (400, "“empty.txt” is empty.")
    assert refused(port, "empty.txt", io.BytesIO()) == (400, "“empty.txt” is empty.")
    assert refused(port, "empty.txt", None) == (400, "“empty.txt” is empty.")
    assert soon(lambda: files_in(temporary) == [])


@pytest.mark.parametrize("chunks", [False, True])
@pytest.mark.parametrize("size", [LIMIT, LIMIT + 1, 20 * MIB])
def test_a_file_over_the_limit_is_refused(port, temporary, size, chunks):
    """A client that sends all before it reads gets to know as well."""
    body = io.BytesIO(bytes(size)) if chunks else bytes(size)
    if size <= LIMIT:
        assert sent(port, "large.npy", body)
        return
    said = f"“large.npy” is too large: at most {LIMIT:,} bytes can be sent."
    assert refused(port, "large.npy", body) == (413, said)
    assert soon(lambda: files_in(temporary) == [])


def talk(port, *parts, seconds=10):
    """A socket to which a request was sent."""
    client = socket.create_connection(("127.0.0.1", port), timeout=seconds)
    client.sendall(b"".join(parts))
    return client


def head(name, *lines):
    return "\r\n".join([f"POST /upload?name={name} HTTP/1.1", "Host: 127.0.0.1", *lines, "", ""]).encode()


def test_a_length_over_the_limit_is_refused_before_anything_is_sent(port):
    with talk(port, head("large.npy", f"Content-Length: {LIMIT + 1}")) as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_who_asks_first_whether_to_send_is_told_not_to(port, monkeypatch):
    monkeypatch.setattr(uploads, "_REFUSED", 0.2)
    with talk(port, head("large.npy", f"Content-Length: {LIMIT + 1}", "Expect: 100-continue")) as client:
        answer = client.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert answer.count(b"HTTP/1.1") == 1


def send_for_ever(client):
    while True:
        client.sendall(bytes(MIB))


def test_what_is_refused_is_not_read_for_ever(port, monkeypatch):
    monkeypatch.setattr(uploads, "_REFUSED", 0.2)
    with talk(port, head("a.md", f"Content-Length: {1 << 40}")) as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
        with pytest.raises(OSError, match=r"reset|pipe"):
            send_for_ever(client)


def test_chunks_over_the_limit_are_cut(port, temporary):
    chunk = b"%x\r\n" % MIB + bytes(MIB) + b"\r\n"
    with talk(port, head("large.npy", "Transfer-Encoding: chunked"), chunk * 5) as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")
    assert soon(lambda: files_in(temporary) == [])


@pytest.mark.parametrize("length", ["-1", "x", "5, 6", "9" * 30, "9" * 5000, "1e3"])
def test_a_length_that_is_none_leaves_nothing(port, temporary, length):
    with talk(port, head("a.npy", f"Content-Length: {length}"), b"123") as client:
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
    assert soon(lambda: files_in(temporary) == [])


@pytest.mark.parametrize("framing", ["Content-Length: 2000000", "Transfer-Encoding: chunked"])
def test_a_client_that_goes_away_leaves_nothing(kept, port, temporary, framing):
    with talk(port, head("half.npy", framing), b"f4240\r\n" + bytes(MIB // 2)):
        assert soon(lambda: [path.name for path in files_in(temporary)] == ["half.npy"])
    assert soon(lambda: files_in(temporary) == [])
    assert kept._files == set()
    assert sent(port, "after.txt")


def test_a_file_that_was_cut_short_is_refused(kept):
    file = kept.receive("half.npy", 100)
    file.write(bytes(99))
    with pytest.raises(RefusedError, match=r"^“half.npy” was cut short"):
        file.finish()
    file.remove()


def test_a_client_that_sends_nothing_is_not_waited_for(port, temporary, monkeypatch):
    monkeypatch.setattr(uploads, "_STALLED", 0.2)
    with talk(port, head("slow.npy", "Content-Length: 100"), b"x") as client:
        assert client.recv(100) == b""
    assert soon(lambda: files_in(temporary) == [])


def test_a_slow_client_may_take_its_time(port, monkeypatch):
    monkeypatch.setattr(uploads, "_STALLED", 1)
    with talk(port, head("slow.txt", "Content-Length: 6")) as client:
        for _ in range(6):
            time.sleep(0.25)
            client.sendall(b"8")
        assert client.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_a_connection_is_used_again_and_outlives_its_timers(port, monkeypatch):
    monkeypatch.setattr(uploads, "_STALLED", 0.2)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with closing(connection):
        for pause in (0.4, 0):
            connection.request("POST", "/upload?name=a.txt", b"8")
            assert "upload" in json.loads(connection.getresponse().read())
            held = connection.sock
            time.sleep(pause)
        assert connection.sock is held


SAME = ["http://127.0.0.1:{}", "HTTP://127.0.0.1:{}", "https://127.0.0.1:{}"]
FOREIGN = [
    "http://evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://127.0.0.1:{}.evil.example",
    "http://evil.example:{}",
    "http://localhost:{}",
    "file:" + "//",
    "http://[",
    "",
]


@pytest.mark.parametrize("origin", SAME)
def test_the_page_itself_may_send(port, origin):
    assert sent(port, "a.txt", Origin=origin.format(port))


@pytest.mark.parametrize("origin", FOREIGN)
def test_pages_of_other_sites_may_not(port, origin):
    said = (403, "Only the page itself can send files, and this came from another site.")
    assert refused(port, "a.txt", Origin=origin.format(port)) == said


def test_a_sandboxed_frame_may_not(port):
    status, sentence = refused(port, "a.txt", Origin="null")
    assert status == 403
    assert "sandboxed frame" in sentence


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://slides.example:8000", True),
        ("https://lab.example", True),
        ("http://slides.example", False),
        ("http://other.example", False),
        ("null", False),
    ],
)
def test_names_the_server_was_told_are_its_own(kept, origin, allowed):
    """Behind a proxy, `Host` can be another name than the one in the browser."""
    with serving(kept, hosts=["slides.example:8000", "lab.example", "*", "*:8000"]) as port:
        assert post(port, "a.txt", Origin=origin)[0] == (200 if allowed else 403)


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "DELETE"])
def test_other_methods_are_refused(port, method):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with closing(connection):
        connection.request(method, "/upload?name=a.txt", b"8" if method == "PUT" else None)
        answer = connection.getresponse()
        assert answer.status == 405
        assert json.loads(answer.read())["problem"].endswith(".")
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    ("language", "said"),
    [("pl", "„a.exe” nie jest plikiem .npy"), ("en", "“a.exe” is no .npy"), ("xx", "“a.exe” is no .npy")],
)
def test_a_refusal_is_said_in_the_language_of_the_page(port, language, said):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    with closing(connection):
        connection.request("POST", f"/upload?name=a.exe&language={language}", b"8")
        assert json.loads(connection.getresponse().read())["problem"].startswith(said)


def test_an_id_holds_once(kept, port):
    first, second = sent(port, "a.txt", b"1"), sent(port, "a.txt", b"2")
    assert first != second
    assert len(first) >= 32
    with kept.take(second) as uploaded:
        assert uploaded.path.read_bytes() == b"2"
        assert_gone(kept, second)
    assert_gone(kept, second)
    with kept.take(first) as uploaded:
        assert uploaded.path.read_bytes() == b"1"


def assert_gone(kept, upload_id):
    with pytest.raises(InputError, match=r"^The file is not on the server any more"), kept.take(upload_id):
        pass


@pytest.mark.parametrize("upload_id", ["", "x", "../x", "\0"])
def test_an_id_that_is_none(kept, port, upload_id):
    sent(port, "a.txt")
    assert_gone(kept, upload_id)


def test_whoever_takes_a_file_removes_it_even_after_an_error(kept, port, temporary):
    upload_id = sent(port, "a.txt", b"eight")
    with pytest.raises(InputError, match="eight"), kept.take(upload_id) as uploaded:
        read_tensors(uploaded.path)
    assert files_in(temporary) == []


def test_a_file_that_nobody_takes_is_removed(temporary):
    kept = Uploads(lifetime=0.2)
    with serving(kept) as port:
        upload_id, taken = sent(port, "a.txt"), sent(port, "b.txt")
        with kept.take(taken) as uploaded:
            assert soon(lambda: files_in(temporary) == [uploaded.path])
            assert_gone(kept, upload_id)
            time.sleep(0.2)
            assert uploaded.path.exists()
    assert kept._files == set()


def test_only_so_many_files_wait(kept, port, temporary):
    ids = [sent(port, "a.txt") for _ in range(MAX_FILES)]
    said = (429, "The server is busy with other files: please try again in a few minutes.")
    assert refused(port, "a.txt") == said
    with kept.take(ids.pop()):
        # It is there until it was read.
        assert refused(port, "a.txt") == said
    assert sent(port, "a.txt")
    assert len(files_in(temporary)) == MAX_FILES


@pytest.mark.parametrize("chunks", [False, True])
def test_only_so_many_bytes_wait(temporary, chunks):
    kept = Uploads(MIB, max_bytes=2 * MIB)
    with serving(kept) as port:
        first = sent(port, "a.npy", bytes(MIB))
        # What is announced has its room.
        with talk(port, head("b.npy", f"Content-Length: {MIB // 2}"), b"x"):
            assert soon(lambda: len(files_in(temporary)) == 2)
            body = bytes(MIB // 2 + 1)
            assert refused(port, "c.npy", io.BytesIO(body) if chunks else body)[0] == 429
        assert soon(lambda: len(files_in(temporary)) == 1)
        assert sent(port, "d.npy", bytes(MIB))
        assert refused(port, "e.txt")[0] == 429
        kept.discard(first)
        assert sent(port, "f.txt")


def test_a_limit_over_the_room_makes_room_for_one_file():
    kept = Uploads(2 * MIB, max_bytes=MIB)
    with serving(kept) as port:
        assert sent(port, "a.npy", bytes(2 * MIB))


def test_files_arrive_at_once(kept, port):
    bodies = {f"{n}.npy": bytes([n]) * MIB for n in range(4)}
    with ThreadPoolExecutor(4) as pool:
        ids = dict(zip(bodies, pool.map(lambda item: sent(port, *item), bodies.items()), strict=True))
    for name, upload_id in ids.items():
        with kept.take(upload_id) as uploaded:
            assert (uploaded.name, uploaded.path.read_bytes()) == (name, bodies[name])


def test_a_full_disk_is_no_secret(kept, port, temporary):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    receive = kept.receive

    def on_full_device(name, size):
        file = receive(name, size)
        file._file.close()
        file._file = full.open("wb")
        return file

    kept.receive = on_full_device
    for size in (10, MIB):
        assert refused(port, "a.npy", bytes(size)) == (
            507,
            "The server cannot keep “a.npy”: No space left on device.",
        )
    assert soon(lambda: files_in(temporary) == [])


def test_a_place_that_was_cleaned_up_is_made_again(kept, port, temporary):
    upload_id = sent(port, "a.txt")
    folder = next(temporary.iterdir())
    folder.rename(temporary / "elsewhere")
    with kept.take(sent(port, "b.txt", b"8")) as uploaded:
        assert uploaded.path.read_bytes() == b"8"
    with kept.take(upload_id) as uploaded:
        assert "There is no file" in problem_of(uploaded.path)


def test_a_place_that_cannot_be_written_is_said(port, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    status, sentence = refused(port, "a.txt")
    assert (status, sentence) == (507, "The server cannot keep “a.txt”: No such file or directory.")


def test_this_process_takes_files_only_while_it_serves(temporary):
    assert uploads.upload_limit() == 0
    assert_gone(uploads, "x")
    with uploads.receiving(7) as kept:
        assert uploads.upload_limit() == 7
        files = [kept.receive("a.txt", 0) for _ in range(2)]
        files[0].write(b"8")
        with uploads.take(files[0].finish()) as uploaded:
            assert uploaded.path.read_bytes() == b"8"
        assert len(files_in(temporary)) == 1
    assert list(temporary.iterdir()) == []
    assert uploads.upload_limit() == 0


def test_the_command_and_the_server_have_the_same_limit():
    assert DEFAULT_MAX_UPLOAD << 20 == uploads.MAX_UPLOAD


class Zeros(io.RawIOBase):
    """A file of zeros that is made while it is sent."""

    def __init__(self, size):
        self.left = size

    def read(self, size=-1):
        taken = min(self.left, 65536 if size < 0 else size)
        self.left -= taken
        return bytes(taken)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(folder):
    running = Server("--max-upload", "300", TMPDIR=str(folder))
    try:
        yield running.wait()
    finally:
        running.stop(signal.SIGKILL)


def peak_memory(server):
    """The most memory that a process has had, in bytes."""
    status = Path(f"/proc/{server.process.pid}/status")
    if not status.exists():
        pytest.skip("this system does not say how much memory a process has")
    return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def test_the_server_takes_files_up_to_its_limit(server):
    assert sent(server.port, "a.txt")
    said = "“a.npy” is too large: at most 314,572,800 bytes can be sent."
    with talk(server.port, head("a.npy", "Content-Length: 314572801", "Accept-Encoding: gzip")) as client:
        headers, _, answer = client.recv(4096).partition(b"\r\n\r\n")
    assert headers.startswith(b"HTTP/1.1 413 ")
    assert b"Content-Security-Policy" in headers
    assert json.loads(answer) == {"problem": said}


@pytest.mark.slow
@pytest.mark.parametrize("chunks", [False, True])
def test_a_large_file_needs_no_memory_and_others_are_answered_meanwhile(server, folder, chunks):
    server.get("/")
    size, before = 200 * MIB, peak_memory(server)
    length = {} if chunks else {"Content-Length": str(size)}
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(sent, server.port, "large.npy", Zeros(size), **length)
        waited = []
        while not sending.done():
            began = time.monotonic()
            server.get("/liveness")
            waited.append(time.monotonic() - began)
        assert sending.result()
    assert max(waited) < 1
    assert peak_memory(server) - before < 32 * MIB
    assert size in [path.stat().st_size for path in files_in(folder)]


def test_a_signal_removes_what_is_left(server, folder):
    """The last one: the server of this file ends."""
    sent(server.port, "a.txt")
    with talk(server.port, head("half.npy", "Content-Length: 100"), b"x"):
        assert soon(lambda: "half.npy" in [path.name for path in files_in(folder)])
        code, _, err = server.stop(signal.SIGTERM)
    assert (code, list(folder.iterdir())) == (0, [])
    assert "Traceback" not in err
