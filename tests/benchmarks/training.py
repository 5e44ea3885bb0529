"""How long the training view's runs take, as ratios to one in FP32: `python tests/benchmarks/training.py`."""

from time import perf_counter

from lossscale_app.links import DEFAULTS
from lossscale_app.runs import RUNS, Request
from lossscale_core import Training

STEPS = 300


def seconds(plan):
    started = perf_counter()
    made = sum(1 for _ in Training(plan))
    assert made == STEPS
    return perf_counter() - started


def main():
    request = Request(DEFAULTS["policy"], f"steps.{STEPS}", 16, DEFAULTS["format"])
    taken = {name: min(seconds(request.plan(name)) for _ in range(3)) for name in RUNS}
    for name, each in taken.items():
        print(f"{name:12} {each / taken['fp32']:5.1f} x FP32, {1000 * each / STEPS:6.2f} ms a step")
    print(f"with windows and lost shares, all {len(RUNS)} runs of {STEPS} steps: {sum(taken.values()):.1f} s")


if __name__ == "__main__":
    main()
