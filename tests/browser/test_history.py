"""History: one decision, one entry; Back, Forward, Ctrl+Z and Ctrl+Y lead through them."""

from collections.abc import Callable

import pytest

from .hosts import Site, framed, go_to_hash
from .launch import Server
from .pages import SEED, ExplorerPage

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

#: Longer than any decision takes to be one.
REST = 700


@pytest.fixture(params=["live", "saved"])
def fresh(request: pytest.FixtureRequest, open_at: Callable[..., ExplorerPage], server: Server, site: Site):
    return open_at(server.url if request.param == "live" else site.saved_url())


@pytest.fixture
def live(open_at: Callable[..., ExplorerPage], server: Server) -> ExplorerPage:
    return open_at(server.url)


@pytest.fixture
def saved(open_at: Callable[..., ExplorerPage], site: Site) -> ExplorerPage:
    return open_at(site.saved_url())


def slide(explorer: ExplorerPage) -> None:
    explorer.slider.focus()
    explorer.press("ArrowRight", "ArrowRight", "ArrowRight")


def drag_slider(explorer: ExplorerPage) -> None:
    with explorer.dragging(explorer.slider.locator("..")) as (x, y):
        explorer.page.mouse.move(x + 40, y, steps=4)


def drag_gradient(explorer: ExplorerPage) -> None:
    with explorer.dragging(explorer.handles.first) as (x, y):
        explorer.page.mouse.move(x + 150, y, steps=5)


def move_gradient(explorer: ExplorerPage) -> None:
    explorer.handles.first.focus()
    explorer.press("PageUp")


def type_gradient(explorer: ExplorerPage) -> None:
    explorer.type_gradients("2^-30")
    explorer.wait_for_rows(3)


DECISIONS = {
    "slider by keys": slide,
    "slider by mouse": drag_slider,
    "format": lambda explorer: explorer.format("E5M2"),
    "theme": lambda explorer: explorer.theme("dark"),
    "gradient by mouse": drag_gradient,
    "gradient by keys": move_gradient,
    "typed": type_gradient,
    "removed": lambda explorer: explorer.removes.first.click(),
    "scale": lambda explorer: explorer.type_scale("2^5"),
    "tried": lambda explorer: explorer.try_it("What does one outlier do?"),
}


#: The saved page keeps its history in the same way, but for where the link is.
CASES = [*(("live", name) for name in DECISIONS), ("saved", "slider by keys"), ("saved", "typed"), ("saved", "tried")]


@pytest.mark.parametrize(("form", "decision"), CASES)
def test_a_decision_is_undone_and_done_again(
    open_at: Callable[..., ExplorerPage], server: Server, site: Site, form: str, decision: str
) -> None:
    fresh = open_at(server.url if form == "live" else site.saved_url())
    fresh.put("2^-20", "-2^3")  # from where every decision leads elsewhere
    fresh.journey_choice.select_option(index=0)  # whose journey is shown is no decision
    entries = rested(fresh)
    before = seen(fresh)

    DECISIONS[decision](fresh)
    assert rested(fresh) == entries + 1
    after = seen(fresh)
    assert after != before
    assert after["address"] != before["address"]

    for back, forward in ((go_back, go_forward), (undo, redo)):
        back(fresh)
        wait_for(fresh, before)
        forward(fresh)
        wait_for(fresh, after)
    assert fresh.page.evaluate("history.length") == entries + 1


def test_reset_is_undone(fresh: ExplorerPage) -> None:
    fresh.put("2^-20", "-2^3")
    fresh.format("E4M3")
    slide(fresh)
    entries = rested(fresh)
    before = seen(fresh)
    fresh.reset.click()
    assert rested(fresh) == entries + 1
    assert seen(fresh)["boxes"] == SEED
    undo(fresh)
    wait_for(fresh, before)


@pytest.mark.parametrize("what", ["slider", "gradient"])
def test_dragging_adds_no_entry_and_letting_go_one(fresh: ExplorerPage, what: str) -> None:
    entries, before = rested(fresh), seen(fresh)
    element = fresh.slider.locator("..") if what == "slider" else fresh.handles.first
    octave = fresh.octave(fresh.window_chart if what == "slider" else fresh.landing_chart)
    followed = set()
    with fresh.dragging(element) as (x, y):
        for notch in range(1, 11):
            fresh.page.mouse.move(x + notch * octave, y)
            fresh.page.wait_for_timeout(30)
            assert fresh.page.evaluate("history.length") == entries
            followed.add(fresh.page.evaluate("location.href"))
    assert len(followed) > 1  # the entry that is there follows the hand
    assert rested(fresh) == entries + 1
    go_back(fresh)
    wait_for(fresh, before)


def test_holding_a_key_is_one_decision(fresh: ExplorerPage) -> None:
    entries, before = rested(fresh), seen(fresh)
    fresh.slider.focus()
    fresh.press(*["ArrowRight"] * 20)
    assert rested(fresh) == entries + 1
    go_back(fresh)
    wait_for(fresh, before)


def test_a_step_through_many_decisions(fresh: ExplorerPage) -> None:
    states = [seen(fresh)]
    for decide in (slide, move_gradient, DECISIONS["format"], DECISIONS["removed"], DECISIONS["theme"]):
        decide(fresh)
        rested(fresh)
        states.append(seen(fresh))
    for state in states[-2::-1]:
        undo(fresh)
        wait_for(fresh, state)
    undo(fresh)  # there is nothing before
    fresh.page.wait_for_timeout(200)
    wait_for(fresh, states[0])
    for state in states[1:]:
        redo(fresh)
        wait_for(fresh, state)


@pytest.mark.parametrize("back", ["Back", "Control+z"])
def test_back_after_a_reload(live: ExplorerPage, back: str) -> None:
    states = [seen(live)]
    for decide in (slide, DECISIONS["format"]):
        decide(live)
        rested(live)
        states.append(seen(live))
    live.page.reload()
    live.slider.wait_for()
    wait_for(live, states[2])
    for state in states[1::-1]:
        go_back(live) if back == "Back" else undo(live)
        wait_for(live, state)
    go_forward(live) if back == "Back" else redo(live)
    wait_for(live, states[1])


@pytest.mark.parametrize("selected", [0, 1])
def test_numbers_come_back_after_a_reload(live: ExplorerPage, selected: int) -> None:
    """Their tables are gone, so Python has to read them again; that is no decision."""
    live.put("1.1e-8", "7")
    live.journey_choice.select_option(index=selected)
    rested(live)
    before = seen(live)
    live.reset.click()
    entries = rested(live)
    after = seen(live)
    live.page.reload()
    live.slider.wait_for()
    go_back(live)
    wait_for(live, before)
    assert rested(live) == entries
    go_forward(live)
    wait_for(live, after)


def test_a_new_decision_takes_the_place_of_what_was_undone(fresh: ExplorerPage) -> None:
    before = seen(fresh)
    slide(fresh)
    entries = rested(fresh)
    slide(fresh)
    assert rested(fresh) == entries + 1
    undo(fresh)
    undo(fresh)
    wait_for(fresh, before)
    fresh.format("BF16")
    assert rested(fresh) == entries
    here = seen(fresh)
    for again in (redo, go_forward):
        again(fresh)
        fresh.page.wait_for_timeout(200)
        assert seen(fresh) == here
    undo(fresh)
    wait_for(fresh, before)


@pytest.mark.parametrize("link", ["v=1&k=7", "#v=1&g=p-34,p10&f=bf16&k=-3"])
def test_a_typed_hash_takes_one_step_back(fresh: ExplorerPage, link: str) -> None:
    entries, before = rested(fresh), seen(fresh)
    go_to_hash(fresh, link)
    assert rested(fresh) == entries + 1
    after = seen(fresh)
    assert after != before
    go_back(fresh)
    wait_for(fresh, before)
    go_forward(fresh)
    wait_for(fresh, after)


def test_a_typed_hash_that_python_reads_takes_one_step_back(live: ExplorerPage) -> None:
    entries, before = rested(live), seen(live)
    go_to_hash(live, "v=1&g=1.1e-8,7,2.5")
    live.wait_for_rows(3)
    assert rested(live) == entries + 1
    go_back(live)
    wait_for(live, before)


def test_what_is_changed_while_python_reads_a_hash_stays(live: ExplorerPage) -> None:
    live.root.evaluate(
        """root => new Promise((done) => {
            addEventListener("hashchange", () => {
                const slider = root.querySelector(".scale-slider");
                slider.value = 9;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                done();
            }, { once: true });
            location.hash = "v=1&g=1.1e-8,7,2.5&k=5&f=bf16";
        })"""
    )
    live.wait_for_rows(3)
    rested(live)
    assert seen(live)["address"][1] == "v=1&g=1.1e-8,7,2.5&k=9&f=bf16"


AT_ONCE = {
    "a decision": "root.querySelector('input[type=radio][value=e5m2]').click()",
    "a journey": """{
        const choice = root.querySelector("#lse-journey");
        choice.selectedIndex = 1;
        choice.dispatchEvent(new Event("change"));
    }""",
    "a notch": """{
        const slider = root.querySelector(".scale-slider");
        slider.value = 20;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    }""",
}


@pytest.mark.parametrize("what", AT_ONCE)
def test_a_hash_is_not_overtaken(fresh: ExplorerPage, what: str) -> None:
    """The browser tells of a followed hash a moment later; what happens in between must not write over it."""
    entries, before = rested(fresh), seen(fresh)
    fresh.root.evaluate(f"root => {{ location.hash = 'v=1&k=-3&f=bf16'; {AT_ONCE[what]}; }}")
    assert rested(fresh) == entries + 1
    after = seen(fresh)
    assert after["address"][1] == "v=1&k=-3&f=bf16"
    assert after["slider"] == -3
    go_back(fresh)
    wait_for(fresh, before)
    go_forward(fresh)
    wait_for(fresh, after)


def test_undoing_at_once(fresh: ExplorerPage) -> None:
    """A hand on the keyboard does not wait for a decision to be written down."""
    before = seen(fresh)
    slide(fresh)
    fresh.press("Control+z")
    wait_for(fresh, before)
    rested(fresh)
    assert seen(fresh) == before


def test_a_step_is_kept_when_another_gradient_is_picked_at_once(fresh: ExplorerPage) -> None:
    slide(fresh)
    fresh.handles.nth(1).focus()
    fresh.press("ArrowLeft")
    rested(fresh)
    undo(fresh)
    fresh.page.wait_for_timeout(200)
    assert (fresh.state().slider, fresh.state().boxes) == (3, SEED)
    undo(fresh)
    fresh.page.wait_for_timeout(200)
    assert fresh.state().slider == 0


def test_choosing_a_journey_is_no_decision_but_in_the_link(fresh: ExplorerPage) -> None:
    entries = rested(fresh)
    fresh.journey_choice.select_option(index=1)
    assert rested(fresh) == entries
    assert "j=2" in fresh.page.evaluate("location.href")


def test_keys_in_a_box_are_the_box_s_own(fresh: ExplorerPage) -> None:
    slide(fresh)
    rested(fresh)
    fresh.add_field.focus()
    fresh.press("Control+z")
    fresh.page.wait_for_timeout(200)
    assert fresh.state().slider == 3


def test_a_saved_page_keeps_its_state_in_the_hash(saved: ExplorerPage, site: Site) -> None:
    slide(saved)
    rested(saved)
    assert saved.page.evaluate("location.href") == f"{site.saved_url()}#v=1&k=3"


def test_the_live_page_keeps_its_state_in_the_query(live: ExplorerPage, server: Server) -> None:
    slide(live)
    rested(live)
    assert live.page.evaluate("location.href") == f"{server.url}/?v=1&k=3"


def test_a_frame_leaves_the_host_s_history_alone(open_host: Callable, site: Site) -> None:
    page = open_host(site.host("history", f'<iframe src="{site.saved_url()}" title="x" width=900 height=900></iframe>'))
    explorer = framed(page)
    entries = page.evaluate("history.length")
    slide(explorer)
    page.wait_for_timeout(REST)
    explorer.format("E5M2")
    assert page.evaluate("history.length") == entries
    explorer.slider.focus()
    explorer.press("Control+z")
    assert (explorer.state().format, explorer.state().slider) == ("fp16", 3)
    explorer.press("Control+z")
    assert explorer.state().slider == 0
    explorer.press("Control+y", "Control+Shift+z")
    assert (explorer.state().format, explorer.state().slider) == ("e5m2", 3)


def rested(explorer: ExplorerPage) -> int:
    """The length of the history once nothing is under way."""
    explorer.page.wait_for_timeout(REST)
    return explorer.page.evaluate("history.length")


def seen(explorer: ExplorerPage) -> dict:
    """All that the page shows, and what its address says; it opens without a link, which is that of the defaults."""
    start, _, link = explorer.page.evaluate("location.href").replace("#", "?").partition("?")
    return {**vars(explorer.state()), "address": (start, link or "v=1")}


def wait_for(explorer: ExplorerPage, state: dict) -> None:
    """Wait until the page shows a state again, in every detail."""
    for _ in range(40):
        if seen(explorer) == state:
            return
        explorer.page.wait_for_timeout(50)
    assert {name: (now, state[name]) for name, now in seen(explorer).items() if now != state[name]} == {}


def go_back(explorer: ExplorerPage) -> None:
    explorer.page.evaluate("history.back()")


def go_forward(explorer: ExplorerPage) -> None:
    explorer.page.evaluate("history.forward()")


def undo(explorer: ExplorerPage) -> None:
    explorer.slider.focus()
    explorer.press("Control+z")


def redo(explorer: ExplorerPage) -> None:
    explorer.slider.focus()
    explorer.press("Control+y")
