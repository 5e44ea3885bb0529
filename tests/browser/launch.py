"""What the browser tests run against: a Chromium, and the page served by a process of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import os
from pathlib import Path
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import IO
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Browser, Playwright

COMMAND = ("-c", "from lossscale_app.command_line import main; raise SystemExit(main())", "serve", "--no-show")

# The shell is Chromium without the browser around it, which takes a second of work for every page.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = ("--disable-gpu", "--disable-background-networking", "--disable-component-update")
_PATIENCE = 60

#: What Panel logs where a page is closed that it was writing to.
_GONE = r"(?s)[^\n]*Task exception was never retrieved.*?tornado\.websocket\.WebSocketClosedError\n?"


class NoBrowserError(Exception):
    """There is no Chromium on this machine; the message says how to get one."""


def launch_chromium(playwright: Playwright) -> Browser:
    """Start the Chromium that LOSSSCALE_CHROMIUM names, else the system's, else Playwright's own."""
    named = os.environ.get("LOSSSCALE_CHROMIUM")
    own = playwright.chromium.executable_path
    found = named or next(filter(None, map(shutil.which, _NAMES)), None) or (own if Path(own).exists() else None)
    if found is None:
        raise NoBrowserError(
            "no Chromium found: run `playwright install chromium`, install your system's package of it, "
            "or name one in the environment variable LOSSSCALE_CHROMIUM"
        )
    return playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)


@dataclass
class Server:
    """A serving process."""

    url: str
    process: subprocess.Popen[bytes]
    log: IO[str]

    def signal(self, name: str) -> None:
        """Send a signal: SIGKILL, SIGSTOP, SIGCONT."""
        self.process.send_signal(getattr(signal, name))
        if name == "SIGKILL":
            self.process.wait()

    def new_errors(self) -> list[str]:
        """What was logged since the last call, if any of it is about an error."""
        logged = re.sub(_GONE, "", self.log.read())
        return [logged] if "ERROR" in logged or "Traceback" in logged else []


@contextmanager
def serving(command: Sequence[str] = COMMAND) -> Iterator[Server]:
    """Serve a page on a free port, until it is left.

    Args:
        command: arguments of Python, to which `--port` and the port are added.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with tempfile.NamedTemporaryFile("w") as output, Path(output.name).open() as log:
        process = subprocess.Popen([sys.executable, *command, "--port", str(port)], stdout=output, stderr=output)
        try:
            _wait_until_alive(url, process, log)
            yield Server(url, process, log)
        finally:
            process.kill()
            process.wait()


def _wait_until_alive(url: str, process: subprocess.Popen[bytes], log: IO[str]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended with code {process.returncode}:\n{log.read()}")
        try:
            with urlopen(f"{url}/liveness", timeout=1):
                return
        except (URLError, TimeoutError):
            time.sleep(0.05)
    raise RuntimeError(f"The server did not answer in {_PATIENCE} s:\n{log.read()}")
