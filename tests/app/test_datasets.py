"""The distributions that come with the page are what their descriptions say."""

import numpy as np
import pytest

from lossscale_app.datasets import DATASETS, LOSING
from lossscale_app.messages import ENGLISH

TENSORS = {dataset.id: dataset.make() for dataset in DATASETS}


def values(name):
    return np.concatenate([tensor.values.ravel() for tensor in TENSORS[name]])


def share_between(name, low, high):
    magnitude = np.abs(values(name))
    return np.count_nonzero((magnitude >= 2.0**low) & (magnitude < 2.0**high)) / magnitude.size


def test_each_has_a_name_and_a_note():
    for dataset in DATASETS:
        assert {f"data-{dataset.id}", f"data-{dataset.id}-note"} <= set(ENGLISH)


@pytest.mark.parametrize("name", TENSORS)
def test_values_are_finite_float32(name):
    assert all(tensor.values.dtype == np.float32 for tensor in TENSORS[name])
    assert np.isfinite(values(name)).all()


def test_the_detector_has_the_published_shares():
    assert np.count_nonzero(values("ssd") == 0) / values("ssd").size == 0.67
    assert share_between("ssd", -34, -32) == 0.02
    assert share_between("ssd", -24, -23) == 0.02
    assert "reconstruction" in ENGLISH["data-ssd-note"]
    # Nothing is below what was published, and none of it overflows at S = 8.
    assert np.abs(values("ssd")[values("ssd") != 0]).min() == 2.0**-34
    assert np.abs(values("ssd")).max() * 8 < 65520


@pytest.mark.parametrize(("name", "mean", "deviation"), [("bell", -18, 3), ("deep", -30, 3), ("wide", -20, 8)])
def test_bells_have_the_mean_and_the_deviation_they_say(name, mean, deviation):
    octaves = np.log2(np.abs(values(name)).astype(np.float64))
    assert octaves.mean() == pytest.approx(mean, abs=1e-3)
    assert octaves.std() == pytest.approx(deviation, rel=2e-3)
    assert values(name).size == 20_000
    note = ENGLISH[f"data-{name}-note"]
    assert f"mean −{-mean}" in note
    assert f"deviation {deviation}" in note


def test_one_outlier_is_one():
    magnitude = np.sort(np.abs(values("spike")))
    assert magnitude[-1] == 2.0**10
    assert magnitude[-2] < 2.0**-15


def test_layers_shrink_by_two_octaves():
    layers = [np.median(np.log2(np.abs(tensor.values))) for tensor in TENSORS["layers"][:-1]]
    assert np.diff(layers) == pytest.approx(2, abs=1e-3)
    assert len(TENSORS["layers"]) == 10


def test_shares_that_may_be_lost_are_what_they_say():
    assert {name: float(share) * 100 for name, share in LOSING.items()} == {name: float(name) for name in LOSING}
