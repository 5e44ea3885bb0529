"""What is too small to be read or to be hit."""

from .pages import FOCUSABLE, SEEN, ExplorerPage


def small_texts(explorer: ExplorerPage, least: float = 14) -> list[str]:
    """Texts of less than so many pixels."""
    return explorer.page.evaluate(
        f"""() => {{
            const size = (element) => parseFloat(getComputedStyle(element).fontSize)
                * (element.ownerSVGElement ? element.getScreenCTM().d : 1);
            const hasText = (element) => element.matches("input[type=text], select, textarea")
                || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
            return [...document.body.querySelectorAll("*")]
                .filter((element) => hasText(element) && ({SEEN})(element) && size(element) < {least})
                .map((element) => `${{element.outerHTML}}: ${{size(element)}}`);
        }}"""
    )


def small_targets(explorer: ExplorerPage) -> list[str]:
    """Controls of less than 24 by 24 pixels."""
    return explorer.root.evaluate(
        """(root, focusable) => [...root.querySelectorAll(focusable)].filter((control) => control.checkVisibility())
            .map((control) => control.closest("label") ?? control)
            .filter((target) => {
                const { width, height } = target.getBoundingClientRect();
                return width < 24 || height < 24;
            }).map((target) => target.outerHTML)""",
        FOCUSABLE,
    )
