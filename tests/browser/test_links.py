"""Links: every state is one, every one a state, and a bad one breaks nothing."""

from collections.abc import Callable, Iterator
import json
import random
from urllib.parse import quote

from playwright.sync_api import Browser, Page, expect
import pytest

from lossscale_app.bundle import module_text
from lossscale_app.catalogues import LANGUAGES
from lossscale_app.datasets import DATASETS, LOSING
from lossscale_app.gradients import read_gradients, read_scale
from lossscale_app.links import CONTROLS, DEFAULTS, KEYS, SCENARIO_NAMES, VIEWS, read_link, write_link
from lossscale_app.lookups import rows_json, tracks_json
from lossscale_app.messages import ENGLISH
from lossscale_app.orders import EXAMPLES, MISPLACED
from lossscale_app.page_setup import setup_json
from lossscale_app.presets import PRESETS
from lossscale_core import FORMATS
from lossscale_core.exact import log2

from .agreement import check_cells, check_numbers
from .expected import from_core, values_of
from .hosts import Site, go_to_hash, share_link
from .launch import Server
from .pages import DESKTOP, ExplorerPage, open_page

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

#: What a saved page can show, too.
LOOKED_UP = (
    "g=p-34,p10",
    "g=none",
    "g=0,-0,nan,-inf",
    "k=12",
    "k=-40",
    "f=bf16&k=40",
    "f=e4m3&g=p-3,-p2,1.75,0x1.8p-24&j=3&k=-7",
    "j=2",
    "e=1",
    "e=1&k=3&th=dark",
    "hide=theme,numbers",
    "th=light",
    "th=dark",
    "th=projector",
    "s=outlier",
    "s=fp8&k=3&j=2",
    "k=5&s=tie",
    "lang=en&u=fp16&at=late&k=3&ex=clip&o=weights",
)
#: What Python has to read.
READ = (
    "g=1e-8,-3,0x1.9p-24,p10",
    "g=1e-8,2.5,7&j=1&k=4",
    "g=1e-8,2.5,7&j=2",
    "x=1000",
    "x=p3&f=e5m2",
    "x=0.1&g=1e-8,-p3&j=2&th=dark",
)


@pytest.fixture(scope="module")
def visitor(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    """A page that goes from one address to the next."""
    explorer = open_page(browser, server)
    dialogs: list[str] = []
    explorer.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    yield explorer
    problems = [*explorer.watch.problems(), *server.new_errors(), *dialogs]
    explorer.page.context.close()
    assert not problems


@pytest.mark.parametrize("link", [*LOOKED_UP, *READ, f"hide={','.join(CONTROLS)}"])
def test_a_query_opens_its_state(visitor: ExplorerPage, link: str) -> None:
    visitor.page.goto(f"{visitor.server.url}/?v=1&{link}")
    visitor.slider.wait_for()
    check_state(visitor, link)
    assert share_link(visitor) == f"{visitor.server.url}/{canonical(link)}"
    assert not visitor.watch.problems()


@pytest.mark.parametrize("link", [*LOOKED_UP[::3], *READ])
def test_a_hash_opens_its_state(visitor: ExplorerPage, link: str) -> None:
    visitor.page.goto("about:blank")
    visitor.page.goto(f"{visitor.server.url}/?k=9#v=1&{link}")
    visitor.slider.wait_for()
    expect(visitor.root.locator("tbody tr")).to_have_count(len(params_of(link)["gradients"]))
    if "x=" in link:
        expect(visitor.root.locator(".scale-line")).to_have_attribute(
            "data-log2", str(place_of(params_of(link))).removesuffix(".0")
        )
    check_state(visitor, link)
    assert share_link(visitor) == f"{visitor.server.url}/{canonical(link)}"
    assert not visitor.watch.problems()


@pytest.mark.parametrize("link", LOOKED_UP[::3])
def test_a_hash_opens_a_saved_page_in_its_state(open_at: Callable[..., ExplorerPage], site: Site, link: str) -> None:
    explorer = open_at(f"{site.saved_url()}#v=1&{link}")
    check_state(explorer, link)
    assert share_link(explorer) == site.saved_url() + canonical(link).replace("?", "#")


@pytest.mark.parametrize("link", READ)
def test_a_page_is_saved_in_any_state(open_at: Callable[..., ExplorerPage], site: Site, link: str) -> None:
    explorer = open_at(site.saved_url(link))
    check_state(explorer, link)
    assert share_link(explorer) == site.saved_url(link) + canonical(link).replace("?", "#")


@pytest.mark.parametrize("link", READ)
def test_a_saved_page_reads_its_own_link(open_at: Callable[..., ExplorerPage], site: Site, link: str) -> None:
    """It has the tables of the numbers that it was saved with."""
    explorer = open_at(site.saved_url(link) + canonical(link).replace("?", "#"))
    assert explorer.state().notice == ""
    check_state(explorer, link)


def test_links_of_the_page_are_read_by_python(visitor: ExplorerPage) -> None:
    """What the page writes for a state that was made by hand."""
    visitor.page.goto(visitor.server.url)
    visitor.slider.wait_for()
    visitor.put("1.5*2^-24", "2⁻²⁶", "-3", "1E+5", "−0.5")
    visitor.format("E5M2")
    visitor.theme("dark")
    visitor.handles.nth(1).focus()
    visitor.press("ArrowLeft", "ArrowLeft")
    visitor.slider.focus()
    visitor.press("PageUp", "ArrowRight")
    visitor.page.wait_for_function("() => location.search.includes('k=5')")
    link = share_link(visitor).removeprefix(f"{visitor.server.url}/")
    assert link == visitor.page.evaluate("location.search")
    read = read_link(link)
    assert read.ignored == ()
    assert values_of(read.params["gradients"]) == values_of(["1.5*2^-24", "2^-28", "-3", "1e5", "-0.5"])
    assert {**read.params, "gradients": None} == {
        "gradients": None,
        "log2_scale": 5,
        "format": "e5m2",
        "selected": 1,
        "theme": "dark",
    }
    assert write_link(read.params) == link


# Both codecs


def random_states(count: int) -> list[dict]:
    """States of every kind, over few significands so that one set of tables has them all."""
    rng = random.Random(1)  # noqa: S311
    spellings = ["{p}2^{e}", "{p}1.75*2^{e}", "{p}0x1.8p{e}", "{p}0x1.91bp{e}", "{p}1.0009765625*2^{e}"]
    fixed = ["0", "-0", "inf", "-inf", "nan", "-nan", "1e-8", "-3", "0.1", "65504", "1E+5", "1e-300", "2^-1074", "2^30"]

    def token() -> str:
        if rng.random() < 0.3:
            return rng.choice(fixed)
        return rng.choice(spellings).format(p=rng.choice(["", "-"]), e=rng.randint(-48, 22))

    states = []
    for _ in range(count):
        gradients = [token() for _ in range(rng.choice([0, 1, 2, 2, 3, 7, 12]))]
        if rng.random() < 0.1:
            gradients = ["0x1p-26", "8"]
        states.append(
            {
                "gradients": gradients,
                "log2_scale": rng.choice([0, rng.randint(-40, 40)]),
                "typed_scale": rng.choice(["", "", "1000", "2^3", "0.1", "1.5*2^-3", "1e+10"]),
                "format": rng.choice(list(FORMATS)),
                "selected": rng.randrange(max(1, len(gradients))) if rng.random() < 0.5 else 0,
                "view": rng.choice(["window", *VIEWS]),
                "data": rng.choice([dataset.id for dataset in DATASETS]),
                "losing": rng.choice(list(LOSING)),
                "unscale": rng.choice(["fp32", "fp16", "never"]),
                "at": rng.choice(["loss", "late"]),
                "example": rng.choice(list(EXAMPLES)),
                "misplaced": [name for name in MISPLACED if rng.random() < 0.1],
                "policy": rng.choice([DEFAULTS["policy"], "keras3", "pytorch,growth_interval.20"]),
                "run": rng.choice(["", "positions.1", "seed.1,positions.1,reduction.sum"]),
                "scenario": rng.choice(["", "", *SCENARIO_NAMES]),
                "mode": rng.choice(["play", "predict", "present"]),
                "language": rng.choice(["", *LANGUAGES]),
                "theme": rng.choice(["auto", "light", "dark", "projector"]),
                "embed": rng.random() < 0.3,
                "hide": [name for name in CONTROLS if rng.random() < 0.1],
            }
        )
        states[-1]["selected"] = min(states[-1]["selected"], max(0, len(states[-1]["gradients"]) - 1))
    return states


CODEC = """
const setup = JSON.parse(document.getElementById("setup").textContent);
const tables = JSON.parse(document.getElementById("tables").textContent);
const codec = new link.LinkCodec(setup.linkKeys, new lookup.Lookups(tables, setup.formats, setup.scaleTexts), setup);
window.both = (states) => states.map((state) => {
  const written = codec.write(state);
  return { written, ...codec.read(written) };
});
window.read = (text) => codec.read(text);
"""


@pytest.fixture(scope="module")
def codec(browser: Browser, site: Site) -> Iterator[Page]:
    """The browser's codec by itself, with tables for every number of the random states."""
    tokens = sorted({token for state in random_states(500) for token in state["gradients"]})
    by_key = {gradient.key: gradient for gradient in read_gradients_of(tokens)}
    tables = tracks_json([], [*by_key.values(), *read_gradients(["1", "0", "inf", "nan"])], None)
    module = module_text().rpartition("export default")[0] + CODEC
    scripts = "".join(
        f'<script type="{kind}" id="{name}">{text.replace("</", "<" + chr(92) + "/")}</script>'
        for kind, name, text in (
            ("application/json", "setup", setup_json()),
            ("application/json", "tables", tables),
            ("module", "code", module),
        )
    )
    page = browser.new_page()
    page.goto(site.host("codec", scripts))
    page.wait_for_function("!!window.both")
    yield page
    page.close()


def read_gradients_of(tokens: list[str]) -> list:
    return [read_gradients([token])[0] for token in tokens]


def test_both_codecs_write_the_same_link_and_read_it_the_same(codec: Page) -> None:
    states = random_states(500)
    rows = [rows_of(state) for state in states]
    results = codec.evaluate("both", [{**browser_state(state), **row} for state, row in zip(states, rows, strict=True)])
    for state, row, result in zip(states, rows, results, strict=True):
        link = write_link(state)
        assert result["written"] == link
        assert (link, result["ignored"]) == (link, [])
        assert result["unread"] == ([f"x={link.split('x=')[1].split('&')[0]}"] if state["typed_scale"] else [])
        assert meaning(result["state"]) == meaning({**browser_state(state), **row})
        assert write_link(read_link(link).params) == link


def test_both_codecs_ignore_the_same(codec: Page) -> None:
    for link in BAD:
        if len(link) <= 4000:
            result = codec.evaluate("read", link)
            assert sorted([*result["ignored"], *result["unread"]]) == sorted(read_link(link).ignored), link


def rows_of(state: dict) -> dict:
    scale = read_scale(state["typed_scale"]) if state["typed_scale"] else None
    return json.loads(rows_json(read_gradients(state["gradients"]), scale))


def browser_state(state: dict) -> dict:
    names = (
        *("format", "selected", "view", "data", "losing", "unscale", "at", "example", "misplaced", "policy", "run"),
        *("scenario", "mode", "theme", "language", "embed", "hide"),
    )
    return {"k": state["log2_scale"], **{name: state[name] for name in names}}


def meaning(state: dict) -> dict:
    """A state of the browser but for how its gradients were spelled, and a typed scale, which it cannot read."""
    gradients = [(each["key"], each["octave"], each["negative"]) for each in state["gradients"]]
    return {**state, "gradients": gradients, "scale": None}


# Bad links

HTML = "<img src=x onerror=alert(1)>"
BY_HAND = (
    f"g={quote(HTML)}",
    f"k={quote('<script>alert(1)</script>')}",
    f"{quote(HTML)}=1",
    f"f={quote('<svg onload=alert(1)>')}&th={quote('javascript:alert(1)')}",
    "javascript:alert(1)=1",
    "k=3%00",
    "g=%00",
    "g=%",
    "g=%zz&k=%9",
    "g=%E2%88%92p3",
    "k=%FF%FE",
    "k=3&k=99",
    "g=p3&g=abc&f=fp16&f=fp17",
    "k=%D9%A3",
    "k=%EF%BC%93",
    "g=1e400",
    "g=-1e400,1",
    "g=1e-400",
    "g=p99999",
    "g=p-1075",
    "g=" + ",".join(["1"] * 13),
    "g=",
    "g=,",
    "g=1,,2",
    "g=%20",
    "g=1%202",
    "k=%2B3",
    "k=+3",
    "k=1.5",
    "k=1e1",
    "k=41",
    "k=-41",
    "k=0x3",
    "k=",
    "k",
    "k=--3",
    "k=NaN",
    "k=999999999999999999999",
    "x=0",
    "x=-1",
    "x=nan",
    "x=inf",
    "x=1e400",
    "x=",
    "x=p99999",
    "x=1,2",
    "x=__proto__",
    "__proto__=1",
    "constructor=1&prototype=2&toString=3",
    "f=__proto__&th=constructor&s=toString",
    "s=hasOwnProperty",
    "hide=__proto__",
    "hide=constructor,theme",
    "hide=theme,everything",
    "j=0",
    "j=3",
    "j=13",
    "j=-1",
    "g=none&j=2",
    "v=2",
    "v=",
    "e=2",
    "e=true",
    "th=neon",
    "f=FP16",
    "lang=de",
    "view=nowhere&m=cheat&u=fp64&at=once",
    "=5",
    "=&=",
    "&&&=&&k=77&&",
    "k=3;k=4",
    "g=p-26;p3",
    "g=p-26%2Cp3%2C",
    "g=2%5E-26",
    "g=" + "9" * 3000,
    "k=" + "3" * 3000,
    "%67=nonsense",
    "g[]=1&g[0]=2",
    "k=3#k=5",
    "g=%F0%9F%92%A9",
    "g=p%2D26,p٣".encode().decode(),
    "a=%7Bparts%7D&b=%24%26&c=%7Bn%7D",
)


def _random_link(rng: random.Random) -> str:
    values = (
        *("", " ", "0", "3", "-3", "+3", "1.5", "99", "1e400", "p99999", "none", "p-26,p3", "p3,", "1;2", "true"),
        *(
            "٣",
            "³",
            "NaN",
            "undefined",
            "null",
            "[object Object]",
            "{parts}",
            "$&",
            "\\",
            "'",
            '"',
            "\x00",
            "\r\n",
            "🙂",
        ),
        *(
            HTML,
            "</script><script>alert(1)</script>",
            "javascript:alert(1)",
            "__proto__",
            "../../etc",
            "%",
            "%%30",
            "#",
        ),
    )
    names = [*(key.name for key in KEYS), "z", "K", " k", "__proto__", "constructor", "<b>", ""]
    pairs = []
    for _ in range(rng.randint(1, 4)):
        name, value = rng.choice(names), rng.choice(values) * rng.choice([1, 1, 1, 2])
        pairs.append(f"{quote(name, safe='')}={quote(value, safe=rng.choice(['', ',', ',;:']))}")
    return "&".join(pairs)


def _bad_links(count: int) -> list[str]:
    rng = random.Random(2)  # noqa: S311
    links = list(BY_HAND)
    while len(links) < count:
        link = _random_link(rng)
        read = read_link(link)
        # A saved page names good numbers too that are not among its own.
        if read.ignored and not {"typed_scale", "gradients", "policy", "run"} & set(read.params) and link not in links:
            links.append(link)
    return links


BAD = _bad_links(200)
BATCH = 20

#: What only a link that is read as HTML could put there.
INJECTED = "img, object, embed, .notice *, .problem *, [onerror], [onload], iframe"


def test_the_bad_links_are_bad() -> None:
    assert len(BAD) == len(set(BAD)) == 200
    assert all(read_link(link).ignored for link in BAD)


@pytest.mark.parametrize("batch", range(len(BAD) // BATCH))
def test_bad_links_do_not_break_a_saved_page(open_at: Callable[..., ExplorerPage], site: Site, batch: int) -> None:
    links = BAD[batch * BATCH : (batch + 1) * BATCH]
    explorer = open_at(site.saved_url())
    dialogs: list[str] = []
    explorer.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for place, link in enumerate(links):
        go_to_hash(explorer, link)
        notice = explorer.notice.text_content()
        explorer.go(place - 10)
        assert (link, sorted(notice)) == (link, sorted(told(read_link(link).ignored)))
        assert explorer.root.locator(".scale-line").get_attribute("data-log2") == str(place - 10)
        assert explorer.page.locator(INJECTED).count() == 0
    assert dialogs == []


@pytest.mark.parametrize("link", [*BY_HAND[:10], *(BAD[-4:])])
def test_bad_links_do_not_break_the_live_page(visitor: ExplorerPage, link: str) -> None:
    visitor.page.goto("about:blank")
    visitor.page.goto(f"{visitor.server.url}/?{link}")
    visitor.slider.wait_for()
    assert sorted(visitor.notice.text_content()) == sorted(told(read_link(link).ignored))
    visitor.slider.focus()
    visitor.press("Home", "ArrowRight")
    assert visitor.root.locator(".scale-line").get_attribute("data-log2") == "-39"
    assert visitor.page.locator(INJECTED).count() == 0
    assert visitor.watch.problems() == visitor.server.new_errors() == []


def test_the_notice_is_of_the_link_that_is_open(open_at: Callable[..., ExplorerPage], site: Site) -> None:
    explorer = open_at(f"{site.saved_url()}#v=1&k=77")
    expect(explorer.notice).to_have_text("A part of the link was ignored: k=77")
    expect(explorer.notice).to_have_role("status")
    go_to_hash(explorer, "v=1&k=7")
    expect(explorer.notice).to_be_empty()


@pytest.mark.parametrize("form", ["live", "saved"])
@pytest.mark.parametrize("link", ["v=1&k=3&" + "z=1&" * 900, "v=1&k=3&g=" + "9" * 3900], ids=["many", "long"])
def test_an_overlong_link_leaves_room_for_the_page(
    open_at: Callable[..., ExplorerPage], site: Site, server: Server, form: str, link: str
) -> None:
    explorer = open_at(f"{site.saved_url()}#{link}" if form == "saved" else f"{server.url}/?{link}")
    assert explorer.notice.bounding_box()["height"] < DESKTOP["height"] / 3
    explorer.slider.focus()
    explorer.press("ArrowRight")
    assert explorer.root.locator(".scale-line").get_attribute("data-log2") in ("1", "4")


def told(ignored: tuple[str, ...]) -> str:
    """The notice about parts of a link."""
    form = ENGLISH["ignored"]["one" if len(ignored) == 1 else "other"]
    named = [part if len(part) <= 80 else f"{part[:80]}…" for part in ignored[:6]]
    return form.replace("{parts}", ", ".join(named + ["…"] * (len(ignored) > 6)))


# What a state looks like


def params_of(link: str) -> dict:
    return {**DEFAULTS, **read_link(link).params}


def canonical(link: str) -> str:
    """How the state of a link is written."""
    return write_link(params_of(link))


def place_of(params: dict) -> float:
    return log2(read_scale(params["typed_scale"]).value) if params["typed_scale"] else params["log2_scale"]


def check_state(explorer: ExplorerPage, link: str) -> None:
    """The page shows the state that Python reads in a link."""
    params = params_of(link)
    root = explorer.root
    assert root.evaluate("root => document.documentElement.dataset.theme") == params["theme"]
    assert root.evaluate("root => root.hasAttribute('data-embed')") == params["embed"]
    # Parts of the other views are not in the document.
    assert root.locator("[data-hidden]:not(dialog *)").count() == len(set(params["hide"]) - ELSEWHERE)
    for name in params["hide"]:
        expect(root.locator(HIDDEN[name]).first).to_be_hidden()
    state = explorer.state()
    fmt, values = FORMATS[params["format"]], values_of(params["gradients"])
    assert (state.format, state.theme) == (fmt.name, params["theme"]) or state.format == params["format"]
    assert len(state.rows) == len(values)
    assert state.line.log2 == place_of(params)
    assert (state.journey.selected if values else 0) == params["selected"]
    if params["typed_scale"]:
        scale = read_scale(params["typed_scale"]).value
        for row, value in zip(state.rows, values, strict=True):
            check_cells(row.cells, from_core(value, scale, fmt))
    elif values:
        check_numbers(state, values, params["log2_scale"], fmt)


HIDDEN = {
    "format": ".choice.format",
    "theme": ".choice.theme",
    "reset": ".reset",
    "share": ".open-share",
    "gradients": "#lse-add",
    "scale": "#lse-scale",
    "outcome": ".outcome",
    "landing": ".landing-chart",
    "journey": ".journey",
    "try": ".try",
    "numbers": ".numbers",
    "view": ".choice.view",
    "data": ".data",
    "run": ".run-card",
    "scaler": ".scaler-card",
    "policies": ".overlay-card",
    "autocast": ".autocast-card",
    "steps": ".steps-card",
    "example": ".order-tries",
    "blocks": ".blocks-card",
}
ELSEWHERE = {"data", "run", "scaler", "policies", "autocast", "steps", "example", "blocks"}


def test_every_control_that_can_be_hidden_is_looked_at() -> None:
    assert tuple(HIDDEN) == CONTROLS
    assert {preset.id for preset in PRESETS} >= {"outlier", "fp8", "tie"}
