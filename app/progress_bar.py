"""A bar on standard error that says how far something is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import sys
import time

from lossscale_core.errors import printable

#: What takes no longer than this many seconds needs no bar.
PATIENCE = 0.5
_BETWEEN = 0.1
_CELLS = 30


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[float], None]]:
    """Show a bar while something is done that takes long, if standard error is a terminal.

    Args:
        label: what is done, in a few words.

    Yields:
        What to call with the share that is done, from 0 to 1.
    """
    stream = sys.stderr
    if not stream.isatty():
        yield lambda share: None
        return
    start, due, shown = f"{printable(label)[:_CELLS]} [", time.monotonic() + PATIENCE, 0

    def tell(share: float) -> None:
        nonlocal due, shown
        if time.monotonic() < due:
            return
        line = f"{start}{'#' * int(share * _CELLS):<{_CELLS}}] {share:4.0%}"
        due, shown = time.monotonic() + _BETWEEN, len(line)
        print(f"\r{line}", end="", file=stream, flush=True)

    try:
        yield tell
    finally:
        # Nothing stays of it, whatever is written next.
        if shown:
            print(f"\r{' ' * shown}\r", end="", file=stream, flush=True)
