"""How a training loop moves its loss scale: one policy, of which every framework's scaler is an instance."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
import math
from typing import Any, Literal, NamedTuple, get_args

from lossscale_core.checks import check_choice, is_whole, number_in, refuse, rounded_to
from lossscale_core.errors import InputError, Sentence, quoted
from lossscale_core.patterns import read_pattern
from lossscale_core.refusals import Field, OrderError

#: Whether the scale grows when the good steps reach the interval, or also when they are beyond it.
GrowthCompare = Literal["==", ">="]
#: When the overflows that are tolerated are counted from the start again.
HysteresisRefill = Literal["growth", "finite", "finite_or_backoff"]
#: What happens where the scale can go no lower.
AtMin = Literal["clamp", "raise_if_at_min", "raise_if_would_reach"]
#: What happens where growth would make the scale infinite.
GrowToInf = Literal["hold", "allow"]
#: A binary floating-point type, by its numpy name.
Precision = Literal["float32", "float64"]
#: How many steps late a new scale is used.
Lag = Literal[0, 1]

_CHOICES: dict[str, tuple[Any, ...]] = {
    "growth_compare": get_args(GrowthCompare),
    "hysteresis_refill": get_args(HysteresisRefill),
    "at_min": get_args(AtMin),
    "grow_to_inf": get_args(GrowToInf),
    "dtype": get_args(Precision),
    "factor_dtype": get_args(Precision),
    "lag": get_args(Lag),
    "dynamic": (True, False),
}
#: The least value of each count.
_COUNTS = {"growth_interval": 1, "growth_delay": 0, "hysteresis": 1}
_LIMITS = ("min_scale", "max_scale", "stop_scale")


class Action(StrEnum):
    """What the training loop does with the gradients of one step."""

    #: They are finite, and the optimizer takes its step.
    STEP = "step"
    #: Some are inf or NaN, and the step is left out.
    SKIP = "skip"
    #: Some are inf or NaN, and training ends with an error, since the scale is as low as it may be.
    RAISE = "raise"


class ScalerState(NamedTuple):
    """What a scaler remembers between two steps.

    A tuple, since a million steps make a million of them.

    Attributes:
        scale: the loss scale of the step to come.
        next_scale: the scale that was decided on; it differs from `scale` only under a policy with
            lag, and is used one step later.
        good_steps: how many steps were finite since the last overflow or growth, less the
            `growth_delay` that is still to be waited for.
        overflows_left: how many more overflows it takes until the scale backs off; at least 1.
        steps_since_change: how many steps were made since the scale last grew or backed off.
        overflows_since_backoff: how many overflows there were since the scale last backed off.
    """

    scale: float
    next_scale: float
    good_steps: int
    overflows_left: int
    steps_since_change: int = 0
    overflows_since_backoff: int = 0


@dataclass(frozen=True)
class ScalerTrace:
    """How a scaler moved over a number of steps.

    Attributes:
        scales: the scale before the first step, then the one after each step.
        actions: what was done in each step; nothing follows on `Action.RAISE`.
    """

    scales: tuple[float, ...]
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class ScalerPolicy:
    """The rule by which a loss scale moves; as it stands, that of PyTorch's GradScaler.

    Scales have no unit, factors multiply them, intervals and counts are in steps. A step is finite, or
    it overflows: some gradient is inf or NaN. `SCALER_PRESETS` has the policies of the frameworks.

    Attributes:
        init_scale: the first scale.
        growth_factor: what the scale is multiplied by when it grows; above 1.
        backoff_factor: what it is multiplied by when it backs off; between 0 and 1.
        growth_interval: after how many finite steps in a row the scale grows; at least 1.
        growth_delay: how many finite steps more that takes after the start and after an overflow, but
            not after a growth (DeepSpeed: 1).
        growth_compare: "==" lets the scale grow only when the finite steps equal the interval, ">="
            (Keras 2) also when they are beyond it, as in a state saved under a longer interval.
        hysteresis: how many overflows it takes until the scale backs off (DeepSpeed ZeRO, Megatron, Paddle
            static, Apex' hysteresis kernel: 2); at least 1. Every overflow, also one that is tolerated,
            skips its step and starts the finite steps anew.
        hysteresis_refill: when overflows are counted from the start again: when the scale grows
            ("growth": Megatron, DeepSpeed), with every finite step ("finite": Apex' kernel, DeepSpeed with
            consecutive hysteresis), or also when it backs off ("finite_or_backoff": Paddle). Without the
            last, each further overflow backs off.
        min_scale: the floor (Apex fp16_utils, DeepSpeed, Megatron, jmp, Keras 2, Paddle static,
            OpenSeq2Seq: 1); None for none.
        max_scale: the ceiling (Apex amp, MXNet: 2**24; OpenSeq2Seq); None for none.
        at_min: what an overflow does that would lower the scale further than it may go: stay at the floor
            ("clamp"), end training if it is there already ("raise_if_at_min": DeepSpeed ZeRO), or end it if
            the new scale would be at most `stop_scale` ("raise_if_would_reach": fairseq).
        stop_scale: the scale that ends training; read only with "raise_if_would_reach".
        grow_to_inf: whether growth beyond the largest finite number keeps the scale ("hold": PyTorch, Apex'
            kernel, jmp, Keras 2, Paddle static, OpenSeq2Seq) or makes it infinite ("allow": all others).
        dtype: what the scale and its limits are stored in: "float32" where the scale is a tensor, "float64"
            where it is a Python number (Apex amp and fp16_utils, DeepSpeed, fairseq, MXNet).
        factor_dtype: what the factors are rounded to before they multiply: "float32" (Megatron) for a
            product in float32, "float64" for one in float64 that is then stored.
        lag: how many steps late a new scale is used (MXNet: 1), 0 or 1.
        tolerance: the share of overflows, among the steps since the scale last changed, from which on it
            backs off (fairseq); 0 for every overflow, at most 1.
        dynamic: False for a static scale, which never moves; overflows are skipped all the same.

    Raises:
        InputError: a field holds what no scaler can work with.

    Example:
        >>> trace = ScalerPolicy(growth_interval=2).run("NFF")
        >>> trace.scales, [action.value for action in trace.actions]
        ((65536.0, 32768.0, 32768.0, 65536.0), ['skip', 'step', 'step'])
    """

    init_scale: float = 65536.0
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    growth_interval: int = 2000
    growth_delay: int = 0
    growth_compare: GrowthCompare = "=="
    hysteresis: int = 1
    hysteresis_refill: HysteresisRefill = "growth"
    min_scale: float | None = None
    max_scale: float | None = None
    at_min: AtMin = "clamp"
    stop_scale: float | None = None
    grow_to_inf: GrowToInf = "hold"
    dtype: Precision = "float32"
    factor_dtype: Precision = "float64"
    lag: Lag = 0
    tolerance: float = 0.0
    dynamic: bool = True

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        for name, least in _COUNTS.items():
            if not is_whole(getattr(self, name)) or getattr(self, name) < least:
                refuse(name, Sentence("a whole number of at least {least}", least=least), getattr(self, name))
        self._check_numbers()
        self._check_limits()

    def start(self) -> ScalerState:
        """The state before the first step.

        Returns:
            The first scale as it is stored, and fresh counters.
        """
        scale = rounded_to(self.init_scale, self.dtype)
        return ScalerState(scale, scale, -self.growth_delay, self.hysteresis)

    def step(self, state: ScalerState, found_inf: bool) -> tuple[ScalerState, Action]:
        """What one step does to the scale.

        Args:
            state: the state before the step; of this policy, or of one that is gone on with under this one.
            found_inf: whether a scaled gradient of the step is inf or NaN.

        Returns:
            The state after the step, and what is done with the gradients. With `Action.RAISE` the
            state is the one before.

        Example:
            >>> policy = ScalerPolicy(init_scale=8)
            >>> state, action = policy.step(policy.start(), found_inf=True)
            >>> state.scale, action.value
            (4.0, 'skip')
        """
        if not self.dynamic:
            return state, Action.SKIP if found_inf else Action.STEP
        return self._overflowed(state) if found_inf else (self._finite(state), Action.STEP)

    def run(self, pattern: str) -> ScalerTrace:
        """How the scale moves from the start.

        Args:
            pattern: a letter a step: F for finite gradients, N where some are inf or NaN (non-finite); see
                `read_pattern`.

        Returns:
            The scales and the actions, up to the end of the pattern or of training.

        Raises:
            InputError: the pattern is no text, or has something else in it.
        """
        letters = read_pattern(pattern)
        state = self.start()
        scales, actions = [state.scale], []
        for letter in letters:
            state, action = self.step(state, letter == "N")
            scales.append(state.scale)
            actions.append(action)
            if action is Action.RAISE:
                break
        return ScalerTrace(tuple(scales), tuple(actions))

    def _finite(self, state: ScalerState) -> ScalerState:
        good = state.good_steps + 1
        grows = good == self.growth_interval or (good > self.growth_interval and self.growth_compare == ">=")
        refills = grows or self.hysteresis_refill != "growth"
        next_scale = self._grown(state.next_scale) if grows else state.next_scale
        return ScalerState(
            state.next_scale if self.lag else next_scale,
            next_scale,
            0 if grows else good,
            self.hysteresis if refills else state.overflows_left,
            0 if grows else state.steps_since_change + 1,
            state.overflows_since_backoff,
        )

    def _overflowed(self, state: ScalerState) -> tuple[ScalerState, Action]:
        steps, overflows = state.steps_since_change + 1, state.overflows_since_backoff + 1
        backs_off = state.overflows_left <= 1 and overflows / steps >= self.tolerance
        next_scale = self._backed_off(state.next_scale) if backs_off else state.next_scale
        if self._ends(state.next_scale, next_scale, backs_off):
            return state, Action.RAISE
        refills = backs_off and self.hysteresis_refill == "finite_or_backoff"
        after = ScalerState(
            state.next_scale if self.lag else next_scale,
            next_scale,
            -self.growth_delay,
            self.hysteresis if refills else max(state.overflows_left - 1, 1),
            0 if backs_off else steps,
            0 if backs_off else overflows,
        )
        return after, Action.SKIP

    def _ends(self, scale: float, next_scale: float, backs_off: bool) -> bool:
        """Whether an overflow ends training."""
        match self.at_min:
            case "clamp":
                return False
            case "raise_if_at_min":
                return backs_off and scale == self._floor
            case "raise_if_would_reach":
                return next_scale <= self._stop

    def _grown(self, scale: float) -> float:
        grown = min(rounded_to(scale * self._growth, self.dtype), self._ceiling)
        return scale if math.isinf(grown) and self.grow_to_inf == "hold" else grown

    def _backed_off(self, scale: float) -> float:
        return max(rounded_to(scale * self._backoff, self.dtype), self._floor)

    @cached_property
    def _growth(self) -> float:
        return rounded_to(self.growth_factor, self.factor_dtype)

    @cached_property
    def _backoff(self) -> float:
        return rounded_to(self.backoff_factor, self.factor_dtype)

    @cached_property
    def _floor(self) -> float:
        return 0.0 if self.min_scale is None else rounded_to(self.min_scale, self.dtype)

    @cached_property
    def _ceiling(self) -> float:
        return math.inf if self.max_scale is None else rounded_to(self.max_scale, self.dtype)

    @cached_property
    def _stop(self) -> float:
        return 0.0 if self.stop_scale is None else rounded_to(self.stop_scale, self.dtype)

    def _check_numbers(self) -> None:
        scale = number_in(self.init_scale, self.dtype)
        if not 0 < scale < math.inf:
            refuse("init_scale", Sentence("a finite number above 0{in_type}", in_type=_in(self.dtype)), self.init_scale)
        if not 1 < number_in(self.growth_factor, self.factor_dtype) < math.inf:
            refuse(
                "growth_factor",
                Sentence("a finite number above 1{in_type}", in_type=_in(self.factor_dtype)),
                self.growth_factor,
            )
        if not 0 < number_in(self.backoff_factor, self.factor_dtype) < 1:
            refuse(
                "backoff_factor",
                Sentence("a number between 0 and 1{in_type}", in_type=_in(self.factor_dtype)),
                self.backoff_factor,
            )
        if not 0 <= number_in(self.tolerance, "float64") <= 1:
            refuse("tolerance", "a number from 0 to 1", self.tolerance)
        for name in _LIMITS:
            limit = getattr(self, name)
            if limit is not None and not 0 < number_in(limit, self.dtype) < math.inf:
                refuse(name, Sentence("a finite number above 0{in_type}, or none", in_type=_in(self.dtype)), limit)

    def _check_limits(self) -> None:
        lowest, first, highest = (Field(name, getattr(self, name)) for name in ("min_scale", "init_scale", "max_scale"))
        if self._floor > self._ceiling:
            raise OrderError(lowest, highest)
        if rounded_to(self.init_scale, self.dtype) < self._floor:
            raise OrderError(lowest, first, refuses_upper=True)
        if rounded_to(self.init_scale, self.dtype) > self._ceiling:
            raise OrderError(first, highest)
        needed = {"raise_if_at_min": "min_scale", "raise_if_would_reach": "stop_scale"}.get(self.at_min)
        if needed and getattr(self, needed) is None:
            raise InputError(
                "{needed} must be given where at_min is {at_min}: it is none.",
                needed=needed,
                at_min=quoted(self.at_min),
            )


def _in(dtype: Precision) -> str:
    """What to add to a rule that a number may keep as it is written, but not in its type."""
    return "" if dtype == "float64" else Sentence(" in {dtype}", dtype=dtype)
