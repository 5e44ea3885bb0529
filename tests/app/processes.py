"""The command `lossscale` in a process of its own, with none of this machine's settings for it."""

from email.message import Message
import os
from pathlib import Path
import signal
import socket
import subprocess
import sysconfig
import time
from urllib.request import urlopen

#: Variables that change what the command does, or how its output is buffered.
_FOREIGN = {"PORT", "LOSSSCALE_ORIGINS", "PYTHONUNBUFFERED"}


def command(*words: str) -> list[str]:
    """The command line that runs the installed command."""
    return [str(Path(sysconfig.get_path("scripts")) / "lossscale"), *words]


def environment(**variables: str) -> dict[str, str]:
    """The environment for it, in which no browser is found that it could open."""
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN and not name.startswith("BOKEH_")}
    return {**kept, "BROWSER": "true", **variables}


def free_port() -> int:
    """A TCP port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A running `lossscale serve` on a free port of this machine."""

    def __init__(self, *words: str, **variables: str):
        self.port = free_port()
        self.process = subprocess.Popen(
            command("serve", "--port", str(self.port), "--no-show", *words),
            env=environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait(self, seconds: float = 60) -> "Server":
        """Wait until it answers."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended at once: {self.process.communicate()[1]}")
            try:
                self.get("/liveness")
            except OSError:
                time.sleep(0.05)
            else:
                return self
        self.stop(signal.SIGKILL)
        raise AssertionError("the server does not answer")

    def get(self, path: str) -> tuple[int, Message, str]:
        """Status, headers and text of an answer."""
        with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.status, answer.headers, answer.read().decode("utf-8")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit code, standard output and standard error after a signal; at once where it has ended already."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            out, err = self.process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, out, err
