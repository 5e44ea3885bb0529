"""No server in the loop: nothing is sent while a hand moves, and a dead server changes nothing on the page."""

from collections.abc import Iterator
from fractions import Fraction

from playwright.sync_api import Browser, expect
import pytest

from lossscale_core import FORMATS, Format

from .agreement import AWKWARD, SEED, check
from .expected import from_core, spelled, values_of
from .launch import serving
from .pages import ExplorerPage, open_page

pytestmark = pytest.mark.browser

#: What the browser itself logs about a connection that broke.
LOST_CONNECTION = "WebSocket|ERR_CONNECTION_REFUSED|[Ll]ost|[Cc]onnection"


@pytest.fixture
def fresh(open_explorer) -> ExplorerPage:
    """A page that has said all it has to say on opening."""
    explorer = open_explorer()
    frames = -1
    while frames != len(explorer.watch.frames):
        frames = len(explorer.watch.frames)
        explorer.page.wait_for_timeout(300)
    assert frames > 0
    return explorer


def test_nothing_is_sent_while_a_hand_moves(fresh: ExplorerPage) -> None:
    explorer, frames = fresh, fresh.watch.frames
    before = len(frames)

    explorer.slider.focus()
    explorer.press(*["ArrowRight"] * 20)
    assert explorer.state().slider == 20
    assert len(frames) == before

    explorer.page.wait_for_timeout(1200)
    assert told(frames[before:], "log2_scale") == 1  # once it rests Python is told, with one message
    before = len(frames)

    y = explorer.centre(explorer.slider)[1]
    explorer.page.mouse.move(explorer.viewport_x(20), y)
    explorer.page.mouse.down()
    explorer.page.mouse.move(explorer.viewport_x(-4), y, steps=60)
    explorer.page.wait_for_timeout(1200)  # a hand may also stand still
    explorer.page.mouse.move(explorer.viewport_x(9), y, steps=30)
    assert len(frames) == before
    explorer.page.mouse.up()
    explorer.page.wait_for_timeout(200)
    assert told(frames[before:], "log2_scale") == 1


@pytest.mark.parametrize("what", ["handles", "bars"])
def test_nothing_is_sent_while_a_gradient_moves(fresh: ExplorerPage, what: str) -> None:
    frames, before = fresh.watch.frames, len(fresh.watch.frames)
    with fresh.dragging(getattr(fresh, what).first) as (x, y):
        fresh.page.mouse.move(x + 300, y, steps=40)
        fresh.page.wait_for_timeout(1200)
        fresh.page.mouse.move(x + 100, y, steps=20)
        assert len(frames) == before
    fresh.page.wait_for_timeout(200)
    assert told(frames[before:], "gradients") == 1


def test_a_stopped_server_is_not_waited_for(browser: Browser) -> None:
    """Formats, things to try, removing and scales are drawn without an answer."""
    with serving() as server:
        explorer = open_page(browser, server)
        server.signal("SIGSTOP")
        for fmt in FORMATS.values():
            explorer.format(fmt.label)
            explorer.go(5)
            check(explorer.state(), SEED, 5, fmt)
        explorer.try_it("Must S exceed 1?")
        assert explorer.state().boxes == ["2⁻²⁰", "2¹⁸"]
        explorer.removes.first.click()
        explorer.handles.first.focus()
        explorer.press("ArrowLeft")
        assert explorer.state().boxes == ["2¹⁷"]
        explorer.reset.click()
        check(explorer.state(), SEED, 0, FORMATS["fp16"])
        server.signal("SIGCONT")
        explorer.page.context.close()


@pytest.fixture(scope="module")
def orphan(browser: Browser) -> Iterator[ExplorerPage]:
    """A page whose server was killed while the slider's thumb was held."""
    with serving() as server:
        explorer = open_page(browser, server)
        explorer.watch.expected = LOST_CONNECTION
        explorer.put(*AWKWARD)
        y = explorer.centre(explorer.slider)[1]
        explorer.page.mouse.move(explorer.viewport_x(0), y)
        explorer.page.mouse.down()
        explorer.page.mouse.move(explorer.viewport_x(3), y, steps=5)
        server.signal("SIGKILL")
        explorer.page.mouse.move(explorer.viewport_x(8), y, steps=5)
        check(explorer.state(), AWKWARD, 8, FORMATS["fp16"])
        explorer.page.mouse.up()
        check(explorer.state(), AWKWARD, 8, FORMATS["fp16"])
        yield explorer
        problems = explorer.watch.problems()
        explorer.page.context.close()
    assert not problems


def test_a_quiet_notice_says_so(orphan: ExplorerPage) -> None:
    expect(orphan.notice).to_contain_text(
        "The server is gone. What is on this page keeps working; typing new numbers needs it back."
    )
    expect(orphan.notice).to_have_role("status")
    assert orphan.page.locator("dialog[open], [role=alertdialog]").count() == 0


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
def test_the_orphan_is_still_right(orphan: ExplorerPage, fmt: Format) -> None:
    orphan.format(fmt.label)
    names = orphan.state().boxes
    for state in orphan.sweep():
        assert state.boxes == names == [spelled(token) for token in AWKWARD]
        check(state, AWKWARD, int(state.slider), fmt)


def test_what_is_typed_stays(orphan: ExplorerPage) -> None:
    before = orphan.state().boxes
    sentence = "New numbers are read by the server, and it is gone; what was typed stays here until it is back."
    for field, text in ((orphan.add_field, "2^-27, 1.1"), (orphan.scale_field, "1000")):
        field.fill(text)
        field.press("Enter")
        expect(orphan.problem).to_have_text(sentence)
        expect(field).to_have_value(text)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(sentence)
    assert orphan.state().boxes == before
    orphan.retype(0, "1.1")
    expect(orphan.boxes.first).to_have_value("1.1")
    expect(orphan.problem).to_have_text(sentence)
    orphan.boxes.first.press("Escape")
    assert orphan.state().boxes == before


def test_numbers_whose_tables_are_here_need_no_server(orphan: ExplorerPage) -> None:
    orphan.type_gradients("2^-30; -4")
    orphan.wait_for_rows(len(AWKWARD) + 2)
    orphan.type_scale("2^5")
    expect(orphan.scale_field).to_have_value("")
    orphan.format("FP16")
    check(orphan.state(), [*AWKWARD, "2^-30", "-4"], 5, FORMATS["fp16"])
    for _ in range(2):
        orphan.removes.last.click()
    check(orphan.state(), AWKWARD, 5, FORMATS["fp16"])


def test_the_orphan_keeps_dragging_and_trying(orphan: ExplorerPage) -> None:
    boxes = orphan.state().boxes
    orphan.handles.first.focus()
    orphan.press("PageUp", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    orphan.go(6)
    assert orphan.state().boxes[1:] == boxes[1:]
    value = values_of(AWKWARD)[0]
    assert orphan.state().rows[0].cells.bits == from_core(value, Fraction(64), FORMATS[orphan.state().format]).bits
    orphan.try_it("The same two in E5M2")
    check(orphan.state(), SEED, 0, FORMATS["e5m2"])
    orphan.reset.click()
    check(orphan.state(), SEED, 0, FORMATS["fp16"])
    expect(orphan.notice).to_be_visible()


def told(frames: list, name: str) -> int:
    """How many of the messages in frames set a param."""
    return sum(f'"attr":"{name}"' in str(frame) for frame in frames)
