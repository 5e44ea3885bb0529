"""Thirteen formats and their thresholds, as measured from ml_dtypes and numpy: data, nothing derived."""

from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, FP32, Format


@dataclass(frozen=True)
class Facts:
    """One format with what must come out of it.

    `overflow_closed` tells whether the tie above the maximum overflows, and `nan_codes` is None where
    nobody counted. `dtype` is the same format in another library.
    """

    fmt: Format
    dtype: Any
    max_finite: float
    min_normal: float
    min_subnormal: float
    overflow_tie: float
    overflow_closed: bool
    underflow_tie: float
    nan_codes: int | None


# fmt: off
F16 = Format("float16", "FP16", 5, 10, 15, 0x7BFF)
BFLOAT16 = Format("bfloat16", "BF16", 8, 7, 127, 0x7F7F)
F8_E4M3FN = Format("float8_e4m3fn", "OCP E4M3", 4, 3, 7, 0x7E, has_inf=False)
F8_E5M2 = Format("float8_e5m2", "OCP E5M2", 5, 2, 15, 0x7B)
F8_E4M3 = Format("float8_e4m3", "IEEE E4M3", 4, 3, 7, 0x77)
F8_E3M4 = Format("float8_e3m4", "IEEE E3M4", 3, 4, 3, 0x6F)
F8_E4M3FNUZ = Format("float8_e4m3fnuz", "E4M3 FNUZ", 4, 3, 8, 0x7F, has_inf=False, negative_zero=False)
F8_E5M2FNUZ = Format("float8_e5m2fnuz", "E5M2 FNUZ", 5, 2, 16, 0x7F, has_inf=False, negative_zero=False)
F8_E4M3B11FNUZ = Format("float8_e4m3b11fnuz", "E4M3 B11 FNUZ", 4, 3, 11, 0x7F, has_inf=False, negative_zero=False)
F6_E3M2FN = Format("float6_e3m2fn", "FP6 E3M2", 3, 2, 3, 0x1F, has_inf=False)
F6_E2M3FN = Format("float6_e2m3fn", "FP6 E2M3", 2, 3, 1, 0x1F, has_inf=False)
F4_E2M1FN = Format("float4_e2m1fn", "FP4 E2M1", 2, 1, 1, 0x7, has_inf=False)
F32 = Format("float32", "FP32", 8, 23, 127, 0x7F7FFFFF)

FACTS = [
    Facts(F16, np.float16, 65504.0, 6.103515625e-05, 5.960464477539063e-08, 65520.0, True,
          2.9802322387695312e-08, 2046),
    Facts(BFLOAT16, ml_dtypes.bfloat16, 3.3895313892515355e+38, 1.1754943508222875e-38, 9.183549615799121e-41,
          3.39617752923046e+38, True, 4.591774807899561e-41, 254),
    Facts(F8_E4M3FN, ml_dtypes.float8_e4m3fn, 448.0, 0.015625, 0.001953125, 464.0, False, 0.0009765625, 2),
    Facts(F8_E5M2, ml_dtypes.float8_e5m2, 57344.0, 6.103515625e-05, 1.52587890625e-05, 61440.0, True,
          7.62939453125e-06, 6),
    Facts(F8_E4M3, ml_dtypes.float8_e4m3, 240.0, 0.015625, 0.001953125, 248.0, True, 0.0009765625, 14),
    Facts(F8_E3M4, ml_dtypes.float8_e3m4, 15.5, 0.25, 0.015625, 15.75, True, 0.0078125, 30),
    Facts(F8_E4M3FNUZ, ml_dtypes.float8_e4m3fnuz, 240.0, 0.0078125, 0.0009765625, 248.0, True, 0.00048828125, 1),
    Facts(F8_E5M2FNUZ, ml_dtypes.float8_e5m2fnuz, 57344.0, 3.0517578125e-05, 7.62939453125e-06, 61440.0, True,
          3.814697265625e-06, 1),
    Facts(F8_E4M3B11FNUZ, ml_dtypes.float8_e4m3b11fnuz, 30.0, 0.0009765625, 0.0001220703125, 31.0, True,
          6.103515625e-05, 1),
    Facts(F6_E3M2FN, ml_dtypes.float6_e3m2fn, 28.0, 0.25, 0.0625, 30.0, True, 0.03125, 0),
    Facts(F6_E2M3FN, ml_dtypes.float6_e2m3fn, 7.5, 1.0, 0.125, 7.75, True, 0.0625, 0),
    Facts(F4_E2M1FN, ml_dtypes.float4_e2m1fn, 6.0, 1.0, 0.5, 7.0, True, 0.25, 0),
    Facts(F32, np.float32, 3.4028234663852886e+38, 1.1754943508222875e-38, 1.401298464324817e-45,
          3.4028235677973366e+38, True, 7.006492321624085e-46, None),
]
# fmt: on

#: The package's own formats, by the name of the same format in the table.
OWN = {"float16": FP16, "bfloat16": BF16, "float8_e5m2": E5M2, "float8_e4m3fn": E4M3, "float32": FP32}

#: The table with the package's own formats where it has them.
EVERY = [replace(row, fmt=OWN.get(row.fmt.name, row.fmt)) for row in FACTS]


def _for(name: str, rows: list[Facts]) -> pytest.MarkDecorator:
    values = rows if name == "facts" else [row.fmt for row in rows]
    return pytest.mark.parametrize(name, values, ids=[row.fmt.name for row in rows])


_NARROW = [row for row in EVERY if row.fmt is not FP32]

every_row = _for("facts", EVERY)
every_format = _for("fmt", EVERY)
narrow_rows = _for("facts", _NARROW)
#: For what depends on no format: one with inf, one without.
two_formats = _for("fmt", [row for row in EVERY if row.fmt in (FP16, E4M3)])
