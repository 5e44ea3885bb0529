"""Files of gradients: what is read from each kind, by name."""

import numpy as np
import pytest

from lossscale_core import read_gradients

from .oracle import same


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i4", "u8", "?"])
def test_npy_of_any_real_type(tmp_path, dtype):
    values = np.array([[0, 1, 1], [0, 0, 1]], dtype)
    np.save(tmp_path / "layer.npy", values)
    arrays = read_gradients(tmp_path / "layer.npy")
    assert list(arrays) == ["layer"]
    assert arrays["layer"].dtype in (np.float16, np.float32, np.float64)
    assert same(arrays["layer"], values)


@pytest.mark.parametrize(
    "values", [np.float32(3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), [np.nan, np.inf, -0.0]]
)
def test_npy_of_any_shape_order_and_value(tmp_path, values):
    np.save(tmp_path / "g.npy", values)
    assert same(read_gradients(tmp_path / "g.npy")["g"], values)


def test_npy_is_mapped_into_memory_and_cannot_be_written(tmp_path):
    np.save(tmp_path / "g.npy", np.ones(1000, np.float32))
    array = read_gradients(tmp_path / "g.npy")["g"]
    assert not array.flags.owndata
    assert not array.flags.writeable


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_gives_its_arrays_by_name_but_the_empty_ones(tmp_path, save):
    save(tmp_path / "g.npz", weight=np.float32([1, -2e-9]), bias=np.array(3.0), nothing=np.zeros(0))
    arrays = read_gradients(tmp_path / "g.npz")
    assert list(arrays) == ["weight", "bias"]
    assert arrays["weight"].dtype == np.float32
    assert same(arrays["weight"], np.float32([1, -2e-9]))
    assert same(arrays["bias"], 3.0)


TEXTS = {
    "one a line": "1e-8\n2^-26\n-3\n",
    "commas": "1e-8,2^-26,-3",
    "semicolons": "1e-8; 2^-26; -3",
    "tabs and spaces": "  1e-8\t2^-26   -3  ",
    "Windows line ends": "1e-8\r\n2^-26\r\n-3\r\n",
    "old line ends": "1e-8\r2^-26\r-3",
    "byte order mark": "\ufeff1e-8\n2^-26\n-3",
    "empty lines": "\n\n1e-8\n \n2^-26\n,\n-3\n\n",
    "ragged": "1e-8 2^-26\n-3",
    "other spellings": "1e-8\n0x1p-26\n−3",
}


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".TXT", ".Csv"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_without_names(tmp_path, text, suffix):
    arrays = read_gradients(write(tmp_path / f"g{suffix}", text))
    assert list(arrays) == ["g"]
    assert arrays["g"].dtype == np.float64
    assert arrays["g"].tolist() == [1e-8, 2.0**-26, -3.0]


TABLES = {
    "commas": "weight,bias\n1,2\n3,4\n",
    "semicolons": "weight;bias\n1;2\n3;4",
    "tabs": "weight\tbias\n1\t2\n3\t4",
    "Windows line ends": "weight,bias\r\n1,2\r\n3,4\r\n",
    "byte order mark": "\ufeffweight,bias\n1,2\n3,4\n",
    "quotes": "\"weight\",'bias'\n1,2\n3,4\n",
    "spaces": " weight , bias \n 1 , 2 \n 3 , 4 \n",
    "empty lines": "\nweight,bias\n\n1,2\n3,4\n\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_csv_with_column_names(tmp_path, text):
    arrays = read_gradients(write(tmp_path / "g.csv", text))
    assert {name: column.tolist() for name, column in arrays.items()} == {"weight": [1.0, 3.0], "bias": [2.0, 4.0]}


def test_csv_with_one_named_column(tmp_path):
    assert read_gradients(write(tmp_path / "g.csv", "grad\n1\n2"))["grad"].tolist() == [1.0, 2.0]


def test_a_path_may_be_text(tmp_path):
    assert read_gradients(str(write(tmp_path / "g.txt", "1")))["g"].tolist() == [1.0]


def test_text_holds_special_values(tmp_path):
    assert same(read_gradients(write(tmp_path / "g.txt", "nan inf -inf -0"))["g"], [np.nan, np.inf, -np.inf, -0.0])


def test_column_names_that_look_like_links_are_names(tmp_path):
    path = tmp_path / "grads.csv"
    path.write_text("p1,p2\n3,4\n")
    assert {name: list(column) for name, column in read_gradients(path).items()} == {"p1": [3.0], "p2": [4.0]}
