"""Serving the page."""

from collections.abc import Sequence
import socket

import panel as pn

from lossscale_app.page import TITLE, explorer_page

#: A laptop that slept in a lecture finds its session again for this long.
_UNUSED_SESSION_MS = 30 * 60 * 1000


def serve(port: int, address: str, origins: Sequence[str] = (), show: bool = False) -> None:
    """Serve the page until interrupted; `/liveness` answers health checks.

    Args:
        port: the TCP port; 0 takes a free one.
        address: the address to listen on.
        origins: hosts, as `host` or `host:port`, under which the page is reached, beside the
            names of this machine for itself.
        show: whether to open a browser.

    Raises:
        OSError: the address or port cannot be listened on.
    """
    port = port or _free_port(address)
    here = [f"{name}:{port}" for name in ("localhost", "127.0.0.1", address)]
    pn.serve(
        {"/": explorer_page},
        port=port,
        address=address,
        websocket_origin=list(dict.fromkeys([*here, *origins])),
        show=show,
        title=TITLE,
        location=False,
        liveness=True,
        unused_session_lifetime_milliseconds=_UNUSED_SESSION_MS,
    )


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])
