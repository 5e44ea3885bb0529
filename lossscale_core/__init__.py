"""Exact arithmetic of loss scaling: formats, casts, outcomes, the safe window and loss scalers.

Pure numpy, with no screen and no state. Start with `cast`, `classify` and `safe_window`.
"""

from lossscale_core.arrays import as_gradients
from lossscale_core.bits import bit_patterns
from lossscale_core.digits import Digits, digits
from lossscale_core.errors import InputError
from lossscale_core.extents import Extent, extent
from lossscale_core.files import read_gradients, read_tensors
from lossscale_core.formats import BF16, E4M3, E5M2, FORMATS, FP16, FP32, FP64, Cut, Format
from lossscale_core.index import MagnitudeIndex, UnitedIndex
from lossscale_core.notation import (
    bits_text,
    decimal_text,
    number_text,
    parse_number,
    parse_numbers,
    percent_text,
    power_text,
    share_text,
)
from lossscale_core.outcomes import Outcome, Product, classify, count_outcomes, outcome_codes
from lossscale_core.queries import Magnitudes
from lossscale_core.recommend import Recommendation, recommend
from lossscale_core.rounding import cast, cast_exact, encode
from lossscale_core.scaler_presets import SCALER_PRESETS
from lossscale_core.scalers import Action, ScalerPolicy, ScalerState, ScalerTrace
from lossscale_core.tables import OutcomeTable, outcome_table, recovered
from lossscale_core.tensors import Tensor
from lossscale_core.training import WINDOW_LOSING, Ending, StepRecord, Training
from lossscale_core.training_plans import Injection, TrainingPlan
from lossscale_core.update_orders import StepExample, StepOrder
from lossscale_core.update_reports import Stage, StageName, StepReport
from lossscale_core.updates import take_step
from lossscale_core.windows import SafeWindow, Window, safe_window

__all__ = [
    "BF16",
    "E4M3",
    "E5M2",
    "FORMATS",
    "FP16",
    "FP32",
    "FP64",
    "SCALER_PRESETS",
    "WINDOW_LOSING",
    "Action",
    "Cut",
    "Digits",
    "Ending",
    "Extent",
    "Format",
    "Injection",
    "InputError",
    "MagnitudeIndex",
    "Magnitudes",
    "Outcome",
    "OutcomeTable",
    "Product",
    "Recommendation",
    "SafeWindow",
    "ScalerPolicy",
    "ScalerState",
    "ScalerTrace",
    "Stage",
    "StageName",
    "StepExample",
    "StepOrder",
    "StepRecord",
    "StepReport",
    "Tensor",
    "Training",
    "TrainingPlan",
    "UnitedIndex",
    "Window",
    "as_gradients",
    "bit_patterns",
    "bits_text",
    "cast",
    "cast_exact",
    "classify",
    "count_outcomes",
    "decimal_text",
    "digits",
    "encode",
    "extent",
    "number_text",
    "outcome_codes",
    "outcome_table",
    "parse_number",
    "parse_numbers",
    "percent_text",
    "power_text",
    "read_gradients",
    "read_tensors",
    "recommend",
    "recovered",
    "safe_window",
    "share_text",
    "take_step",
]
