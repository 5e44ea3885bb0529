"""Two languages: each complete, numbers and plurals right, switched without a reload."""

from collections.abc import Iterator
import json
from pathlib import Path
import re

from playwright.sync_api import Browser, expect
import pytest

from .hosts import Site
from .launch import Server
from .pages import ExplorerPage, open_page
from .saved_views import saved_address, saved_views, show, unfold
from .training_page import RUN

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

POLISH = "&lang=pl"
#: Short runs; their making must not be seen twice.
TRAINING = f"view=training&k=12&r={RUN}"

#: Words that both languages have; names of settings and of other people's programs are the same everywhere.
SAME = {"Gradient", "Tensor"}
NAMES = ".setting, .policies, option, dialog"

# All that is read on the page, but for the menu of languages.
_TEXT = """(root, NAMES) => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), texts = [], names = [];
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (!data.trim() || parentElement.closest("style, .display-menu, .unseen[role=status]")) continue;
    (parentElement.closest(NAMES) ? names : texts).push(data.trim());
  }
  const boxes = [...root.querySelectorAll("input, select")].filter((box) => box.type !== "radio" || box.checked);
  const values = boxes.filter((box) => box.name !== "lse-language")
    .map(({ name, id, value, checked }) => [name || id, value, checked]);
  // Where a chart begins hangs on its words; what it shows does not.
  const drawn = [...root.querySelectorAll(".run-line, .overlay-line, .order-line, .segment, .mark")]
    .map((part) => [part.classList.value, part.getAttribute("d")?.match(/[A-Z]/g)?.join("")]);
  const open = [...root.querySelectorAll("details:not(.display-menu)")].map((each) => each.open);
  return JSON.stringify({ texts, names, values, drawn, open, title: document.title });
}"""


@pytest.fixture(scope="module")
def saved(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    with saved_views(browser, saved_address(site)) as explorer:
        yield explorer


@pytest.fixture(scope="module")
def live(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    explorer = open_page(browser, server, locale="en-GB")
    yield explorer
    problems = [*explorer.watch.problems(), *server.new_errors()]
    explorer.page.context.close()
    assert not problems


def text(explorer: ExplorerPage, selector: str) -> str:
    return " | ".join(explorer.root.locator(selector).all_text_contents()).replace("\u00a0", " ").replace("\u202f", " ")


# In Polish


@pytest.mark.parametrize(("locale", "keys"), [("en-GB", POLISH), ("pl-PL", ""), ("de-DE", POLISH)])
def test_it_opens_in_polish(browser: Browser, site: Site, locale: str, keys: str) -> None:
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.goto(f"{saved_address(site)}#v=1&k=3{keys}")
    expect(page.locator("html")).to_have_attribute("lang", "pl")
    expect(page.get_by_role("slider", name="Skala S", exact=True)).to_have_attribute(
        "aria-valuetext", "skala 2 do potęgi 3, 8; oba gradienty przetrwały"
    )
    expect(page).to_have_title("S = 2³ = 8: ✓ Oba gradienty przetrwały · Loss Scaling Explorer")
    expect(page.get_by_role("button", name="Udostępnij", exact=True)).to_be_visible()
    context.close()


def test_other_browsers_and_links_open_in_english(browser: Browser, site: Site, saved: ExplorerPage) -> None:
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    page.goto(saved_address(site))
    expect(page.locator("html")).to_have_attribute("lang", "en")
    context.close()
    show(saved, "view=window", "&lang=xx")
    expect(saved.page.locator("html")).to_have_attribute("lang", "en")
    expect(saved.notice).to_have_text("A part of the link was ignored: lang=xx")
    saved.root.locator(".choice.language [value=pl]").evaluate("radio => radio.click()")
    expect(saved.notice).to_have_text("Pominięto część linku: lang=xx")
    show(saved, "view=window&k=1", POLISH)
    show(saved, "view=window&k=2", f"{POLISH}&th=pink")
    expect(saved.notice).to_have_text("Pominięto część linku: th=pink")


#: Links, and what is said there in Polish: a part of the page, and its text.
SAID = {
    "k=0": (".outcome-title", "✕ 2⁻²⁶ jest utracony"),
    "k=0&g=p-26,p-30": (".outcome-title", "✕ 2⁻²⁶ i 2⁻³⁰ są utracone"),
    "k=0&g=p17": (".outcome-title", "▲ 2¹⁷ przepełnia się"),
    "k=0&g=p17,p18": (".outcome-title", "▲ 2¹⁷ i 2¹⁸ przepełniają się"),
    "k=0&g=p17,p18,p19": (".outcome-title", "▲ 3 gradienty przepełniają się"),
    "k=0&g=p17,p18,p19,p20,p21": (".outcome-title", "▲ 5 gradientów przepełnia się"),
    "k=1&g=p17,p18,p19": (".window-caption strong", "bezpieczne okno 2⁻⁴² < S < ≈0,1250"),
    "view=distribution&k=0": (".outcome-title", "✕ Utracono 12 701 gradientów (38,5%)"),
    "view=distribution&k=1": (
        ".kept-card .counts .number",
        "32,7% | 10 801 | 57,4% | 18 948 | 9,85% | 3251 | 0% | 0",
    ),
    "view=distribution&k=2": (".advice", "S = 2²⁰ zachowuje 100%, 3 oktawy poniżej przepełnienia."),
    "view=distribution&k=22": (".outcome-title", "✓ Wszystkie 33 000 gradientów przetrwało"),
    "s=dyn": (
        ".runs-card .outcome-lines p:last-child",
        "Dynamiczne S: strata końcowa 0,0165 (FP32: 0,0153); pominięto 14 kroków.",
    ),
    "s=dyn&k=13": (
        ".overlay-legend li:first-child",
        "PyTorch GradScaler (growth_interval = 20): 4 kroki z przepełnieniem, ostatnia skala 2¹²",
    ),
    "s=clip&o=clip": (".order-card .counts td", "0,25 (wszystkie 4) | 2⁻¹¹ ≈ 0,0004883 (wszystkie 4) | 1/512"),
    "s=window&m=predict": (".predictions legend", "Co przewidujesz?"),
}


@pytest.mark.parametrize("link", SAID)
def test_numbers_and_plurals_in_polish(saved: ExplorerPage, link: str) -> None:
    show(saved, link, POLISH)
    selector, said = SAID[link]
    assert text(saved, selector) == said


#: What a view's title, slider and second slider say in Polish.
SPOKEN = {
    "view=window&k=13": ("S = 2¹³ = 8192: ▲ 8 przepełnia się", "skala 2 do potęgi 13, 8192; 8 przepełnia się", None),
    "view=window&k=-1": (
        "S = 2⁻¹ = 0,5: ✕ 2⁻²⁶ jest utracony",
        "skala 2 do potęgi minus 1, 0,5; 2 do potęgi minus 26 jest utracony",
        None,
    ),
    "view=distribution&k=3": (
        "S = 2³ = 8: ✕ Utracono 7301 gradientów (22,1%)",
        "skala 2 do potęgi 3, 8; Utracono 7301 gradientów (22,1%)",
        None,
    ),
    "s=dyn&k=-2": (
        "S = 2⁻² = 0,25: ",
        "skala 2 do potęgi minus 2, 0,25; w oknie w 300 z 300 kroków",
        "krok 1; skalowanie dynamiczne: strata 2,36, S = 2 do potęgi 16, pominięty, utracono 0%, "
        "okno 2 do potęgi minus 15 … 2 do potęgi 12",
    ),
    "s=clip&o=clip&k=11": (
        "S = 2¹¹ = 2048: ◆ Krok jest 1024 razy za mały i nic tego nie sygnalizuje",
        "skala 2 do potęgi 11, 2048; Krok jest 1024 razy za mały i nic tego nie sygnalizuje",
        None,
    ),
}


@pytest.mark.parametrize("link", SPOKEN)
def test_the_title_and_what_is_read_aloud(saved: ExplorerPage, link: str) -> None:
    show(saved, link, POLISH)
    title, value, step = SPOKEN[link]
    plain = saved.page.title().replace("\u00a0", " ").replace("\u202f", " ")
    assert plain.startswith(title)
    assert plain.endswith(" · Loss Scaling Explorer")
    slider = saved.root.get_by_role("slider", name="Skala S", exact=True)
    assert slider.get_attribute("aria-valuetext").replace("\u00a0", " ").replace("\u202f", " ") == value
    if step:
        assert saved.root.get_by_role("slider", name="Oglądany krok").get_attribute("aria-valuetext") == step


# From one to the other


def remember(live: ExplorerPage) -> tuple:
    """What must not grow: pages loaded, sockets opened, runs asked for."""
    asked = [frame for frame in live.watch.frames if '"train"' in str(frame)]
    return len(live.watch.requests), live.sockets, len(asked)


@pytest.fixture
def counted(live: ExplorerPage) -> ExplorerPage:
    live.sockets = 0
    live.page.on("websocket", lambda _: setattr(live, "sockets", live.sockets + 1))
    live.page.evaluate("document.querySelector('.display-menu').open = false")
    return live


def prepare(live: ExplorerPage, view: str) -> None:
    """Type what is not sent, fold open what is folded, look elsewhere than in the beginning."""
    if view == "window":
        live.add_field.fill("1e-9, 3")
        live.scale_field.fill("0.1")
    if view == "distribution":
        live.root.locator(".octaves summary").click()
    if view == "training":
        expect(live.root.locator(".run-table")).not_to_contain_text("…", timeout=90_000)
        expect(live.root.locator(".autocast")).not_to_contain_text("…", timeout=90_000)
        expect(live.root.locator(".run-card progress")).to_be_hidden()
        unfold(live)
        live.root.locator("#lse-run-batch").evaluate("box => { box.value = '77'; }")
        live.root.locator("#lse-pattern").evaluate("box => { box.value = 'NFFN'; }")
        live.root.locator(".choice.mapped [value=static]").check(force=True)
        live.root.locator(".choice.steps-run [value=unscaled]").check(force=True)
        live.root.locator(".step-slider").focus()
        live.press("ArrowRight", "ArrowRight", "ArrowRight")
        live.settle()


@pytest.mark.parametrize(
    ("view", "link"),
    [
        ("window", "view=window&k=7"),
        ("distribution", "view=distribution&k=9"),
        ("training", TRAINING),
        ("order", "s=half&k=8"),
    ],
)
def test_a_switch_changes_the_words_alone(counted: ExplorerPage, view: str, link: str) -> None:
    show(counted, link)
    if view == "order":
        expect(counted.root.locator(".order-card")).to_have_attribute("data-of", "half loss fp16  fp16")
    if view == "distribution":
        expect(counted.root.locator(".outcome-title")).to_contain_text("lost")
    prepare(counted, view)
    counted.page.wait_for_timeout(700)  # all is sent that is to be sent
    counted.root.locator(".display-menu summary").focus()
    counted.press("Enter", "Tab", "Tab")
    before, english = remember(counted), counted.root.evaluate(_TEXT, NAMES)
    assert counted.page.evaluate("document.activeElement.value") == "en"

    counted.press("ArrowRight")
    expect(counted.page.locator("html")).to_have_attribute("lang", "pl")
    counted.settle()
    focus = "() => [document.activeElement.name, document.activeElement.value, document.activeElement.checked]"
    assert counted.page.evaluate(focus) == ["lse-language", "pl", True]
    assert counted.root.locator(".display-menu").evaluate("menu => menu.open")
    assert "lang=pl" in counted.page.url
    polish = json.loads(counted.root.evaluate(_TEXT, NAMES))
    meant = json.loads(english)
    for kept in ("values", "drawn", "open"):
        assert polish[kept] == meant[kept]
    common = set(polish["texts"]) & set(meant["texts"])
    assert {sentence for sentence in common if re.search(r"[a-z]{4}", sentence)} <= SAME

    counted.press("ArrowLeft")
    expect(counted.page.locator("html")).to_have_attribute("lang", "en")
    counted.settle()
    assert counted.root.evaluate(_TEXT, NAMES) == english
    assert counted.page.evaluate(focus) == ["lse-language", "en", True]
    counted.press("Escape")
    counted.page.wait_for_timeout(700)
    assert remember(counted) == before


def test_back_and_undo_take_a_switch_back(counted: ExplorerPage) -> None:
    show(counted, "view=window&k=4")
    counted.page.wait_for_timeout(700)
    html = counted.page.locator("html")
    for back in ("back", "Control+z"):
        counted.root.locator(".display-menu").evaluate("menu => { menu.open = true; }")
        counted.root.locator(".choice.language [value=pl]").check(force=True)
        expect(html).to_have_attribute("lang", "pl")
        counted.press("Escape")
        counted.page.wait_for_timeout(700)
        # The focus stays where it is, wherever that is.
        counted.root.get_by_role("slider", name="Skala S", exact=True).focus()
        counted.page.go_back() if back == "back" else counted.press(back)
        expect(html).to_have_attribute("lang", "en")
        assert counted.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Loss scale S"
        assert "lang=" not in counted.page.url
        assert counted.state().slider == 4


def test_a_lesson_goes_on_in_the_other_language(saved: ExplorerPage) -> None:
    saved.page.set_viewport_size({"width": 1280, "height": 400})
    show(saved, "s=window&m=predict")
    saved.root.locator(".prediction [value=b]").check()
    saved.page.evaluate("scrollTo(0, 60)")
    show(saved, "s=window&m=predict", POLISH)
    assert saved.page.evaluate("scrollY") == 60
    expect(saved.root.locator(".prediction [value=b]")).to_be_checked()
    saved.root.get_by_role("button", name="To moja prognoza").click()
    expect(saved.root.locator(".lesson")).to_contain_text("Twoja prognoza: Wszystkie od 2² wzwyż.")
    show(saved, "s=window&m=predict", "&lang=en")
    expect(saved.root.locator(".lesson")).to_contain_text("All from 2² up")
    expect(saved.root.locator(".window-chart")).to_be_visible()
    saved.page.set_viewport_size(saved.size)


#: What is typed, where, and what Python says about it.
REFUSED = {
    "view=window": (
        "#lse-add",
        "abc",
        ".problem[role=alert]",
        "„abc” nie jest liczbą, którą można tu odczytać; zapisz ją na przykład tak: 2^-26, 1e-8, -3 lub 0x1p-26.",
    ),
    "view=window&k=1": (
        "#lse-add",
        ",".join(["3"] * 11),
        ".problem[role=alert]",
        "Lista mieści najwyżej 12 gradientów, a byłoby ich 13.",
    ),
    TRAINING: (
        "#lse-scaler-growth_factor",
        "1",
        ".scaler-card .settings > .problem",
        "growth_factor przyjmuje tylko liczbę skończoną większą od 1, a podano „1”.",
    ),
}


@pytest.mark.parametrize("link", REFUSED)
def test_python_refuses_in_polish(live: ExplorerPage, link: str) -> None:
    show(live, link, POLISH)
    selector, typed, place, said = REFUSED[link]
    box = live.root.locator(selector)
    box.evaluate("box => box.closest('details')?.setAttribute('open', '')")
    box.fill(typed)
    box.press("Enter")
    expect(live.root.locator(place).first).to_have_text(said)
    box.fill("")
    show(live, "view=window&k=2", "&lang=en")


def test_a_link_in_another_language_is_shown_as_it_is(saved: ExplorerPage) -> None:
    show(saved, "view=training&k=3", "&lang=en")
    expect(saved.root.locator("#lse-run-positions")).to_have_value("32768")
    show(saved, "s=dyn", POLISH)
    expect(saved.root.locator("#lse-scenario")).to_have_value("dyn")
    expect(saved.root.locator("#lse-run-positions")).to_have_value("1")
    expect(saved.root.locator("#lse-run-reduction")).to_have_value("sum")
    expect(saved.root.locator("#lse-scaler-growth_interval")).to_have_value("20")


def type_in(explorer: ExplorerPage, selector: str, text: str) -> None:
    box = explorer.root.locator(selector)
    box.fill(text)
    box.press("Enter")


def test_a_decimal_comma_is_one_in_polish_alone(live: ExplorerPage, saved: ExplorerPage) -> None:
    # Of these the saved page has the tables of its presets only.
    for explorer, typed, tokens in (
        (live, "0,5", ["0.5"]),
        (live, "1,5e-3; -2,25 0,1, 3,75*2^-24,", ["1.5e-3", "-2.25", "0.1", "3.75*2^-24"]),
        (live, "1,2,3", ["1", "2", "3"]),
        (live, "2^-26,8", ["2^-26", "8"]),
        (live, "8, 4", ["8", "4"]),
        (saved, "1,75*2^-24", ["1.75*2^-24"]),
    ):
        show(explorer, "view=window&g=none", POLISH)
        type_in(explorer, "#lse-add", typed)
        explorer.wait_for_rows(len(tokens))
        read = "() => history.state.lossscale.state.gradients.map((each) => each.token)"
        assert explorer.root.evaluate(read) == tokens
    show(live, "view=window&g=none", POLISH)
    type_in(live, "#lse-scale", "0,3")
    live.page.wait_for_function("() => location.search.includes('&x=0.3')")
    show(live, "view=window&g=none", "&lang=en")
    type_in(live, "#lse-add", "1,5")
    live.wait_for_rows(2)


#: What is refused where, and how both languages begin to say so.
STILL_REFUSED = {
    "a new gradient": ("view=window", "#lse-add", "abc", ("“abc” is not a number", "„abc” nie jest liczbą")),
    "a scale": ("view=window", "#lse-scale", "0", ("A loss scale must be", "Skala musi")),
    "a row": ("view=window", ".gradient-box >> nth=1", "1e", ("“1e” is not a number", "„1e” nie jest liczbą")),
    "a setting": (
        TRAINING,
        "#lse-scaler-growth_factor",
        "1",
        ("growth_factor must be a finite", "growth_factor przyjmuje tylko"),
    ),
    "one that the browser refuses": (
        TRAINING,
        "#lse-run-seed",
        "1 2",
        ("seed takes one number", "seed przyjmuje jedną"),
    ),
}


@pytest.mark.parametrize("what", STILL_REFUSED)
def test_what_is_refused_is_kept_and_said_in_the_other_language(live: ExplorerPage, what: str) -> None:
    link, selector, typed, (english, polish) = STILL_REFUSED[what]
    show(live, link, "&lang=en")
    box = live.root.locator(selector)
    box.fill(typed)
    box.press("Enter")
    said = live.root.locator(".problem", has_text=typed)
    expect(said).to_contain_text(english)
    for language, sentence in (("pl", polish), ("en", english)):
        live.root.locator(f".choice.language [value={language}]").evaluate("radio => radio.click()")
        expect(live.page.locator("html")).to_have_attribute("lang", language)
        expect(said).to_contain_text(sentence)
        expect(box).to_have_value(typed)
        expect(box).to_have_attribute("aria-invalid", "true")
    # Nor is it lost when the reader comes back to the box.
    live.root.locator(".reset").focus()
    box.focus()
    expect(box).to_have_value(typed)
    box.fill("3")
    box.press("Enter")
    expect(said).to_have_count(0)


def test_runs_that_are_being_made_go_on_in_the_other_language(live: ExplorerPage) -> None:
    show(live, "view=training&r=steps.2000,seed.31", "&lang=en")
    expect(live.root.locator(".run-card progress")).to_be_visible()
    live.page.wait_for_function("() => document.querySelector('.run-card progress').value > 0.05")
    asked = [frame for frame in live.watch.frames if '"train"' in str(frame)]
    live.root.locator(".choice.language [value=pl]").evaluate("radio => radio.click()")
    expect(live.page.locator("html")).to_have_attribute("lang", "pl")
    reached = live.root.locator(".run-card progress").evaluate("bar => bar.value")
    assert reached > 0.05
    live.page.wait_for_function(f"() => document.querySelector('.run-card progress').value > {reached + 0.02}")
    assert [frame for frame in live.watch.frames if '"train"' in str(frame)] == asked
    live.root.locator(".run-card").get_by_role("button", name="Stop").click()
    expect(live.root.locator(".run-card progress")).to_be_hidden()


def test_in_a_notebook_the_language_and_the_theme_are_the_component_s_own(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    path = tmp_path / "cell.html"
    path.write_text(site.saved().read_text("utf-8").replace("<div data-lossscale-page>", "<div>"), "utf-8")
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(path.as_uri())
    root = page.locator(".lossscale")
    for value in ("dark", "pl"):
        root.locator(".display-menu").evaluate("menu => { menu.open = true; }")
        root.locator(f".display-choices [value={value}]").check(force=True)
    expect(root).to_have_attribute("lang", "pl")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    context.close()
