"""Archives of arrays, .npz: what is stored as it is gets mapped into memory, what is compressed is unpacked."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
import struct
import zipfile

import numpy as np

from lossscale_core.errors import InputError, quoted
from lossscale_core.index import Progress
from lossscale_core.mapping import Bytes, map_file
from lossscale_core.npyfiles import MAGIC, npy_array
from lossscale_core.tensors import Tensor

#: The most bytes that are unpacked.
MAX_UNPACKED_BYTES = 4 << 30

_BLOCK = 1 << 22
_LOCKED = 1
#: Of the header in front of a member: the whole length, and where the lengths of its name and extra field are.
_LOCAL_HEADER, _LOCAL_LENGTHS = 30, 26


def read_npz(file: Path, tell: Progress) -> list[Tensor]:
    """Read the arrays of an .npz file.

    Args:
        file: the file.
        tell: called with the share that is unpacked; not at all where nothing has to be.

    Returns:
        The arrays by the names of the members.

    Raises:
        InputError: the file is of another kind, locked, unpacks to too much, or holds what is
            not real numbers.
        Exception: any of those in `files`, where the file is damaged.
    """
    if not zipfile.is_zipfile(file):
        raise InputError("{name} is not an .npz file inside.", name=quoted(file.name))
    mapped = map_file(file)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        count = _counter(_checked(members, file.name), tell)
        return [_tensor(_content(archive, member, mapped, count), member, file.name) for member in members]


def _checked(members: list[zipfile.ZipInfo], file_name: str) -> int:
    """The bytes that have to be unpacked."""
    names = Counter(_name(member) for member in members)
    twice = next((name for name, times in names.items() if times > 1), None)
    if twice is not None:
        raise InputError("{file_name} holds {twice} more than once.", file_name=quoted(file_name), twice=quoted(twice))
    if any(member.flag_bits & _LOCKED for member in members):
        raise InputError("{file_name} is locked with a password; save it without one.", file_name=quoted(file_name))
    unpacked = sum(member.file_size for member in members if member.compress_type != zipfile.ZIP_STORED)
    if unpacked > MAX_UNPACKED_BYTES:
        raise InputError(
            "{file_name} is too large: it unpacks to {unpacked:,} bytes, and at most {most:,} are unpacked.",
            file_name=quoted(file_name),
            unpacked=unpacked,
            most=MAX_UNPACKED_BYTES,
        )
    return unpacked


def _counter(total: int, tell: Progress) -> Callable[[int], None]:
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        tell(done / total)

    return count


def _tensor(content: Bytes, member: zipfile.ZipInfo, file_name: str) -> Tensor:
    name = f"{file_name}: {_name(member)}"
    if content[: len(MAGIC)].tobytes() != MAGIC:
        raise InputError("{name} cannot be used: it is no array of numpy’s.", name=quoted(name))
    return Tensor(_name(member), npy_array(content, name))


def _name(member: zipfile.ZipInfo) -> str:
    return member.filename.removesuffix(".npy")


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, mapped: Bytes, count: Callable[[int], None]) -> Bytes:
    # Opening it compares the header in front of the member with the directory at the end.
    with archive.open(member) as stream:
        if member.compress_type == zipfile.ZIP_STORED:
            return _stored(member, mapped)
        content = np.empty(member.file_size, np.uint8)
        done = 0
        while block := stream.read(min(_BLOCK, content.size - done)):
            content[done : done + len(block)] = np.frombuffer(block, np.uint8)
            done += len(block)
            count(len(block))
    if done < content.size:
        raise zipfile.BadZipFile(f"{member.filename} ends early.")
    return content


def _stored(member: zipfile.ZipInfo, mapped: Bytes) -> Bytes:
    name, extra = struct.unpack_from("<HH", mapped.data, member.header_offset + _LOCAL_LENGTHS)
    start = member.header_offset + _LOCAL_HEADER + name + extra
    content = mapped[start : start + member.file_size]
    if not member.file_size == member.compress_size == content.size:
        raise zipfile.BadZipFile(f"{member.filename} is not as long as is said.")
    return content
