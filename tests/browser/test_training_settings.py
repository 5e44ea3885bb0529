"""The training view's forms: a good setting lands in the link, a bad one is named and kept; scalers on a pattern."""

import math
import re

from playwright.sync_api import Locator, expect
import pytest

from lossscale_app.messages import ENGLISH
from lossscale_core import SCALER_PRESETS, Action, ScalerPolicy

from .hosts import go_to_hash
from .pages import ExplorerPage
from .training_page import (
    BASE,
    RUN,
    asked,
    core,
    enter,
    field,
    last_loss,
    made,
    power,
    read,
)

pytest_plugins = ("browser.training_fixtures",)
pytestmark = pytest.mark.browser


def problem(explorer: ExplorerPage, card: str) -> Locator:
    return explorer.root.locator(f".{card} .settings > .problem")


def invalid(explorer: ExplorerPage) -> list[str]:
    """The settings that are marked as wrong."""
    return explorer.root.locator("[aria-invalid=true]").evaluate_all(
        "boxes => boxes.map((box) => box.labels[0].textContent)"
    )


# Settings

BAD = {
    "growth_factor": ("scaler-card", "1", "“1”"),
    "backoff_factor": ("scaler-card", "1", "“1”"),
    "growth_interval": ("scaler-card", "0", "“0”"),
    "min_scale": ("scaler-card", "2^18", "“2^18”"),
    "init_scale": ("scaler-card", "inf", "“inf”"),
    "stop_scale": ("scaler-card", "none at all", "“none at all”"),
    "hysteresis": ("scaler-card", "", "“”"),
    "steps": ("run-card", "2001", "“2001”"),
    "positions": ("run-card", "1,000", "“1,000”"),
    "learning_rate": ("run-card", "<b>fast</b>", "“<b>fast</b>”"),
    "inject_at": ("run-card", "-1", "“-1”"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_setting_is_named_and_kept(view: ExplorerPage, name: str) -> None:
    card, text, quoted = BAD[name]
    if name == "min_scale":
        enter(view, "max_scale", "2^17")
        # The link is written after the views have heard of a setting: what is made before is the former run.
        view.page.wait_for_function("() => location.search.includes('max_scale.p17')")
        made(view)
    address, before = view.page.url, read(view)
    frames = len(view.watch.frames)
    box = enter(view, name, text)
    expect(problem(view, card)).to_contain_text(quoted)
    sentence = problem(view, card).text_content()
    assert sentence.startswith(f"{name} ")
    assert sentence.endswith(".")
    assert len(sentence) < 200
    assert invalid(view) == [name]
    expect(box).to_have_value(text)
    expect(box).to_be_visible()
    assert box.evaluate("box => document.getElementById(box.getAttribute('aria-errormessage')).textContent") == sentence
    view.page.wait_for_timeout(600)
    assert (view.page.url, read(view)) == (address, before)
    assert asked(view, frames) == []
    # It is mended where it was typed.
    box.fill({"min_scale": "none", "stop_scale": "none"}.get(name, "2" if name != "backoff_factor" else "0.5"))
    box.press("Enter")
    expect(problem(view, card)).to_be_empty()
    assert invalid(view) == []


def test_a_bad_setting_that_is_folded_away_is_shown(view: ExplorerPage) -> None:
    box = field(view, "hysteresis")
    box.evaluate(
        "box => { box.closest('details').open = false; box.value = '0'; box.dispatchEvent(new Event('change')); }"
    )
    expect(problem(view, "scaler-card")).to_contain_text("hysteresis must be")
    expect(box).to_be_visible()


def test_a_bad_setting_does_not_survive_another_choice(view: ExplorerPage) -> None:
    box = enter(view, "growth_factor", "1")
    expect(problem(view, "scaler-card")).not_to_be_empty()
    view.root.get_by_label(ENGLISH["scalerPreset"], exact=True).select_option("keras3")
    expect(box).to_have_value("2")
    expect(problem(view, "scaler-card")).to_be_empty()
    expect(field(view, "init_scale")).to_have_value("32768")


def test_good_settings_land_in_the_link_and_back_undoes_them(view: ExplorerPage) -> None:
    states = [view.page.url]
    for name, text, shown, link in (
        ("growth_interval", "+5", "5", "&p=pytorch,growth_interval.5&"),
        ("init_scale", "2^14", "2^14", "&p=pytorch,init_scale.p14,growth_interval.5&"),
        ("seed", " 3 ", "3", "&r=seed.3,steps.40,positions.1,reduction.sum"),
        ("learning_rate", "0,01", "0.01", "&r=seed.3,steps.40,positions.1,reduction.sum,learning_rate.0.01"),
    ):
        enter(view, name, text)
        expect(field(view, name)).to_have_value(shown)
        view.page.wait_for_function("part => `${location.search}&`.includes(part)", arg=link)
        states.append(view.page.url)
    settings = "seed.3,steps.40,positions.1,reduction.sum,learning_rate.0.01"
    records, _ = core("dynamic", "pytorch,init_scale.p14,growth_interval.5", settings)
    shown = made(view)
    assert float(shown["rows"]["dynamic"][1]) == pytest.approx(last_loss(records), rel=0.006)
    assert shown["skipped"] == sum(record.action is Action.SKIP for record in records)
    for address in reversed(states[:-1]):
        view.page.evaluate("history.back()")
        view.page.wait_for_url(address)
    assert [field(view, name).input_value() for name in ("growth_interval", "init_scale", "seed")] == [
        "10",
        "65536",
        "1",
    ]
    records, _ = core("dynamic")
    assert made(view)["skipped"] == sum(record.action is Action.SKIP for record in records)


def test_a_link_that_is_followed_takes_the_place_of_what_is_being_read(view: ExplorerPage) -> None:
    box = field(view, "growth_interval")
    box.fill("7")
    box.evaluate(
        "(box, link) => { box.dispatchEvent(new Event('change', { bubbles: true })); location.hash = link; }",
        BASE.replace("seed.1", "seed.4"),
    )
    expect(field(view, "seed")).to_have_value("4")
    made(view)
    expect(box).to_have_value("10")
    assert "p=" not in view.page.url


def test_choices_and_presets_are_settings_too(view: ExplorerPage) -> None:
    view.root.get_by_label(ENGLISH["scalerPreset"], exact=True).select_option("deepspeed_zero")
    view.page.wait_for_function("() => location.search.includes('&p=deepspeed_zero&')")
    policy = SCALER_PRESETS["deepspeed_zero"]
    assert field(view, "hysteresis").input_value() == str(policy.hysteresis)
    assert field(view, "at_min").input_value() == policy.at_min
    field(view, "dynamic").select_option("false")
    view.page.wait_for_function("() => location.search.includes('&p=deepspeed_zero,dynamic.false&')")
    field(view, "reduction").select_option("mean")
    view.page.wait_for_function("() => location.search.endsWith('&r=seed.1,steps.40,positions.1')")
    records, _ = core("dynamic", "deepspeed_zero,dynamic.false", "seed.1,steps.40,positions.1")
    assert float(made(view)["rows"]["dynamic"][1]) == pytest.approx(last_loss(records), rel=0.006)


def test_the_form_tells_what_a_link_sets(view: ExplorerPage) -> None:
    go_to_hash(view, "v=1&view=training&p=fairseq,tolerance.0.5,init_scale.p8&r=steps.p5,seed.7,max_norm.2.5")
    expect(field(view, "steps")).to_have_value("2^5")
    assert len(made(view)["losses"]["fp32"]) == 32
    for name, value in {
        "init_scale": "2^8",
        "tolerance": "0.5",
        "stop_scale": "0.0001",
        "max_norm": "2.5",
        "seed": "7",
    }.items():
        assert field(view, name).input_value() == value
    assert view.root.get_by_label(ENGLISH["scalerPreset"], exact=True).input_value() == "fairseq"


def test_what_is_tried_is_marked_and_made(view: ExplorerPage) -> None:
    button = view.root.get_by_role("button", name=ENGLISH["tryRuns-plain"])
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    shown = made(view)
    assert shown["title"].startswith("✓ Without scaling the loss ends at ")
    records, _ = core("unscaled", run="positions.1", k=0)
    assert float(shown["rows"]["unscaled"][1]) == pytest.approx(last_loss(records), rel=0.006)
    view.root.get_by_role("button", name="Reset").click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert "r=" not in view.page.url


# Scalers over each other


def choose(explorer: ExplorerPage, *names: str) -> None:
    """Tick just these scalers."""
    boxes = explorer.root.locator(".policies input")
    for box in boxes.all():
        if box.get_attribute("value") not in names:
            box.uncheck()
    for name in names:
        explorer.root.locator(f".policies [value={name}]").check()


def legend(explorer: ExplorerPage, count: int) -> list[str]:
    items = explorer.root.locator(".overlay-legend li")
    expect(items).to_have_count(count)
    return items.all_text_contents()


def traced(explorer: ExplorerPage, line: int) -> list[tuple[float, float]]:
    """Each scale of a scaler in the chart: from which share of the line's length on, and its log2."""
    path = explorer.root.locator(f".overlay-line.line-{line}").get_attribute("d")
    points = [(float(x), float(y), float(to)) for x, y, to in re.findall(r"[ML]([\d.]+),([\d.]+)H([\d.]+)", path)]
    ticks = explorer.root.locator(".overlay-chart .share").evaluate_all(
        "texts => texts.map((text) => [text.textContent, Number(text.getAttribute('y')) - 5])"
    )
    (one, at_one), (two, at_two) = ((exponent(name), y) for name, y in (ticks[0], ticks[-1]))
    begin, end = points[0][0], points[-1][2]
    return [((x - begin) / (end - begin), one + (y - at_one) / (at_two - at_one) * (two - one)) for x, y, _ in points]


def exponent(text: str) -> int:
    return int(text[1:].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


def check_trace(explorer: ExplorerPage, line: int, policy: ScalerPolicy, pattern: str) -> None:
    """The scale before each step, and the one after the last."""
    scales = policy.run(pattern).scales
    changes = [place for place, scale in enumerate(scales) if place == 0 or scale != scales[place - 1]]
    shares, logs = zip(*traced(explorer, line), strict=True)
    assert logs == pytest.approx([math.log2(scales[place]) for place in changes], abs=0.02)
    assert shares == pytest.approx([place / len(scales) for place in changes], abs=0.001)


def test_scalers_go_over_a_typed_pattern(view: ExplorerPage) -> None:
    choose(view, "pytorch", "jmp", "fairseq", "deepspeed_zero")
    address = view.page.url
    pattern = view.root.get_by_label(ENGLISH["patternLabel"], exact=True)
    pattern.fill("n n f, nnnf nnnnnn nnnnnn nnnn")
    pattern.press("Enter")
    letters = "NNFNNNFNNNNNNNNNNNNNNNN"
    expect(view.root.locator(".overlay-legend")).to_contain_text("jmp: 21 steps overflow")
    names = {"PyTorch GradScaler": "pytorch", "DeepSpeed ZeRO": "deepspeed_zero", "fairseq": "fairseq", "jmp": "jmp"}
    assert len(legend(view, 4)) == 4
    for place, (text, (name, preset)) in enumerate(zip(legend(view, 4), names.items(), strict=True)):
        trace = SCALER_PRESETS[preset].run(letters)
        overflows, last = letters[: len(trace.actions)].count("N"), power(round(math.log2(trace.scales[-1])))
        if trace.actions[-1] is Action.RAISE:
            assert text == f"{name}: training ends with an error after {overflows} overflows, at scale {last}"
        else:
            assert text == f"{name}: {overflows} steps overflow, last scale {last}"
        check_trace(view, place, SCALER_PRESETS[preset], letters)
    assert view.root.locator(".overlay-chart .overflow-step").count() == 21
    # A pattern is in no link.
    assert view.page.url == address


def test_the_readers_own_scaler_is_one_of_them(view: ExplorerPage) -> None:
    choose(view, "mine")
    pattern = view.root.get_by_label(ENGLISH["patternLabel"], exact=True)
    pattern.fill("NFFFFFFFFFFFF")
    pattern.press("Enter")
    expect(view.root.locator(".overlay-legend")).to_have_text(
        f"PyTorch GradScaler (growth_interval = 10): 1 step overflows, last scale {power(16)}"
    )
    enter(view, "growth_interval", "3")
    expect(view.root.locator(".overlay-legend")).to_have_text(
        f"PyTorch GradScaler (growth_interval = 3): 1 step overflows, last scale {power(19)}"
    )
    check_trace(view, 0, ScalerPolicy(growth_interval=3), "NFFFFFFFFFFFF")


def test_the_pattern_of_the_dynamic_run(view: ExplorerPage) -> None:
    choose(view, "mine", "static")
    view.root.get_by_role("button", name=ENGLISH["patternFromRun"]).click()
    records, _ = core("dynamic")
    letters = "".join("F" if record.action is Action.STEP else "N" for record in records)
    expect(view.root.get_by_label(ENGLISH["patternLabel"], exact=True)).to_have_value(letters)
    skipped = letters.count("N")
    assert skipped >= 4
    expect(view.root.locator(".overlay-legend")).to_contain_text(f"{skipped} steps overflow")
    # The scaler goes there as it did in training.
    check_trace(view, 0, ScalerPolicy(growth_interval=10), letters)


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("FFX", "A pattern has only the letters F (finite) and N (an inf or NaN): letter 3, “X”, is neither."),
        ("", "A pattern has at least one letter: F for a finite step, N for one with an inf or NaN."),
        ("N" * 2001, "A pattern has at most 2000 steps here, and this one has 2001."),
    ],
)
def test_a_pattern_that_cannot_be_read_is_kept(view: ExplorerPage, pattern: str, sentence: str) -> None:
    choose(view, "pytorch")
    box = view.root.get_by_label(ENGLISH["patternLabel"], exact=True)
    box.fill("NFN")
    box.press("Enter")
    expect(view.root.locator(".overlay-legend")).to_contain_text("2 steps overflow")
    before = traced(view, 0)
    box.fill(pattern)
    box.press("Enter")
    told = view.root.locator(".overlay-card .problem")
    expect(told).to_have_text(sentence)
    expect(box).to_have_value(pattern)
    assert traced(view, 0) == before
    box.fill("NF")
    box.press("Enter")
    expect(told).to_be_empty()
    expect(view.root.locator(".overlay-legend")).to_contain_text("1 step overflows")


def test_no_more_scalers_than_can_be_told_apart(view: ExplorerPage) -> None:
    names = ("pytorch", "jmp", "keras2", "keras3", "mxnet", "megatron")
    choose(view, *names)
    lines = [view.root.locator(f".overlay-line.line-{place}") for place in range(6)]
    expect(lines[5]).to_be_attached()
    looks = [
        line.evaluate(
            "line => { const { stroke, strokeDasharray } = getComputedStyle(line); return stroke + strokeDasharray; }"
        )
        for line in lines
    ]
    assert len(set(looks)) == 6
    assert len({look.rpartition(")")[2] for look in looks}) == 6
    view.root.locator(".policies [value=static]").check()
    expect(view.root.locator(".overlay-card .problem")).to_have_text(
        "At most 6 scalers can be told apart: clear one first."
    )
    assert len(legend(view, 6)) == 6
    view.root.locator(".policies [value=jmp]").uncheck()
    expect(view.root.locator(".overlay-card .problem")).to_be_empty()
    expect(view.root.locator(".overlay-legend")).to_contain_text("static")


def test_another_run_is_no_reason_to_forget_a_pattern(view: ExplorerPage) -> None:
    choose(view, "pytorch")
    box = view.root.get_by_label(ENGLISH["patternLabel"], exact=True)
    box.fill("NNN")
    box.press("Enter")
    expect(view.root.locator(".overlay-legend")).to_contain_text("3 steps overflow")
    go_to_hash(view, f"{BASE.replace(RUN, RUN.replace('40', '30'))}")
    expect(field(view, "steps")).to_have_value("30")
    made(view)
    expect(box).to_have_value("NNN")
    expect(view.root.locator(".overlay-legend")).to_contain_text("3 steps overflow")


def test_a_link_with_settings_that_are_none_changes_none(view: ExplorerPage) -> None:
    """Nor does what is chosen next fail at the server, which is looked at when the page is left."""
    go_to_hash(view, "v=1&view=training&p=nonsense&r=steps.0,seed.1")
    expect(view.notice).to_contain_text("p=nonsense")
    expect(view.notice).to_contain_text("r=steps.0,seed.1")
    expect(field(view, "steps")).to_have_value("300")
    assert view.root.get_by_label(ENGLISH["scalerPreset"], exact=True).input_value() == "pytorch"
    view.format("BF16")
    view.page.wait_for_timeout(700)
    assert view.page.url.partition("?")[2] == "v=1&f=bf16&view=training"
