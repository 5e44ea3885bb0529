"""The images: what the UCI repository publishes of them, and that they are part of the package."""

from pathlib import Path
import tomllib

import ml_dtypes
import numpy as np
import pytest

from lossscale_core import digits

#: From the repository's own description of the test set, `optdigits.names`.
CLASSES = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]

#: The first one, a 0, as it is printed wherever the data set is shown.
FIRST = """
 0  0  5 13  9  1  0  0
 0  0 13 15 10 15  5  0
 0  3 15  2  0 11  8  0
 0  4 12  0  0  8  8  0
 0  5  8  0  0  9  8  0
 0  4 11  0  1 12  7  0
 0  2 14  5 10 12  0  0
 0  0  6 13 10  0  0  0
"""


def test_shapes_and_types():
    images, labels = digits()
    assert (images.shape, images.dtype) == ((1797, 64), np.float32)
    assert (labels.shape, labels.dtype) == ((1797,), np.int64)


def test_pixels_are_sixteenths_from_0_to_1():
    steps = digits().images.astype(np.float64) * 16
    assert np.array_equal(np.unique(steps), np.arange(17))


def test_the_first_image():
    assert np.array_equal(digits().images[0] * 16, np.array(FIRST.split(), float))
    assert digits().labels[0] == 0


def test_how_often_each_digit_is_there():
    assert np.bincount(digits().labels).tolist() == CLASSES


def test_a_digit_is_like_others_of_its_kind():
    # Labels of other images would be right one time in ten.
    images, labels = digits()
    means = np.array([images[:1500][labels[:1500] == digit].mean(axis=0) for digit in range(10)])
    nearest = np.linalg.norm(images[1500:, None] - means, axis=2).argmin(axis=1)
    assert (nearest == labels[1500:]).mean() > 0.8


@pytest.mark.parametrize(
    ("kind", "exact"),
    [
        (np.float16, True),
        (ml_dtypes.bfloat16, True),
        (ml_dtypes.float8_e4m3fn, True),
        (ml_dtypes.float8_e5m2, False),
    ],
)
def test_which_formats_hold_all_pixels(kind, exact):
    images = digits().images
    assert np.array_equal(images.astype(kind).astype(np.float32), images) is exact


def test_nobody_can_write_to_them():
    for array in digits():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert digits() is digits()


def test_they_are_declared_as_data_of_the_package():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert "digits.npz" in project["tool"]["setuptools"]["package-data"]["lossscale_core"]
