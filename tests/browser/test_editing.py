"""Typing: gradients into the list, over one another and out of it, and an exact scale."""

from fractions import Fraction

from playwright.sync_api import expect
import pytest

from lossscale_core import FORMATS, FP16, classify, decimal_text

from .agreement import SEED, check
from .expected import is_right, spelled, tells
from .pages import SEED as SEED_NAMES
from .pages import ExplorerPage

pytestmark = pytest.mark.browser

TWELVE = [f"2^{exponent}" for exponent in range(-24, 0, 2)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1e-8", ["1e-8"]),
        ("1e-8; -3", ["1e-8", "-3"]),
        ("1e-8, -3", ["1e-8", "-3"]),
        ("  1e-8   -3 ;; 5 ", ["1e-8", "-3", "5"]),
        ("2⁻²⁵", ["2^-25"]),
        ("−0.5", ["-0.5"]),
        ("2**-20, 1.5*2^-7", ["2^-20", "1.5*2^-7"]),
        ("nan inf 0", ["nan", "inf", "0"]),
    ],
)
def test_adding(explorer: ExplorerPage, text: str, tokens: list[str]) -> None:
    explorer.type_gradients(text)
    explorer.wait_for_rows(2 + len(tokens))
    names = [spelled(token) for token in tokens]
    state = explorer.state()
    assert state.boxes == [row.cells.gradient for row in state.rows] == [*SEED_NAMES, *names]
    assert state.journey.selected == len(state.boxes) - 1
    expect(explorer.problem).to_be_empty()
    expect(explorer.add_field).to_have_value("")
    expect(explorer.add_field).to_be_focused()


@pytest.mark.parametrize("text", ["0x1.8p-24", "0.00000008940696716308594", "89406967163085937500e-27"])
def test_what_is_long_or_hard_to_read_is_named_by_its_value(explorer: ExplorerPage, text: str) -> None:
    explorer.type_gradients(text)
    explorer.wait_for_rows(3)
    state = explorer.state()
    assert state.boxes[2] == state.rows[2].cells.gradient == "≈8.941e−8"
    assert tells(state.boxes[2], Fraction(1.5 * 2**-24))


def test_buttons_do_what_enter_does(explorer: ExplorerPage) -> None:
    explorer.add_field.fill("5")
    explorer.add_button.click()
    explorer.wait_for_rows(3)
    explorer.scale_field.fill("1000")
    explorer.scale_button.click()
    expect(explorer.root.locator(".bubble")).to_have_text("S = 1000")
    assert explorer.state().boxes == [*SEED_NAMES, "5"]


def test_pasting_a_column(explorer: ExplorerPage) -> None:
    explorer.add_field.focus()
    explorer.add_field.evaluate(
        """(field, text) => {
            const data = new DataTransfer();
            data.setData("text", text);
            field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        "1e-8\n-3\r\n2^-20\n",
    )
    explorer.press("Enter")
    explorer.wait_for_rows(5)
    assert explorer.state().boxes == [*SEED_NAMES, "1e−8", "−3", "2⁻²⁰"]


def test_replacing_in_place(explorer: ExplorerPage) -> None:
    explorer.retype(0, "-0.1")
    expect(explorer.root.locator("tbody th").first).to_have_text("−0.1")
    explorer.press("Tab")
    check(explorer.state(), ["-0.1", "8"], 0, FP16)


def test_leaving_a_box_takes_what_is_in_it(explorer: ExplorerPage) -> None:
    explorer.boxes.nth(1).fill("16")
    explorer.press("Tab")
    expect(explorer.root.locator("tbody th").nth(1)).to_have_text("16")
    assert explorer.state().boxes == ["2⁻²⁶", "16"]


def test_several_in_the_place_of_one(explorer: ExplorerPage) -> None:
    explorer.retype(0, "1e-8 1e-7")
    explorer.wait_for_rows(3)
    explorer.press("Tab")
    explorer.page.wait_for_timeout(500)  # leaving the box must not read it once more
    assert explorer.state().boxes == ["1e−8", "1e−7", "8"]


def test_escape_brings_the_old_value_back(explorer: ExplorerPage) -> None:
    box = explorer.boxes.first
    box.fill("abc")
    box.press("Enter")
    assert "“abc”" in explorer.wait_for_problem()
    box.press("Escape")
    state = explorer.state()
    assert (state.boxes, state.problem) == (SEED_NAMES, "")


def test_a_box_offers_the_text_as_it_was_typed(explorer: ExplorerPage) -> None:
    explorer.boxes.first.focus()
    expect(explorer.boxes.first).to_have_value("2^-26")
    assert explorer.state().journey.selected == 0
    explorer.boxes.nth(1).focus()
    expect(explorer.boxes.first).to_have_value("2⁻²⁶")
    assert explorer.state().journey.selected == 1


def test_removing(explorer: ExplorerPage) -> None:
    explorer.put("1e-8", "-3", "5")
    explorer.root.get_by_role("button", name="Remove −3", exact=True).click()
    check(explorer.state(), ["1e-8", "5"], 0, FP16)


@pytest.mark.parametrize("key", ["Enter", "Tab"])
def test_removing_by_emptying_its_box(explorer: ExplorerPage, key: str) -> None:
    explorer.put("1e-8", "-3", "5")
    explorer.boxes.first.fill("")
    explorer.press(key)
    explorer.page.evaluate("document.activeElement.blur()")
    check(explorer.state(), ["-3", "5"], 0, FP16)


def test_focus_is_not_lost_with_what_is_removed(explorer: ExplorerPage) -> None:
    explorer.put("1e-8", "-3", "5")
    for left in (2, 1, 0):
        explorer.removes.last.focus()
        explorer.press("Enter")
        assert len(explorer.state().boxes) == left
        assert explorer.page.evaluate("document.activeElement !== document.body")


def test_twelve_and_no_more(explorer: ExplorerPage) -> None:
    explorer.put(*TWELVE[:11])
    explorer.type_gradients("5, 6")
    sentence = explorer.wait_for_problem()
    assert sentence == "The list holds up to 12 gradients, and this would make 13."
    expect(explorer.add_field).to_have_value("5, 6")
    assert len(explorer.state().boxes) == 11
    explorer.type_gradients(TWELVE[11])
    explorer.wait_for_rows(12)
    check(explorer.state(), TWELVE, 0, FP16)
    expect(explorer.add_field).to_be_disabled()
    expect(explorer.add_button).to_be_disabled()
    explorer.retype(3, "1 2")
    assert explorer.wait_for_problem() == sentence
    expect(explorer.boxes.nth(3)).to_have_value("1 2")
    explorer.boxes.nth(3).press("Escape")
    explorer.removes.first.click()
    expect(explorer.add_field).to_be_enabled()


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("abc", "abc"),
        ("1e-8, x3", "x3"),
        ("1e400", "1e400"),
        ("1e-400", "1e-400"),
        ("2^", "2^"),
        ("0x", "0x"),
        ("1__0", "1__0"),
        ("१", "१"),
        ("9" * 200, "9" * 60 + "…"),
        ("__import__('os').system('true')", "__import__('os').system('true')"),
        ("<img src=x onerror=alert(1)>", "<img"),
        ("{{7*7}}", "{{7*7}}"),
    ],
)
def test_what_cannot_be_read(explorer: ExplorerPage, text: str, quoted: str) -> None:
    explorer.type_gradients(text)
    sentence = explorer.wait_for_problem()
    assert f"“{quoted}”" in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence
    expect(explorer.add_field).to_have_value(text)
    expect(explorer.add_field).to_have_attribute("aria-invalid", "true")
    expect(explorer.add_field).to_have_accessible_description(sentence)
    assert explorer.state().boxes == SEED_NAMES
    # What is typed next is taken, and the sentence goes.
    explorer.type_gradients("5")
    explorer.wait_for_rows(3)
    expect(explorer.problem).to_be_empty()
    expect(explorer.add_field).not_to_have_attribute("aria-invalid", "true")


def test_markup_is_text(explorer: ExplorerPage) -> None:
    markup = "<img/src=x/onerror=document.title='taken'>"
    for field in (explorer.add_field, explorer.scale_field, explorer.boxes.first):
        field.fill(markup)
        field.press("Enter")
        assert explorer.wait_for_problem().startswith(f"“{markup}” is not a number")
        expect(field).to_have_attribute("aria-invalid", "true")
    assert explorer.page.locator("img").count() == 0
    assert "taken" not in explorer.page.title()


@pytest.mark.parametrize("text", ["", "   "])
def test_nothing_typed_is_nothing_asked(explorer: ExplorerPage, text: str) -> None:
    frames = len(explorer.watch.frames)
    for field in (explorer.add_field, explorer.scale_field):
        field.fill(text)
        field.press("Enter")
    state = explorer.state()
    assert (state.boxes, state.problem, len(explorer.watch.frames)) == (SEED_NAMES, "", frames)


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("1000", Fraction(1000)),
        ("0x1p3", Fraction(8)),
        ("8189.999", Fraction(8189.999)),
        ("8190", Fraction(8190)),
        ("2^-3", Fraction(1, 8)),
        ("1e300", Fraction(1e300)),
        ("1e-300", Fraction(1e-300)),
        ("3", Fraction(3)),
    ],
)
def test_an_exact_scale(explorer: ExplorerPage, text: str, scale: Fraction) -> None:
    explorer.type_scale(text)
    expect(explorer.root.locator(".bubble")).not_to_contain_text("2⁰")
    state = explorer.state()
    names = [outcome.name.lower() for outcome in classify([2**-26, 8.0], scale, FP16)]
    assert [row.outcome for row in state.rows] == [mark.outcome for mark in state.landing] == names
    assert [mark.outcome for mark in state.crossings] == names
    assert is_right(state.bubble.strip("◂▸ ").removeprefix("S ").removeprefix("= "), scale)
    assert tells(state.rows[1].cells.scaled, 8 * scale)
    assert state.value_text.startswith(f"scale {decimal_text(scale).replace('≈', 'about ')}; ")
    expect(explorer.scale_field).to_have_value("")


@pytest.mark.parametrize("text", ["0", "-1", "nan", "abc", "inf", "1e999", "-0", "1 2"])
def test_no_scale(explorer: ExplorerPage, text: str) -> None:
    explorer.go(5)
    explorer.type_scale(text)
    sentence = explorer.wait_for_problem()
    assert f"“{text}”" in sentence
    expect(explorer.scale_field).to_have_value(text)
    expect(explorer.scale_field).to_have_attribute("aria-invalid", "true")
    check(explorer.state(), SEED, 5, FP16)


@pytest.mark.parametrize(
    ("text", "key", "k"),
    [
        ("1000", "ArrowRight", 10),
        ("1000", "ArrowLeft", 9),
        ("1024", "ArrowRight", 11),
        ("1024", "ArrowLeft", 9),
        ("0.3", "ArrowUp", -1),
        ("0.3", "ArrowDown", -2),
        ("1e300", "ArrowLeft", 40),
        ("1e-300", "ArrowRight", -40),
        ("1000", "Home", -40),
    ],
)
def test_keys_lead_from_an_exact_scale_to_whole_octaves(explorer: ExplorerPage, text: str, key: str, k: int) -> None:
    explorer.type_scale(text)
    expect(explorer.root.locator(".bubble")).not_to_contain_text("2⁰")
    explorer.slider.focus()
    explorer.press(key)
    check(explorer.state(), SEED, k, FP16)
    explorer.press("ArrowLeft" if k > 0 else "ArrowRight")
    check(explorer.state(), SEED, k - 1 if k > 0 else k + 1, FP16)


def test_an_exact_scale_goes_with_typing_and_removing(explorer: ExplorerPage) -> None:
    explorer.type_scale("1000")
    expect(explorer.root.locator(".bubble")).to_have_text("S = 1000")
    explorer.type_gradients("1e-8")
    explorer.wait_for_rows(3)
    explorer.removes.first.click()
    state = explorer.state()
    assert state.bubble == "S = 1000"
    assert tells(state.rows[1].cells.scaled, Fraction(1e-8) * 1000)
    explorer.handles.nth(1).focus()
    explorer.press("ArrowRight")
    state = explorer.state()
    assert state.bubble == "S = 1000"
    assert tells(state.rows[1].cells.scaled, Fraction(1e-8) * 2000)


def test_reset(explorer: ExplorerPage) -> None:
    explorer.theme("dark")
    explorer.put("1e-8", "-3", "nan")
    explorer.format("E4M3")
    explorer.type_scale("1000")
    expect(explorer.root.locator(".bubble")).to_have_text("S = 1000")
    explorer.type_gradients("abc")
    explorer.wait_for_problem()
    explorer.reset.click()
    state = explorer.state()
    check(state, SEED, 0, FP16)
    assert (state.format, state.problem, state.journey.selected) == ("fp16", "", 0)
    assert state.theme == "dark"  # the room is as dark as before


def test_reset_takes_unread_text_out_of_a_box(explorer: ExplorerPage) -> None:
    explorer.retype(0, "abc")
    explorer.wait_for_problem()
    explorer.reset.click()
    explorer.page.wait_for_timeout(500)
    state = explorer.state()
    assert (state.boxes, state.problem) == (SEED_NAMES, "")
    expect(explorer.boxes.first).not_to_have_attribute("aria-invalid", "true")


def test_emptied_and_filled_again(explorer: ExplorerPage) -> None:
    explorer.removes.first.click()
    explorer.removes.first.click()
    state = explorer.state()
    assert (state.title, state.mood, state.rows, state.journey) == ("No gradients", "none", [], None)
    explorer.format("BF16")
    explorer.slider.focus()
    explorer.press("PageUp", "PageUp", "PageDown")
    assert explorer.state().slider == 4
    explorer.type_gradients("1e-8")
    explorer.wait_for_rows(1)
    check(explorer.state(), ["1e-8"], 4, FORMATS["bf16"])


PRESETS = {
    "Find a scale that saves both": (SEED, "fp16", 0),
    "Three near 2⁻²⁵: which becomes 0?": (["2^-25", "1.0009765625*2^-25", "3*2^-25"], "fp16", 0),
    "What is 8 × 2¹³ in FP16?": (["8"], "fp16", 13),
    "Nonzero means correct?": (["1.75*2^-24"], "fp16", 0),
    "Must S exceed 1?": (["2^-20", "2^18"], "fp16", 0),
    "Save both at once?": (["2^-34", "2^10"], "fp16", 0),
    "What does one outlier do?": ([*(f"2^{k}" for k in range(-30, -18, 2)), "2^10"], "fp16", 6),
    "The same two in BF16": (SEED, "bf16", 0),
    "The same two in E5M2": (SEED, "e5m2", 0),
}


def test_things_to_try(explorer: ExplorerPage) -> None:
    assert explorer.tries.all_inner_texts() == list(PRESETS)


@pytest.mark.parametrize("words", PRESETS)
def test_trying(explorer: ExplorerPage, words: str) -> None:
    tokens, fmt, k = PRESETS[words]
    explorer.go(17)
    explorer.try_it(words)
    state = explorer.state()
    assert (state.format, state.slider, state.pressed) == (fmt, k, [words])
    assert len(state.rows) == len(tokens)
    for state in explorer.sweep():
        if "1.0009765625*2^-25" not in tokens:  # too long a name for the list, where it is a number
            check(state, tokens, int(state.slider), FORMATS[fmt])


def test_what_was_tried_can_be_edited(explorer: ExplorerPage) -> None:
    explorer.try_it("Must S exceed 1?")
    explorer.type_gradients("3")
    explorer.wait_for_rows(3)
    check(explorer.state(), ["2^-20", "2^18", "3"], 0, FP16)
    assert explorer.state().pressed == []


@pytest.mark.parametrize("meanwhile", ["remove", "drag", "format", "slider"])
def test_the_hand_goes_on_while_the_server_reads(explorer: ExplorerPage, meanwhile: str) -> None:
    """Neither what was typed nor what was done meanwhile gets lost."""
    explorer.server.signal("SIGSTOP")
    explorer.type_gradients("5")
    match meanwhile:
        case "remove":
            explorer.removes.first.click()
        case "drag":
            explorer.handles.first.focus()
            explorer.press("ArrowRight")
        case "format":
            explorer.format("BF16")
        case "slider":
            explorer.slider.focus()
            explorer.press("PageUp")
    explorer.server.signal("SIGCONT")
    wanted = {"remove": ["8", "5"], "drag": ["2⁻²⁵", "8", "5"]}.get(meanwhile, [*SEED_NAMES, "5"])
    explorer.wait_for_rows(len(wanted))
    explorer.page.wait_for_timeout(1200)
    state = explorer.state()
    assert state.boxes == wanted
    assert state.format == ("bf16" if meanwhile == "format" else "fp16")
    assert state.slider == (4 if meanwhile == "slider" else 0)
    # The server knows the same list: it adds to it.
    explorer.type_gradients("6")
    explorer.wait_for_rows(len(wanted) + 1)
    assert explorer.state().boxes == [*wanted, "6"]


def test_no_answer_is_held_back(explorer: ExplorerPage) -> None:
    """However many changes the server had to take up right before it was asked."""
    for _ in range(8):
        explorer.begin_again()
        explorer.page.wait_for_timeout(300)
        explorer.server.signal("SIGSTOP")
        explorer.removes.first.click()
        explorer.removes.first.click()
        explorer.type_gradients("1e-8, -3, 5")
        explorer.server.signal("SIGCONT")
        explorer.wait_for_rows(3)
        assert explorer.state().boxes == ["1e−8", "−3", "5"]
