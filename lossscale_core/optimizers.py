"""Optimizers on FP32 master weights."""

from collections.abc import Sequence

import numpy as np

from lossscale_core.arrays import Floats

_MOMENTUM = np.float32(0.9)
_DECAYS = (0.9, 0.999)
#: Small beside the square roots of the smallest gradients here; the customary 1e-8 would hide them in FP32 already.
_EPSILON = np.float32(1e-12)


class Momentum:
    """SGD with momentum 0.9."""

    def __init__(self, parameters: list[Floats], learning_rate: float) -> None:
        self._rate = learning_rate
        self._velocities = [np.zeros_like(each) for each in parameters]

    def step(self, parameters: list[Floats], gradients: Sequence[Floats]) -> None:
        """Move the parameters.

        Args:
            parameters: float32, changed in place.
            gradients: unscaled, float32, of the same shapes.
        """
        rate = np.float32(self._rate)
        for parameter, velocity, gradient in zip(parameters, self._velocities, gradients, strict=True):
            velocity *= _MOMENTUM
            velocity += gradient
            parameter -= rate * velocity


class Adam:
    """Adam with decays 0.9 and 0.999, and an epsilon of 1e-12."""

    def __init__(self, parameters: list[Floats], learning_rate: float) -> None:
        self._rate = learning_rate
        self._means = [np.zeros_like(each) for each in parameters]
        self._squares = [np.zeros_like(each) for each in parameters]
        self._steps = 0

    def step(self, parameters: list[Floats], gradients: Sequence[Floats]) -> None:
        """Move the parameters.

        Args:
            parameters: float32, changed in place.
            gradients: unscaled, float32, of the same shapes.
        """
        self._steps += 1
        first, second = _DECAYS
        rate = np.float32(self._rate / (1 - first**self._steps))
        correction = np.float32(1 - second**self._steps)
        for parameter, mean, square, gradient in zip(parameters, self._means, self._squares, gradients, strict=True):
            mean *= np.float32(first)
            mean += np.float32(1 - first) * gradient
            square *= np.float32(second)
            square += np.float32(1 - second) * (gradient * gradient)
            parameter -= rate * mean / (np.sqrt(square / correction) + _EPSILON)
