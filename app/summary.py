"""What a window needs to know of gradients: gathered tensor by tensor in blocks, however many they are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lossscale_core import Format, Outcome, Product, SafeWindow, count_outcomes, extent
from lossscale_core.bits import blocks
from lossscale_core.tensors import Tensor
from lossscale_core.windows import windows_between

#: An array, or tensors by name.
Gradients = np.ndarray | Sequence[Tensor]

_BLOCK = 1 << 20


@dataclass(frozen=True)
class End:
    """The smallest or the largest magnitude.

    Attributes:
        magnitude: the finite nonzero magnitude.
        tensor: the name of the tensor that holds it, the first where several do.
    """

    magnitude: float
    tensor: str


@dataclass(frozen=True)
class Summary:
    """What the windows of gradients need.

    Attributes:
        size: how many gradients there are.
        tensors: in how many tensors.
        smallest: the smallest finite nonzero magnitude; None where there is none.
        largest: the largest such.
        counts: the outcomes at S = 1.
        windows: the loss scales that work.
    """

    size: int
    tensors: int
    smallest: End | None
    largest: End | None
    counts: dict[Outcome, int]
    windows: SafeWindow


def summarize(
    gradients: Gradients, fmt: Format, product: Product = "exact", tell: Callable[[float], None] | None = None
) -> Summary:
    """Find the windows of gradients and count the outcomes at S = 1, with some MiB of extra memory.

    Args:
        gradients: an array, or tensors; of any size.
        fmt: the storage format.
        product: how g*S is formed; see `classify`.
        tell: called with the share that is done, from 0 to 1.
    """
    tensors = [Tensor("", gradients)] if isinstance(gradients, np.ndarray) else gradients
    size, done = sum(tensor.values.size for tensor in tensors), 0
    counts = dict.fromkeys(Outcome, 0)
    smallest: End | None = None
    largest: End | None = None
    for tensor, block in _blocks(tensors):
        for outcome, count in count_outcomes(block, 1, fmt, product, tensor.stored).items():
            counts[outcome] += count
        span = extent(block, tensor.stored)
        if span.smallest is not None and (smallest is None or span.smallest < smallest.magnitude):
            smallest = End(span.smallest, tensor.name)
        if span.largest is not None and (largest is None or span.largest > largest.magnitude):
            largest = End(span.largest, tensor.name)
        done += block.size
        if tell is not None:
            tell(done / size)
    ends = (end and end.magnitude for end in (smallest, largest))
    windows = windows_between(*ends, counts[Outcome.NONFINITE], fmt, product)
    return Summary(size, len(tensors), smallest, largest, counts, windows)


def _blocks(tensors: Sequence[Tensor]) -> Iterator[tuple[Tensor, np.ndarray]]:
    for tensor in tensors:
        for block in blocks(tensor.values, _BLOCK):
            # What must be converted is so block by block, and once.
            yield tensor, block if tensor.stored is not None else replace(tensor, values=block).floats()
