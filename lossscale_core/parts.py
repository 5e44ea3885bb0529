"""Long arrays in parts, one for each processor: numpy lets threads work side by side."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
import os
from typing import TypeVar

_Result = TypeVar("_Result")

#: Fewer elements are done sooner than a thread is started.
_SMALLEST = 1 << 20
_MOST_THREADS = 4


def in_parts(size: int, work: Callable[[int, int], _Result]) -> list[_Result]:
    """Do work on the stretches of a range, side by side where it is long.

    Args:
        size: how long the range is.
        work: called with the start and the end of each stretch. It may run in a thread, where
            numpy's error state is the default one.

    Returns:
        What it returned, in the order of the stretches; at least one, which is empty where the
        range is.
    """
    count = max(1, min(os.cpu_count() or 1, _MOST_THREADS, size // _SMALLEST))
    ends = [size * part // count for part in range(count + 1)]
    if count == 1:
        return [work(0, size)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, ends[:-1], ends[1:]))
