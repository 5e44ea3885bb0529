"""Files of gradients on their way from a browser into its session.

A page POSTs the bytes of one file and is answered an id, with which its session takes the file, once.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
import json
import os
from pathlib import Path
import re
import secrets
import shutil
import sys
from tempfile import TemporaryDirectory, mkdtemp
from threading import RLock
from typing import Any
from urllib.parse import urlsplit

from bokeh.server.util import check_allowlist
from tornado.web import RequestHandler, stream_request_body

from lossscale_app.catalogues import language_of, translated
from lossscale_core import InputError
from lossscale_core.errors import quoted
from lossscale_core.files import FILE_SUFFIXES

#: The largest file that is taken by default, in bytes.
MAX_UPLOAD = 512 << 20
#: How many files may be on the server at once: arriving, waiting, or being read.
MAX_FILES = 20
#: How many bytes they may have together, where one file may not have more.
MAX_BYTES = 2 << 30
#: For how many seconds a file waits to be taken.
LIFETIME = 10 * 60.0

#: More characters than file systems allow.
_LONGEST_NAME = 255
#: After how many seconds a connection is closed: one that sends nothing, one that never ends, and
#: one that goes on sending what is refused.
_STALLED, _ENDLESS, _REFUSED = 60.0, 3600.0, 30.0
#: What no file name may hold on Windows, beside the parts of a path.
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')


@dataclass(frozen=True)
class Uploaded:
    """A file that a session has taken.

    Attributes:
        name: what it is called where it comes from.
        path: where it is for now, under that name as far as this machine allows it.
    """

    name: str
    path: Path


class RefusedError(InputError):
    """A file that is not taken.

    Attributes:
        status: the HTTP status that says so.
    """

    def __init__(self, status: int, template: str, /, **parts: object) -> None:
        """Make the message of the template and its parts."""
        super().__init__(template, **parts)
        self.status = status


class Uploads:
    """The files that are on the server, in a directory of their own."""

    def __init__(self, limit: int = MAX_UPLOAD, lifetime: float = LIFETIME, max_bytes: int = MAX_BYTES) -> None:
        """Make the place for them; the directory is made with the first file.

        Args:
            limit: the largest file, in bytes.
            lifetime: for how many seconds a file waits to be taken.
            max_bytes: how many bytes all may have together, or `limit` where that is more.
        """
        self.limit, self.lifetime = limit, lifetime
        self._room = max(limit, max_bytes)
        self._directory: TemporaryDirectory[str] | None = None
        self._files: set[Incoming] = set()
        self._waiting: dict[str, Incoming] = {}
        # Files arrive in the server's thread, and sessions may take them in others.
        self._lock = RLock()

    def receive(self, name: str, size: int) -> "Incoming":
        """Begin to take a file.

        Args:
            name: what it is called.
            size: how many bytes it has; 0 where that is not known.

        Returns:
            What to write it to.

        Raises:
            RefusedError: it has no usable name, is too large, or there is no room for it.
        """
        check_name(name)
        self.check_size(name, size)
        with self._lock:
            if len(self._files) >= MAX_FILES:
                raise _full()
            self.check_room(size)
            try:
                file = Incoming(self, name, size, Path(mkdtemp(dir=self._folder())))
            except OSError as error:
                raise _unkept(name, error) from error
            self._files.add(file)
        return file

    def _folder(self) -> str:
        # On a server that runs for weeks, the system may have cleaned up.
        if self._directory is None or not Path(self._directory.name).is_dir():
            self._directory = TemporaryDirectory(prefix="lossscale-", ignore_cleanup_errors=True)
        return self._directory.name

    def check_size(self, name: str, size: int) -> None:
        """Refuse a file of too many bytes."""
        if size > self.limit:
            raise RefusedError(
                413, "{name} is too large: at most {most:,} bytes can be sent.", name=quoted(name), most=self.limit
            )

    def check_room(self, more: int) -> None:
        """Refuse more bytes than all files together may have."""
        with self._lock:
            if sum(file.size for file in self._files) + more > self._room:
                raise _full()

    def keep(self, file: "Incoming") -> str:
        """Let a file wait to be taken.

        Returns:
            The id to take it with.
        """
        upload_id = secrets.token_urlsafe(24)
        self._waiting[upload_id] = file
        return upload_id

    @contextmanager
    def take(self, upload_id: str) -> Iterator[Uploaded]:
        """Take a file, which is removed at the end of the `with` block.

        Args:
            upload_id: what the browser was answered.

        Yields:
            The file.

        Raises:
            InputError: there is no such file, or not any more.
        """
        file = self._waiting.pop(upload_id, None)
        if file is None:
            raise InputError("The file is not on the server any more: please choose it again.")
        try:
            yield Uploaded(file.name, file.path)
        finally:
            file.remove()

    def discard(self, upload_id: str) -> None:
        """Remove a file that still waits."""
        file = self._waiting.pop(upload_id, None)
        if file is not None:
            file.remove()

    def forget(self, file: "Incoming") -> None:
        """Free the room of a file that was removed."""
        with self._lock:
            self._files.discard(file)

    def close(self) -> None:
        """Remove all files and their directory."""
        self._waiting.clear()
        for file in list(self._files):
            file.remove()
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None


class Incoming:
    """A file that is being written."""

    def __init__(self, uploads: Uploads, name: str, size: int, folder: Path) -> None:
        """Open it in a folder of its own.

        Raises:
            OSError: it cannot be opened.
        """
        self.name, self.size, self.path = name, size, folder / _name_to_store(name)
        self._uploads, self._written = uploads, 0
        try:
            self._file = self.path.open("xb")
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def write(self, chunk: bytes) -> None:
        """Write what came next.

        Raises:
            RefusedError: that is too much, or cannot be written.
        """
        written = self._written + len(chunk)
        self._uploads.check_size(self.name, written)
        if written > self.size:
            self._uploads.check_room(written - self.size)
            self.size = written
        try:
            self._file.write(chunk)
        except OSError as error:
            raise _unkept(self.name, error) from error
        self._written = written

    def finish(self) -> str:
        """Let it wait to be taken.

        Returns:
            The id to take it with.

        Raises:
            RefusedError: it is empty, was cut short, or cannot be written.
        """
        if not self._written:
            raise RefusedError(400, "{name} is empty.", name=quoted(self.name))
        if self._written < self.size:
            raise RefusedError(400, "{name} was cut short on its way: please send it again.", name=quoted(self.name))
        try:
            self._file.close()
        except OSError as error:
            raise _unkept(self.name, error) from error
        return self._uploads.keep(self)

    def remove(self) -> None:
        """Remove it, whether it has arrived or not."""
        # What could not be written is not needed any more.
        with suppress(OSError):
            self._file.close()
        shutil.rmtree(self.path.parent, ignore_errors=True)
        self._uploads.forget(self)


def check_name(name: str) -> None:
    """Refuse what is no name of a file of gradients.

    Raises:
        RefusedError: it is none.
    """
    if not name:
        raise RefusedError(400, "The name of the file is missing.")
    if len(name) > _LONGEST_NAME:
        raise RefusedError(400, "The file name {name} is too long.", name=quoted(name))
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in name):
        raise RefusedError(400, "The file name {name} holds control characters.", name=quoted(name))
    if "/" in name or "\\" in name:
        raise RefusedError(400, "{name} is a path, and no name of a file.", name=quoted(name))
    if Path(name).suffix.lower() not in FILE_SUFFIXES:
        raise RefusedError(
            400,
            "{name} is no {suffixes} or {last} file.",
            name=quoted(name),
            suffixes=", ".join(FILE_SUFFIXES[:-1]),
            last=FILE_SUFFIXES[-1],
        )


@stream_request_body
class UploadHandler(RequestHandler):
    """Takes one file as the body of a POST; answers JSON: its id, or else the problem as a sentence."""

    SUPPORTED_METHODS = ("POST",)

    def initialize(self, uploads: Uploads, hosts: Sequence[str] = ()) -> None:
        """Take files into `uploads`, from pages of the host that is asked or of other `hosts` of the server."""
        self._uploads, self._hosts = uploads, hosts
        self._file: Incoming | None = None
        self._closing: asyncio.TimerHandle | None = None

    def prepare(self) -> None:
        """Refuse what can be refused before the body is read."""
        # The limit of `uploads` holds: Tornado's own, of what fits into memory, would end the connection unanswered.
        self.request.connection.set_max_body_size(sys.maxsize)
        self.request.connection.set_body_timeout(_ENDLESS)
        self._close_in(_STALLED)
        try:
            _check_origin(self.request.headers.get("Origin"), self.request.host, self._hosts)
            self._file = self._uploads.receive(self._name(), self._length())
        except RefusedError as refused:
            self._refuse(refused)

    def data_received(self, chunk: bytes) -> None:
        """Write a part of the body, unless the file is refused."""
        if self._file is None:
            return
        self._close_in(_STALLED)
        try:
            self._file.write(chunk)
        except RefusedError as refused:
            self._refuse(refused)

    def post(self) -> None:
        """Answer the id of the file that has arrived."""
        if self._file is None:
            return
        try:
            upload_id = self._file.finish()
        except RefusedError as refused:
            self._refuse(refused)
            return
        self._file = None
        asyncio.get_running_loop().call_later(self._uploads.lifetime, _in_thread, self._uploads.discard, upload_id)
        self.write({"upload": upload_id})

    def on_finish(self) -> None:
        """Let go of what belongs to this request."""
        if self._closing is not None:
            self._closing.cancel()
        self._drop()

    def on_connection_close(self) -> None:
        """Remove what a client leaves that went away."""
        super().on_connection_close()
        self.on_finish()

    def write_error(self, status_code: int, **_: Any) -> None:
        """Answer what Tornado refuses by itself, such as other methods."""
        self.finish({"problem": f"The server cannot take the file: {self._reason}."})

    def _refuse(self, refused: RefusedError) -> None:
        """Answer at once, but read on for a while: a browser that still sends would not see the answer otherwise."""
        self._drop()
        answer = json.dumps({"problem": translated(refused, language_of(self.get_query_argument("language", "")))})
        self.set_status(refused.status)
        self.set_header("Content-Type", "application/json; charset=UTF-8")
        self.set_header("Content-Length", len(answer))
        self.set_header("Connection", "close")
        self.write(answer)
        self.flush(include_footers=True)
        # One that waits for the word to go on has its answer.
        self.request.headers.pop("Expect", None)
        self._close_in(_REFUSED)

    def _drop(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            _in_thread(file.remove)

    def _name(self) -> str:
        # Not by Tornado's own means, which strip white space and control characters.
        given = self.request.query_arguments.get("name") or [b""]
        return given[0].decode("utf-8", "replace")

    def _length(self) -> int:
        given = self.request.headers.get("Content-Length", "")
        return int(given) if re.fullmatch("[0-9]{1,18}", given) else 0

    def _close_in(self, seconds: float) -> None:
        if self._closing is not None:
            self._closing.cancel()
        self._closing = asyncio.get_running_loop().call_later(seconds, self.request.connection.close)


_current: Uploads | None = None


@contextmanager
def receiving(limit: int = MAX_UPLOAD) -> Iterator[Uploads]:
    """Let this process take files, and remove what is left of them at the end of the `with` block.

    Args:
        limit: the largest file, in bytes.

    Yields:
        Where `UploadHandler` has to put them for `take`.
    """
    global _current
    _current = uploads = Uploads(limit)
    try:
        yield uploads
    finally:
        _current = None
        uploads.close()


def upload_limit() -> int:
    """Say how large a file may be that is sent.

    Returns:
        The most bytes; 0 where this process takes no files.
    """
    return _current.limit if _current else 0


def take(upload_id: str) -> AbstractContextManager[Uploaded]:
    """Take a file that a browser has sent.

    Args:
        upload_id: what the browser was answered.

    Returns:
        A context manager of an `Uploaded`, whose file is removed at its end.

    Raises:
        InputError: on entry: there is no such file, or not any more.
    """
    return (_current or Uploads()).take(upload_id)


def _check_origin(origin: str | None, host: str, hosts: Sequence[str]) -> None:
    """Refuse what a page of another site sends; what sends no origin is no page."""
    if origin is None:
        return
    if origin == "null":
        raise RefusedError(403, "A page in a sandboxed frame cannot send files: please open it in a window of its own.")
    try:
        sender = urlsplit(origin).netloc.lower()
    except ValueError:
        sender = ""
    # Behind a proxy the host that is asked can be an inner name. “Any host” is no name of this server.
    named = [name if ":" in name else f"{name}:80" for name in hosts if name.split(":")[0] != "*"]
    if not sender or (sender != host.lower() and not check_allowlist(sender, named)):
        raise RefusedError(403, "Only the page itself can send files, and this came from another site.")


def _name_to_store(name: str) -> str:
    if os.name == "nt":
        name = _NOT_ON_WINDOWS.sub("_", name)
    # A sentence quotes no more than 60 characters, so that it stays the same.
    return name if len(name.encode()) <= 255 else Path(name).stem[:60] + Path(name).suffix


def _full() -> RefusedError:
    return RefusedError(429, "The server is busy with other files: please try again in a few minutes.")


def _unkept(name: str, error: OSError) -> RefusedError:
    return RefusedError(507, "The server cannot keep {name}: {why}.", name=quoted(name), why=error.strerror or error)


def _in_thread(call: Callable[..., None], *arguments: Any) -> None:
    asyncio.get_running_loop().run_in_executor(None, call, *arguments)
