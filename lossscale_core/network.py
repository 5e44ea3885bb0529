"""A multilayer perceptron whose operations round to a format, as under autocast.

Every operation takes values of the format, works and accumulates in the arrays' own precision, and rounds
its result to the format once. With FP32 (float32 arrays) or FP64 (float64 arrays) nothing is rounded.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lossscale_core.arrays import Floats
from lossscale_core.formats import Format
from lossscale_core.rounding import cast


class Layer(NamedTuple):
    """What one layer has of something: its parameters, or their gradients.

    Attributes:
        weight: shape (inputs, outputs).
        bias: shape (outputs,).
    """

    weight: Floats
    bias: Floats


class Forward(NamedTuple):
    """What the forward pass keeps.

    Attributes:
        weights: each layer's weight in the format.
        inputs: what went into each layer, shape (images, inputs); after the first a tanh.
        logits: shape (images, classes).
    """

    weights: list[Floats]
    inputs: list[Floats]
    logits: Floats


class Backward(NamedTuple):
    """The gradients of a pass, layer by layer.

    Attributes:
        outputs: by what came out of each layer before its tanh, shape (images, outputs).
        parameters: by the parameters.
    """

    outputs: list[Floats]
    parameters: list[Layer]


def initial_layers(sizes: Sequence[int], rng: np.random.Generator) -> list[Layer]:
    """Draw parameters that keep the spread of what goes through.

    Args:
        sizes: of the input, each hidden layer and the output.
        rng: where chance comes from.

    Returns:
        Normal weights with variance 1/inputs and biases of 0, all float32.
    """
    return [
        Layer(
            (rng.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32),
            np.zeros(outputs, np.float32),
        )
        for inputs, outputs in pairwise(sizes)
    ]


def forward(layers: Sequence[Layer], images: Floats, fmt: Format) -> Forward:
    """Compute the logits.

    Args:
        layers: the parameters, in the precision that sums are kept in.
        images: shape (images, inputs), in the same precision.
        fmt: the format of all operations.

    Returns:
        The logits, and what the backward pass needs.
    """
    values = stored(images, fmt)
    weights, inputs = [], []
    for place, (weight, bias) in enumerate(layers):
        weights.append(stored(weight, fmt))
        inputs.append(values)
        values = stored(values @ weights[-1] + stored(bias, fmt), fmt)
        if place < len(layers) - 1:
            values = stored(np.tanh(values), fmt)
    return Forward(weights, inputs, values)


def cross_entropy(logits: Floats, labels: NDArray[np.integer[Any]]) -> tuple[float, Floats]:
    """The mean softmax cross-entropy, in the logits' own precision, as autocast leaves it.

    Args:
        logits: shape (images, classes).
        labels: the right classes.

    Returns:
        The loss, and its gradient by the logits times the number of images.
    """
    rows = np.arange(len(labels))
    shifted = logits - logits.max(axis=1, keepdims=True)
    exponentials = np.exp(shifted)
    sums = exponentials.sum(axis=1, keepdims=True)
    gradient = exponentials / sums
    gradient[rows, labels] -= 1
    return float((np.log(sums[:, 0]) - shifted[rows, labels]).mean()), gradient


def backward(passed: Forward, logit_gradient: Floats, fmt: Format) -> Backward:
    """Compute all gradients from that by the logits.

    Args:
        passed: what the forward pass kept.
        logit_gradient: the gradient of the loss, scaled or not, by the logits.
        fmt: the format in which every gradient is stored.

    Returns:
        The gradients as they are stored.
    """
    outputs, parameters = [], []
    gradient = stored(logit_gradient, fmt)
    for weight, inputs in zip(reversed(passed.weights), reversed(passed.inputs), strict=True):
        outputs.append(gradient)
        parameters.append(Layer(stored(inputs.T @ gradient, fmt), stored(gradient.sum(axis=0), fmt)))
        if len(outputs) < len(passed.weights):
            by_input = stored(gradient @ weight.T, fmt)
            gradient = stored(by_input * (1 - inputs * inputs), fmt)
    return Backward(outputs[::-1], parameters[::-1])


def stored(values: Floats, fmt: Format) -> Floats:
    """Round values to a format, in an array of their own type.

    Args:
        values: float32 or float64, any shape.
        fmt: the format to round to.

    Returns:
        The values themselves where the format has the precision of their type.
    """
    if fmt.mantissa_bits == np.finfo(values.dtype).nmant:
        return values
    return cast(values, fmt).astype(values.dtype, copy=False)
