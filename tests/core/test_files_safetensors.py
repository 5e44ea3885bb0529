"""Tensors in .safetensors files: numbers and bit patterns, and what is refused."""

import contextlib
import json
import struct
import sys

import ml_dtypes
import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, InputError, count_outcomes, safe_window
from lossscale_core.files import read_gradients, read_tensors

from .oracle import same
from .test_files_refused import DAMAGED, NO_VALUES, refusal

safetensors = pytest.importorskip("safetensors", reason="the library safetensors is not installed")

#: Types that numpy has, by the names that the format has for them.
NUMBERS = {
    **{"F16": "f2", "F32": "f4", "F64": "f8", "BOOL": "?", "I8": "i1", "I16": "i2", "I32": "i4", "I64": "i8"},
    **{"U8": "u1", "U16": "u2", "U32": "u4", "U64": "u8"},
}
#: Types that it has not, with the format of their bit patterns.
PATTERNS = {
    "BF16": (BF16, ml_dtypes.bfloat16),
    "F8_E5M2": (E5M2, ml_dtypes.float8_e5m2),
    "F8_E4M3": (E4M3, ml_dtypes.float8_e4m3fn),
}


def write(path, **tensors):
    """Write a file as the format's description has it: of each tensor the type, the shape and the bytes."""
    header, data = {"__metadata__": {"format": "np"}}, b""
    for name, (kind, shape, content) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    return write_raw(path, json.dumps(header).encode(), data)


def write_raw(path, header, data):
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)
    return path


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_mapped_as_they_are(tmp_path, kind):
    array = np.array([[0, 1, 2], [3, 100, 1]], NUMBERS[kind])
    path = write(tmp_path / "g.safetensors", before=("U8", [1], b"\x07"), layer=(kind, [2, 3], array.tobytes()))
    _, tensor = read_tensors(path)
    assert (tensor.name, tensor.stored, tensor.values.dtype) == ("layer", None, array.dtype)
    assert same(tensor.values, array)
    assert not tensor.values.flags.owndata
    assert not tensor.values.flags.writeable
    assert same(read_gradients(path)["layer"], array)


@pytest.mark.parametrize("kind", PATTERNS)
def test_every_bit_pattern_of_what_numpy_has_no_type_for(tmp_path, kind):
    fmt, oracle = PATTERNS[kind]
    codes = np.arange(1 << fmt.bits).astype(f"u{fmt.bits // 8}")
    path = write(tmp_path / "g.safetensors", layer=(kind, [codes.size], codes.tobytes()))
    (tensor,) = read_tensors(path)
    assert (tensor.name, tensor.stored) == ("layer", fmt)
    assert np.array_equal(tensor.values, codes)
    with np.errstate(invalid="ignore"):
        wide = codes.view(oracle).astype(np.float32)
    assert read_gradients(path)["layer"].dtype == np.float32
    assert same(read_gradients(path)["layer"], wide)
    assert safe_window(tensor.values, FP16, stored=tensor.stored) == safe_window(wide, FP16)
    assert count_outcomes(tensor.values, 8, FP16, stored=fmt) == count_outcomes(wide, 8, FP16)


def test_what_the_library_writes_is_read(tmp_path):
    from safetensors.numpy import save_file

    arrays = {
        "embed": np.float32([[1, 2], [3, 4]]),
        "head.weight": np.float16([5, 6, 7]),
        "head.bias": np.array(8.0),
        "none": np.zeros((0, 3), np.float32),
    }
    save_file(arrays, tmp_path / "g.safetensors", metadata={"step": "1"})
    read = read_gradients(tmp_path / "g.safetensors")
    assert set(read) == {"embed", "head.weight", "head.bias"}
    for name, array in read.items():
        assert array.dtype == arrays[name].dtype
        assert same(array, arrays[name])


@pytest.mark.parametrize("kind", ["C64", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F8_E8M0"])
def test_other_types_are_refused_by_name(tmp_path, kind):
    size = 8 if kind == "C64" else 1
    path = write(tmp_path / "g.safetensors", good=("F32", [1], bytes(4)), bad=(kind, [1], bytes(size)))
    message = refusal(path)
    # An older library does not know all of them itself.
    assert message.startswith(f"“g.safetensors: bad” is of type “{kind}”; the types read are BF16,") or (
        DAMAGED in message
    )


def test_nothing_in_it(tmp_path):
    assert NO_VALUES in refusal(write(tmp_path / "g.safetensors"))
    assert NO_VALUES in refusal(write(tmp_path / "g.safetensors", none=("F32", [0, 2], b"")))


def entry(kind="F32", shape=(1,), offsets=(0, 4)):
    return json.dumps({"a": {"dtype": kind, "shape": shape, "data_offsets": offsets}}).encode()


HEADERS = {
    "no JSON": b"garbage",
    "no object": b"[1]",
    "unknown type": entry(kind="F99"),
    "negative shape": entry(shape=(-1,)),
    "shape beyond the data": entry(shape=(2,)),
    "shape beyond everything": entry(shape=(2**62, 2**62)),
    "offsets beyond the data": entry(shape=(2,), offsets=(0, 8)),
    "offsets the wrong way round": entry(offsets=(4, 0)),
    "a gap": entry(kind="U8", offsets=(1, 2)),
    "data that is not described": entry(kind="U8", offsets=(0, 1)),
    "two at one place": b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
    b'"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}',
    "metadata alone": b'{"__metadata__":{"a":1}}',
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_damaged_headers(tmp_path, header):
    assert DAMAGED in refusal(write_raw(tmp_path / "g.safetensors", header, bytes(4)))


@pytest.mark.parametrize("content", [b"1", b"\xff" * 100, b"\x93NUMPY", struct.pack("<Q", 2**40) + b"{}"])
def test_other_content(tmp_path, content):
    path = tmp_path / "g.safetensors"
    path.write_bytes(content)
    assert DAMAGED in refusal(path)


@pytest.mark.parametrize("kept", [4, 8, 40, -1])
def test_truncated(tmp_path, kept):
    path = write(tmp_path / "g.safetensors", a=("F32", [100], bytes(400)))
    path.write_bytes(path.read_bytes()[:kept])
    assert DAMAGED in refusal(path)


@pytest.mark.slow
def test_random_damage_is_an_input_error_or_other_numbers(tmp_path):
    chance = np.random.default_rng(1)
    path = write(tmp_path / "g.safetensors", a=("F32", [2, 3], bytes(24)), b=("BF16", [4], bytes(8)))
    whole = path.read_bytes()
    for _ in range(4000):
        content = bytearray(whole)
        for _ in range(chance.integers(1, 4)):
            content[chance.integers(len(content))] = chance.integers(256)
        path.write_bytes(content[: chance.choice([len(content), chance.integers(1, len(content))])])
        with contextlib.suppress(InputError):
            assert all(array.size for array in read_gradients(path).values())


def test_without_the_library_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    path = write(tmp_path / "g.safetensors", a=("F32", [1], bytes(4)))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    assert "pip install 'loss-scaling-explorer[safetensors]'" in refusal(path)
