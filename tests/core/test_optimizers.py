"""The optimizers, against the formulas of the papers in float64."""

import numpy as np
import pytest

from lossscale_core.optimizers import Adam, Momentum

STEPS = 25
SHAPES = [(7, 3), (3,), (1, 1)]


def gradients(seed, size=1.0):
    """Gradients of some steps, each float32, of magnitudes three decades apart."""
    rng = np.random.default_rng(seed)
    return [
        [(size * rng.standard_normal(shape) * 10.0 ** rng.uniform(-3, 0, shape)).astype(np.float32) for shape in SHAPES]
        for _ in range(STEPS)
    ]


def parameters():
    rng = np.random.default_rng(1)
    return [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES]


def by_momentum(start, steps, rate):
    """SGD with momentum 0.9, not dampened."""
    place, velocity = np.float64(start), 0.0
    for gradient in steps:
        velocity = 0.9 * velocity + np.float64(gradient)
        place = place - rate * velocity
        yield place


def by_adam(start, steps, rate):
    """Algorithm 1 of Kingma and Ba 2015, with epsilon 1e-12."""
    place, m, v = np.float64(start), 0.0, 0.0
    for t, gradient in enumerate(steps, 1):
        g = np.float64(gradient)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        place = place - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-12)
        yield place


RULES = [(Momentum, by_momentum), (Adam, by_adam)]


@pytest.mark.parametrize(("kind", "rule"), RULES)
@pytest.mark.parametrize("rate", [0.003, 0.5])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_step_is_that_of_the_formula(kind, rule, rate, seed):
    own, steps = parameters(), gradients(seed)
    optimizer = kind(own, rate)
    expected = [rule(start, [step[place] for step in steps], rate) for place, start in enumerate(parameters())]
    for step in steps:
        optimizer.step(own, step)
        for actual, of_it in zip(own, expected, strict=True):
            wanted = next(of_it)
            assert actual.dtype == np.float32
            # Sums of FP32 numbers round, steps or not.
            assert np.abs(actual - wanted).max() < 3e-6 * max(rate, np.abs(wanted).max())


@pytest.mark.parametrize(("kind", "rule"), RULES)
def test_the_sum_of_many_small_steps_is_that_of_the_formula(kind, rule):
    # From 0, so that the steps themselves are seen and not how they round beside a weight.
    own, steps = [np.zeros(shape, np.float32) for shape in SHAPES], gradients(3)
    optimizer = kind(own, 0.003)
    for step in steps:
        optimizer.step(own, step)
    for place, shape in enumerate(SHAPES):
        *_, last = rule(np.zeros(shape), [step[place] for step in steps], 0.003)
        np.testing.assert_allclose(own[place], last, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("kind", [Momentum, Adam])
def test_parameters_are_changed_in_place_and_gradients_are_not(kind):
    own, (step, *_) = parameters(), gradients(1)
    same, given = list(own), [each.copy() for each in step]
    kind(own, 0.1).step(own, step)
    assert all(one is two for one, two in zip(own, same, strict=True))
    assert not any(np.array_equal(one, two) for one, two in zip(own, parameters(), strict=True))
    assert all(np.array_equal(one, two) for one, two in zip(step, given, strict=True))


def moved(kind, factor, rate=0.01):
    own = [np.zeros(shape, np.float32) for shape in SHAPES]
    optimizer = kind(own, rate)
    for step in gradients(1):
        optimizer.step(own, [np.float32(factor) * each for each in step])
    return np.concatenate([each.ravel() for each in own])


@pytest.mark.parametrize("factor", [2.0**-8, 0.01, 0.3, 7.0, 1e4, 2.0**30])
def test_adam_does_not_see_by_what_all_gradients_are_multiplied(factor):
    np.testing.assert_allclose(moved(Adam, factor), moved(Adam, 1), rtol=2e-4, atol=1e-8)


@pytest.mark.parametrize("log2_factor", [-20, -3, 1, 30])
def test_sgd_multiplies_its_steps_by_it(log2_factor):
    assert np.array_equal(moved(Momentum, 2.0**log2_factor), moved(Momentum, 1) * np.float32(2.0**log2_factor))


@pytest.mark.parametrize("gradient", [1.0, 1e-4, 1e-8, 1e-9, 1e-10])
def test_adam_sees_gradients_that_the_customary_epsilon_hides(gradient):
    # With 1e-8 the last would move the weight a hundredth as far.
    own = [np.zeros(1, np.float32)]
    optimizer = Adam(own, 0.001)
    for _ in range(5):
        optimizer.step(own, [np.array([gradient], np.float32)])
    assert own[0][0] == pytest.approx(-0.005, rel=0.02)


@pytest.mark.parametrize("kind", [Momentum, Adam])
def test_no_gradient_no_step(kind):
    own = parameters()
    optimizer = kind(own, 0.1)
    for _ in range(3):
        optimizer.step(own, [np.zeros(shape, np.float32) for shape in SHAPES])
    assert all(np.array_equal(one, two) for one, two in zip(own, parameters(), strict=True))
