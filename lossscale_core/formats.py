"""Storage formats as data: a few integers each, every threshold derived from them."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property


@dataclass(frozen=True)
class Cut:
    """A point on the axis of magnitudes where the outcome of a cast changes.

    Attributes:
        value: the point, exactly.
        included: whether a magnitude equal to `value` belongs to the upper side.
    """

    value: Fraction
    included: bool


@dataclass(frozen=True)
class Format:
    """A binary floating-point storage format with round-to-nearest-even casts.

    Attributes:
        name: the name in links and on the command line, such as `fp16`.
        label: the name for people, such as `FP16`.
        exponent_bits: width of the exponent field.
        mantissa_bits: width of the stored significand, without the hidden bit.
        bias: what is subtracted from the exponent field.
        max_code: the bit pattern of the largest finite value.
        has_inf: whether the format has infinities; without them overflow becomes NaN.
        negative_zero: whether the format tells -0 from +0.
    """

    name: str
    label: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    max_code: int
    has_inf: bool = True
    negative_zero: bool = True

    @property
    def bits(self) -> int:
        """Width of a stored value, sign included."""
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def significant_bits(self) -> int:
        """Significant bits of a normal value, hidden bit included."""
        return self.mantissa_bits + 1

    @property
    def min_exponent(self) -> int:
        """log2 of the smallest normal value."""
        return 1 - self.bias

    @property
    def max_exponent(self) -> int:
        """floor(log2) of the largest finite value."""
        return (self.max_code >> self.mantissa_bits) - self.bias

    @property
    def min_subnormal_exponent(self) -> int:
        """log2 of the smallest nonzero value."""
        return self.min_exponent - self.mantissa_bits

    @cached_property
    def max_finite(self) -> float:
        """The largest finite value."""
        return self.value_of(self.max_code)

    @property
    def min_normal(self) -> float:
        """The smallest value with full precision."""
        return 2.0**self.min_exponent

    @property
    def min_subnormal(self) -> float:
        """The smallest nonzero value."""
        return 2.0**self.min_subnormal_exponent

    @cached_property
    def survival(self) -> Cut:
        """Where magnitudes stop rounding to zero: half the smallest value, a tie that goes to zero."""
        return Cut(_power(self.min_subnormal_exponent - 1), included=False)

    @cached_property
    def full_precision(self) -> Cut:
        """Where magnitudes start rounding to a normal value: a tie that goes up, to the even neighbour."""
        return Cut(_power(self.min_exponent) - _power(self.min_subnormal_exponent - 1), included=True)

    @cached_property
    def overflow(self) -> Cut:
        """Where magnitudes start to overflow: the tie above the maximum, which overflows if the maximum is odd."""
        half_step = _power(self.max_exponent - self.mantissa_bits - 1)
        return Cut(Fraction(self.max_finite) + half_step, included=bool(self.max_code & 1))

    @property
    def nan_codes(self) -> int:
        """How many bit patterns are NaN."""
        finite = 2 * (self.max_code + 1) - (not self.negative_zero)
        return int(2**self.bits - finite - 2 * self.has_inf)

    @property
    def inf_code(self) -> int | None:
        """The bit pattern of +inf, or None where the format has none."""
        return self.max_code + 1 if self.has_inf else None

    def value_of(self, code: int) -> float:
        """The finite value of a bit pattern.

        Args:
            code: a bit pattern with the sign bit clear, at most `max_code`.

        Returns:
            The value, exact in float64.
        """
        exponent, mantissa = divmod(code, 1 << self.mantissa_bits)
        if exponent == 0:
            return mantissa * self.min_subnormal
        return float((mantissa + (1 << self.mantissa_bits)) * _power(exponent - self.bias - self.mantissa_bits))


def _power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


FP16 = Format("fp16", "FP16", exponent_bits=5, mantissa_bits=10, bias=15, max_code=0x7BFF)
BF16 = Format("bf16", "BF16", exponent_bits=8, mantissa_bits=7, bias=127, max_code=0x7F7F)
E5M2 = Format("e5m2", "E5M2", exponent_bits=5, mantissa_bits=2, bias=15, max_code=0x7B)
#: The OCP variant: no infinities, one NaN pattern a sign, 448 the largest value.
E4M3 = Format("e4m3", "E4M3", exponent_bits=4, mantissa_bits=3, bias=7, max_code=0x7E, has_inf=False)
#: The format that gradients are unscaled in, and one wide enough for any result.
FP32 = Format("fp32", "FP32", exponent_bits=8, mantissa_bits=23, bias=127, max_code=0x7F7FFFFF)
FP64 = Format("fp64", "FP64", exponent_bits=11, mantissa_bits=52, bias=1023, max_code=0x7FEF_FFFF_FFFF_FFFF)

#: Storage formats by their link names.
FORMATS = {fmt.name: fmt for fmt in (FP16, BF16, E5M2, E4M3)}
