"""Training runs: that scaling saves FP16, and how scaler, micro-batches and clipping make a step of gradients."""

from itertools import pairwise
import math

import numpy as np
import pytest

from lossscale_core import Action, InputError, ScalerPolicy, Training, TrainingPlan, digits

from .training_runs import TRAINED_WITH, followed, identical, logits, ran, static, strict

#: The 97.5 % points of Student's t, by degrees of freedom.
STUDENT = {3: 3.1824, 5: 2.5706, 7: 2.3646}

#: Skips four steps at the start, and goes on skipping one now and then.
RESTLESS = TrainingPlan(seed=1, positions=1, reduction="sum", scaler=ScalerPolicy(growth_interval=20))


def final_losses(seeds, **plan):
    return np.array([ran(TrainingPlan(seed=seed, **plan)).final_loss for seed in range(seeds)])


def interval(differences):
    """The 95 % confidence interval of the mean of paired differences."""
    count = len(differences)
    reach = STUDENT[count - 1] * np.std(differences, ddof=1) / math.sqrt(count)
    return np.mean(differences) - reach, np.mean(differences) + reach


# The gap is wider in shorter runs, and in all of them many times what is asked for.
@pytest.mark.parametrize(("seeds", "steps"), [(6, 100), pytest.param(6, 300, marks=pytest.mark.slow)])
def test_fp16_learns_less_without_scaling_and_as_much_as_fp32_with_it(seeds, steps):
    fp32 = final_losses(seeds, steps=steps, autocast=False)
    unscaled, scaled = (final_losses(seeds, steps=steps, scaler=scaler) for scaler in (None, static(16)))
    worse, _ = interval(unscaled - fp32)
    assert worse > fp32.mean() / 2
    low, high = interval(scaled - fp32)
    noise = np.std(fp32, ddof=1)
    assert -noise < low
    assert high < noise


@pytest.mark.parametrize(
    ("seeds", "steps", "rule"),
    [
        (4, 100, {"optimizer": "adam"}),
        pytest.param(6, 300, {"optimizer": "sgd", "learning_rate": 0.1}, marks=pytest.mark.slow),
    ],
)
def test_plain_classification_needs_no_scaling(seeds, steps, rule):
    plan = {"steps": steps, "positions": 1, **rule}
    fp32 = final_losses(seeds, **plan, autocast=False)
    low, high = interval(final_losses(seeds, **plan) - fp32)
    noise = np.std(fp32, ddof=1)
    assert -noise < low
    assert high < noise


def test_fp32_learns_to_read():
    run = ran(TrainingPlan(autocast=False))
    assert 0.8 < run.accuracy <= 1
    assert [record.step for record in run.records] == list(range(1, 301))
    assert all(record.action is Action.STEP and record.ending is None for record in run.records)
    assert run.final_loss < run.losses[0] / 20


@pytest.mark.parametrize("plan", [{"steps": 1}, {"steps": 40}, {"autocast": False}])
def test_the_accuracy_is_the_share_of_images_kept_back_that_are_read(plan):
    images, labels = digits()
    run = ran(TrainingPlan(**plan))
    said, _ = logits(run.parameters, images[TRAINED_WITH:])
    # A near draw may go either way.
    assert run.accuracy == pytest.approx(np.mean(said.argmax(axis=1) == labels[TRAINED_WITH:]), abs=1.5 / 297)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize(
    "scaler",
    [static(16), static(-20), static(50), ScalerPolicy(init_scale=2.0**-10, growth_interval=1, max_scale=2.0**20)],
    ids=["2**16", "2**-20", "2**50", "growing"],
)
def test_without_autocast_powers_of_two_change_nothing(optimizer, scaler):
    # With as many places the smallest gradients would come too close to those that FP32 loses.
    plan = {"autocast": False, "optimizer": optimizer, "positions": 64, "steps": 60}
    scaled, unscaled = ran(TrainingPlan(**plan, scaler=scaler)), ran(TrainingPlan(**plan))
    assert identical(scaled, unscaled)
    assert [record.norm for record in scaled.records] == [record.norm for record in unscaled.records]
    for record in scaled.records:
        assert record.lost == (0,) * 8
        assert (record.lost_of_all, record.overflowed, record.window) == (0, 0, None)
    assert scaled.records[-1].scale != 1


SAME_IMAGES = {
    "unscaled": {},
    "FP32": {"autocast": False},
    "static": {"scaler": static(16)},
    "skipping": {"scaler": ScalerPolicy(init_scale=2.0**40, growth_interval=2)},
    "SGD": {"optimizer": "sgd"},
    "micro-batches": {"batch": 32, "micro_batches": 4},
}


@pytest.mark.parametrize("plan", SAME_IMAGES.values(), ids=SAME_IMAGES)
@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_the_seed_alone_says_which_images_are_seen(plan, seed):
    skipped = 0
    for record, _, _, micro_batches in followed(Training(TrainingPlan(seed=seed, steps=12, **plan))):
        assert record.loss == pytest.approx(np.mean([micro.loss for micro in micro_batches]), rel=2e-4)
        skipped += record.action is Action.SKIP
    assert (skipped > 2) is (plan is SAME_IMAGES["skipping"])


def test_other_seeds_see_others():
    first = [ran(TrainingPlan(autocast=False, steps=1, seed=seed)).losses[0] for seed in range(5)]
    assert len(set(first)) == 5


def by_hand(pattern, scale=65536.0, interval=20):
    """The scale before each step: halved by an inf or NaN, doubled by so many steps in a row without."""
    good = 0
    for letter in pattern:
        yield scale
        good = 0 if letter == "N" else good + 1
        if letter == "N":
            scale /= 2
        elif good == interval:
            scale, good = scale * 2, 0


def pattern_of(run):
    return "".join("N" if record.overflowed else "F" for record in run.records)


def test_a_dynamic_scale_moves_as_its_policy_says():
    run = ran(RESTLESS)
    pattern = pattern_of(run)
    scales, actions = [record.scale for record in run.records], [record.action for record in run.records]
    assert scales == list(by_hand(pattern))
    assert actions == [Action.SKIP if letter == "N" else Action.STEP for letter in pattern]
    told = RESTLESS.scaler.run(pattern)
    assert (tuple(scales), tuple(actions)) == (told.scales[:-1], told.actions)
    assert all(
        math.isfinite(record.norm) is (letter == "F") for record, letter in zip(run.records, pattern, strict=True)
    )


def test_it_finds_its_scale_and_then_rides_the_upper_edge():
    records = ran(RESTLESS).records
    assert [(record.scale, record.action.value) for record in records[:6]] == [
        (2.0**16, "skip"),
        (2.0**15, "skip"),
        (2.0**14, "skip"),
        (2.0**13, "skip"),
        (2.0**12, "step"),
        (2.0**12, "step"),
    ]
    heights = np.array([record.scale / record.window.upper for record in records], float)
    # The edge moves from batch to batch; a step or two of the rise and of the fall lie between.
    assert heights[4:].max() < 8
    assert heights[4:].min() > 1 / 64
    assert all(record.scale > record.window.lower for record in records)
    skipped = np.array([record.action is Action.SKIP for record in records])
    assert 5 < skipped.sum() < 40
    # Each is skipped because it is over the edge: where that is, intermediate rounding moves a little.
    assert np.array_equal((heights >= 1)[abs(heights - 1) > 0.02], skipped[abs(heights - 1) > 0.02])


def test_other_policies_move_as_they_say():
    policy = ScalerPolicy(init_scale=2.0**36, growth_interval=3, hysteresis=2, growth_delay=1, lag=1)
    run = ran(TrainingPlan(steps=60, scaler=policy))
    told = policy.run(pattern_of(run))
    assert [record.scale for record in run.records] == list(told.scales[:-1])
    assert [record.action for record in run.records] == list(told.actions)
    assert pattern_of(run).count("N") > 5


def test_a_step_that_is_skipped_leaves_the_weights_alone():
    plan = TrainingPlan(steps=30, scaler=ScalerPolicy(init_scale=2.0**36, growth_interval=4))
    run, kinds = Training(plan), set()
    for record, before, after, _ in followed(run):
        unchanged = [np.array_equal(one, two) for one, two in zip(before, after, strict=True)]
        assert unchanged == [record.action is Action.SKIP] * 8
        kinds.add(record.action)
    assert kinds == {Action.SKIP, Action.STEP}


def test_the_optimizer_does_not_count_steps_that_were_skipped():
    # Adam's first step moves every weight by the learning rate, a later one not.
    plan = TrainingPlan(steps=30, scaler=ScalerPolicy(init_scale=2.0**40))
    step = next(step for step in followed(Training(plan)) if step.record.action is Action.STEP)
    assert step.record.step > 3
    moved = np.concatenate([(two - one).ravel() for one, two in zip(step.before, step.after, strict=True)])
    assert np.median(np.abs(moved[moved != 0])) == pytest.approx(0.003, rel=0.001)


def test_the_scale_stays_for_all_micro_batches():
    plan = TrainingPlan(batch=16, micro_batches=8, steps=24, scaler=ScalerPolicy(init_scale=2.0**40, growth_interval=3))
    run = ran(plan)
    scales = [record.scale for record in run.records]
    assert scales == list(by_hand(pattern_of(run), 2.0**40, 3))
    # One decision a step: an eighth of the decisions that there would be micro-batch by micro-batch.
    assert all(after / before in (0.5, 1, 2) for before, after in pairwise(scales))
    assert scales[:4] == [2.0**40, 2.0**39, 2.0**38, 2.0**37]


def moves(plan):
    """What the first step of SGD takes from each parameter, by what it multiplies the gradient with."""
    step = next(followed(Training(plan)))
    rate = plan.learning_rate * plan.divisor / plan.images
    taken = [(one.astype(float) - two) / rate for one, two in zip(step.before, step.after, strict=True)]
    return taken, step


def norm(arrays):
    return math.sqrt(sum(float((array.astype(float) ** 2).sum()) for array in arrays))


@pytest.mark.parametrize("plan", [{"autocast": False}, {"scaler": static(16)}], ids=["FP32", "FP16"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_micro_batches_add_up_to_the_gradient_of_all_their_images(plan, reduction):
    shared = {"optimizer": "sgd", "learning_rate": 1.0, "reduction": reduction, "positions": 1024, **plan}
    taken, step = moves(TrainingPlan(batch=32, micro_batches=4, **shared))
    tolerance = 2e-3 if step.record.window else 2e-6
    assert len(step.micro_batches) == 4
    off = [one - two for one, two in zip(taken, step.gradients, strict=True)]
    assert norm(off) < tolerance * norm(step.gradients)
    assert step.record.norm == pytest.approx(norm(step.gradients), rel=tolerance)
    # Images are drawn one after the other, so that one batch of 128 has the same.
    at_once, _ = moves(TrainingPlan(batch=128, **shared))
    assert norm([one - two for one, two in zip(taken, at_once, strict=True)]) < 2 * tolerance * norm(at_once)


def test_gradients_of_micro_batches_are_added_in_fp32():
    plan = {"batch": 32, "micro_batches": 16, "steps": 1, "optimizer": "sgd", "positions": 1024}
    edge = float(ran(TrainingPlan(**plan)).records[0].window.upper)
    taken, step = moves(TrainingPlan(**plan, scaler=ScalerPolicy(init_scale=0.9 * edge)))
    largest = max(np.abs(array).max() for array in step.gradients) * step.record.scale
    # No micro-batch's gradients overflow; their sum would.
    assert largest > 1.5 * 65504
    assert (step.record.action, step.record.overflowed) == (Action.STEP, 0)
    assert norm([one - two for one, two in zip(taken, step.gradients, strict=True)]) < 5e-3 * norm(step.gradients)


CLIPPED = {"optimizer": "sgd", "learning_rate": 1.0, "positions": 1}


@pytest.mark.parametrize("share", [0.9, 0.1])
@pytest.mark.parametrize("precision", [{"autocast": False}, {"scaler": static(8)}, {"scaler": static(-3)}])
def test_clipping_shortens_the_unscaled_gradient(precision, share):
    free, step = moves(TrainingPlan(**CLIPPED, **precision))
    wanted = share * step.record.norm
    taken, clipped = moves(TrainingPlan(**CLIPPED, **precision, max_norm=wanted))
    assert (clipped.record.clipped, step.record.clipped) == (True, False)
    assert norm(taken) == pytest.approx(wanted, rel=1e-4)
    assert norm([one - share * two for one, two in zip(taken, free, strict=True)]) < 1e-4 * norm(taken)
    # What is told is the norm before clipping.
    assert clipped.record.norm == step.record.norm == pytest.approx(norm(step.gradients), rel=5e-3)


@pytest.mark.parametrize("plan", [{"autocast": False}, {"scaler": static(16)}], ids=["FP32", "FP16"])
def test_a_norm_that_no_gradient_has_clips_nothing(plan):
    plan = {"steps": 12, **plan}
    free, bound = ran(TrainingPlan(**plan)), ran(TrainingPlan(**plan, max_norm=1e30))
    assert identical(free, bound)
    assert not any(record.clipped for record in bound.records)
    tight = ran(TrainingPlan(**plan, max_norm=1e-30))
    assert all(record.clipped for record in tight.records)


def test_a_step_that_is_skipped_is_not_clipped():
    plan = TrainingPlan(steps=12, max_norm=1e-30, scaler=ScalerPolicy(init_scale=2.0**36))
    records = ran(plan).records
    assert [record.clipped for record in records] == [record.action is Action.STEP for record in records]
    assert len({record.action for record in records}) == 2


@pytest.mark.parametrize("log2_scale", [14, 18, 22, 26])
def test_the_norm_is_that_of_the_unscaled_gradient(log2_scale):
    with strict():
        for step in followed(Training(TrainingPlan(steps=3, scaler=static(log2_scale)))):
            assert step.record.scale in step.record.window
            assert step.record.norm == pytest.approx(norm(step.gradients), rel=2e-3)


# One run, however it is iterated over.


def broken_off(run, made):
    """Its first steps, by a loop that is left."""
    records = []
    for record in run:
        records.append(record)
        if len(records) == made:
            break
    return records


@pytest.mark.parametrize("made", [1, 3, 11, 12])
@pytest.mark.parametrize(
    "begin", [broken_off, lambda run, made: [next(iter(run)) for _ in range(made)]], ids=["left", "step by step"]
)
def test_a_run_that_was_broken_off_goes_on_at_the_next_step(begin, made):
    plan = TrainingPlan(steps=12, batch=8, micro_batches=2, scaler=ScalerPolicy(growth_interval=3))
    with strict():
        run = Training(plan)
        records = begin(run, made)
        records += run
        assert list(run) == []
    assert [record.step for record in records] == list(range(1, 13))
    whole = ran(plan)
    assert tuple(records) == whole.records
    assert all(map(np.array_equal, run.parameters, whole.parameters))


def test_loops_over_a_run_share_its_steps():
    plan = TrainingPlan(steps=9, batch=8)
    run = Training(plan)
    assert [record.step for pair in zip(run, run, strict=False) for record in pair] == list(range(1, 9))
    # The ninth had no other to pair it with.
    assert list(run) == []
    assert all(map(np.array_equal, run.parameters, ran(plan).parameters))


@pytest.mark.parametrize(
    "plan", [None, "adam", 3, {"steps": 3}, TrainingPlan, ScalerPolicy(), np.array([1, 2])], ids=str
)
def test_what_is_no_plan_is_refused(plan):
    with strict(), pytest.raises(InputError) as refused:
        Training(plan)
    said = str(refused.value)
    assert said.startswith(f"plan must be a TrainingPlan: “{str(plan)[:60]}")
    assert said.endswith("” is not.")
