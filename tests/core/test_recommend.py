"""The recommended scale: no overflow, few lost, some headroom, by brute force over all scales."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import FP16, MagnitudeIndex, recommend

from .format_table import every_format
from .oracle import outcome

SCALES = range(-40, 41)


def lost_and_over(gradients, k, fmt):
    names = [outcome(float(g), Fraction(2) ** k, fmt) for g in gradients]
    return names.count("UNDERFLOW"), names.count("OVERFLOW")


@every_format
@given(
    gradients=st.lists(st.floats(2.0**-70, 2.0**60, width=32), min_size=1, max_size=8),
    losing=st.sampled_from((0, 0.125, 0.5)),
)
def test_it_is_the_best_by_its_own_rule(fmt, gradients, losing):
    chosen = recommend(MagnitudeIndex(np.array(gradients, np.float32)), fmt, losing)
    table = {k: lost_and_over(gradients, k, fmt) for k in range(-200, 201)}
    safe = [k for k in SCALES if table[k][1] == 0]
    if chosen is None:
        assert not safe
        return
    assert chosen.log2_scale in safe
    assert table[chosen.log2_scale + chosen.headroom][1] == 0
    assert table[chosen.log2_scale + chosen.headroom + 1][1] > 0
    assert chosen.kept == 1 - Fraction(table[chosen.log2_scale][0], len(gradients))
    few = [k for k in safe if table[k][0] <= losing * len(gradients)]
    assert chosen.within == bool(few)
    if few:
        assert chosen.log2_scale in few
        # More headroom, up to three octaves, would lose more than is allowed.
        assert max(safe) - chosen.log2_scale >= 3 or chosen.log2_scale == min(few)
    else:
        assert chosen.log2_scale == max(safe)


def test_three_octaves_below_overflow():
    chosen = recommend(MagnitudeIndex([2.0**-20, 1.0]), FP16)
    assert (chosen.log2_scale, chosen.headroom, chosen.kept) == (12, 3, 1)


@pytest.mark.parametrize("gradients", [[], [0.0], [np.inf], [2.0**90]])
def test_nothing_to_recommend(gradients):
    assert recommend(MagnitudeIndex(gradients), FP16) is None
