"""Files of named arrays: written whole or not at all, mapped and checked when they are read.

``encoding/FILE.md`` specifies the format. Everything the engine keeps goes through here; what the
arrays of a segment are, and when they make sense, is in :mod:`boolfilter.segment_storage`.
Nothing that is read is believed before it is checked, and no pickle is involved.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import re
import secrets
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolfilter.errors import DamagedFileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MAGIC = b"\x89BOOLF\r\n"  # a transfer that takes it for text changes it
VERSION = 1
_HEADER = struct.Struct("<8sIIQQ")  # magic, version, checksum, length of file and of directory
_ALIGNMENT = 64
_DTYPES = frozenset("|b1 |i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 <f4 <f8".split())
_MOST_DIMENSIONS = 32
_EMPTY = "it is empty"
_WORTH_A_THREAD = 1 << 22  # bytes
_CHECKING_THREADS = 2
_OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0)  # opening a pipe must fail, not wait for a writer
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

Path = str | os.PathLike[str]


class ContentError(ValueError):
    """What is wrong with stored data, told where the file's name is not known."""


def require(condition: object, problem: str) -> None:
    if not condition:
        raise ContentError(problem)


def write_file(path: Path, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Store arrays by name, and `meta`, a dict of plain JSON values.

    Atomic and durable: at every moment, also after a crash, `path` holds all of the old file or
    all of the new one. The bytes go to ``.NAME.<16 hex digits>.tmp`` in the same folder, which an
    exception removes; what a killed process left is removed by the next save to the same path.
    An existing file keeps its permissions, and a symbolic link stays one. Linear in the bytes:
    checksums at some GB/s, then the disk.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_file(f"{folder}/a.bf", {"kind": "demo"}, {"x/squares": np.arange(4) ** 2})
    ...     meta, arrays = read_file(f"{folder}/a.bf")
    ...     print(os.listdir(folder), meta, arrays["x/squares"])
    ['a.bf'] {'kind': 'demo'} [0 1 4 9]
    """
    plain = {name: _plain_array(name, array) for name, array in arrays.items()}
    target = os.path.realpath(path)
    _refuse_special_target(target)
    _replace_file(target, _file_pieces(meta, plain))
    if os.name == "posix":
        _sync_folder(os.path.dirname(target))
    _remove_abandoned(target)


def read_file(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The meta and the arrays of a file, all checksums verified.

    The arrays are the mapped file itself: they take memory only as they are used, which all
    processes share. They can be written to, which changes a copy in memory and never the file.
    DamagedFileError tells what is wrong with a file; one that is missing, forbidden or a
    folder raises the OSError that says so. Linear in the bytes, at some GB/s.
    """
    descriptor = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        require(stat.S_ISREG(status.st_mode), "it is no regular file")
        require(status.st_size, _EMPTY)  # or it cannot be mapped
        # The mapping is no longer than the file, and all that follows stays inside of it.
        mapping = mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_COPY)
        return _contents(memoryview(mapping))
    except ContentError as problem:
        raise DamagedFileError(os.fsdecode(path), str(problem)) from None
    finally:
        os.close(descriptor)


def file_bytes(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """What `write_file` would write.

    >>> read_bytes(file_bytes({"kind": "demo"}, {"squares": np.arange(4) ** 2}), "a demo")
    ({'kind': 'demo'}, {'squares': array([0, 1, 4, 9])})
    """
    return b"".join(
        _file_pieces(meta, {name: _plain_array(name, array) for name, array in arrays.items()})
    )


def read_bytes(
    content: bytes | bytearray | memoryview, name: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """As `read_file`, for the content of a file; `name` is for the error only.

    The arrays lie in `content` itself; in a copy of it if it is read-only.
    """
    view = memoryview(content)
    try:
        return _contents(memoryview(bytearray(view)) if view.readonly else view)
    except ContentError as problem:
        raise DamagedFileError(name, str(problem)) from None


def _contents(view: memoryview) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    header = bytes(view[: _HEADER.size])
    directory_end = _HEADER.size + _check_header(header, len(view))
    meta, stored = _read_directory(header, bytes(view[_HEADER.size : directory_end]))
    _check_places(stored, view, directory_end)
    start = _aligned(directory_end)
    pieces = [view[start + s.offset : start + s.offset + s.length] for s in stored]
    for s, checksum in zip(stored, _checksums(pieces), strict=True):
        require(checksum == s.checksum, f"the checksum of array {s.name!r} is wrong")
    return meta, {s.name: _array(s, piece) for s, piece in zip(stored, pieces, strict=True)}


@dataclass(frozen=True, slots=True)
class _Stored:
    """A line of the directory; the offset counts from where the arrays start."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    length: int
    checksum: int


def _plain_array(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array in C order and little-endian."""
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _DTYPES:
        raise TypeError(f"array {name!r} is of {array.dtype}: only plain numbers can be stored")
    return np.asarray(array, dtype, order="C")


def _file_pieces(meta: Mapping[str, Any], arrays: dict[str, NDArray[Any]]) -> list[Any]:
    """The bytes of a file, piece by piece."""
    # One dimension and bytes; memoryview.cast cannot do this to an empty array.
    pieces = [array.reshape(-1).view(np.uint8).data for array in arrays.values()]
    lines, gaps, end = [], [], 0
    for (name, array), piece, checksum in zip(
        arrays.items(), pieces, _checksums(pieces), strict=True
    ):
        offset = _aligned(end)
        gaps.append(bytes(offset - end))
        end = offset + len(piece)
        values = (name, array.dtype.str, list(array.shape), offset, len(piece), checksum)
        lines.append(dict(zip(_Stored.__slots__, values, strict=True)))
    directory = _json_bytes({"meta": dict(meta), "arrays": lines})
    directory_end = _HEADER.size + len(directory)
    start = _aligned(directory_end)
    unsigned = _HEADER.pack(MAGIC, VERSION, 0, start + end, len(directory))
    checksum = zlib.crc32(directory, zlib.crc32(unsigned))
    header = _HEADER.pack(MAGIC, VERSION, checksum, start + end, len(directory))
    body = [part for both in zip(gaps, pieces, strict=True) for part in both]
    return [header, directory, bytes(start - directory_end), *body]


def _json_bytes(value: Any) -> bytes:
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    if json.loads(text) != value:
        raise TypeError("the meta of a file must be plain JSON, which comes back as it was")
    return text.encode("ascii")


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT) * _ALIGNMENT


def _checksums(pieces: Sequence[memoryview]) -> Iterable[int]:
    """The CRC-32 of each piece, on two cores if they are long: zlib works without the GIL."""
    if sum(map(len, pieces)) < _WORTH_A_THREAD:
        return list(map(zlib.crc32, pieces))
    with ThreadPoolExecutor(_CHECKING_THREADS) as pool:
        return list(pool.map(zlib.crc32, pieces))


def _check_header(header: bytes, size: int) -> int:
    """The length of the directory, which is inside the file."""
    require(size, _EMPTY)
    require(header.startswith(MAGIC[: len(header)]), "it is no boolfilter file")
    require(len(header) == _HEADER.size, f"it is cut short to {size} bytes")
    _, version, _, length, directory_length = _HEADER.unpack(header)
    require(
        version <= VERSION,
        f"its format is version {version}, newer than version {VERSION}, the last that this "
        "boolfilter knows",
    )
    require(version == VERSION, f"there is no version {version} of the format")
    require(size == length, f"it has {size} bytes where its header says {length}")
    require(directory_length <= size - _HEADER.size, "its directory is longer than the file")
    return int(directory_length)


def _read_directory(header: bytes, directory: bytes) -> tuple[dict[str, Any], list[_Stored]]:
    magic, version, checksum, length, directory_length = _HEADER.unpack(header)
    unsigned = _HEADER.pack(magic, version, 0, length, directory_length)
    found = zlib.crc32(directory, zlib.crc32(unsigned))
    require(found == checksum, "the checksum of its header and directory is wrong")
    try:
        content = json.loads(directory.decode("ascii"))
    except (ValueError, RecursionError):
        raise ContentError("its directory is no JSON that can be read") from None
    require(
        isinstance(content, dict)
        and content.keys() == {"meta", "arrays"}
        and isinstance(content["meta"], dict)
        and isinstance(content["arrays"], list),
        "its directory is malformed",
    )
    stored = [_read_line(line) for line in content["arrays"]]
    require(len({s.name for s in stored}) == len(stored), "an array comes twice")
    return content["meta"], stored


def _read_line(line: Any) -> _Stored:
    malformed = "a line of its directory is malformed"
    require(isinstance(line, dict) and line.keys() == set(_Stored.__slots__), malformed)
    name, dtype, shape, *numbers = (line[key] for key in _Stored.__slots__)
    require(isinstance(name, str) and isinstance(dtype, str), malformed)
    require(isinstance(shape, list) and len(shape) <= _MOST_DIMENSIONS, malformed)
    require(all(type(n) is int and 0 <= n < 2**63 for n in (*shape, *numbers)), malformed)
    require(dtype in _DTYPES, f"array {name!r} is of unknown type {dtype!r}")
    stored = _Stored(name, dtype, tuple(shape), *numbers)
    size = prod(shape) * np.dtype(dtype).itemsize
    require(size == stored.length, f"array {name!r} has a wrong length")
    return stored


def _array(stored: _Stored, piece: memoryview) -> NDArray[Any]:
    try:
        return np.ndarray(stored.shape, stored.dtype, piece)
    except ValueError:  # a huge dimension beside a 0 stands for nothing, but numpy refuses it
        raise ContentError(f"array {stored.name!r} has a shape that cannot be") from None


def _check_places(stored: list[_Stored], view: memoryview, directory_end: int) -> None:
    """One array after the other, each aligned, zeros between them, and nothing else."""
    start = _aligned(directory_end)
    gaps = [(directory_end, start)]
    end = 0
    for s in stored:
        require(s.offset == _aligned(end), f"array {s.name!r} is in a wrong place")
        gaps.append((start + end, start + s.offset))
        end = s.offset + s.length
    require(start + end == len(view), "the arrays do not fill the file")
    require(not any(any(view[a:z]) for a, z in gaps), "a gap between arrays is not zero")


def _replace_file(target: str, pieces: Iterable[Any]) -> None:
    temporary, descriptor = _create_temporary(target)
    # The lock tells others that this file is not abandoned, so it must outlive the closing, which
    # Windows wants before it renames. A duplicate shares the lock.
    lock = os.dup(descriptor) if fcntl else None
    try:
        with open(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _refuse_special_target(target: str) -> None:
    """A rename would replace even a device, given the right to."""
    with suppress(FileNotFoundError):
        mode = os.stat(target).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", target)


def _create_temporary(target: str) -> tuple[str, int]:
    """A new file beside the target, locked where that is possible."""
    folder, name = os.path.split(target)
    while True:
        temporary = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
        descriptor = os.open(temporary, _CREATE_FLAGS, 0o666)
        with suppress(OSError):
            if fcntl:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return temporary, descriptor
        os.close(descriptor)  # another process took it for abandoned before it was locked


def _remove_abandoned(target: str) -> None:
    """Remove the temporary files of processes that died; those of living ones are locked."""
    if not fcntl:
        return
    with suppress(OSError):
        for temporary in _temporaries(target):
            with suppress(OSError), open(temporary, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(temporary)


def _temporaries(target: str) -> Iterator[str]:
    folder, name = os.path.split(target)
    pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{16}}\.tmp")
    with os.scandir(folder) as entries:
        yield from [entry.path for entry in entries if pattern.fullmatch(entry.name)]


def _sync_folder(folder: str) -> None:
    """Make a rename durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
