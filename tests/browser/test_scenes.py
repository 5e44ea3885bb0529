"""Scenarios: what is seen once a prediction is made answers the question, instead of showing another situation."""

from collections.abc import Iterator

from playwright.sync_api import Browser, expect
import pytest

from .hosts import Site
from .pages import ExplorerPage
from .saved_views import saved_address, saved_views, show

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

#: By scenario, what of its right answer the page shows at once. Where a scale is to be found it shows none.
SEEN = {
    "tie": "",
    "late": "The update is lost: 0 instead of 2⁻²⁶",
    "half": "The update is lost: 0 instead of 2⁻²⁶",
    "inf": "8 overflows",
    "bf16": "Both gradients survive",
    "clip": "512 times too small",
    "accum": "1.5 times too large",
    "dyn": "of 300 steps are skipped: 1–4, 30, ",
    "coarse": "",
    "swamp": "FP16 weights swallow the update: 0 instead of 2⁻¹²",
    "same": "The step is the true one",
    "mean": "another average: 2 instead of 1",
    "nan": "from step 40 on every step is skipped, and the scale comes to 0",
    "autocast": "of the gradients are lost",
}


@pytest.fixture(scope="module")
def saved(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    with saved_views(browser, saved_address(site)) as explorer:
        yield explorer


@pytest.mark.parametrize("scenario", SEEN)
def test_what_is_seen_is_what_was_asked(saved: ExplorerPage, scenario: str) -> None:
    show(saved, f"s={scenario}&m=predict")
    lesson = saved.root.locator(".lesson")
    lesson.locator("input[type=radio]").first.check()
    lesson.get_by_role("button", name="This is my prediction").click()
    expect(lesson.locator(".lesson-seen")).to_contain_text(SEEN[scenario])
