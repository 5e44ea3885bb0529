"""Numbers that property tests draw: plain ones, and ones at the borders of a format."""

from fractions import Fraction
import math

from hypothesis import strategies as st

from lossscale_core import Format

from .oracle import power

float64s = st.floats()
float32s = st.floats(width=32)
finite_float64s = st.floats(allow_nan=False, allow_infinity=False)

positive_fractions = st.builds(
    lambda numerator, denominator, exponent: Fraction(numerator, denominator) * power(exponent),
    st.integers(1, 2**70),
    st.integers(1, 2**70),
    st.integers(-160, 160),
)


def nudged(value: float, steps: int) -> float:
    """A float some float64 steps away from another, outwards or inwards."""
    for _ in range(abs(steps)):
        value = math.nextafter(value, math.copysign(math.inf, value) if steps > 0 else 0.0)
    return value


def near_codes(fmt: Format) -> st.SearchStrategy[float]:
    """Values and midpoints of a format's grid, and float64 neighbours of both."""

    def build(code: int, half: int, steps: int, sign: float) -> float:
        field, mantissa = divmod(code, 1 << fmt.mantissa_bits)
        doubled = 2 * (mantissa + ((1 << fmt.mantissa_bits) if field else 0)) + half
        try:
            return sign * nudged(math.ldexp(doubled, max(field, 1) - fmt.bias - fmt.mantissa_bits - 1), steps)
        except OverflowError:
            return sign * math.inf

    codes = st.integers(0, fmt.max_code)
    # Only beyond the last code of float64 itself there is nothing finite.
    return st.builds(build, codes, st.integers(0, 1), st.integers(-2, 2), st.sampled_from((1.0, -1.0))).filter(
        math.isfinite
    )
