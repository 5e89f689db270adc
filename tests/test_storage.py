from __future__ import annotations

import errno
import json
import os
import random
import resource
import signal
import stat
import struct
import threading
import time
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import boolfilter.storage as storage
from boolfilter.errors import DamagedFileError
from boolfilter.storage import MAGIC, VERSION, file_bytes, read_bytes, read_file, write_file

META = {"kind": "test", "names": ["a", "\ud800", "it's"], "none": None, "big": 2**70}
ARRAYS = {
    "one/u8": np.arange(5, dtype=np.uint8),
    "one/f8": np.linspace(0, 1, 9),
    "one/empty": np.empty(0, np.uint32),
    "two/i8": np.arange(12).reshape(3, 4),
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
dtypes = st.sampled_from("|b1 |i1 |u1 <i2 >u2 <i4 >u4 <i8 <u8 <f4 >f8".split())
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.bf"


def forked(work) -> int:
    """The process id of a child that does some work; 0 is its exit code if nothing was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking where there are threads
        child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        os._exit(1)


def exit_code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def forge(path, directory: bytes, data: bytes = b"") -> None:
    """A file whose lengths and checksums are right, whatever its directory says."""
    gap = bytes(-(32 + len(directory)) % 64)
    length = 32 + len(directory) + len(gap) + len(data)
    header = struct.pack("<8sIIQQ", MAGIC, VERSION, 0, length, len(directory))
    checksum = zlib.crc32(header + directory)
    header = struct.pack("<8sIIQQ", MAGIC, VERSION, checksum, length, len(directory))
    path.write_bytes(header + directory + gap + data)


def line(**changes) -> dict:
    """The directory's line for eight zero bytes, with some changes."""
    plain = {"name": "x", "dtype": "<u4", "shape": [2], "offset": 0, "length": 8}
    return plain | {"checksum": zlib.crc32(bytes(8))} | changes


@given(st.dictionaries(st.text(), json_values, max_size=3), st.data())
def test_meta_and_arrays_come_back_as_they_were(tmp_path_factory, meta, data):
    arrays = data.draw(
        st.dictionaries(st.text(), dtypes.flatmap(lambda d: hnp.arrays(d, shapes)), max_size=4)
    )
    path = tmp_path_factory.mktemp("trip") / "file.bf"
    write_file(path, meta, arrays)
    found_meta, found = read_file(path)
    assert found_meta == meta
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype.newbyteorder("<")
        np.testing.assert_array_equal(found[name], array)
        assert found[name].ctypes.data % 64 == 0 or not array.size


def test_bytes_are_those_of_the_file_and_are_read_alike(path):
    write_file(path, META, ARRAYS)
    content = file_bytes(META, ARRAYS)
    assert content == path.read_bytes()
    for source, in_place in ((content, False), (bytearray(content), True)):
        meta, arrays = read_bytes(source, "some bytes")
        assert meta == META
        assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in ARRAYS)
        arrays["one/u8"][0] ^= 1
        assert (bytes(source) != content) == in_place
    for flawed in (b"", content[:-1], content[:-1] + b"x", b"x" + content):
        with pytest.raises(DamagedFileError, match="some bytes"):
            read_bytes(flawed, "some bytes")


def test_a_strided_array_comes_back_in_c_order(path):
    write_file(path, {}, {"x": np.arange(24).reshape(4, 6)[::2, ::3].T})
    assert read_file(path)[1]["x"].tolist() == [[0, 12], [3, 15]]


def test_equal_contents_are_equal_bytes(tmp_path):
    for name in "ab":
        write_file(tmp_path / name, META, ARRAYS)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_arrays_can_be_written_to_without_changing_the_file(path):
    write_file(path, META, ARRAYS)
    before = path.read_bytes()
    array = read_file(path)[1]["one/u8"]
    array[:] = 77
    assert path.read_bytes() == before
    assert read_file(path)[1]["one/u8"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "array",
    [
        np.array([None, "x"]),
        np.array(["x"]),
        np.array([1 + 2j]),
        np.zeros(2, "datetime64[us]"),
        np.zeros(2, [("a", "u4"), ("b", "O")]),
    ],
    ids=lambda array: str(array.dtype),
)
def test_only_plain_numbers_are_stored(path, array):
    with pytest.raises(TypeError, match="only plain numbers"):
        write_file(path, {}, {"x": array})
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize(
    "meta", [{"x": float("nan")}, {"x": (1, 2)}, {1: 2}, {"x": {1}}, {"x": "\ud83d\ude00"}]
)
def test_meta_that_json_would_change_is_refused(path, meta):
    with pytest.raises((TypeError, ValueError)):
        write_file(path, meta, {})
    assert os.listdir(path.parent) == []


def test_every_flipped_byte_is_noticed(path):
    write_file(path, META, ARRAYS)
    with open(path, "r+b", buffering=0) as file:
        for place, byte in enumerate(path.read_bytes()):
            for flip in (255, 1 << place % 8):
                os.pwrite(file.fileno(), bytes([byte ^ flip]), place)
                with pytest.raises(DamagedFileError):
                    read_file(path)
            os.pwrite(file.fileno(), bytes([byte]), place)
    assert read_file(path)[0] == META


def test_truncation_at_every_length_is_noticed(path):
    write_file(path, META, ARRAYS)
    for length in reversed(range(path.stat().st_size)):
        os.truncate(path, length)
        with pytest.raises(DamagedFileError) as caught:
            read_file(path)
    assert str(caught.value) == f"{str(path)!r} cannot be read: it is empty"
    assert (caught.value.path, caught.value.problem) == (str(path), "it is empty")


@pytest.mark.parametrize("garbage", [b"\0", b"\0" * 64, b"more", MAGIC])
def test_appended_bytes_are_noticed(path, garbage):
    write_file(path, META, ARRAYS)
    with open(path, "ab") as file:
        file.write(garbage)
    with pytest.raises(DamagedFileError, match="where its header says"):
        read_file(path)


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"price < 10 AND brand = 'Acme'\n" * 100,
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"\x93NUMPY\x01\x00v\x00" + bytes(100),
        b"PK\x03\x04" + bytes(100),
        MAGIC.replace(b"\r\n", b"\n") + bytes(100),
        bytes(10_000),
        random.Random(0).randbytes(10_000),
    ],
    ids=lambda content: str(content[:8]),
)
def test_foreign_files_are_told_from_ours(path, content):
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match="it is no boolfilter file"):
        read_file(path)


def test_a_newer_version_is_named(path):
    write_file(path, META, ARRAYS)
    with open(path, "r+b") as file:
        file.seek(8)
        file.write(struct.pack("<I", VERSION + 1))
    with pytest.raises(DamagedFileError, match=f"version {VERSION + 1}, newer than version"):
        read_file(path)


@pytest.mark.parametrize(
    ("directory", "problem"),
    [
        (b"", "no JSON"),
        (b'{"meta": {}, "arr', "no JSON"),
        (b"\xff\xfe{}", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"meta":' + b'{"a":' * 100_000, "no JSON"),
        (b'{"meta": {"x": ' + b"9" * 10_000 + b'}, "arrays": []}', "no JSON"),
        (b"[]", "malformed"),
        (b"null", "malformed"),
        (b'{"meta": {}}', "malformed"),
        (b'{"meta": [], "arrays": []}', "malformed"),
        (b'{"meta": {}, "arrays": {}}', "malformed"),
        (b'{"meta": {}, "arrays": [], "more": 1}', "malformed"),
        (b'{"meta": {}, "arrays": [5]}', "malformed"),
        (b'{"meta": {}, "arrays": [[]]}', "malformed"),
        (b'{"meta": {}, "arrays": []}', "do not fill"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_malformed_directory_with_a_right_checksum_is_refused(path, directory, problem):
    forge(path, directory, bytes(8))
    with pytest.raises(DamagedFileError, match=problem):
        read_file(path)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([line(name=5)], "malformed"),
        ([line(name=None)], "malformed"),
        ([{"name": "x"}], "malformed"),
        ([line(more=1)], "malformed"),
        ([line(dtype="|O")], "unknown type"),
        ([line(dtype=">u4")], "unknown type"),
        ([line(dtype="<M8[us]")], "unknown type"),
        ([line(dtype=["<u4"])], "malformed"),
        ([line(shape=2)], "malformed"),
        ([line(shape=[-2])], "malformed"),
        ([line(shape=[2.0])], "malformed"),
        ([line(shape=[True, 2])], "malformed"),
        ([line(shape=[1] * 40 + [2])], "malformed"),
        ([line(shape=[2**63])], "malformed"),
        ([line(shape=[2**62, 2**62])], "wrong length"),
        ([line(shape=[2**61], length=2**62)], "wrong length"),
        ([line(shape=[2**60], length=2**62)], "do not fill"),
        ([line(shape=[3])], "wrong length"),
        ([line(shape=[1], length=4)], "do not fill"),
        (
            [line(name="y", shape=[0, 2**62, 9], length=0, checksum=0), line()],
            "shape that cannot be",
        ),
        ([line(offset=64)], "wrong place"),
        ([line(offset=-64)], "malformed"),
        ([line(), line()], "comes twice"),
        ([line(), line(name="y")], "wrong place"),
        ([line(), line(name="y", offset=64)], "do not fill"),
        ([line(checksum=1)], "checksum of array 'x'"),
    ],
    ids=lambda value: None if isinstance(value, list) else value,
)
def test_wrong_lines_with_a_right_checksum_are_refused(path, lines, problem):
    forge(path, json.dumps({"meta": {}, "arrays": lines}).encode(), bytes(8))
    with pytest.raises(DamagedFileError, match=problem):
        read_file(path)


def test_a_right_line_is_read(path):
    forge(path, json.dumps({"meta": {}, "arrays": [line()]}).encode(), bytes(8))
    assert read_file(path)[1]["x"].tolist() == [0, 0]


def test_what_the_system_refuses_is_told_as_it_is(tmp_path, path):
    with pytest.raises(FileNotFoundError):
        read_file(path)
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "missing" / "file.bf", {}, {})
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path)
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path, {}, {})


def test_a_pipe_is_neither_waited_for_nor_replaced(path):
    os.mkfifo(path)
    with pytest.raises(DamagedFileError, match="no regular file"):
        read_file(path)
    with pytest.raises(OSError, match="not a regular file"):
        write_file(path, {}, {})
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_forbidden_files_and_folders_raise_permission_errors(tmp_path, path):
    write_file(path, META, ARRAYS)
    tmp_path.chmod(0o500)

    def unprivileged():
        if os.geteuid() == 0:
            os.setuid(65534)
        else:
            path.chmod(0)
        for attempt in (lambda: read_file(path), lambda: write_file(path, {}, {})):
            with pytest.raises(PermissionError):
                attempt()

    assert exit_code(forked(unprivileged)) == 0
    tmp_path.chmod(0o700)
    path.chmod(0o600)
    assert read_file(path)[0] == META


def test_a_replaced_file_keeps_its_permissions(path):
    write_file(path, {}, {})
    path.chmod(0o640)
    write_file(path, META, ARRAYS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_symbolic_link_stays_one(tmp_path, path):
    link = tmp_path / "link"
    link.symlink_to(path)
    write_file(link, META, ARRAYS)
    assert link.is_symlink()
    assert read_file(path)[0] == META


@pytest.mark.parametrize("function", ["fsync", "replace", "chmod"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(path, monkeypatch, function):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write_file(path, META, ARRAYS)
    monkeypatch.setattr(storage.os, function, fail)
    with pytest.raises(OSError, match="No space left"):
        write_file(path, {"new": True}, {})
    monkeypatch.undo()
    assert os.listdir(path.parent) == [path.name]
    assert read_file(path)[0] == META


def test_a_full_disk_leaves_the_old_file_and_nothing_else(path):
    write_file(path, META, ARRAYS)

    def with_little_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        with pytest.raises(OSError, match="File too large"):
            write_file(path, {"new": True}, {"large": np.zeros(1_000_000)})

    assert exit_code(forked(with_little_room)) == 0
    assert os.listdir(path.parent) == [path.name]
    assert read_file(path)[0] == META


def test_an_interrupt_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    write_file(path, META, ARRAYS)
    monkeypatch.setattr(storage.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, {"new": True}, {})
    monkeypatch.undo()
    assert os.listdir(path.parent) == [path.name]
    assert read_file(path)[0] == META


def write_round(path, number: int) -> None:
    write_file(path, {"round": number}, {"x": np.full(3_000 + number % 7, number)})


def checked_round(path) -> int:
    meta, arrays = read_file(path)
    number = meta["round"]
    assert len(arrays["x"]) == 3_000 + number % 7
    assert (arrays["x"] == number).all()
    return number


def test_killed_at_any_moment_the_old_or_the_new_file_is_there(path):
    chance = random.Random(7)
    write_round(path, 0)
    last = 0
    survived = 0

    def rewrite():
        for number in range(last + 1, last + 100_000):
            write_round(path, number)

    longest = 0.003
    for _ in range(1_000):
        child = forked(rewrite)
        time.sleep(chance.random() * longest)
        os.kill(child, signal.SIGKILL)
        assert exit_code(child) == -signal.SIGKILL
        number = checked_round(path)
        assert number >= last
        survived += number > last
        # A busy machine starts a child late: wait longer until about half of them get to write.
        longest = min(0.1, longest * (0.97 if number > last else 1.03))
        last = number
    assert survived > 100  # else the children were killed too early to show anything
    write_round(path, last + 1)
    assert os.listdir(path.parent) == [path.name]


def test_temporaries_of_the_living_are_left_alone(tmp_path, path):
    abandoned = tmp_path / f".file.bf.{0:016x}.tmp"
    others = [tmp_path / name for name in ("file.bf.tmp", ".file.bf.tmp", ".x.bf.0.tmp")]
    for file in (abandoned, *others):
        file.write_bytes(b"")
    temporary, descriptor = storage._create_temporary(str(path))
    write_file(path, {}, {})
    assert os.path.exists(temporary)
    assert not abandoned.exists()
    assert all(file.exists() for file in others)
    os.close(descriptor)
    write_file(path, {}, {})
    assert not os.path.exists(temporary)


def test_readers_see_whole_files_while_a_writer_replaces_them(path):
    write_round(path, 0)
    done = threading.Event()
    seen: list[list[int]] = [[], []]
    failures = []

    def read(mine: list[int]) -> None:
        try:
            while not done.is_set():
                mine.append(checked_round(path))
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read, args=(mine,)) for mine in seen]
    for reader in readers:
        reader.start()
    end = time.monotonic() + 1
    number = 0
    while time.monotonic() < end:
        number += 1
        write_round(path, number)
    done.set()
    for reader in readers:
        reader.join()
    assert failures == []
    for mine in seen:
        assert mine == sorted(mine)
        assert len(set(mine)) > 5


def test_writers_of_one_path_do_not_hinder_each_other(path):
    failures = []

    def write(start: int) -> None:
        try:
            for number in range(start, start + 100):
                write_round(path, number)
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(1_000 * n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert failures == []
    assert checked_round(path) % 1_000 == 99
    assert os.listdir(path.parent) == [path.name]


def test_an_old_mapping_outlives_the_replaced_file(path):
    write_round(path, 1)
    old = read_file(path)[1]["x"]
    write_round(path, 2)
    assert (old == 1).all()
