"""Large files: what is mapped into memory instead of read, and as which type it is handed on."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from lossscale_core import FP16, safe_window
from lossscale_core.files import read_gradients, read_tensors

from .oracle import same

SIZE = 1 << 20
#: Less than any copy of `SIZE` float16 takes.
LITTLE = 1 << 20


def values(dtype):
    # One place off, so that the smallest magnitude is not that of a subnormal.
    return (np.arange(1, SIZE + 1, dtype=np.float64) / SIZE).astype(dtype)


def peak_memory(action):
    """What an action returns, and how many bytes it allocated at most."""
    tracemalloc.start()
    try:
        return action(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def save_npy(path, array):
    np.save(path, array)
    return path


def save_npz(path, array):
    # Names of one to eight letters: the arrays begin anywhere, not only at multiples of their size.
    np.savez(path, **{"x" * length: array[:8] for length in range(1, 9)}, whole=array)
    return path


SAVERS = {"g.npy": save_npy, "g.npz": save_npz}


@pytest.mark.parametrize("name", SAVERS)
@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", "<i4", ">f4", "?", "i1"])
def test_nothing_is_copied_or_converted(tmp_path, name, dtype):
    array = values(dtype)
    path = SAVERS[name](tmp_path / name, array)
    tensors, peak = peak_memory(lambda: read_tensors(path))
    assert peak < LITTLE
    for tensor in tensors:
        assert tensor.values.dtype == dtype
        assert tensor.stored is None
        assert not tensor.values.flags.owndata
        assert not tensor.values.flags.writeable
        assert same(tensor.values, array[: tensor.values.size])


@pytest.mark.parametrize("name", SAVERS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_native_floats_are_handed_on_as_they_are(tmp_path, name, dtype):
    path = SAVERS[name](tmp_path / name, values(dtype))
    arrays, peak = peak_memory(lambda: read_gradients(path))
    assert peak < LITTLE
    assert {array.dtype for array in arrays.values()} == {np.dtype(dtype)}


@pytest.mark.parametrize(("dtype", "wide"), [("i2", np.float64), (">f2", np.float32), (">f8", np.float64)])
def test_other_types_are_converted_where_floats_are_asked_for(tmp_path, dtype, wide):
    path = save_npy(tmp_path / "g.npy", values(dtype))
    array = read_gradients(path)["g"]
    assert array.dtype == wide
    assert array.dtype.isnative
    assert same(array, values(dtype))


def test_a_window_of_a_mapped_array_needs_little_memory(tmp_path):
    (tensor,) = read_tensors(save_npy(tmp_path / "g.npy", values(np.float32)))
    windows, peak = peak_memory(lambda: safe_window(tensor.values, FP16))
    assert peak < 2 * LITTLE
    assert windows.survive.lower == 2**-25 * SIZE


def test_a_file_far_larger_than_what_is_read_of_it(tmp_path):
    """The file has 32 GiB, nearly all of it a hole."""
    path = tmp_path / "g.npy"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (1 << 33,)})
    with path.open("wb") as file:
        file.write(header.getvalue())
        try:
            file.truncate(len(header.getvalue()) + (4 << 33))
        except OSError as error:
            pytest.skip(f"no such file can be made here: {error}")
    tensors, peak = peak_memory(lambda: read_tensors(path))
    assert peak < LITTLE
    assert tensors[0].values.shape == (1 << 33,)
    assert tensors[0].values[-1] == 0


def test_stored_and_compressed_members_side_by_side(tmp_path):
    arrays = {"stored": np.float16([1, 2, 3]), "packed": np.float32([[4, 5], [6, 7]])}
    with zipfile.ZipFile(tmp_path / "g.npz", "w") as archive:
        for name, method in (("stored", zipfile.ZIP_STORED), ("packed", zipfile.ZIP_DEFLATED)):
            stream = io.BytesIO()
            np.save(stream, arrays[name])
            archive.writestr(f"{name}.npy", stream.getvalue(), method)
    tensors = {tensor.name: tensor.values for tensor in read_tensors(tmp_path / "g.npz")}
    assert list(tensors) == ["stored", "packed"]
    for name, array in arrays.items():
        assert tensors[name].dtype == array.dtype
        assert same(tensors[name], array)


def test_an_archive_with_something_in_front(tmp_path):
    np.savez(tmp_path / "g.npz", a=[1.0, 2.0])
    (tmp_path / "g.npz").write_bytes(b"#!/bin/sh\n" + (tmp_path / "g.npz").read_bytes())
    assert read_gradients(tmp_path / "g.npz")["a"].tolist() == [1.0, 2.0]


def test_unpacking_and_text_tell_how_far_they_are(tmp_path):
    np.savez_compressed(tmp_path / "g.npz", a=np.zeros(2_000_000), b=np.ones(3_000_000))
    (tmp_path / "g.txt").write_text("1\n" * 5000)
    for name in ("g.npz", "g.txt"):
        shares = []
        read_tensors(tmp_path / name, shares.append)
        assert len(shares) > 2
        assert shares == sorted(shares)
        assert 0 <= shares[0] < shares[-1] <= 1


def test_what_progress_raises_ends_the_reading(tmp_path):
    def stop(share):
        raise KeyboardInterrupt

    (tmp_path / "g.txt").write_text("1\n2")
    with pytest.raises(KeyboardInterrupt):
        read_tensors(tmp_path / "g.txt", stop)
