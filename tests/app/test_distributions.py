"""What the distribution view is given: counts against a cast of every value by other libraries, and honest texts."""

import json
import math

import ml_dtypes
import numpy as np
import pytest

from lossscale_app import distributions
from lossscale_app.datasets import DATASETS
from lossscale_app.distributions import dataset_json, distribution_data, file_json, open_file, opened_file
from lossscale_core import FORMATS, InputError, Tensor

from .lookup_mirror import strict_json

CASTS = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3": ml_dtypes.float8_e4m3fn,
}
MIN_NORMAL = {"fp16": 2.0**-14, "bf16": 2.0**-126, "e5m2": 2.0**-14, "e4m3": 2.0**-6}
SCALES = range(-40, 41)


@pytest.fixture(scope="module")
def awkward():
    draw = np.random.default_rng(7)
    magnitudes = np.exp2(draw.uniform(-60, 30, 3000))
    ties = [2.0**-25, 65520.0, 65519.0, 2.0**-14 - 2.0**-25, 2.0**-10, 464.0, 61440.0, 2.0**-17, 2.0**-24 * 1.5]
    values = np.concatenate([magnitudes, ties, np.zeros(500), [np.inf, np.nan, -np.inf]])
    return (values * draw.choice([-1, 1], values.size)).astype(np.float32)


def brute(values, k, name):
    """Underflow, subnormal, normal and overflow of a cast that is not ours."""
    alive = values[np.isfinite(values) & (values != 0)]
    with np.errstate(all="ignore"):
        # A power of two keeps these float32 values exact.
        stored = np.abs((alive * np.float32(2.0**k)).astype(CASTS[name]).astype(np.float64))
    lost, normal = stored == 0, np.isfinite(stored) & (stored >= MIN_NORMAL[name])
    over = ~np.isfinite(stored)
    return [int(n) for n in (lost.sum(), (~lost & ~normal & ~over).sum(), normal.sum(), over.sum())]


@pytest.mark.parametrize("name", FORMATS)
def test_counts_at_every_scale(awkward, name):
    data = distribution_data([Tensor("all", awkward)])["formats"][name]
    assert data["counts"] == [brute(awkward, k, name) for k in SCALES]


@pytest.mark.parametrize("name", FORMATS)
def test_several_tensors_add_up(awkward, name):
    parts = np.array_split(awkward, 5)
    tensors = [Tensor(str(place), part) for place, part in enumerate(parts)]
    data = distribution_data(tensors)
    assert data["formats"][name]["counts"] == [brute(awkward, k, name) for k in SCALES]
    for tensor, part in zip(data["tensors"], parts, strict=True):
        steps = tensor["formats"][name]["steps"]
        assert steps[0][0] == -40
        for k in SCALES:
            step = [step for step in steps if step[0] <= k][-1]
            lost, _, _, over = brute(part, k, name)
            assert step[1:3] == [lost, over]


def test_sizes_zeros_and_what_is_not_finite(awkward):
    data = distribution_data([Tensor("all", awkward)])
    assert (data["size"], data["zeros"], data["nonfinite"]) == (awkward.size, 500, 3)
    assert data["alive"] == awkward.size - 503
    assert data["zerosShare"] == "14.2%"


def test_the_histogram(awkward):
    octaves = distribution_data([Tensor("all", awkward)])["octaves"]
    alive = np.abs(awkward[np.isfinite(awkward) & (awkward != 0)])
    exponents = np.frexp(alive)[1] - 1
    last = octaves["first"] + len(octaves["counts"])
    assert octaves["counts"] == [int((exponents == e).sum()) for e in range(octaves["first"], last)]
    assert sum(octaves["counts"]) == alive.size
    tallest, heights = max(octaves["counts"]), octaves["heights"]
    assert all(0 <= height <= 1 for height in heights)
    assert all((height > 0) == (count > 0) for height, count in zip(heights, octaves["counts"], strict=True))
    # The axis is logarithmic, and its ticks are powers of ten of the whole.
    ticks = {text: height for height, text in octaves["ticks"]}
    slope = ticks["10%"] - ticks["1%"]
    share = math.log10(tallest / alive.size)
    assert heights[octaves["counts"].index(tallest)] == pytest.approx(ticks["10%"] + slope * (share + 1), abs=1e-4)


@pytest.mark.parametrize("name", FORMATS)
def test_edges_are_running_shares(awkward, name):
    data = distribution_data([Tensor("all", awkward)])
    for counts, edges in zip(data["formats"][name]["counts"], data["formats"][name]["edges"], strict=True):
        assert edges == pytest.approx(np.cumsum(counts)[:3] / data["alive"], abs=1e-5)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("losing", ["0", "0.01", "0.1", "1"])
def test_windows_and_advice_by_brute_force(awkward, name, losing):
    values = awkward[(np.abs(awkward) > 2.0**-30) & (np.abs(awkward) < 2.0**4)]
    data = distribution_data([Tensor("all", values)])["formats"][name]
    most = float(losing) / 100 * values.size
    outcomes = {k: brute(values, k, name) for k in SCALES}
    good = [k for k, (lost, _, _, over) in outcomes.items() if over == 0 and lost <= most]
    window, best = data["losing"][losing]["window"], data["losing"][losing]["best"]
    powers = window["powers"]
    inside = [k for k in SCALES if powers and powers[0] <= k <= powers[1]]
    assert inside == good
    assert outcomes[best["k"]][3] == 0
    assert best["within"] == bool(good)
    assert best["k"] in good or not good
    assert best["kept"] == distributions.share_text(values.size - outcomes[best["k"]][0], values.size)


@pytest.mark.parametrize("values", [[0.0], [np.nan, np.inf], [0.0, np.nan]])
def test_nothing_alive(values):
    data = distribution_data([Tensor("none", np.array(values, np.float32))])
    assert data["alive"] == 0
    assert data["octaves"]["counts"] == []
    assert data["formats"]["fp16"]["losing"]["0"] == {"window": None, "best": None}


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.id)
def test_each_distribution_is_json_and_small(dataset):
    text = dataset_json(dataset.id)
    assert strict_json(text)["id"] == dataset.id
    assert len(text) < 80_000


def test_an_unknown_distribution_is_refused():
    with pytest.raises(InputError, match="no such distribution"):
        dataset_json("<b>")


def test_a_file_is_read_with_progress_and_kept_for_every_session(tmp_path, monkeypatch):
    monkeypatch.setattr(distributions, "_opened", [])
    path = tmp_path / "gräd.npz"
    np.savez(path, **{"a.weight": np.float32([1e-8, 3]), "b": np.zeros(3, np.float16)})
    shares = []
    open_file(path, shares.append)
    data = json.loads(opened_file())
    assert data["name"] == "gräd.npz"
    assert [tensor["name"] for tensor in data["tensors"]] == ["a.weight", "b"]
    assert (data["size"], data["zeros"]) == (5, 3)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_bad_file_is_refused_and_the_former_one_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(distributions, "_opened", ["former"])
    path = tmp_path / "bad.npy"
    path.write_bytes(b"no array")
    with pytest.raises(InputError, match=r"bad\.npy"):
        open_file(path)
    assert opened_file() == "former"


def test_work_ends_where_progress_says_so(tmp_path):
    class EndedError(Exception):
        pass

    def end(share):
        raise EndedError

    np.save(tmp_path / "long.npy", np.ones(1000, np.float32))
    with pytest.raises(EndedError):
        file_json(tmp_path / "long.npy", end)
