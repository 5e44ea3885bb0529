"""Messages between the explorer and the page it is in."""

from collections.abc import Callable
import json
from pathlib import Path
import re

from playwright.sync_api import Page, expect
import pytest

from lossscale_core import FORMATS, Outcome, classify

from .agreement import SEED
from .expected import values_of
from .hosts import Site, framed
from .launch import Server
from .pages import ExplorerPage

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

#: Notes every message and when it came; `obey` is what this host does with the heights it is told.
LISTENING = """
<script>
  const told = [];
  const frame = document.querySelector("iframe");
  const send = (message) => frame.contentWindow.postMessage(message, "*");
  const obey = %s;
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    told.push({ data, at: performance.now() });
    if (data?.namespace === "lossscale" && data.type === "height") obey(data.height);
  });
</script>
"""
IGNORE = "() => {}"
OBEY = "(height) => { frame.style.height = `${height}px`; }"
OVERDO = "(height) => { frame.style.height = `${height + 1}px`; }"


class Host:
    """A page that talks to the explorer in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.explorer = framed(page)
        self.line = self.explorer.root.locator(".scale-line")

    def told(self, kind: str | None = None) -> list:
        """The messages so far; of one kind, if one is named."""
        messages = [message["data"] for message in self.page.evaluate("told")]
        if kind is None:
            return messages
        return [each for each in messages if isinstance(each, dict) and each.get("type") == kind]

    def wait_for(self, kind: str, count: int = 1) -> dict:
        """The last message of a kind, once there are so many."""
        self.page.wait_for_function(
            "([kind, count]) => told.filter(({ data }) => data?.type === kind).length >= count", arg=[kind, count]
        )
        return self.told(kind)[-1]

    def send(self, **message: object) -> None:
        self.page.evaluate("message => send(message)", {"namespace": "lossscale", **message})


@pytest.fixture
def open_talking(open_host: Callable[..., Page], server: Server, site: Site) -> Callable[..., Host]:
    def open_talking(form: str, link: str = "v=1&e=1", obey: str = IGNORE, width: int = 900, height: int = 470) -> Host:
        address = f"{server.url}/?{link}" if form == "live" else f"{site.saved_url()}#{link}"
        style = f"width: {width}px; height: {height}px; border: 0"
        body = f'<iframe title="x" style="{style}"></iframe>{LISTENING % obey}<script>frame.src = {address!r}</script>'
        return Host(open_host(site.host(f"talking-{form}", body), server.url))

    return open_talking


@pytest.fixture(params=["live", "saved"])
def host(request: pytest.FixtureRequest, open_talking: Callable[..., Host]) -> Host:
    return open_talking(request.param)


def test_the_example_of_the_readme_works(open_host: Callable[..., Page], open_server: Server, site: Site) -> None:
    readme = Path(__file__).parents[2].joinpath("README.md").read_text("utf-8")
    (example,) = re.findall(r"```html\n(.*?)```", readme, re.DOTALL)
    assert example.count("explorer.html#v=1&e=1") == 1
    for name, address in (
        ("saved", f"{site.saved().name}#v=1&e=1"),
        ("live", f"{open_server.url}/?v=1&e=1"),
    ):
        page = open_host(
            site.host(f"readme-{name}", example.replace("explorer.html#v=1&e=1", address)), open_server.url
        )
        explorer = framed(page)
        page.get_by_role("button", name="Show S = 2^12").press("Enter")  # a mouse would miss what the height moves
        expect(explorer.root.locator(".scale-line")).to_have_attribute("data-log2", "12")
        expect(page.locator("#told")).to_have_text("?v=1&k=12&e=1")
        page.wait_for_timeout(400)
        page.set_viewport_size({"width": 500, "height": 800})
        page.wait_for_function("document.getElementById('explorer').style.height !== '470px'")
        page.wait_for_timeout(500)
        assert explorer.page.evaluate("document.scrollingElement.scrollHeight") <= explorer.page.evaluate("innerHeight")


def test_ready_comes_once_and_first(host: Host) -> None:
    host.wait_for("ready")
    host.page.wait_for_timeout(500)
    assert host.told("ready") == [{"namespace": "lossscale", "type": "ready", "version": 1}]
    assert host.told()[0] == host.told("ready")[0]


def test_get(host: Host) -> None:
    host.send(type="get")
    state = host.wait_for("state")
    outcomes = [int(outcome) for outcome in classify(values_of(SEED), 1, FORMATS["fp16"])]
    assert state == {
        "namespace": "lossscale",
        "type": "state",
        "state": {"link": "?v=1&e=1", "outcomes": outcomes},
    }
    assert [Outcome(outcome).name for outcome in outcomes] == ["UNDERFLOW", "NORMAL"]


def test_set(host: Host) -> None:
    host.send(type="set", link="?v=1&g=p-34,p10&k=8&f=bf16&th=dark")
    expect(host.line).to_have_attribute("data-log2", "8")
    state = host.wait_for("state")["state"]
    assert state["link"] == "?v=1&g=p-34,p10&k=8&f=bf16&e=1&th=dark"
    assert state["outcomes"] == [int(each) for each in classify([2**-34, 2.0**10], 2**8, FORMATS["bf16"])]
    host.send(type="set", link="?v=1&k=-3")  # what a link leaves out is the default
    expect(host.line).to_have_attribute("data-log2", "-3")
    assert host.wait_for("state", 2)["state"]["link"] == "?v=1&k=-3&e=1"


def test_set_what_python_reads(open_talking: Callable[..., Host]) -> None:
    host = open_talking("live")
    host.send(type="set", link="?v=1&g=1.1e-8,2.5,7&k=5")
    host.page.wait_for_function("told.some(({ data }) => data?.state?.link.includes('g=1.1e-8,2.5,7'))")
    assert host.told("state")[-1]["state"]["link"] == "?v=1&g=1.1e-8,2.5,7&k=5&e=1"
    host.send(type="set", link="?v=1&x=1000")
    host.page.wait_for_function("told.some(({ data }) => data?.state?.link.includes('x=1000'))")
    assert host.explorer.root.locator(".stepper-value").text_content() == "S = 1000"


def test_reset(host: Host) -> None:
    host.send(type="set", link="?v=1&g=p-34,p10&k=8&f=bf16")
    host.wait_for("state")
    host.send(type="reset")
    assert host.wait_for("state", 2)["state"]["link"] == "?v=1&e=1"
    expect(host.line).to_have_attribute("data-log2", "0")


def test_a_set_state_has_no_chrome_and_hides_nothing_more(host: Host) -> None:
    host.send(type="set", link="?v=1&k=2&e=0&hide=outcome")
    assert host.wait_for("state")["state"]["link"] == "?v=1&k=2&e=1"
    expect(host.explorer.root.locator(".bar-top")).to_be_hidden()
    expect(host.explorer.root.locator(".outcome")).to_be_visible()


def test_the_reader_s_decisions_are_told(host: Host) -> None:
    host.explorer.slider.focus()
    host.explorer.press("ArrowRight", "ArrowRight")
    assert host.wait_for("state")["state"]["link"] == "?v=1&k=2&e=1"
    host.page.wait_for_timeout(700)
    assert len(host.told("state")) == 1


def test_height_comes_in_three_forms(host: Host) -> None:
    height = host.wait_for("height")["height"]
    assert isinstance(height, int)
    messages = host.told()
    assert {"namespace": "lossscale", "type": "height", "height": height} in messages
    assert {"height": height} in messages
    (lti,) = [json.loads(message) for message in messages if isinstance(message, str)]
    assert lti == {"subject": "lti.frameResize", "height": height}


@pytest.mark.parametrize(
    ("form", "link", "obey"),
    [
        pytest.param("live", "v=1&e=1", OBEY, id="live"),
        pytest.param("saved", "v=1&s=outlier&e=1", OBEY, id="outlier"),
        pytest.param("saved", "v=1&s=outlier&e=1", OVERDO, id="one-pixel-more"),
        pytest.param("saved", "v=1&e=1", IGNORE, id="ignored"),
    ],
)
def test_heights_settle_and_never_go_round(open_talking: Callable[..., Host], form: str, link: str, obey: str) -> None:
    host = open_talking(form, link, obey, width=700, height=150)
    host.wait_for("height")
    host.page.wait_for_timeout(1000)
    for width in (400, 1100):
        began = host.page.evaluate("width => { frame.style.width = `${width}px`; return performance.now(); }", width)
        host.page.wait_for_timeout(2000)
        heights = [
            (message["data"]["height"], message["at"] - began)
            for message in host.page.evaluate("told")
            if isinstance(message["data"], dict) and message["data"].get("type") == "height" and message["at"] > began
        ]
        assert len(heights) <= (1 if obey == IGNORE else 2)  # nothing to say where the height stays the same
        assert all(at < 800 for _, at in heights)
        if obey != IGNORE and heights:
            assert heights[-1][0] + (obey == OVERDO) == host.page.evaluate("frame.clientHeight")
            page = "document.scrollingElement.scrollHeight - innerHeight"
            assert host.explorer.page.evaluate(page) <= 0
        elif obey == IGNORE:
            assert host.page.evaluate("frame.clientHeight") == 150


def test_a_height_comes_within_300_ms(open_talking: Callable[..., Host]) -> None:
    host = open_talking("saved", "v=1&e=1", OBEY, width=700)
    host.wait_for("height")
    host.page.wait_for_timeout(500)
    # Timed within the browser, from the change that is drawn to the message.
    delay = host.page.evaluate(
        """async () => {
            const count = told.length;
            frame.style.width = "380px";
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            const began = performance.now();
            const height = () => told.slice(count).findLast(({ data }) => data.type === "height");
            while (!height()) await new Promise((done) => setTimeout(done, 5));
            return height().at - began;
        }"""
    )
    assert delay <= 300


def test_at_most_five_heights_a_second(open_talking: Callable[..., Host]) -> None:
    host = open_talking("saved", "v=1&e=1", IGNORE, width=900)
    host.wait_for("height")
    host.page.evaluate(
        """async () => {
            for (let step = 0; step < 60; step += 1) {
                frame.style.width = `${900 - 10 * step}px`;
                await new Promise((done) => setTimeout(done, 50));
            }
        }"""
    )
    host.page.wait_for_timeout(500)
    times = [
        message["at"]
        for message in host.page.evaluate("told")
        if isinstance(message["data"], dict) and message["data"].get("type") == "height"
    ]
    assert len(times) > 2
    assert all(later - earlier > 950 for earlier, later in zip(times, times[5:], strict=False))


# What is not in the documented form

BAD_LINKS = (
    *(None, 5, True, [], ["?v=1&k=5"], {}, {"href": "?k=5"}, {"length": 3}),
    *("?v=1&k=99", "?k=1.5", "?v=2&k=5", "?k=5&zzz=1", "?k=5&__proto__=1", "?k=5&f=fp15", "?k=5&th=neon"),
    *("?k=5&g=", "?k=5&g=<img src=x onerror=alert(1)>", "?k=5&j=3", "?k=5&hide=everything", "%"),
    *("?k=5&" + "z=1&" * 2000, "?k=5&g=" + ",".join(["1"] * 13), "javascript:alert(1)", "https://example.org/"),
)
HOSTILE = (
    *(None, 0, 1.5, True, "", "reset", "lossscale", [], {}, [1, 2], {"type": "reset"}, {"type": "set", "link": "?k=5"}),
    *('{"namespace":"lossscale","type":"reset"}', ["lossscale", "reset"], [{"namespace": "lossscale"}]),
    *({"namespace": name, "type": "reset"} for name in ("", "LossScale", "lossscale ", 0, None, [], ["lossscale"], {})),
    *(
        {"namespace": "lossscale", "type": kind}
        for kind in ("", "Reset", "set", "unset", "ready", "state", "height", "__proto__", None, 0, [], ["reset"], {})
    ),
    *({"namespace": "lossscale", "type": "set", "link": link} for link in BAD_LINKS),
)


def test_hostile_messages_are_ignored(host: Host) -> None:
    assert len(HOSTILE) >= 60
    host.send(type="set", link="?v=1&g=p-34,p10&k=8&f=bf16")
    before = host.wait_for("state")
    host.page.wait_for_timeout(700)  # until it is also read aloud
    shown = host.explorer.root.evaluate("root => root.innerText")
    for count, message in enumerate(HOSTILE, start=2):
        host.page.evaluate("message => send(message)", message)
        host.send(type="get")
        assert (message, host.wait_for("state", count)) == (message, before)
    host.page.wait_for_timeout(700)
    assert host.told("state") == [before] * (1 + len(HOSTILE))
    assert host.explorer.root.evaluate("root => root.innerText") == shown


@pytest.mark.parametrize("link", ["?k=5&g=abc", "?k=5&x=0", "?k=5&g=p3,,p4"])
def test_a_link_that_cannot_be_read_is_ignored_whole(host: Host, link: str) -> None:
    """Also where it takes Python to see that."""
    host.send(type="set", link="?v=1&g=p-34,p10&k=8&f=bf16")
    before = host.wait_for("state")["state"]
    host.send(type="set", link=link)
    host.page.wait_for_timeout(700)
    host.send(type="get")
    host.page.wait_for_timeout(100)
    assert [message["state"] for message in host.told("state")] == [before] * 2
    expect(host.explorer.notice).to_be_empty()


def test_other_windows_are_not_listened_to(open_host: Callable[..., Page], server: Server, site: Site) -> None:
    """Neither a frame beside it, nor the page itself, may play the host."""
    sender = """
      addEventListener("message", ({ data }) => {
        for (const type of ["reset", "get", "set"]) {
          top.frames[0].postMessage({ namespace: "lossscale", type, link: "?k=5" }, "*");
        }
        top.postMessage("sent", "*");
      });
    """
    site.host("beside", f"<script>{sender}</script>")
    count = "let sent = 0; addEventListener('message', ({ data }) => { sent += data === 'sent'; });"
    body = (
        f'<iframe id="it" src="{site.saved_url()}#v=1&k=3&e=1" title="x" style="width: 700px; height: 470px"></iframe>'
        f'<iframe src="beside.html" title="y"></iframe>{LISTENING % IGNORE}<script>{count}</script>'
    )
    page = open_host(site.host("talking-beside", body))
    explorer: ExplorerPage = framed(page, "#it")
    page.evaluate("frames[1].postMessage(1, '*')")
    page.wait_for_function("sent === 1")
    explorer.page.evaluate("postMessage({ namespace: 'lossscale', type: 'set', link: '?k=5' }, '*')")
    page.wait_for_timeout(300)
    assert explorer.root.locator(".scale-line").get_attribute("data-log2") == "3"
    assert page.evaluate("told.filter(({ data }) => data?.type === 'state').length") == 0
    page.evaluate("send({ namespace: 'lossscale', type: 'set', link: '?k=5' })")  # while its host may
    expect(explorer.root.locator(".scale-line")).to_have_attribute("data-log2", "5")


def test_alone_it_tells_nobody(open_at: Callable[..., ExplorerPage], site: Site) -> None:
    listen = "window.heard = []; addEventListener('message', ({ data }) => heard.push(data));"
    explorer = open_at(site.saved_url(), script=listen)
    explorer.page.evaluate("postMessage({ namespace: 'lossscale', type: 'set', link: '?k=5' }, '*')")
    explorer.page.wait_for_timeout(300)
    assert explorer.state().slider == 0
    assert explorer.page.evaluate("heard.length") == 1
