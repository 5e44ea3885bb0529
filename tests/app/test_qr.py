"""QR codes: the drawing holds exactly the modules that the library encodes."""

import re

import pytest
import segno

from lossscale_app.qr import qr_data


def modules(path, size):
    """The dark modules that an SVG path of horizontal strokes one module wide covers."""
    dark, x, y = set(), 0.0, 0.0
    for command, numbers in re.findall(r"([Mmh])([-\d. ]+)", path):
        values = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        if command == "h":
            dark |= {(int(x) + step, int(y)) for step in range(int(values[0]))}
            x += values[0]
        else:
            x, y = (values[0], values[1]) if command == "M" else (x + values[0], y + values[1])
    assert all(0 <= place < size for module in dark for place in module)
    return dark


@pytest.mark.parametrize("link", ["http://localhost:5006/?v=1", "https://explorer.example.org/?v=1&g=p-34,p10&k=8&e=1"])
def test_the_drawing_is_the_code_with_its_quiet_zone(link):
    drawn = qr_data(link)
    code = segno.make(link, error="l", boost_error=False, micro=False)
    expected = {(x + 4, y + 4) for y, row in enumerate(code.matrix) for x, bit in enumerate(row) if bit}
    assert modules(drawn["path"], drawn["size"]) == expected
    assert drawn["size"] == len(code.matrix) + 8


def test_a_long_link_is_still_a_code():
    assert qr_data("https://example.org/?v=1&g=" + ",".join(["0x1.5555555555555p-24"] * 12))["size"] > 50
