"""Files that cannot be used: each is one sentence that names the file, whatever is wrong inside."""

import contextlib
import io
import pickle
import re
import struct
import warnings
import zipfile

import numpy as np
import pytest

from lossscale_core import InputError, files, npzfiles, read_gradients

OBJECTS = "holds Python objects, which are not loaded"
DAMAGED = "is damaged or not what its name says"
NO_VALUES = "holds no values"


def refusal(path):
    """The message about a file, which must be one sentence that quotes its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError) as caught:
            read_gradients(path)
    message = str(caught.value)
    assert re.search(rf"“[^”]*{re.escape(path.name[:40])}", message)
    assert message.endswith(".")
    assert not re.search(r"[.!?] [A-Z]", re.sub("“.*?”", "", message))
    assert "\n" not in message
    return message


def npy_bytes(values, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=allow_pickle)
    return stream.getvalue()


def npy_with_header(header):
    """An .npy file with eight bytes of data whose header says what one likes."""
    padded = header.ljust(118).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + bytes(8)


def npz_bytes(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


def header(descr="'<f8'", order="False", shape="(1,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}"


BAD_HEADERS = {
    "not a dictionary": "[1, 2, 3]",
    "unclosed": "garbage(",
    "deep": "[" * 100,
    "control characters": "\x00\x01",
    "no type": header(descr="None"),
    "order that is no truth value": header(order="0"),
    "negative shape": header(shape="(-1,)"),
    "shape of truth values": header(shape="(True,)"),
    "shape of text": header(shape="('a',)"),
    "shape beyond the data": header(shape="(2,)"),
    "shape beyond the memory": header(shape="(100000000000,)"),
    "shape beyond int64": header(shape="(4611686018427387904, 4)"),
    "shape beyond everything": header(shape="(10000000000000000000000,)"),
    "shape with a sum": header(shape="(2**62,)"),
    "a type that is an array": header(descr="('<f4', (2,))"),
    "signs without end": header(shape=f"({'-' * 5000}1,)"),
}
NOT_REAL = {
    "complex": np.array([1 + 1j]),
    "text": np.array(["1e-9"]),
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "records": np.zeros(2, [("a", "f4")]),
}


@pytest.mark.parametrize("suffix", files.FILE_SUFFIXES)
def test_missing(tmp_path, suffix):
    assert refusal(tmp_path / f"missing{suffix}").startswith("There is no file “")


def test_missing_in_a_deep_folder_still_names_the_file(tmp_path):
    assert "missing.npy”" in refusal(tmp_path / ("long" * 10) / "missing.npy")


@pytest.mark.parametrize("name", ["g.pt", "g", "g.npy.gz", ".npy"])
def test_other_kinds_of_files(tmp_path, name):
    assert "is no .npy, .npz, .safetensors, .csv or .txt file" in refusal(tmp_path / name)


@pytest.mark.parametrize("suffix", files.FILE_SUFFIXES)
def test_a_folder(tmp_path, suffix):
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    refusal(folder)


@pytest.mark.parametrize("suffix", files.FILE_SUFFIXES)
def test_an_empty_file(tmp_path, suffix):
    path = tmp_path / f"empty{suffix}"
    path.touch()
    refusal(path)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("content", [b"1,2,3\n", b"\x00" * 100, pickle.dumps([1.0]), b"\x93NUMP"])
def test_wrong_magic(tmp_path, suffix, content):
    path = tmp_path / f"g{suffix}"
    path.write_bytes(content)
    assert f"is not an {suffix} file inside" in refusal(path)


def test_npy_named_npz_and_the_other_way_round(tmp_path):
    npy, npz = tmp_path / "g.npy", tmp_path / "g.npz"
    npz.write_bytes(npy_bytes([1.0]))
    npy.write_bytes(npz_bytes(a=npy_bytes([1.0])))
    assert "is not an .npz file inside" in refusal(npz)
    assert "is not an .npy file inside" in refusal(npy)


@pytest.mark.parametrize("kept", [6, 7, 9, 40, 127, 128, 200])
def test_truncated_npy(tmp_path, kept):
    path = tmp_path / "g.npy"
    path.write_bytes(npy_bytes(np.arange(100.0))[:kept])
    assert DAMAGED in refusal(path)


@pytest.mark.parametrize("kept", [6, 60, 128, 200])
def test_npz_with_a_truncated_array(tmp_path, kept):
    path = tmp_path / "g.npz"
    path.write_bytes(npz_bytes(a=npy_bytes(np.arange(100.0))[:kept]))
    assert DAMAGED in refusal(path)


@pytest.mark.parametrize("text", BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_bad_headers(tmp_path, text):
    npy, npz = tmp_path / "g.npy", tmp_path / "g.npz"
    npy.write_bytes(npy_with_header(text))
    npz.write_bytes(npz_bytes(a=npy_with_header(text)))
    assert DAMAGED in refusal(npy)
    assert DAMAGED in refusal(npz)


def test_npz_with_damaged_compression(tmp_path):
    path = tmp_path / "g.npz"
    np.savez_compressed(path, a=np.random.default_rng(1).normal(size=5000))
    content = bytearray(path.read_bytes())
    content[100:200] = b"\xff" * 100
    path.write_bytes(content)
    assert DAMAGED in refusal(path)


def test_npz_with_a_password(tmp_path):
    content = bytearray(npz_bytes(a=npy_bytes([1.0])))
    directory = content.index(b"PK\x01\x02")
    for flags in (6, directory + 8):
        content[flags] |= 1
    path = tmp_path / "g.npz"
    path.write_bytes(content)
    assert refusal(path) == "“g.npz” is locked with a password; save it without one."


def test_pickled_objects_are_never_loaded(tmp_path):
    content = npy_bytes(np.array([print, None], object), allow_pickle=True)
    npy, npz = tmp_path / "g.npy", tmp_path / "g.npz"
    npy.write_bytes(content)
    npz.write_bytes(npz_bytes(good=npy_bytes([1.0]), bad=content))
    assert OBJECTS in refusal(npy)
    assert OBJECTS in refusal(npz)


@pytest.mark.parametrize("values", NOT_REAL.values(), ids=NOT_REAL)
def test_arrays_that_are_not_real_numbers(tmp_path, values):
    np.save(tmp_path / "g.npy", values)
    np.savez(tmp_path / "g.npz", good=[1.0], bad=values)
    assert f"“{values.dtype}”" in refusal(tmp_path / "g.npy")
    message = refusal(tmp_path / "g.npz")
    assert "“g.npz: bad” cannot be used" in message
    assert f"“{values.dtype}”" in message


def test_npz_with_something_else_in_it(tmp_path):
    with zipfile.ZipFile(tmp_path / "g.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "“g.npz: readme.txt” cannot be used" in refusal(tmp_path / "g.npz")


def test_no_values(tmp_path):
    np.save(tmp_path / "g.npy", np.zeros((0, 3)))
    np.savez(tmp_path / "g.npz", a=np.zeros(0), b=np.zeros((2, 0)))
    np.savez(tmp_path / "none.npz")
    for name in ("g.npy", "g.npz", "none.npz"):
        assert NO_VALUES in refusal(tmp_path / name)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
def test_too_large_a_binary_file(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(files, "MAX_MAPPED_BYTES", 100)
    path = tmp_path / f"g{suffix}"
    path.write_bytes(bytes(101))
    assert "is too large: 101 bytes, and at most 100 are read" in refusal(path)


@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_too_large_a_text_file(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(files, "MAX_TEXT_BYTES", 3)
    path = tmp_path / f"g{suffix}"
    path.write_text("1\n2\n")
    assert "is too large: 4 bytes, and at most 3 are read" in refusal(path)
    path.write_text("1\n2")
    assert read_gradients(path)["g"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_npz_that_unpacks_to_too_much(tmp_path, monkeypatch, method):
    """What is stored as it is does not count: it is not read."""
    with zipfile.ZipFile(tmp_path / "g.npz", "w", method) as archive:
        for name in "ab":
            archive.writestr(f"{name}.npy", npy_bytes(np.zeros(50_000)))
        archive.writestr("stored.npy", npy_bytes(np.ones(50_000)), zipfile.ZIP_STORED)
    monkeypatch.setattr(npzfiles, "MAX_UNPACKED_BYTES", 800_255)
    assert "it unpacks to 800,256 bytes, and at most 800,255 are unpacked" in refusal(tmp_path / "g.npz")
    monkeypatch.setattr(npzfiles, "MAX_UNPACKED_BYTES", 800_256)
    assert list(read_gradients(tmp_path / "g.npz")) == ["a", "b", "stored"]


def test_npz_that_claims_to_unpack_to_less_or_more_than_it_does(tmp_path):
    """A bomb may say that it is small; only so much of it is ever unpacked."""
    path = tmp_path / "g.npz"
    np.savez_compressed(path, a=np.zeros(1000))
    whole = path.read_bytes()
    directory = whole.index(b"PK\x01\x02")
    for claimed in (4128, 16256):
        content = bytearray(whole)
        content[directory + 24 : directory + 28] = struct.pack("<I", claimed)
        path.write_bytes(content)
        assert DAMAGED in refusal(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_npz_with_a_wrong_checksum_or_damaged_compression_of_any_kind(tmp_path, method):
    path = tmp_path / "g.npz"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.npy", npy_bytes(np.random.default_rng(1).normal(size=5000)))
    whole = path.read_bytes()
    wrong, broken = bytearray(whole), bytearray(whole)
    wrong[whole.index(b"PK\x01\x02") + 16] ^= 1
    broken[60:400] = bytes(340)
    for content in (wrong, broken):
        path.write_bytes(content)
        assert re.search(rf"{DAMAGED}|cannot be read", refusal(path))


def local_header(content, at, value):
    """An archive with something else in front of its first member."""
    return content[:at] + value + content[at + len(value) :]


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, b"XX"), (26, b"\xff\xff"), (28, b"\xff\xff"), (30, b"b")],
    ids=["magic", "length of the name", "length of the rest", "name"],
)
def test_npz_with_a_damaged_header_in_front_of_a_member(tmp_path, at, value):
    path = tmp_path / "g.npz"
    path.write_bytes(local_header(npz_bytes(a=npy_bytes([1.0])), at, value))
    assert DAMAGED in refusal(path)


def test_npz_with_a_stored_member_whose_length_is_a_lie(tmp_path):
    path = tmp_path / "g.npz"
    content = bytearray(npz_bytes(a=npy_bytes([1.0])))
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 1 << 30)
    path.write_bytes(content)
    assert DAMAGED in refusal(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["a.npy", "a"])
def test_npz_that_holds_a_name_twice(tmp_path, second):
    with zipfile.ZipFile(tmp_path / "g.npz", "w") as archive:
        for name in ("a.npy", "b.npy", second):
            archive.writestr(name, npy_bytes([1.0]))
    assert refusal(tmp_path / "g.npz") == "“g.npz” holds “a” more than once."


def test_npy_of_the_version_for_names_of_fields(tmp_path):
    with pytest.warns(UserWarning, match="format 3"):
        content = npy_bytes(np.zeros(2, [("ł", "f4")]))
    path = tmp_path / "g.npy"
    path.write_bytes(content)
    assert refusal(path) == "“g.npy” holds records, not plain numbers."


@pytest.mark.parametrize("version", [b"\x00\x00", b"\x04\x00", b"\x01\x01"])
def test_npy_of_a_version_that_is_none(tmp_path, version):
    content = npy_bytes([1.0])
    path = tmp_path / "g.npy"
    path.write_bytes(content[:6] + version + content[8:])
    assert DAMAGED in refusal(path)


@pytest.mark.parametrize("suffix", [".csv", ".txt"])
@pytest.mark.parametrize(
    "content", [bytes(range(256)), b"\xff\xfe1\x00\n\x00", b"\x89PNG\r\n\x1a\n\x00\x00", "1,2".encode("utf-16")]
)
def test_binary_content_in_a_text_file(tmp_path, suffix, content):
    path = tmp_path / f"g{suffix}"
    path.write_bytes(content)
    assert "is not a text file inside" in refusal(path)


@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_control_characters_in_a_text_file(tmp_path, suffix):
    path = tmp_path / f"g{suffix}"
    path.write_bytes(b"\x00\x01\x02\x03")
    refusal(path)


@pytest.mark.parametrize("content", ["weight,bias\n", "hello world", "\n\n"])
def test_csv_without_values(tmp_path, content):
    path = tmp_path / "g.csv"
    path.write_text(content)
    assert NO_VALUES in refusal(path)


@pytest.mark.parametrize(("content", "line"), [("a,b\n1,2\n3\n", 3), ("a,b\n\n1,2,3\n", 3), ("a,b\n1,,\n", 2)])
def test_ragged_csv(tmp_path, content, line):
    path = tmp_path / "g.csv"
    path.write_text(content)
    assert re.match(rf"Line {line} of “g\.csv” has \d values for 2 columns", refusal(path))


def test_csv_that_names_a_column_twice(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("weight,bias,weight\n1,2,3\n")
    assert refusal(path) == "“g.csv” names a column twice: “weight, bias, weight”."


@pytest.mark.parametrize(
    ("name", "content", "line", "token"),
    [
        ("g.txt", "1\n2\nthree\n", 3, "three"),
        ("g.txt", "weight\n1\n", 1, "weight"),
        ("g.csv", "a\n1\n(2)\n", 3, "(2)"),
        ("g.csv", "1,2\n3,x\n", 2, "x"),
        ("g.csv", "a\n1e999\n", 2, "1e999"),
        ("g.txt", "__import__('os')", 1, "__import__('os')"),
    ],
)
def test_text_that_is_no_number_is_quoted_with_its_line(tmp_path, name, content, line, token):
    path = tmp_path / name
    path.write_text(content)
    assert refusal(path).startswith(f"Line {line} of “{name}”: “{token}” ")


def test_a_long_name_is_shortened(tmp_path):
    assert "…”" in refusal(tmp_path / f"{'g' * 100}.pt")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*invalid escape sequence")
@pytest.mark.parametrize("suffix", [".npy", ".npz", "stored.npz"])
def test_random_damage_is_an_input_error_or_other_numbers(tmp_path, suffix):
    chance = np.random.default_rng(1)
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.random.default_rng(1).normal(size=2000))
    plain = npy_bytes(np.arange(60.0).reshape(20, 3))
    whole = {".npy": plain, ".npz": stream.getvalue(), "stored.npz": npz_bytes(a=plain, b=plain)}[suffix]
    path = tmp_path / f"damaged{suffix}"
    for _ in range(4000):
        content = bytearray(whole)
        for _ in range(chance.integers(1, 7)):
            anywhere, header, directory = chance.integers(len(content)), chance.integers(128), -chance.integers(1, 120)
            content[chance.choice([anywhere, header, directory])] = chance.integers(256)
        kept = chance.choice([len(content), chance.integers(1, len(content))])
        path.write_bytes(content[:kept])
        with contextlib.suppress(InputError):
            assert all(array.size for array in read_gradients(path).values())
