"""The saved page: one file, or a small site, which asks nobody for anything."""

from collections.abc import Callable, Iterator
import contextlib
import gzip
from pathlib import Path
import subprocess
import sysconfig

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
import pytest

from lossscale_app.catalogues import LANGUAGES, messages
from lossscale_app.links import read_link
from lossscale_app.messages import ENGLISH
from lossscale_app.presets import PRESETS
from lossscale_app.saved_page import saved_page
from lossscale_app.scenarios import SCENARIOS
from lossscale_core import FORMATS, Format

from .agreement import SEED, check, check_numbers
from .expected import values_of
from .hosts import NO_STORAGE, Site, go_to_hash, share_link
from .pages import ALL_K, DESKTOP, PHONE, ExplorerPage

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

#: Numbers whose tables every page has.
KNOWN = {
    "-2^-30": "-p-30",
    "1.75*2^-24": "0x1.cp-24",
    "3": "3",
    "0": "0",
    "-0": "-0",
    "nan": "nan",
    "-inf": "-inf",
    "2^20": "p20",
}

LIVE = "https://live.example/app"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `lossscale export` writes: a file, and a site."""
    folder = tmp_path_factory.mktemp("exported")
    command = Path(sysconfig.get_path("scripts")) / "lossscale"
    for words in ([folder / "demo.html", "--live", LIVE], [folder / "site", "--live", LIVE]):
        done = subprocess.run([command, "export", *words], capture_output=True, text=True, timeout=120, check=True)
        assert done.stderr == ""
        assert all(Path(line).is_file() for line in done.stdout.splitlines())
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> str:
    return (folder / "demo.html").as_uri()


@pytest.fixture
def saved(open_at: Callable[..., ExplorerPage], address: str) -> ExplorerPage:
    """The file in a browser that has no network and no storage."""
    return open_at(address, script=NO_STORAGE, offline=True)


@contextlib.contextmanager
def quiet(explorer: ExplorerPage) -> Iterator[None]:
    """Nothing is asked for meanwhile."""
    before = list(explorer.watch.requests)
    yield
    explorer.page.wait_for_timeout(700)
    assert explorer.watch.requests == before


def test_it_is_small(folder: Path) -> None:
    data = (folder / "demo.html").read_bytes()
    assert len(data) <= 3_500_000
    assert len(gzip.compress(data)) <= 1_000_000


def test_it_asks_for_nothing_but_itself(saved: ExplorerPage, address: str) -> None:
    with quiet(saved):
        saved.go(5)
        saved.format("E5M2")
        saved.theme("dark")
        saved.try_it("What does one outlier do?")
        saved.type_gradients("1.1e-8")
        share_link(saved)
        saved.reset.click()
    assert saved.watch.requests == [address]


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
def test_it_is_right_at_every_scale(saved: ExplorerPage, fmt: Format) -> None:
    saved.format(fmt.label)
    for k, state in zip(ALL_K, saved.sweep(), strict=True):
        check(state, SEED, k, fmt)


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
def test_it_is_right_about_numbers_that_every_page_has(saved: ExplorerPage, fmt: Format) -> None:
    go_to_hash(saved, f"v=1&g={','.join(KNOWN.values())}&f={fmt.name}")
    for k, state in zip(ALL_K, saved.sweep(), strict=True):
        check_numbers(state, values_of(list(KNOWN)), k, fmt)


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
def test_it_is_right_about_what_it_was_saved_with(
    open_at: Callable[..., ExplorerPage], site: Site, fmt: Format
) -> None:
    tokens = ("5e-324", "1e300", "-2^-48", "65520", "464", "2^-133", "1e-40", "-0.1", "1.5")
    link = "?v=1&g=" + ",".join(token.replace("2^", "p") for token in tokens)
    explorer = open_at(site.saved(link).as_uri(), script=NO_STORAGE)
    explorer.format(fmt.label)
    ks = range(-40, 41, 5)
    for k, state in zip(ks, explorer.sweep(ks), strict=True):
        check_numbers(state, values_of(tokens), k, fmt)


def test_dragging_a_gradient(saved: ExplorerPage) -> None:
    octave = saved.octave(saved.landing_chart)
    with saved.dragging(saved.handles.first) as (x, y):
        saved.page.mouse.move(x + 6 * octave, y, steps=12)
    check(saved.state(), ("2^-20", "8"), 0, FORMATS["fp16"])
    saved.handles.nth(1).focus()
    saved.press("PageDown", "ArrowLeft")
    check(saved.state(), ("2^-20", "2^-2"), 0, FORMATS["fp16"])


def test_themes(saved: ExplorerPage) -> None:
    colours = []
    for theme in ("light", "dark"):
        saved.theme(theme)
        colours.append(saved.root.evaluate("root => getComputedStyle(root).backgroundColor"))
        expect(saved.page.locator("html")).to_have_attribute("data-theme", theme)
    assert colours[0] != colours[1]


def test_links_in_the_hash_and_back(saved: ExplorerPage, address: str) -> None:
    go_to_hash(saved, "v=1&g=p-34,p10&k=8")
    check(saved.state(), ("2^-34", "2^10"), 8, FORMATS["fp16"])
    saved.page.evaluate("history.back()")
    saved.page.wait_for_function("!location.hash.includes('k=8')")
    check(saved.state(), SEED, 0, FORMATS["fp16"])
    # On a disk there is no address that others could open: Share gives the live one.
    assert share_link(saved) == f"{LIVE}?v=1"


def test_without_a_live_app_share_gives_the_file(open_at: Callable[..., ExplorerPage], site: Site) -> None:
    uri = site.saved().as_uri()
    assert share_link(open_at(uri)) == f"{uri}#v=1"


@pytest.mark.parametrize(
    "text",
    # The page itself writes 2⁻³⁰, −3 and 1.75·2⁻²⁴, the last as 1.75*2^-24 in its box.
    ["2^-30", "2⁻³⁰", "2**-30", "0x1p-30", "-2^-30", "1.75*2^-24", "3", "-3", "−3", "0.5", "0", "nan"],
)
def test_known_numbers_can_be_typed(saved: ExplorerPage, text: str) -> None:
    saved.type_gradients(text)
    expect(saved.boxes).to_have_count(3)
    assert saved.state().problem == ""
    expect(saved.add_field).to_have_value("")


def test_several_known_numbers_can_be_typed(saved: ExplorerPage) -> None:
    saved.type_gradients("2^-30, -4; 0.5")
    expect(saved.boxes).to_have_count(5)
    assert saved.state().boxes == ["2⁻²⁶", "8", "2⁻³⁰", "−4", "0.5"]


@pytest.mark.parametrize("words", [ENGLISH[f"try-{preset.id}"] for preset in PRESETS])
def test_a_number_can_be_added_to_what_is_tried(saved: ExplorerPage, words: str) -> None:
    saved.try_it(words)
    count = saved.boxes.count()
    saved.type_gradients("2^-30")
    expect(saved.boxes).to_have_count(count + 1)
    assert saved.state().problem == ""


@pytest.mark.parametrize(("text", "k"), [("2^5", 5), ("32", 5), ("0.25", -2), ("2^-40", -40), ("1", 0)])
def test_a_power_of_two_as_exact_scale_moves_the_slider(saved: ExplorerPage, text: str, k: int) -> None:
    saved.go(9)
    saved.type_scale(text)
    check(saved.state(), SEED, k, FORMATS["fp16"])
    expect(saved.scale_field).to_have_value("")


@pytest.mark.parametrize("text", ["1e-8", "0.1", "2^-26, 1e-8", "2^400", "nonsense", "<b>1</b>", "1e999"])
def test_another_number_is_the_live_app_s(saved: ExplorerPage, text: str) -> None:
    before = saved.state()
    saved.type_gradients(text)
    expect(saved.problem).to_have_text(ENGLISH["needsLive"])
    expect(saved.add_field).to_have_value(text)
    expect(saved.add_field).to_have_attribute("aria-invalid", "true")
    offer = saved.root.get_by_role("link", name=ENGLISH["openLive"])
    expect(offer).to_have_attribute("href", LIVE)
    assert saved.state().rows == before.rows


@pytest.mark.parametrize("text", ["1000", "0.1", "0", "-2", "2^41", "nan", "nonsense"])
def test_another_scale_is_the_live_app_s(saved: ExplorerPage, text: str) -> None:
    before = saved.state()
    saved.type_scale(text)
    expect(saved.problem).to_have_text(ENGLISH["needsLive"])
    expect(saved.scale_field).to_have_value(text)
    assert saved.state().rows == before.rows


def test_without_a_live_app_it_says_what_can_be_typed(open_at: Callable[..., ExplorerPage], site: Site) -> None:
    explorer = open_at(site.saved().as_uri())
    expect(explorer.root.get_by_text(ENGLISH["liveUnknown"])).to_be_visible()
    assert explorer.root.locator(".elsewhere a").count() == 0


def test_served_by_a_plain_file_server(open_at: Callable[..., ExplorerPage], site: Site) -> None:
    explorer = open_at(site.saved_url(), script=NO_STORAGE)
    assert explorer.watch.requests == [site.saved_url()]
    explorer.go(3)
    check(explorer.state(), SEED, 3, FORMATS["fp16"])


def test_a_script_in_its_link_is_inert(open_at: Callable[..., ExplorerPage], tmp_path: Path) -> None:
    nasty = "</script><script>document.title='hacked'</script><!--<script>"
    path = tmp_path / "nasty.html"
    path.write_text(saved_page(read_link([("k", "3"), ("g", nasty)]), f"https://x.example/{nasty}"), "utf-8")
    explorer = open_at(path.as_uri())
    assert explorer.state().slider == 3
    assert explorer.state().notice == f"A part of the link was ignored: g={nasty}"
    assert "hacked" not in explorer.page.title()
    assert explorer.page.locator("script").count() == 2


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["dark"])
def test_it_is_accessible(open_at: Callable[..., ExplorerPage], address: str, size: dict, theme: str) -> None:
    explorer = open_at(f"{address}#v=1&k=3&th={theme}", viewport=size, reduced_motion="reduce")
    assert Axe().run(explorer.page).response["violations"] == []


# A site


def test_the_site_s_index_lists_its_pages(browser: Browser, folder: Path) -> None:
    page = browser.new_page(offline=True)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((folder / "site" / "index.html").as_uri())
    links = page.locator("main a")
    assert links.evaluate_all("links => links.map((a) => a.getAttribute('href'))") == [
        link
        for code in LANGUAGES
        for link in (
            f"explorer.html#v=1&lang={code}",
            *(f"explorer.html#v=1&s={scenario.id}&m=predict&lang={code}" for scenario in SCENARIOS),
        )
    ]
    assert {path.name for path in (folder / "site").iterdir()} == {"index.html", "explorer.html"}
    assert Axe().run(page).response["violations"] == []
    for code in LANGUAGES:
        said = messages(code)
        page.locator(f"section[lang={code}]").get_by_role(
            "link", name=said["scenario-below1-title"], exact=True
        ).click()
        expect(page.locator(".lesson-question")).to_have_text(said["scenario-below1-question"])
        expect(page.locator("html")).to_have_attribute("lang", code)
        page.go_back()
    assert complaints == []
    page.close()
