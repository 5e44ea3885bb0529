"""Serving the page."""

import asyncio
from collections.abc import Sequence
import signal
import socket

import panel as pn
from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import GZipContentEncoding, OutputTransform, RequestHandler

from lossscale_app.links import read_link
from lossscale_app.page import TITLE, explorer_page
from lossscale_app.saved_page import saved_page
from lossscale_app.uploads import MAX_UPLOAD, UploadHandler, Uploads, receiving

#: A laptop that slept in a lecture finds its session again for this long.
_UNUSED_SESSION_MS = 30 * 60 * 1000
#: The address of a file of gradients that the command has opened.
_OPENED = "/?v=1&view=distribution"


def serve(
    port: int,
    address: str,
    origins: Sequence[str] = (),
    framers: Sequence[str] = (),
    show: bool = False,
    max_upload: int = MAX_UPLOAD,
    opened: bool = False,
) -> None:
    """Serve the page until interrupted; `/liveness` answers health checks.

    Args:
        port: the TCP port; 0 takes a free one.
        address: the address to listen on.
        origins: hosts, as `host` or `host:port`, under which the page is reached, beside the
            names of this machine for itself; `*` for any, which sandboxed frames need.
        framers: origins that may show the page in a frame; any, if there are none.
        show: whether to open a browser.
        max_upload: the largest file of gradients that the page may send, in bytes.
        opened: whether `lossscale_app.distributions` has opened a file, which is then shown first.

    Raises:
        OSError: the address or port cannot be listened on.
    """
    port = port or _free_port(address)
    first = _OPENED if opened else "/"
    with receiving(max_upload) as uploads:
        server = _server(port, address, origins, framers, uploads)
        host = "localhost" if address == "127.0.0.1" else address
        print(f"Serving the {TITLE} at http://{host}:{port}{first.rstrip('/')}", flush=True)
        server.start()
        if show:
            server.io_loop.add_callback(server.show, first)
        # As the first process of a container it would not even notice a signal that it does not handle.
        for number in _endings():
            signal.signal(number, lambda *_: server.io_loop.add_callback_from_signal(server.io_loop.stop))
        server.io_loop.start()


def _server(
    port: int, address: str, origins: Sequence[str], framers: Sequence[str], uploads: Uploads
) -> pn.io.server.Server:
    here = [f"{name}:{port}" for name in ("localhost", "127.0.0.1", address)]
    server = pn.io.server.get_server(
        {"/": explorer_page},
        port=port,
        address=address,
        websocket_origin=list(dict.fromkeys([*here, *origins])),
        title=TITLE,
        location=False,
        liveness=True,
        extra_patterns=[
            ("/download", _Download),
            ("/upload", UploadHandler, {"uploads": uploads, "hosts": origins}),
        ],
        unused_session_lifetime_milliseconds=_UNUSED_SESSION_MS,
    )
    # Tornado's own hooks: Panel has none for headers or compression.
    server._tornado.add_transform(GZipContentEncoding)
    server._tornado.add_transform(_headers(framers))
    return server


def _endings() -> list[signal.Signals]:
    """The signals that end it; a closed terminal too, unless it was told to stay (`nohup`)."""
    hangup = getattr(signal, "SIGHUP", None)
    ignored = hangup is None or signal.getsignal(hangup) is signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if ignored else [hangup])]


class _Download(RequestHandler):
    """The page of a link as a file."""

    async def get(self) -> None:
        live_address = f"{self.request.protocol}://{self.request.host}/"
        page = await asyncio.to_thread(saved_page, read_link(self.request.query), live_address)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Content-Disposition", 'attachment; filename="loss-scaling.html"')
        self.finish(page)


def _headers(framers: Sequence[str]) -> type[OutputTransform]:
    """Headers for every answer: nothing from other hosts, and who may frame the page."""
    policy = [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self' blob: ws: wss:",
    ]
    if framers:
        policy.append(f"frame-ancestors {' '.join(framers)}")

    class Headers(OutputTransform):
        def __init__(self, request: HTTPServerRequest) -> None:
            pass

        def transform_first_chunk(
            self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
        ) -> tuple[int, HTTPHeaders, bytes]:
            headers["Content-Security-Policy"] = "; ".join(policy)
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Referrer-Policy"] = "no-referrer-when-downgrade"
            return status_code, headers, chunk

        def transform_chunk(self, chunk: bytes, finishing: bool) -> bytes:
            return chunk

    return Headers


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])
