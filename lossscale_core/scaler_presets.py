"""The loss scalers of the frameworks, as values of the one policy.

A field that is not named is as in PyTorch. The values are the projects' own defaults unless a comment
says otherwise.
"""

from lossscale_core.scalers import ScalerPolicy

#: Policies by the names that the command line knows; `static` is 2**16 for ever.
SCALER_PRESETS: dict[str, ScalerPolicy] = {
    # PyTorch 2: torch.amp.GradScaler, whose rule is the operator _amp_update_scale_.
    "pytorch": ScalerPolicy(),
    # NVIDIA Apex: apex.amp.scaler.LossScaler, dynamic.
    "apex_amp": ScalerPolicy(max_scale=2.0**24, grow_to_inf="allow", dtype="float64"),
    # NVIDIA Apex: apex.fp16_utils.loss_scaler.DynamicLossScaler.
    "apex_fp16_utils": ScalerPolicy(
        init_scale=2.0**32, growth_interval=1000, min_scale=1.0, grow_to_inf="allow", dtype="float64"
    ),
    # NVIDIA Apex: the kernel update_scale_hysteresis, with the factors and interval of GradScaler.
    "apex_hysteresis_kernel": ScalerPolicy(hysteresis=2, hysteresis_refill="finite"),
    # DeepSpeed (main, 2025): runtime.fp16.loss_scaler.DynamicLossScaler, as a ZeRO configuration sets it.
    "deepspeed_zero": ScalerPolicy(
        growth_interval=1000,
        growth_delay=1,
        hysteresis=2,
        min_scale=1.0,
        at_min="raise_if_at_min",
        grow_to_inf="allow",
        dtype="float64",
    ),
    # The same with consecutive_hysteresis.
    "deepspeed_zero_consecutive": ScalerPolicy(
        growth_interval=1000,
        growth_delay=1,
        hysteresis=2,
        hysteresis_refill="finite",
        min_scale=1.0,
        at_min="raise_if_at_min",
        grow_to_inf="allow",
        dtype="float64",
    ),
    # DeepSpeed: runtime.fp16.fused_optimizer.FP16_Optimizer, which knows no hysteresis and never raises.
    "deepspeed_fused": ScalerPolicy(
        growth_interval=1000, growth_delay=1, min_scale=1.0, grow_to_inf="allow", dtype="float64"
    ),
    # Megatron-LM core: optimizer.grad_scaler.DynamicGradScaler, with the defaults of its command line.
    "megatron": ScalerPolicy(
        init_scale=2.0**32,
        growth_interval=1000,
        hysteresis=2,
        min_scale=1.0,
        grow_to_inf="allow",
        factor_dtype="float32",
    ),
    # fairseq 0.12: optim.dynamic_loss_scaler.DynamicLossScaler, with the defaults of its command line.
    "fairseq": ScalerPolicy(
        init_scale=128.0, at_min="raise_if_would_reach", stop_scale=1e-4, grow_to_inf="allow", dtype="float64"
    ),
    # jmp 0.0.4: DynamicLossScale, started where its documentation does.
    "jmp": ScalerPolicy(init_scale=2.0**15, min_scale=1.0),
    # Keras 3: optimizers.LossScaleOptimizer.
    "keras3": ScalerPolicy(init_scale=2.0**15, grow_to_inf="allow"),
    # Keras 2 (TensorFlow 2.4 to 2.15): mixed_precision.LossScaleOptimizer, dynamic.
    "keras2": ScalerPolicy(init_scale=2.0**15, growth_compare=">=", min_scale=1.0),
    # Paddle 2: paddle.amp.GradScaler.
    "paddle_dygraph": ScalerPolicy(hysteresis_refill="finite_or_backoff", grow_to_inf="allow"),
    # Paddle 2: paddle.static.amp.decorate and its operator update_loss_scaling. Up to 2.4 the project's own
    # default of the backoff is 0.8; here it is 0.5.
    "paddle_static": ScalerPolicy(
        init_scale=2.0**15, growth_interval=1000, hysteresis=2, hysteresis_refill="finite_or_backoff", min_scale=1.0
    ),
    # MXNet 1.x: contrib.amp.loss_scaler.LossScaler.
    "mxnet": ScalerPolicy(max_scale=2.0**24, grow_to_inf="allow", dtype="float64", lag=1),
    # OpenSeq2Seq: optimizers.automatic_loss_scaler.BackoffScaler, with a ceiling of 2**14 instead of its 2**24;
    # it starts at the ceiling.
    "openseq2seq_backoff": ScalerPolicy(init_scale=2.0**14, min_scale=1.0, max_scale=2.0**14),
    # No framework: a constant, as every one of them can be told to use.
    "static": ScalerPolicy(dynamic=False),
}
