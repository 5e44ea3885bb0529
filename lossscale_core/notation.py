"""Numbers as people write them, read and written."""

from collections.abc import Iterable
import decimal
from fractions import Fraction
import math
import re

from lossscale_core.errors import InputError, quoted
from lossscale_core.exact import exact_fraction, floor_log2
from lossscale_core.formats import Format

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SEPARATORS = re.compile(r"[\s,;]+")
_DECIMAL = r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,5})?"
_NUMBER = re.compile(
    rf"(?P<sign>[+-]?)(?:"
    rf"(?P<special>nan|inf|infinity|∞)"
    rf"|(?P<hex>0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?\d{{1,5}})?)"
    rf"|(?:(?P<factor>{_DECIMAL})\*)?2\^(?P<open>\()?(?P<power>[+-]?\d{{1,5}})(?(open)\))"
    rf"|(?P<decimal>{_DECIMAL})"
    rf")",
    re.IGNORECASE | re.ASCII,
)
_LONGEST = 100


_SMALLEST_PERCENT = Fraction(1, 10_000)


def parse_number(text: str) -> float:
    """Read one number, without evaluating anything.

    Args:
        text: `1e-8`, `-3`, `2^-26`, `2**-26`, `1.5*2^-24`, `0x1.8p-24`,
            `2⁻²⁶`, `inf` or `nan`.

    Returns:
        The nearest float64.

    Raises:
        InputError: the text is not such a number, or too large or small for float64.

    Example:
        >>> parse_number("0x1p-26") == parse_number("2^-26") == 2**-26
        True
    """
    match = _NUMBER.fullmatch(_plain(text)) if len(text) <= _LONGEST else None
    if match is None:
        raise InputError(
            "{text} is not a number that can be read here; write it like 2^-26, 1e-8, -3 or 0x1p-26.", text=quoted(text)
        )
    sign = -1.0 if match["sign"] == "-" else 1.0
    if match["special"]:
        return math.nan if match["special"].lower() == "nan" else math.copysign(math.inf, sign)
    try:
        value, is_zero = _magnitude(match)
    except OverflowError:
        value, is_zero = math.inf, False
    if math.isinf(value) or (value == 0 and not is_zero):
        if value:
            raise InputError("{text} is too large for float64.", text=quoted(text))
        raise InputError("{text} is too small for float64.", text=quoted(text))
    return sign * value


def parse_numbers(text: str) -> list[tuple[str, float]]:
    """Read a list of numbers: commas, semicolons, spaces and line ends all separate.

    Args:
        text: what was typed or pasted, such as `2^-26, 8` or a column of a table.

    Returns:
        Each token as written, with its value.

    Raises:
        InputError: there is no number, or one cannot be read.
    """
    tokens = [token for token in _SEPARATORS.split(text) if token]
    if not tokens:
        raise InputError("{text} has no number in it; write gradients like 2^-26, 8.", text=quoted(text))
    return [(token, parse_number(token)) for token in tokens]


def power_text(value: float | Fraction) -> str | None:
    """Write a number as a power of two, if it is one.

    Args:
        value: any real number.

    Returns:
        Such as `2^-26` or `-2^3`; None for what is no power of two.
    """
    if not _finite_nonzero(value):
        return None
    magnitude = abs(exact_fraction(value))
    exponent = floor_log2(magnitude)
    if magnitude != Fraction(2) ** exponent:
        return None
    return f"{'-' if value < 0 else ''}2^{exponent}"


def decimal_text(value: float | Fraction, digits: int = 4, exact_digits: int = 10) -> str:
    """Write a number in decimal: exactly where that is short, else rounded and marked so.

    Args:
        value: any real number, also inf or NaN.
        digits: significant digits of a rounded number.
        exact_digits: the most significant digits of one written exactly.

    Returns:
        Such as `8190`, `0.125`, `≈1.490e-8`, `-0`, `inf`, `nan`. The mark ≈ means rounded.
    """
    if not _finite_nonzero(value):
        return "0" if value == 0 and math.copysign(1, value) > 0 else f"{float(value):.0f}"
    exact = exact_fraction(value)
    short = _rounded(exact, exact_digits)
    if Fraction(short) == exact:
        return _written(short.normalize(_context(exact_digits)), exact_digits)
    return "≈" + _written(_rounded(exact, digits), 6)


def number_text(value: float | Fraction) -> str:
    """Write a number the shortest way that says what it is.

    Args:
        value: any real number.

    Returns:
        A short exact decimal, else a power of two, else a rounded decimal: `8`, `2^-26`, `≈1.001e-8`.
    """
    short = decimal_text(value, exact_digits=5)
    return short if not short.startswith("≈") and "e" not in short else power_text(value) or short


def percent_text(ratio: float | Fraction) -> str:
    """Write a signed relative error in percent.

    Args:
        ratio: (recovered - true) / true, finite or not.

    Returns:
        `0` for none at all, else such as `+14.29%`, `-100%`, `+100%` or `inf`, rounded to four digits.
    """
    if not _finite_nonzero(ratio):
        return "0" if ratio == 0 else decimal_text(ratio)
    # A percentage that rounds to a whole number keeps no idle zeros.
    rounded = _rounded(exact_fraction(ratio) * 100, 4)
    text = _written(rounded.normalize(_context(4)), 6)
    return f"{'+' if ratio > 0 else ''}{text}%"


def share_text(count: int, total: int) -> str:
    """Write a share in percent, so that only nothing is 0% and only all is 100%.

    Args:
        count: how many.
        total: of how many; at least 1.

    Returns:
        Such as `0%`, `<0.0001%`, `12.3%`, `99.98%`, `>99.9999%` or `100%`: three significant digits,
        above 99% two of what is missing.
    """
    percent = Fraction(100 * int(count), int(total))
    if percent in (0, 100):
        return f"{percent}%"
    if percent < _SMALLEST_PERCENT:
        return "<0.0001%"
    if 100 - percent < _SMALLEST_PERCENT:
        return ">99.9999%"
    rounded = _rounded(percent, 3) if percent <= 99 else 100 - _rounded(100 - percent, 2)
    return f"{rounded.normalize():f}%"


def bits_text(code: int, fmt: Format) -> str:
    """Write a bit pattern with its fields apart.

    Args:
        code: the pattern, sign included.
        fmt: its format.

    Returns:
        Sign, exponent and mantissa, such as `0 00000 0000000010`.
    """
    text = f"{code:0{fmt.bits}b}"
    fields: Iterable[str] = (text[0], text[1 : 1 + fmt.exponent_bits], text[1 + fmt.exponent_bits :])
    return " ".join(fields)


def _plain(text: str) -> str:
    """One spelling for what people write in several."""
    text = _SUPERSCRIPT.sub(lambda match: "^" + match[0].translate(_SUPERSCRIPTS), text.strip())
    return text.replace("−", "-").replace("**", "^").replace("·", "*").replace("×", "*")


def _magnitude(match: re.Match[str]) -> tuple[float, bool]:
    """The value of a matched number without its sign, and whether it is written as a zero."""
    if match["hex"]:
        digits = match["hex"].lower().removeprefix("0x").split("p")[0]
        return float.fromhex(match["hex"]), not digits.strip("0.")
    if match["power"]:
        exponent = int(match["power"])
        factor = decimal.Decimal(match["factor"] or "1")
        if factor == 0:
            return 0.0, True
        if abs(exponent) > 2000:
            return (math.inf if exponent > 0 else 0.0), False
        return float(Fraction(factor) * Fraction(2) ** exponent), False
    digits = match["decimal"].lower().split("e")[0]
    return float(match["decimal"]), not digits.strip("0.")


def _finite_nonzero(value: float | Fraction) -> bool:
    return value != 0 and (isinstance(value, Fraction) or math.isfinite(value))


def _context(digits: int) -> decimal.Context:
    return decimal.Context(prec=digits, rounding=decimal.ROUND_HALF_EVEN, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


def _rounded(value: Fraction, digits: int) -> decimal.Decimal:
    return _context(digits).divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _written(number: decimal.Decimal, longest: int) -> str:
    """Plain digits for sizes that people read at a glance, else with an exponent."""
    exponent = number.adjusted()
    if -4 <= exponent < longest:
        return f"{number:f}"
    digits = "".join(map(str, number.as_tuple().digits))
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{'-' if number.is_signed() else ''}{digits[0]}{fraction}e{exponent}"
