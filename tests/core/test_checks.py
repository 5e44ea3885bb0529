"""What a person passes by mistake: one sentence about the argument, wherever it is passed."""

from fractions import Fraction

import numpy as np
import pytest

from lossscale_core import (
    FP16,
    InputError,
    MagnitudeIndex,
    StepExample,
    cast,
    cast_exact,
    classify,
    count_outcomes,
    encode,
    outcome_table,
    recommend,
    recovered,
    safe_window,
    take_step,
)

GRADIENTS = np.array([2.0**-26, 8.0], np.float32)
INDEX = MagnitudeIndex(GRADIENTS)
#: All that takes a format.
TAKE_ONE = {
    "cast": lambda fmt: cast(GRADIENTS, fmt),
    "cast_exact": lambda fmt: cast_exact(Fraction(1, 3), fmt),
    "encode": lambda fmt: encode(GRADIENTS, fmt),
    "classify": lambda fmt: classify(GRADIENTS, 8, fmt),
    "count_outcomes": lambda fmt: count_outcomes(GRADIENTS, 8, fmt),
    "outcome_table": lambda fmt: outcome_table(1.5, fmt, range(-3, 3)),
    "safe_window": lambda fmt: safe_window(GRADIENTS, fmt),
    "safe_window of none": lambda fmt: safe_window([], fmt),
    "index.counts": lambda fmt: INDEX.counts(8, fmt),
    "index.curve": lambda fmt: INDEX.curve(fmt, range(3)),
    "index.safe_window": lambda fmt: INDEX.safe_window(fmt),
    "recommend": lambda fmt: recommend(INDEX, fmt),
    "recovered": lambda fmt: recovered(8.0, 2, fmt),
    "take_step": lambda fmt: take_step(StepExample(((1.0,),)), fmt=fmt),
}


@pytest.mark.parametrize("fmt", ["fp16", None, np.float16, 16], ids=str)
@pytest.mark.parametrize("function", TAKE_ONE)
def test_what_is_no_format_is_refused_by_its_name(function, fmt):
    with pytest.raises(InputError, match=r"^fmt must be a ") as error:
        TAKE_ONE[function](fmt)
    assert f"“{fmt}" in str(error.value)
    TAKE_ONE[function](FP16)
