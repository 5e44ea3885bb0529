"""Gradients and typed scales as they were written: what is read, what is refused, which track they run on."""

from fractions import Fraction
import math

from core.oracle import log2_floor, power
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from lossscale_app.gradients import FAR_REACH, MAX_GRADIENTS, OCTAVES, Gradient, read_gradients, read_scale
from lossscale_core import InputError

finite = st.floats(allow_nan=False, allow_infinity=False).filter(bool)
ordinary = st.builds(math.ldexp, st.floats(1, 2, exclude_max=True), st.integers(OCTAVES[0], OCTAVES[-1]))


def one(token):
    (gradient,) = read_gradients([token])
    return gradient


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("2^-26", 2**-26),
        ("8", 8),
        ("-3", -3),
        ("1e-8", 1e-8),
        ("0x1.8p-24", 1.5 * 2**-24),
        ("2⁻²⁶", 2**-26),
        ("−1", -1),
    ],
)
def test_a_gradient_keeps_what_was_written_and_what_it_stands_for(token, value):
    assert one(token) == Gradient(token, value)


def test_white_space_around_a_number_is_dropped():
    assert one(" 8\t") == Gradient("8", 8)


def test_a_list_may_be_empty_or_full():
    assert read_gradients([]) == []
    assert len(read_gradients(["1"] * MAX_GRADIENTS)) == MAX_GRADIENTS == 12


def test_a_list_that_is_too_long_is_refused_with_both_numbers():
    with pytest.raises(InputError, match=r"^The list holds up to 12 gradients, and this would make 13\.$"):
        read_gradients(["1"] * 13)


@pytest.mark.parametrize("token", ["", "eight", "1,2", "1 2", "2^-99999", "1e999", "1e-999", "__import__('os')", "١"])
def test_what_is_no_number_is_refused_and_quoted(token):
    with pytest.raises(InputError) as refused:
        read_gradients(["8", token])
    assert f"“{token}”" in str(refused.value)


@given(value=finite)
@settings(deadline=None)
def test_significand_and_octave_make_up_the_magnitude(value):
    gradient = Gradient(repr(value), value)
    assert 1 <= gradient.significand < 2
    assert Fraction(gradient.significand) * power(gradient.octave) == abs(Fraction(value))
    assert gradient.octave == log2_floor(abs(Fraction(value)))
    assert gradient.negative == (value < 0)
    assert not gradient.special


@pytest.mark.parametrize("token", ["0", "-0", "inf", "-inf", "nan"])
def test_zeros_and_nonfinite_gradients_have_no_octave(token):
    gradient = one(token)
    assert gradient.special
    assert gradient.octave == 0
    assert gradient.negative == token.startswith("-")


@given(value=ordinary, octave=st.integers(OCTAVES[0], OCTAVES[-1]), sign=st.sampled_from((1, -1)))
@settings(deadline=None)
def test_gradients_of_one_significand_share_a_track_whatever_sign_and_octave(value, octave, sign):
    gradient = Gradient("", value)
    there = Gradient("", sign * math.ldexp(gradient.significand, octave))
    assert there.key == gradient.key
    assert there.octaves == gradient.octaves == OCTAVES


@given(first=finite, second=finite)
@settings(deadline=None)
def test_gradients_on_one_track_have_its_significand_and_octaves(first, second):
    one, other = Gradient("", first), Gradient("", second)
    if one.key == other.key:
        assert (one.significand, one.octaves) == (other.significand, other.octaves)


@given(value=finite)
@settings(deadline=None)
def test_a_gradient_lies_within_its_octaves(value):
    gradient = Gradient("", value)
    assert gradient.octave in gradient.octaves
    assert gradient.octaves == OCTAVES or gradient.octave not in OCTAVES
    assert gradient.octaves.step == 1


@pytest.mark.parametrize("octave", [OCTAVES[0] - 1, OCTAVES[-1] + 1, -300, 300])
def test_a_gradient_far_away_has_octaves_around_it_and_a_track_of_its_own(octave):
    gradient = Gradient("", math.ldexp(1.5, octave))
    assert gradient.octaves == range(octave - FAR_REACH, octave + FAR_REACH + 1)
    neighbour, near = Gradient("", math.ldexp(1.5, octave + 1)), Gradient("", 1.5)
    assert len({gradient.key, neighbour.key, near.key}) == 3 - (neighbour.octaves == OCTAVES)


def test_zeros_infinities_and_nan_have_three_tracks():
    keys = [one(token).key for token in ("0", "-0", "inf", "-inf", "nan")]
    assert keys[0] == keys[1]
    assert keys[2] == keys[3]
    assert len({*keys, one("1").key}) == 4


@given(value=st.floats(min_value=5e-324, allow_infinity=False, allow_nan=False))
@settings(deadline=None)
def test_a_typed_scale_is_exact(value):
    scale = read_scale(f" {value!r} ")
    assert scale.token == repr(value)
    assert scale.value == Fraction(value)
    assert isinstance(scale.value, Fraction)


@pytest.mark.parametrize("token", ["0", "-0", "-1", "inf", "-inf", "nan"])
def test_a_scale_that_is_not_finite_and_above_zero_is_refused_and_quoted(token):
    with pytest.raises(InputError, match=r"^A loss scale must be a finite number above 0") as refused:
        read_scale(token)
    assert f"“{token}”" in str(refused.value)


@pytest.mark.parametrize("token", ["", "big", "1 2", "1e400", "1e-400"])
def test_a_scale_that_is_no_number_is_refused_and_quoted(token):
    with pytest.raises(InputError) as refused:
        read_scale(token)
    assert f"“{token}”" in str(refused.value)


def test_scales_of_one_value_share_their_tracks_and_others_do_not():
    assert read_scale("1000").key == read_scale("1e3").key
    assert read_scale("1000").key != read_scale("1000.0000000000001").key
