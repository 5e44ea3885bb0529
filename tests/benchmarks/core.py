"""Prints how fast the core is on realistic gradients, as ratios to numpy's and ml_dtypes' own work in the same run.

Run it with `python tests/benchmarks/core.py [largest power of ten, default 8]`. 10^8 values need 2.5 GB.
"""

from collections.abc import Callable
import resource
import sys
import time

import ml_dtypes
import numpy as np

from lossscale_core import BF16, E4M3, E5M2, FP16, Format, MagnitudeIndex, Outcome, cast, count_outcomes, safe_window

REPEATS = 5
SLIDER = range(-40, 41)
OTHERS = {BF16: ml_dtypes.bfloat16, E5M2: ml_dtypes.float8_e5m2, E4M3: ml_dtypes.float8_e4m3fn}


def main() -> None:
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    for size in (10**exponent for exponent in range(6, largest + 1)):
        gradients = realistic(size)
        print(f"\n{size:,} float32 gradients: {shares(gradients)}")
        print_casts(gradients)
        print_windows(gradients)
        print_index(gradients)


def realistic(size: int) -> np.ndarray:
    """Log-normal gradients of which many are subnormal or lost in FP16, some overflow, and a tenth is 0."""
    draw = np.random.default_rng(0)
    values = np.empty(size, np.float32)
    for start in range(0, size, 1 << 22):
        part = values[start : start + (1 << 22)]
        draw.standard_normal(part.size, np.float32, part)
        np.exp2(part * 8 - 18, out=part)
        part *= draw.choice(np.float32([-1, 1]), part.size)
        part[:: draw.integers(9, 12)] = 0
    return values


def shares(gradients: np.ndarray) -> str:
    counts = count_outcomes(gradients[: 10**6], 1, FP16)
    total = sum(counts.values())
    return ", ".join(f"{100 * n / total:.1f} % {outcome.name.lower()}" for outcome, n in counts.items() if n)


def print_casts(gradients: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        numpy_time = best(lambda: gradients.astype(np.float16), 2)
        expected = gradients.astype(np.float16).view(np.uint16)
    ours = best(lambda: cast(gradients, FP16))
    same = np.array_equal(cast(gradients, FP16).view(np.uint16), expected)
    print(f"cast to FP16: {numpy_time / ours:.1f} times as fast as numpy's astype, bit-identical: {same}")
    for fmt, dtype in OTHERS.items():
        ours = best(lambda fmt=fmt: cast(gradients, fmt))
        bare = best(lambda dtype=dtype: gradients.astype(dtype)) / ours
        same = best(lambda dtype=dtype: gradients.astype(dtype).astype(np.float32)) / ours
        print(
            f"cast to {fmt.label}: {bare:.2f} times as fast as ml_dtypes', {same:.2f} with its way to the same float32"
        )


def print_windows(gradients: np.ndarray) -> None:
    target = np.empty_like(gradients)
    copy = best(lambda: np.copyto(target, gradients))
    del target
    window_time = best(lambda: safe_window(gradients, FP16))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    safe_window(gradients, FP16)
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"safe window of float32: {window_time / copy:.2f} times one np.copyto, peak memory up by {extra:.0f} MiB")
    with np.errstate(all="ignore"):
        kinds = {
            "float16": (gradients.astype(np.float16), None),
            "bfloat16 as uint16": (gradients.astype(ml_dtypes.bfloat16).view(np.uint16), BF16),
            "float64": (gradients[: 10**7].astype(np.float64), None),
        }
    for name, (values, stored) in kinds.items():
        target = np.empty_like(values)
        ratio = best(lambda v=values, s=stored: safe_window(v, FP16, stored=s)) / best(
            lambda v=values, t=target: np.copyto(t, v)
        )
        print(f"safe window of {name}: {ratio:.2f} times one np.copyto of it")


def print_index(gradients: np.ndarray) -> None:
    magnitudes = np.abs(gradients)
    sort = timed(magnitudes.sort)
    del magnitudes
    began = time.perf_counter()
    index = MagnitudeIndex(gradients)
    print(f"index: built in {(time.perf_counter() - began) / sort:.2f} times one np.sort of the magnitudes")
    exact = index.counts(2.0**7, FP16) == count_outcomes(gradients, 2.0**7, FP16)
    scales = [1.1 * 2.0 ** (k / 7) for k in range(-100, 101)]
    print(f"  counts at one scale: {per_call(lambda s: index.counts(s, FP16), scales) * 1e6:.0f} us, exact: {exact}")
    index.curve(FP16, SLIDER)
    curve = per_call(lambda _: index.curve(FP16, SLIDER), range(50))
    print(
        f"  the slider's {len(SLIDER)} scales: {curve * 1e6:.0f} us; first time in a format {first_curve(index):.1f} ms"
    )
    lost = index.counts(1.0, FP16)[Outcome.UNDERFLOW]
    brute = timed(lambda: count_outcomes(gradients, 1, FP16))
    print(f"  counting without it takes {brute / per_call(lambda s: index.counts(s, FP16), scales):,.0f} times as long")
    assert lost == count_outcomes(gradients, 1, FP16)[Outcome.UNDERFLOW]


def first_curve(index: MagnitudeIndex) -> float:
    unseen = Format("tf", "TF", exponent_bits=6, mantissa_bits=9, bias=31, max_code=0x7BFF)
    return timed(lambda: index.curve(unseen, SLIDER)) * 1e3


def best(call: Callable[[], object], repeats: int = REPEATS) -> float:
    return min(timed(call) for _ in range(repeats))


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def per_call(call: Callable[[object], object], arguments: object) -> float:
    """The mean over different arguments, so that nothing is still in a cache from the last one."""
    listed = list(arguments)
    began = time.perf_counter()
    for argument in listed:
        call(argument)
    return (time.perf_counter() - began) / len(listed)


if __name__ == "__main__":
    main()
