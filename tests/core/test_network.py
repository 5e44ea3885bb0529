"""The network: its gradients against finite differences, its rounding against numpy and ml_dtypes."""

from itertools import pairwise
import math

import ml_dtypes
import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, FP32, FP64
from lossscale_core.network import Forward, Layer, backward, cross_entropy, forward, initial_layers

TYPES = {
    FP16: np.float16,
    BF16: ml_dtypes.bfloat16,
    E5M2: ml_dtypes.float8_e5m2,
    E4M3: ml_dtypes.float8_e4m3fn,
}
LABELS = [fmt.label for fmt in TYPES]
SIZES = (5, 4, 3, 6)
IMAGES = 7
#: Smallest normal and largest finite magnitude of FP16.
NORMAL, LARGEST = 2.0**-14, 65504.0


def case(seed, dtype=np.float64, sizes=SIZES, images=IMAGES):
    """Any network, images and labels."""
    rng = np.random.default_rng(seed)
    layers = [
        Layer(rng.standard_normal(shape).astype(dtype), rng.standard_normal(shape[1]).astype(dtype))
        for shape in pairwise(sizes)
    ]
    inputs = rng.standard_normal((images, sizes[0])).astype(dtype)
    return layers, inputs, rng.integers(0, sizes[-1], images)


def plain_loss(layers, images, labels, shifts):
    """The mean cross-entropy, image by image; `shifts` are added to what comes out of each layer."""
    losses = []
    for row, (values, label) in enumerate(zip(images, labels, strict=True)):
        for place, (weight, bias) in enumerate(layers):
            values = sum(value * line for value, line in zip(values, weight, strict=True)) + bias + shifts[place][row]
            if place < len(layers) - 1:
                values = [math.tanh(value) for value in values]
        losses.append(math.log(math.fsum(map(math.exp, values))) - values[label])
    return math.fsum(losses) / len(losses)


def gradients(layers, images, labels, fmt, scale=1.0):
    passed = forward(layers, images, fmt)
    by_logits = cross_entropy(passed.logits, labels)[1]
    return backward(passed, by_logits * by_logits.dtype.type(scale / len(labels)), fmt)


def flat(passed):
    return [*passed.outputs, *(array for layer in passed.parameters for array in layer)]


def differences(loss, array, step=1e-5):
    """Central finite differences of a loss by every entry of an array."""
    found = np.empty_like(array)
    for place in np.ndindex(array.shape):
        kept = array[place]
        array[place] = kept + step
        above = loss()
        array[place] = kept - step
        found[place] = (above - loss()) / (2 * step)
        array[place] = kept
    return found


@pytest.mark.parametrize("seed", range(3))
def test_every_gradient_is_the_slope_of_the_loss(seed):
    layers, images, labels = case(seed)
    shifts = [np.zeros((IMAGES, size)) for size in SIZES[1:]]
    found = flat(gradients(layers, images, labels, FP64))
    arrays = [*shifts, *(array for layer in layers for array in layer)]
    assert len(found) == len(arrays) == 9
    for gradient, array in zip(found, arrays, strict=True):
        slopes = differences(lambda: plain_loss(layers, images, labels, shifts), array)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-9)


def test_the_loss_is_the_plain_one():
    layers, images, labels = case(3)
    loss, _ = cross_entropy(forward(layers, images, FP64).logits, labels)
    no_shift = [np.zeros((IMAGES, size)) for size in SIZES[1:]]
    assert loss == pytest.approx(plain_loss(layers, images, labels, no_shift), rel=1e-12)


@pytest.mark.parametrize(("fmt", "dtype", "reach"), [(FP64, np.float64, 800), (FP32, np.float32, 64)])
def test_a_scaled_loss_has_scaled_gradients_bit_for_bit(fmt, dtype, reach):
    for seed in range(3):
        layers, images, labels = case(seed, dtype, (64, 48, 48, 10), 32)
        unscaled = flat(gradients(layers, images, labels, fmt))
        for log2_scale in range(-reach, reach + 1, reach // 16):
            scaled = flat(gradients(layers, images, labels, fmt, 2.0**log2_scale))
            for one, other in zip(scaled, unscaled, strict=True):
                assert one.dtype == dtype
                assert np.array_equal(one, np.ldexp(other, log2_scale))


def full_precision_scales(layers, images, labels, base):
    """The k beside a base for which everything the backward pass stores with 2**k is normal in FP16."""
    passed, stored = forward(layers, images, FP16), gradients(layers, images, labels, FP16, 2.0**base)
    by_inputs = [gradient @ weight.T for gradient, weight in zip(stored.outputs[1:], passed.weights[1:], strict=True)]
    magnitudes = np.abs(np.concatenate([array.ravel() for array in [*flat(stored), *by_inputs]]))
    magnitudes = magnitudes[magnitudes != 0]
    # A hair more on both sides, for what is rounded.
    low, high = math.log2(NORMAL / magnitudes.min() * 1.001), math.log2(LARGEST / magnitudes.max() / 1.001)
    return range(base + math.ceil(low), base + math.floor(high) + 1)


@pytest.mark.parametrize("seed", range(5))
def test_in_fp16_every_scale_that_keeps_full_precision_gives_the_same(seed):
    layers, images, labels = case(seed, np.float32)
    scales = full_precision_scales(layers, images, labels, base=12)
    assert len(scales) > 4
    assert 12 in scales
    base = [np.ldexp(array, -12) for array in flat(gradients(layers, images, labels, FP16, 2.0**12))]
    for log2_scale in scales:
        scaled = flat(gradients(layers, images, labels, FP16, 2.0**log2_scale))
        for one, other in zip(scaled, base, strict=True):
            assert np.array_equal(np.ldexp(one, -log2_scale), other)
    for outside in (scales[0] - 6, scales[-1] + 3):
        with np.errstate(invalid="ignore"):
            scaled = flat(gradients(layers, images, labels, FP16, 2.0**outside))
        assert not all(np.array_equal(np.ldexp(one, -outside), other) for one, other in zip(scaled, base, strict=True))


@pytest.mark.parametrize("fmt", TYPES, ids=LABELS)
@pytest.mark.parametrize("log2_scale", [-12, 0, 12, 20])
def test_all_that_is_stored_lies_on_the_grid(fmt, log2_scale):
    layers, images, labels = case(1, np.float32, (64, 48, 48, 10), 32)
    passed = forward(layers, images, fmt)
    with np.errstate(invalid="ignore"):
        stored = backward(passed, cross_entropy(passed.logits, labels)[1] * np.float32(2.0**log2_scale), fmt)
    for array in [*passed.weights, *passed.inputs, passed.logits, *flat(stored)]:
        assert array.dtype == np.float32
        with np.errstate(all="ignore"):
            assert np.array_equal(array.astype(TYPES[fmt]).astype(np.float32), array, equal_nan=True)
    assert not np.array_equal(passed.weights[0], layers[0].weight)


def eighths(rng, *shape):
    """Numbers of which float32 holds every product and sum exactly, in whatever order they are added."""
    return (rng.integers(-32, 33, shape) / 8).astype(np.float32)


def through(kind, values):
    """Rounded once by numpy or ml_dtypes."""
    with np.errstate(all="ignore"):
        return values.astype(np.float32).astype(kind).astype(np.float32)


@pytest.mark.parametrize("fmt", TYPES, ids=LABELS)
@pytest.mark.parametrize("seed", range(3))
def test_a_layer_rounds_its_sum_once(fmt, seed):
    rng = np.random.default_rng(seed)
    weight, bias, images = eighths(rng, 40, 10), eighths(rng, 10), eighths(rng, 16, 40)
    kept = [through(TYPES[fmt], each).astype(np.float64) for each in (images, weight, bias)]
    logits = forward([Layer(weight, bias)], images, fmt).logits
    assert np.array_equal(logits, through(TYPES[fmt], kept[0] @ kept[1] + kept[2]), equal_nan=True)


@pytest.mark.parametrize("fmt", TYPES, ids=LABELS)
@pytest.mark.parametrize("seed", range(3))
def test_every_gradient_is_rounded_where_it_is_stored(fmt, seed):
    rng, kind = np.random.default_rng(seed), TYPES[fmt]
    # Inputs of the second layer are tanhs: within 1. All lie on the grid already.
    weights = [through(kind, eighths(rng, *shape)) for shape in ((6, 5), (5, 4))]
    inputs = [through(kind, eighths(rng, 8, 6)), np.float32(rng.integers(-4, 5, (8, 5)) / 4)]
    by_logits = eighths(rng, 8, 4) * np.float32(1.25)
    stored = backward(Forward(weights, inputs, np.zeros((8, 4), np.float32)), by_logits, fmt)
    outer = through(kind, by_logits).astype(np.float64)
    by_input = through(kind, outer @ weights[1].astype(np.float64).T).astype(np.float64)
    inner = through(kind, by_input * (1 - inputs[1].astype(np.float64) ** 2)).astype(np.float64)
    expected = [inner, outer]
    for values, gradient in zip(inputs, (inner, outer), strict=True):
        expected += [through(kind, values.astype(np.float64).T @ gradient), through(kind, gradient.sum(axis=0))]
    for one, other in zip(flat(stored), expected, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize(("count", "total"), [(4096, 4096), (2052, 2052)])
def test_sums_are_kept_in_fp32(count, total):
    # One by one in FP16, ones never come to more than 2048.
    alone = np.float16(0)
    for _ in range(count):
        alone = np.float16(alone + np.float16(1))
    assert alone == 2048
    ones = np.ones((count, 1), np.float32)
    forwards = forward([Layer(ones, np.zeros(1, np.float32))], ones.T, FP16)
    assert forwards.logits.tolist() == [[total]]
    by_images = backward(Forward([ones[:1]], [ones], ones), ones, FP16)
    assert by_images.parameters[0].weight.tolist() == [[total]]
    assert by_images.parameters[0].bias.tolist() == [total]
    wide = Forward([ones[:1], ones.T], [ones[:1], np.float32([[0]])], ones.T)
    assert backward(wide, ones.T, FP16).outputs[0].tolist() == [[total]]


def test_the_bias_is_added_before_the_sum_is_rounded():
    # 2048 + 1 rounds to 2048, and so would a second 1.
    layer = Layer(np.float32([[2048], [1]]), np.float32([1]))
    assert forward([layer], np.ones((1, 2), np.float32), FP16).logits.tolist() == [[2050]]


@pytest.mark.parametrize(("dtype", "exact"), [(np.float32, 1e-6), (np.float64, 1e-14)])
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e3, 65504.0, 1e30])
def test_the_loss_is_a_log_of_a_sum_of_exponentials(dtype, exact, size):
    rng = np.random.default_rng(1)
    logits, labels = (size * rng.standard_normal((40, 10))).astype(dtype), rng.integers(0, 10, 40)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        loss, gradient = cross_entropy(logits, labels)
    wide = logits.astype(np.float64)
    sums = np.logaddexp.reduce(wide, axis=1)
    assert loss == pytest.approx(np.mean(sums - wide[np.arange(40), labels]), rel=10 * exact)
    assert gradient.dtype == dtype
    chances = np.exp(wide - sums[:, None])
    np.testing.assert_allclose(gradient, chances - np.eye(10)[labels], rtol=0, atol=exact * 20)


def test_a_sure_and_right_answer_costs_nothing_and_a_wrong_one_what_it_is_off():
    logits = np.array([[65504.0, -65504.0], [-65504.0, 65504.0]], np.float32)
    assert cross_entropy(logits, np.array([0, 1]))[0] == 0
    loss, gradient = cross_entropy(logits, np.array([1, 0]))
    assert loss == 131008
    assert gradient.tolist() == [[1, -1], [-1, 1]]


def test_first_weights_keep_the_spread():
    layers = initial_layers((600, 500, 400, 10), np.random.default_rng(0))
    assert [layer.weight.shape for layer in layers] == [(600, 500), (500, 400), (400, 10)]
    values = np.random.default_rng(1).standard_normal((200, 600))
    for weight, bias in layers:
        assert weight.dtype == bias.dtype == np.float32
        assert bias.shape == weight.shape[1:]
        assert not bias.any()
        count = weight.size
        assert abs(weight.mean()) * math.sqrt(len(weight)) < 5 / math.sqrt(count)
        assert weight.std() * math.sqrt(len(weight)) == pytest.approx(1, abs=5 / math.sqrt(2 * count))
        values = values @ weight
        assert values.std() == pytest.approx(1, rel=0.25)


def test_first_weights_are_those_of_the_seed():
    def weights(seed):
        return [layer.weight for layer in initial_layers((4, 3, 2), np.random.default_rng(seed))]

    assert all(map(np.array_equal, weights(1), weights(1)))
    assert not any(map(np.array_equal, weights(1), weights(2)))
