"""Files of the numbers: what they hold is what the core says, and the NumPy that is offered gives it again."""

from collections.abc import Sequence
from contextlib import redirect_stdout
import csv
from decimal import Decimal
from fractions import Fraction
import io
import json
import math
from pathlib import Path
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from lossscale_app import Explorer
from lossscale_app.bundle import browser_text
from lossscale_app.datasets import DATASETS
from lossscale_app.exports import csv_cell, number_digits, window_files
from lossscale_app.gradients import read_gradients, read_scale
from lossscale_app.links import DEFAULTS, write_link
from lossscale_core import (
    FORMATS,
    Format,
    InputError,
    Outcome,
    bits_text,
    cast,
    cast_exact,
    classify,
    count_outcomes,
    encode,
    recovered,
    safe_window,
)

from .lookup_mirror import LookupMirror, strict_json
from .loops import run

LISTS = {
    "seed": ("2^-26", "8"),
    "one decimal": ("1e-8",),
    "ties": ("2^-25", "3*2^-25", "65520", "65519.99", "464", "61440", "2^-133", "1.00048828125", "0x1.002p0"),
    "negative": ("-3", "-2^-26", "-1e-8", "-0.1", "-65520", "-3*2^-25"),
    "special": ("0", "-0", "inf", "-inf", "nan"),
    "extreme": ("5e-324", "1e300", "1e-45", "1e-40", "2^127", "-2^-1022", "0x1.fffffffffffffp-25"),
    # A float32 away from a tie of BF16, and of E5M2, by less than a float32 can tell.
    "double rounding": ("0x1.0100000000001p0", "0x1.0300000000001p-3", "0x1.2000000000001p0", "0x1.1000000000001p-3"),
    "all kinds": ("2^-26", "8", "1e-8", "-3", "0", "nan", "-inf", "65520", "1.75*2^-24", "3", "1e3"),
    "none": (),
}
SCALES = ("", "1000", "0.1", "3", "1e-30", "2^-1070", "1.5*2^20", "1e300", "65504", "0x1.0000000000001p3")
KS = (-40, -1, 0, 3, 13, 40)
#: A scale as it is typed, or k.
AT = [*KS, *filter(None, SCALES)]

every_list = pytest.mark.parametrize("tokens", LISTS.values(), ids=LISTS)
every_format = pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)


def scale_of(at: int | str) -> Fraction:
    return read_scale(at).value if isinstance(at, str) else Fraction(2) ** at


def expected(tokens: Sequence[str], scale: Fraction, fmt: Format) -> list[SimpleNamespace]:
    """What the core says of each gradient, product and quotient exact."""
    return [expected_of(gradient.value, scale, fmt) for gradient in read_gradients(tokens)]


def expected_of(value: float, scale: Fraction, fmt: Format) -> SimpleNamespace:
    special = value == 0 or not math.isfinite(value)
    scaled = value if special else Fraction(value) * scale
    stored = float(cast(value, fmt)) if special else cast_exact(scaled, fmt)
    back = math.copysign(recovered(stored, scale), stored)
    if special or not math.isfinite(back):
        error = 0.0 if value == 0 else math.nan if math.isnan(back) or special else math.inf
    else:
        error = float((Fraction(back) - Fraction(value)) / Fraction(value))
    return SimpleNamespace(
        value=value,
        scaled=scaled,
        stored=stored,
        bits=bits_text(int(encode(stored, fmt)), fmt),
        recovered=back,
        relative_error=error,
        outcome=classify([value], scale, fmt)[0].name.lower(),
    )


def same(one: float, two: float) -> bool:
    """Whether two floats are the same, to the sign of a zero; any NaN is like any other."""
    return repr(float(one)) == repr(float(two)) or (math.isnan(one) and math.isnan(two))


# CSV and JSON


def link_of(tokens: Sequence[str], at: int | str, fmt: Format) -> str:
    scale = {"typed_scale": at} if isinstance(at, str) else {"log2_scale": at}
    return write_link({**DEFAULTS, **scale, "gradients": list(tokens), "format": fmt.name})


def number(text: str) -> float | Fraction:
    """What a text is read as: the float that is written like this, else all its digits."""
    value = float(text)
    return value if repr(value).removesuffix(".0") == text.removesuffix(".0") else Fraction(Decimal(text))


@every_format
@every_list
def test_the_files_hold_what_the_core_says(tokens, fmt):
    for at in AT:
        files = window_files(link_of(tokens, at, fmt))
        table = list(csv.DictReader(io.StringIO(files["csv"], newline="")))
        data = json.loads(files["json"], parse_float=str, parse_int=str)
        assert number(data["scale"]) == scale_of(at)
        assert len(table) == len(data["gradients"]) == len(tokens)
        for row, listed, right in zip(table, data["gradients"], expected(tokens, scale_of(at), fmt), strict=True):
            assert (row["format"], number(row["scale"])) == (fmt.name, scale_of(at))
            assert row["bits"] == listed["bits"] == right.bits
            assert row["outcome"] == listed["outcome"] == right.outcome
            for name in ("value", "stored", "recovered", "relative_error"):
                assert same(float(row[name]), getattr(right, name)), (at, name)
                assert row[name] == listed[name]
            assert row["scaled"] == listed["scaled"]
            scaled = number(row["scaled"])
            assert scaled == right.scaled or same(scaled, right.scaled)


@pytest.mark.parametrize("at", [3, "1000", "0.1"])
@every_list
def test_the_files_are_plain(tokens, at):
    files = window_files(link_of(tokens, at, FORMATS["e4m3"]))
    for text in files.values():
        assert text.isascii()
        assert "≈" not in text
    lines = files["csv"].split("\r\n")
    assert lines[0] == "gradient,value,format,scale,scaled,stored,bits,recovered,relative_error,outcome"
    assert lines[-1] == ""
    assert len(lines) == len(tokens) + 2
    assert "\n" not in files["csv"].replace("\r\n", "")
    strict_json(files["json"])


def test_the_json_has_the_link_and_the_windows():
    link = "?v=1&g=p-34,p3&k=8"
    data = json.loads(window_files(link)["json"])
    windows = safe_window([2.0**-34, 8.0], FORMATS["fp16"])
    assert (data["link"], data["format"], data["scale"]) == (link, "fp16", 256)
    assert (data["survive"]["lower"], data["survive"]["upper"]) == (windows.survive.lower, windows.survive.upper)
    assert tuple(data["survive"]["log2_powers"]) == windows.survive.log2_powers
    assert [each["gradient"] for each in data["gradients"]] == ["2^-34", "2^3"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *[(text, text) for text in ("8", "-3", "+1.5e-8", "-inf", "nan", "2^-26", "0 00000 0000000010", "normal", "")],
        *[(text, f"'{text}") for text in ("=1+1", "-2^-26", "+2^3", "@SUM(A1)", "-3;4", "\t=1", "\r=1", "-")],
    ],
)
def test_no_cell_is_a_formula(text, cell):
    assert csv_cell(text) == cell


def test_a_gradient_that_a_spreadsheet_would_compute():
    table = list(csv.DictReader(io.StringIO(window_files("?v=1&g=-p-30,-3")["csv"])))
    assert [row["gradient"] for row in table] == ["'-2^-30", "-3"]
    assert [float(row["value"]) for row in table] == [-(2.0**-30), -3]


@pytest.mark.parametrize(
    ("value", "digits"),
    [
        (8.0, "8"),
        (-0.0, "-0.0"),
        (2.0**-26, "1.4901161193847656e-08"),
        (math.inf, "inf"),
        (Fraction(1, 8), "0.125"),
        (Fraction(2) ** 60 + 1, "1152921504606846977"),
        (Fraction(1, 2**60) + 1, f"1.{5**60:060}"),
    ],
)
def test_digits(value, digits):
    assert number_digits(value) == digits
    assert number(digits) == value


def test_the_page_is_answered():
    answer = run(Explorer()._answer({"ask": 1, "export": "?v=1&k=3"}))
    assert answer == window_files("?v=1&k=3")


@pytest.mark.parametrize("link", ["?v=1&g=eight", "?v=1&k=99", "?nothing=1", "?v=1&g=" + "1" * 5000])
def test_a_link_that_cannot_be_used_is_refused(link):
    with pytest.raises(InputError, match="cannot be used"):
        window_files(link)


# NumPy


def snippets(driver: str, cases: list) -> list[str]:
    """What the page's own module writes for many cases."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine to run the page's module; the browser tests run it too")
    program = f"{browser_text('numpy.js')}\nconst cases = {json.dumps(cases)};\n"
    program += f"console.log(JSON.stringify(cases.map({driver})));"
    done = subprocess.run(
        [node, "--input-type=module", "-"], input=program, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def execute(snippet: str) -> tuple[dict, str]:
    """What a snippet defines, and what it prints."""
    names: dict = {}
    printed = io.StringIO()
    with np.errstate(), redirect_stdout(printed):
        exec(compile(snippet, "snippet", "exec"), names)  # noqa: S102 - it is what is tested
    return names, printed.getvalue()


def list_snippets(tokens: Sequence[str], fmt: Format) -> list[tuple[int | str, str]]:
    """The snippets for a list at every scale."""
    cases = []
    for at in AT:
        typed = at if isinstance(at, str) else ""
        mirror = LookupMirror(tokens, typed)
        tracks = {key: {name: track.get(name) for name in ("special", "hex")} for key, track in mirror.tracks.items()}
        state = {"gradients": mirror.gradients, "scale": mirror.scale, "k": at if not typed else 0}
        cases.append({"state": state, "tracks": tracks, "format": {"name": fmt.name, "label": fmt.label}})
    driver = "({ state, tracks, format }) => listSnippet(state, (gradient) => tracks[gradient.key], format)"
    return list(zip(AT, snippets(driver, cases), strict=True))


@every_format
@every_list
def test_the_numpy_of_a_list_gives_its_numbers(tokens, fmt):
    for at, snippet in list_snippets(tokens, fmt):
        names, printed = execute(snippet)
        right = expected(tokens, scale_of(at), fmt)
        assert len(printed.splitlines()) == len(tokens)
        assert Fraction(names["S"]) == scale_of(at)
        for index, row in enumerate(right):
            scaled = names["scaled"][index]
            assert same(names["g"][index], row.value)
            if isinstance(row.scaled, Fraction):
                assert Fraction(scaled) == row.scaled, snippet
            else:
                assert same(scaled, row.scaled), snippet
            assert same(names["stored"][index], row.stored), snippet
            assert same(names["recovered"][index], row.recovered), snippet
            assert names["error"][index] == pytest.approx(row.relative_error, rel=1e-9, abs=1e-15, nan_ok=True)


@every_format
def test_numpy_is_enough_where_it_rounds_once(fmt):
    for at, snippet in list_snippets(("2^-26", "8", "-3", "0", "inf", "0.125"), fmt):
        if at in (*KS, "1000", "3", "1.5*2^20"):
            assert "lossscale_core" not in snippet
            assert ("ml_dtypes" in snippet) == (fmt.name != "fp16")
            assert len(snippet.splitlines()) <= 10


@every_format
def test_the_core_takes_over_where_numpy_would_round_twice(fmt):
    found = dict(list_snippets(LISTS["double rounding"], fmt))
    assert ("cast(" in found[0]) == (fmt.name != "fp16")
    assert ("# " in found[0].split("\n\n")[1]) == (fmt.name != "fp16")
    assert "cast_exact(" in found["0.1"]
    assert "Fractions are exact" in found["0.1"]


def count_snippets(source: str, ks: Sequence[int], fmt: Format) -> list[str]:
    form = json.dumps({"name": fmt.name, "label": fmt.label})
    return snippets(f"(k) => countSnippet({source}, k, {form})", list(ks))


def printed_counts(snippet: str) -> list[int]:
    return [int(count) for count in execute(snippet)[1].strip("[] \n").split()]


def counts(values: np.ndarray, k: int, fmt: Format) -> list[int]:
    counted = count_outcomes(values, Fraction(2) ** k, fmt)
    return [counted[Outcome(code)] for code in range(1, 5)]


@every_format
@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.id)
def test_the_numpy_of_a_distribution_gives_its_counts(dataset, fmt):
    values = np.concatenate([tensor.values.ravel() for tensor in dataset.make()])
    ks = (-40, -12, 0, 10, 24, 40)
    for k, snippet in zip(ks, count_snippets(f"datasetSource({json.dumps(dataset.id)})", ks, fmt), strict=True):
        assert printed_counts(snippet) == counts(values, k, fmt), snippet
        assert "lossscale_core" not in snippet


#: Values that lie beside ties of the narrow formats, nearer than float32 can tell, and awkward ones.
AWKWARD = np.array(
    [0, -0.0, math.inf, -math.inf, math.nan, 1e-8, -3, 1e300, 5e-324, 2.0**-25, 65520, 464, 2.0**-133, 2.0**-134]
    + [math.nextafter(2.0**n, math.inf) for n in (-134, -25, -17, -10)]
    + [math.nextafter(edge, 0) for edge in (65520, 61440, 464, 2.0**-14, 2.0**-126)]
)
FILES = {
    "grads.npz": lambda path: np.savez(path, a=AWKWARD[:9].reshape(3, 3), b=AWKWARD[9:], c=np.float16([1, 6e-8])),
    "my \"grads\" 'here'.npy": lambda path: np.save(path, AWKWARD),
    "grads.csv": lambda path: Path(path).write_text(",".join(map(repr, AWKWARD.tolist()))),
    "grads.TXT": lambda path: Path(path).write_text("2^-26 8 1e-8 0"),
}


@every_format
@pytest.mark.parametrize("name", FILES)
def test_the_numpy_of_a_file_gives_its_counts(name, fmt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FILES[name](name)
    values = {
        "grads.npz": np.append(AWKWARD, np.float64(np.float16([1, 6e-8]))),
        "grads.TXT": np.array([2**-26, 8, 1e-8, 0]),
    }.get(name, AWKWARD)
    ks = (-20, 0, 9)
    for k, snippet in zip(ks, count_snippets(f"fileSource({json.dumps(name)})", ks, fmt), strict=True):
        assert printed_counts(snippet) == counts(values, k, fmt), snippet
