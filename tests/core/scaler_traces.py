"""How the scalers of ten frameworks moved: data, nothing derived.

Most frameworks' own code was executed; where `executed` is false it was read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any

#: What the signs in `Trace.actions` stand for.
ACTIONS = {".": "step", "x": "skip", "!": "raise"}


@dataclass(frozen=True)
class Trace:
    """The scales before the first and after each step of a pattern, in which N is a non-finite step."""

    name: str
    preset: str
    pattern: str
    scales: tuple[float, ...]
    actions: str
    executed: bool
    overrides: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}, {self.preset}"


@dataclass(frozen=True)
class ClosedTrace:
    """The scales with which each step is made, where a step overflows if FP16 cannot hold the scale itself."""

    preset: str
    overrides: dict[str, Any]
    scales: tuple[float, ...]
    actions: str

    def __str__(self) -> str:
        return self.preset


#: Every field of PyTorch's scaler, and what others have different.
PYTORCH: dict[str, Any] = {
    "init_scale": 65536,
    "growth_factor": 2,
    "backoff_factor": 0.5,
    "growth_interval": 2000,
    "growth_delay": 0,
    "growth_compare": "==",
    "hysteresis": 1,
    "hysteresis_refill": "growth",
    "min_scale": None,
    "max_scale": None,
    "at_min": "clamp",
    "stop_scale": None,
    "grow_to_inf": "hold",
    "dtype": "float32",
    "factor_dtype": "float64",
    "lag": 0,
    "tolerance": 0,
}
DIFFERENT: dict[str, dict[str, Any]] = {
    "pytorch": {},
    "apex_amp": {"max_scale": 16777216, "grow_to_inf": "allow", "dtype": "float64"},
    "apex_fp16_utils": {
        "init_scale": 4294967296,
        "growth_interval": 1000,
        "min_scale": 1,
        "grow_to_inf": "allow",
        "dtype": "float64",
    },
    "apex_hysteresis_kernel": {"hysteresis": 2, "hysteresis_refill": "finite"},
    "deepspeed_zero": {
        "growth_interval": 1000,
        "growth_delay": 1,
        "hysteresis": 2,
        "min_scale": 1,
        "at_min": "raise_if_at_min",
        "grow_to_inf": "allow",
        "dtype": "float64",
    },
    "deepspeed_zero_consecutive": {
        "growth_interval": 1000,
        "growth_delay": 1,
        "hysteresis": 2,
        "hysteresis_refill": "finite",
        "min_scale": 1,
        "at_min": "raise_if_at_min",
        "grow_to_inf": "allow",
        "dtype": "float64",
    },
    "deepspeed_fused": {
        "growth_interval": 1000,
        "growth_delay": 1,
        "min_scale": 1,
        "grow_to_inf": "allow",
        "dtype": "float64",
    },
    "megatron": {
        "init_scale": 4294967296,
        "growth_interval": 1000,
        "hysteresis": 2,
        "min_scale": 1,
        "grow_to_inf": "allow",
        "factor_dtype": "float32",
    },
    "fairseq": {
        "init_scale": 128,
        "at_min": "raise_if_would_reach",
        "stop_scale": 0.0001,
        "grow_to_inf": "allow",
        "dtype": "float64",
    },
    "jmp": {"init_scale": 32768, "min_scale": 1},
    "keras3": {"init_scale": 32768, "grow_to_inf": "allow"},
    "keras2": {"init_scale": 32768, "growth_compare": ">=", "min_scale": 1},
    "paddle_dygraph": {"hysteresis_refill": "finite_or_backoff", "grow_to_inf": "allow"},
    "paddle_static": {
        "init_scale": 32768,
        "growth_interval": 1000,
        "hysteresis": 2,
        "hysteresis_refill": "finite_or_backoff",
        "min_scale": 1,
    },
    "mxnet": {"max_scale": 16777216, "grow_to_inf": "allow", "dtype": "float64", "lag": 1},
    "openseq2seq_backoff": {"init_scale": 16384, "min_scale": 1, "max_scale": 16384},
}

# fmt: off
_OPEN: list[tuple[str, str, dict[str, Any], list[tuple[str, bool, str, list[float]]]]] = [
    ("T1 basic", "NFFFFFFNNFFF", {"init_scale": 65536, "growth_interval": 3}, [
        ("pytorch", True, "x......xx...",
         [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768, 65536]),
        ("apex_amp", True, "x......xx...",
         [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768, 65536]),
        ("apex_fp16_utils", True, "x......xx...",
         [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768, 65536]),
        ("apex_hysteresis_kernel", False, "x......xx...",
         [65536, 65536, 65536, 65536, 131072, 131072, 131072, 262144, 262144, 131072, 131072, 131072, 262144]),
        ("deepspeed_zero", True, "x......xx...",
         [65536, 65536, 65536, 65536, 65536, 131072, 131072, 131072, 131072, 65536, 65536, 65536, 65536]),
        ("deepspeed_zero_consecutive", True, "x......xx...",
         [65536, 65536, 65536, 65536, 65536, 131072, 131072, 131072, 131072, 65536, 65536, 65536, 65536]),
        ("deepspeed_fused", True, "x......xx...",
         [65536, 32768, 32768, 32768, 32768, 65536, 65536, 65536, 32768, 16384, 16384, 16384, 16384]),
        ("megatron", True, "x......xx...",
         [65536, 65536, 65536, 65536, 131072, 131072, 131072, 262144, 262144, 131072, 131072, 131072, 262144]),
        ("fairseq", True, "x......xx...",
         [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768, 65536]),
        ("jmp", True, "x......xx...",
         [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768, 65536]),
        ("keras3", True, "x......xx...",
         [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768, 65536]),
        ("keras2", False, "x......xx...",
         [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768, 65536]),
        ("paddle_dygraph", False, "x......xx...",
         [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768, 65536]),
        ("paddle_static", False, "x......xx...",
         [65536, 65536, 65536, 65536, 131072, 131072, 131072, 262144, 262144, 131072, 131072, 131072, 262144]),
        ("mxnet", True, "x......xx...",
         [65536, 65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768, 32768, 32768]),
    ]),
    ("T1 basic", "NFFFFFFNNFFF", {"init_scale": 4096, "growth_interval": 3}, [
        ("openseq2seq_backoff", False, "x......xx...",
         [4096, 2048, 2048, 2048, 4096, 4096, 4096, 8192, 4096, 2048, 2048, 2048, 4096]),
    ]),
    ("T2 hysteresis 2", "NFNNFNFFFNFNN", {"init_scale": 65536, "growth_interval": 3, "hysteresis": 2}, [
        ("deepspeed_zero", True, "x.xx.x...x.xx",
         [65536, 65536, 65536, 32768, 16384, 16384, 8192, 8192, 8192, 8192, 4096, 4096, 2048, 1024]),
        ("deepspeed_zero_consecutive", True, "x.xx.x...x.xx",
         [65536, 65536, 65536, 65536, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 32768, 16384]),
        ("megatron", True, "x.xx.x...x.xx",
         [65536, 65536, 65536, 32768, 16384, 16384, 8192, 8192, 8192, 16384, 16384, 16384, 8192, 4096]),
        ("apex_hysteresis_kernel", False, "x.xx.x...x.xx",
         [65536, 65536, 65536, 65536, 32768, 32768, 32768, 32768, 32768, 65536, 65536, 65536, 65536, 32768]),
        ("paddle_dygraph", False, "x.xx.x...x.xx",
         [65536, 65536, 65536, 65536, 32768, 32768, 32768, 32768, 32768, 65536, 65536, 65536, 65536, 32768]),
        ("paddle_static", False, "x.xx.x...x.xx",
         [65536, 65536, 65536, 65536, 32768, 32768, 32768, 32768, 32768, 65536, 65536, 65536, 65536, 32768]),
    ]),
    ("T3 floor", "NNNNN", {"init_scale": 2, "hysteresis": 1}, [
        ("pytorch", True, "xxxxx", [2, 1, 0.5, 0.25, 0.125, 0.0625]),
        ("apex_amp", True, "xxxxx", [2, 1, 0.5, 0.25, 0.125, 0.0625]),
        ("apex_fp16_utils", True, "xxxxx", [2, 1, 1, 1, 1, 1]),
        ("apex_hysteresis_kernel", False, "xxxxx", [2, 1, 0.5, 0.25, 0.125, 0.0625]),
        ("deepspeed_zero", True, "x!", [2, 1, 1]),
        ("deepspeed_zero_consecutive", True, "x!", [2, 1, 1]),
        ("deepspeed_fused", True, "xxxxx", [2, 1, 1, 1, 1, 1]),
        ("megatron", True, "xxxxx", [2, 1, 1, 1, 1, 1]),
        ("fairseq", True, "xxxxx", [2, 1, 0.5, 0.25, 0.125, 0.0625]),
        ("jmp", True, "xxxxx", [2, 1, 1, 1, 1, 1]),
        ("keras3", True, "xxxxx", [2, 1, 0.5, 0.25, 0.125, 0.0625]),
        ("keras2", False, "xxxxx", [2, 1, 1, 1, 1, 1]),
        ("paddle_dygraph", False, "xxxxx", [2, 1, 0.5, 0.25, 0.125, 0.0625]),
        ("paddle_static", False, "xxxxx", [2, 1, 1, 1, 1, 1]),
        ("mxnet", True, "xxxxx", [2, 2, 1, 0.5, 0.25, 0.125]),
        ("openseq2seq_backoff", False, "xxxxx", [2, 1, 1, 1, 1, 1]),
    ]),
    ("T3b DeepSpeed default, all bad", "NNNNNNNNNNNNNNNNNNNN", {}, [
        ("deepspeed_zero", True, "xxxxxxxxxxxxxxxxx!",
         [65536, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1, 1]),
    ]),
    ("T3c fairseq config default, all bad", "NNNNNNNNNNNNNNNNNNNNNNNNN", {}, [
        ("fairseq", True, "xxxxxxxxxxxxxxxxxxxx!",
         [128, 64, 32, 16, 8, 4, 2, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625,
          0.001953125, 0.0009765625, 0.00048828125, 0.000244140625, 0.0001220703125, 0.0001220703125]),
    ]),
    ("T4 fp32 ceiling", "FFFF", {"init_scale": 8.507059173023462e+37, "growth_interval": 1}, [
        ("pytorch", True, "....",
         [8.507059173023462e+37, 1.7014118346046923e+38, 1.7014118346046923e+38, 1.7014118346046923e+38,
          1.7014118346046923e+38]),
        ("megatron", True, "....", [8.507059173023462e+37, 1.7014118346046923e+38, inf, inf, inf]),
        ("keras3", True, "....", [8.507059173023462e+37, 1.7014118346046923e+38, inf, inf, inf]),
        ("jmp", True, "....",
         [8.507059173023462e+37, 1.7014118346046923e+38, 1.7014118346046923e+38, 1.7014118346046923e+38,
          1.7014118346046923e+38]),
        ("apex_hysteresis_kernel", False, "....",
         [8.507059173023462e+37, 1.7014118346046923e+38, 1.7014118346046923e+38, 1.7014118346046923e+38,
          1.7014118346046923e+38]),
    ]),
    ("T5 fairseq tolerance .5", "NFFNNFFFFN", {"init_scale": 128, "growth_interval": 3, "tolerance": 0.5}, [
        ("fairseq", True, "x..xx....x", [128, 64, 64, 64, 64, 32, 32, 32, 64, 64, 32]),
    ]),
    ("T6 non-power-of-two", "NNFFF",
     {"init_scale": 1000, "growth_factor": 1.5, "backoff_factor": 0.7, "growth_interval": 3}, [
        ("pytorch", True, "xx...", [1000, 700, 490, 490, 490, 735]),
    ]),
]

_CLOSED: list[tuple[list[str], str, list[float]]] = [
    (["pytorch", "apex_amp", "apex_fp16_utils", "fairseq", "jmp", "keras3", "keras2", "paddle_dygraph"],
     "xxx....x....x....x....x.",
     [262144, 131072, 65536, 32768, 32768, 32768, 32768, 65536, 32768, 32768, 32768, 32768, 65536, 32768, 32768,
      32768, 32768, 65536, 32768, 32768, 32768, 32768, 65536, 32768]),
    (["apex_hysteresis_kernel"],
     "xxxx....xx....xx....xx..",
     [262144, 262144, 131072, 65536, 32768, 32768, 32768, 32768, 65536, 65536, 32768, 32768, 32768, 32768, 65536,
      65536, 32768, 32768, 32768, 32768, 65536, 65536, 32768, 32768]),
    (["deepspeed_zero", "deepspeed_zero_consecutive"],
     "xxxx.....xx.....xx.....x",
     [262144, 262144, 131072, 65536, 32768, 32768, 32768, 32768, 32768, 65536, 65536, 32768, 32768, 32768, 32768,
      32768, 65536, 65536, 32768, 32768, 32768, 32768, 32768, 65536]),
    (["deepspeed_fused"],
     "xxx.....x.....x.....x...",
     [262144, 131072, 65536, 32768, 32768, 32768, 32768, 32768, 65536, 32768, 32768, 32768, 32768, 32768, 65536,
      32768, 32768, 32768, 32768, 32768, 65536, 32768, 32768, 32768]),
    (["paddle_static"],
     "xxxxxx....xx....xx....xx",
     [262144, 262144, 131072, 131072, 65536, 65536, 32768, 32768, 32768, 32768, 65536, 65536, 32768, 32768, 32768,
      32768, 65536, 65536, 32768, 32768, 32768, 32768, 65536, 65536]),
]
# fmt: on

#: The steps of `CLOSED` all start here.
CLOSED_START = {"init_scale": 262144, "growth_interval": 4}


def _opened() -> Iterator[Trace]:
    for name, pattern, overrides, rows in _OPEN:
        for preset, executed, actions, scales in rows:
            yield Trace(name, preset, pattern, tuple(scales), actions, executed, overrides)


OPEN = list(_opened())
CLOSED = [
    ClosedTrace(preset, CLOSED_START, tuple(scales), actions) for names, actions, scales in _CLOSED for preset in names
]
