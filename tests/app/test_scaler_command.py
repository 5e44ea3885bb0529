"""The command `lossscale scaler`: what it prints, what it refuses, and how."""

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import fields, replace
import io
import json
import math
import subprocess

from hypothesis import given
from hypothesis import strategies as st
import pytest

from lossscale_app.command_line import main
from lossscale_core import SCALER_PRESETS, ScalerPolicy

from .field_rules import TAKES
from .lookup_mirror import strict_json
from .processes import command, environment

#: A value of every field that is another than PyTorch's, as it is written.
OTHER = {
    "init_scale": ("2^10", 1024.0),
    "growth_factor": ("1.5", 1.5),
    "backoff_factor": (".25", 0.25),
    "growth_interval": ("3", 3),
    "growth_delay": ("1", 1),
    "growth_compare": (">=", ">="),
    "hysteresis": ("2", 2),
    "hysteresis_refill": ("finite", "finite"),
    "min_scale": ("1", 1.0),
    "max_scale": ("2^24", 2.0**24),
    "at_min": ("clamp", "clamp"),
    "stop_scale": ("1e-4", 1e-4),
    "grow_to_inf": ("allow", "allow"),
    "dtype": ("float64", "float64"),
    "factor_dtype": ("float32", "float32"),
    "lag": ("1", 1),
    "tolerance": ("0.5", 0.5),
    "dynamic": (None, False),
}


def option(name, written):
    """The words that set a field."""
    dashed = name.replace("_", "-")
    return [f"--no-{dashed}"] if written is None else [f"--{dashed}", written]


def run(*words):
    """Exit code, standard output and standard error of the command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(["scaler", *words])
        except SystemExit as exit_:
            code = exit_.code
    return code, out.getvalue(), err.getvalue()


def printed(*words):
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    return out


def data(*words):
    return json.loads(printed("--json", *words))


def expected(policy, pattern):
    ran = policy.run(pattern)
    return {"scales": list(ran.scales), "actions": [action.value for action in ran.actions]}


def test_the_moves_for_a_person():
    words = ("--init-scale", "65536", "--growth-interval", "3")
    assert printed("pytorch", "NFFFN", *words).splitlines() == [
        "step     action  scale after",
        "   0                   65536",
        "   1  N  skip          32768",
        "   2  F  step          32768",
        "   3  F  step          32768",
        "   4  F  step          65536",
        "   5  N  skip          32768",
    ]


def test_the_end_of_training_for_a_person():
    *_, last, said = printed("deepspeed_zero", "FNNNNF", "--init-scale", "2").splitlines()
    assert last.split() == ["4", "N", "raise", "1"]
    assert said == "Training ends with an error in step 4 of 6."


def test_scales_that_are_long_in_decimal():
    lines = printed("megatron", "FF", "--init-scale", "2^126", "--growth-interval", "1").splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["2^126", "2^127", "inf"]
    assert printed("pytorch", "N", "--backoff-factor", "0.3").splitlines()[-1].endswith("  ≈19660.8008")


def test_the_moves_for_a_program():
    words = ("--init-scale", "65536", "--growth-interval", "3")
    told = strict_json(printed("pytorch", "NFFFFFFNN", *words, "--json"))
    assert told == {
        "scales": [65536, 32768, 32768, 32768, 65536, 65536, 65536, 131072, 65536, 32768],
        "actions": ["skip", "step", "step", "step", "step", "step", "step", "skip", "skip"],
    }


def test_an_infinite_scale_is_json():
    words = ("megatron", "FFF", "--json", "--init-scale", "2^127", "--growth-interval", "1")
    assert strict_json(printed(*words))["scales"] == [2.0**127, math.inf, math.inf, math.inf]


def test_no_steps():
    assert data("jmp", "") == {"scales": [32768], "actions": []}
    assert printed("jmp", "").splitlines()[-1].split() == ["0", "32768"]


@pytest.mark.parametrize("name", SCALER_PRESETS)
def test_every_scaler(name):
    pattern = "NNFNNNF" * 20
    assert data(name, pattern) == expected(SCALER_PRESETS[name], pattern)


@given(name=st.sampled_from(list(SCALER_PRESETS)), pattern=st.text("FN", max_size=40))
def test_any_pattern(name, pattern):
    changed = replace(SCALER_PRESETS[name], growth_interval=2)
    assert data(name, pattern, "--growth-interval", "2") == expected(changed, pattern)
    assert len(printed(name, pattern).splitlines()) >= 2


def test_every_field_has_an_option():
    assert list(OTHER) == [field.name for field in fields(ScalerPolicy)]


@pytest.mark.parametrize("name", OTHER)
def test_an_option_sets_its_field(name, monkeypatch):
    asked = []

    def told(policy, pattern):
        asked.append((policy, pattern))
        return ""

    monkeypatch.setattr("lossscale_app.command_line.scaler_text", told)
    written, value = OTHER[name]
    printed("pytorch", "FN", *option(name, written))
    printed(*option(name, written), "pytorch", "FN")
    assert asked == [(replace(ScalerPolicy(), **{name: value}), "FN")] * 2


def test_all_options_together():
    words = [word for name, (written, _) in OTHER.items() if name != "dynamic" for word in option(name, written)]
    values = {name: value for name, (_, value) in OTHER.items() if name != "dynamic"}
    assert data("keras2", "NFFFFNNNFF", *words) == expected(ScalerPolicy(**values), "NFFFFNNNFF")


def test_a_limit_is_taken_away_with_none():
    assert data("megatron", "NNN", "--init-scale", "1", "--min-scale", "None")["scales"] == [1, 1, 0.5, 0.25]


def test_a_static_scale():
    for words in (["static", "FNNF"], ["pytorch", "FNNF", "--no-dynamic"]):
        told = data(*words, "--init-scale", "1024")
        assert told == {"scales": [1024] * 5, "actions": ["step", "skip", "skip", "step"]}
    assert data("static", "N", "--dynamic")["scales"] == [65536, 32768]


BAD = {
    "no such scaler": (["adam", "FN"], "“adam” is no scaler"),
    "a scaler of another spelling": (["PyTorch", "FN"], "“PyTorch” is no scaler"),
    "a scaler with a line end": (["py\ntorch", "FN"], "“py\\ntorch” is no scaler"),
    "a very long scaler": (["x" * 5000, "FN"], "known are pytorch, "),
    "no pattern": (["pytorch"], "PATTERN"),
    "no scaler": ([], "SCALER, PATTERN"),
    "two patterns": (["pytorch", "F", "N"], "N"),
    "a bad letter": (["pytorch", "FFxN"], "letter 3, “x”,"),
    "a bad letter after blanks": (["pytorch", "f f, x"], "letter 6, “x”,"),
    "a ligature": (["pytorch", "N\ufb00"], "letter 2, “\ufb00”,"),
    "no UTF-8": (["pytorch", "F\udcff"], "letter 2, “\\udcff”,"),
    "no number": (
        ["pytorch", "F", "--init-scale", "big"],
        "--init-scale must be a finite number above 0 in float32: “big”",
    ),
    "a number too large": (["pytorch", "F", "--init-scale", "1e999"], "above 0 in float32: “1e999” is not."),
    "a number of very many digits": (
        ["pytorch", "F", "--growth-interval", "1" * 5000],
        "--growth-interval must be a whole number of at least 1: “111",
    ),
    "a formula": (["pytorch", "F", "--growth-factor", "1/2"], "--growth-factor must be a finite number above 1: “1/2”"),
    "growth by nothing": (
        ["pytorch", "F", "--growth-factor", "1"],
        "--growth-factor must be a finite number above 1: “1”",
    ),
    "no backoff": (
        ["pytorch", "F", "--backoff-factor", "1.0"],
        "--backoff-factor must be a number between 0 and 1: “1.0”",
    ),
    "a negative factor": (
        ["pytorch", "F", "--backoff-factor", "-0.5"],
        "--backoff-factor must be a number between 0 and 1: “-0.5” is not.",
    ),
    "no interval": (
        ["pytorch", "F", "--growth-interval", "0"],
        "--growth-interval must be a whole number of at least 1: “0”",
    ),
    "half a step": (
        ["pytorch", "F", "--growth-interval", "2.5"],
        "--growth-interval must be a whole number of at least 1: “2.5”",
    ),
    "an infinite scale": (
        ["pytorch", "F", "--init-scale", "inf"],
        "--init-scale must be a finite number above 0 in float32: “inf”",
    ),
    "a scale that is no number": (
        ["pytorch", "F", "--init-scale", "nan"],
        "--init-scale must be a finite number above 0 in float32: “nan” is not.",
    ),
    "a floor above the ceiling": (
        ["pytorch", "F", "--min-scale", "8", "--max-scale", "4"],
        "--min-scale must be at most --max-scale, “4”: “8” is not.",
    ),
    "no first scale": (
        ["pytorch", "F", "--init-scale", "none"],
        "--init-scale must be a finite number above 0 in float32: “none” is not.",
    ),
    "no such type": (["pytorch", "F", "--dtype", "float16"], "--dtype must be float32 or float64: “float16” is not."),
    "no such comparison": (["pytorch", "F", "--growth-compare", "="], "--growth-compare must be == or >=: “=” is not."),
    "too much lag": (["pytorch", "F", "--lag", "2"], "--lag must be 0 or 1: “2” is not."),
    "an option without a value": (["pytorch", "F", "--lag"], "--lag"),
    "a value for a switch": (["pytorch", "F", "--dynamic=yes"], "--dynamic"),
    "no such option": (["pytorch", "F", "--nope"], "--nope"),
}


@pytest.mark.parametrize(("words", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_used_is_refused_in_one_line(words, said):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("lossscale")
    assert err.endswith("\n")
    assert err[:-1].isprintable()
    assert 20 < len(err) < 420


#: What no option takes, as people write numbers.
WRITTEN = [
    "abc",
    "",
    "-2^3",
    "-0x1p3",
    "-1.50",
    "-1e3",
    "−8",
    "1,5",
    "2^99999999999",
    "1e-400",
    "- 1",
    "{0}",
    "1/2",
    "nan",
]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", sorted(set(OTHER) - {"dynamic"}))
def test_a_value_that_is_none_is_quoted_as_it_was_written(name, written):
    dashed = f"--{name.replace('_', '-')}"
    sentence = f"lossscale: {dashed} must be {TAKES[name]}: “{written}” is not.\n"
    assert run("pytorch", "NF", f"{dashed}={written}") == (2, "", sentence)


def test_every_option_with_a_value_tells_what_it_takes():
    assert set(OTHER) < set(TAKES)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--growth-interval 2^-3", "--growth-interval must be a whole number of at least 1: “2^-3” is not."),
        ("--growth-interval -3", "--growth-interval must be a whole number of at least 1: “-3” is not."),
        ("--growth-interval 0.0", "--growth-interval must be a whole number of at least 1: “0.0” is not."),
        ("--hysteresis 1.50", "--hysteresis must be a whole number of at least 1: “1.50” is not."),
        ("--growth-factor 2^0", "--growth-factor must be a finite number above 1: “2^0” is not."),
        ("--growth-factor 0x1p0", "--growth-factor must be a finite number above 1: “0x1p0” is not."),
        ("--growth-factor 1·2⁰", "--growth-factor must be a finite number above 1: “1·2⁰” is not."),
        ("--backoff-factor +1", "--backoff-factor must be a number between 0 and 1: “+1” is not."),
        ("--init-scale 1e39", "--init-scale must be a finite number above 0 in float32: “1e39” is not."),
        ("--lag 1.0", "--lag must be 0 or 1: “1.0” is not."),
        ("--max-scale 5", "--max-scale must be at least --init-scale, “65536”: “5” is not."),
        ("--min-scale 2^17", "--min-scale must be at most --init-scale, “65536”: “2^17” is not."),
        ("--init-scale 1e6 --max-scale 5e0", "--init-scale must be at most --max-scale, “5e0”: “1e6” is not."),
        ("--init-scale .5 --min-scale 1.0", "--init-scale must be at least --min-scale, “1.0”: “.5” is not."),
        ("--min-scale 2^3 --max-scale 4.0", "--min-scale must be at most --max-scale, “4.0”: “2^3” is not."),
    ],
)
def test_numbers_are_quoted_as_they_were_written(words, sentence):
    assert run("pytorch", "NF", *words.split()) == (2, "", f"lossscale: {sentence}\n")


@pytest.mark.parametrize(
    ("preset", "words", "sentence"),
    [
        ("megatron", "--max-scale 5", "--max-scale must be at least --init-scale, “4294967296”: “5” is not."),
        ("jmp", "--init-scale 2^-1", "--init-scale must be at least --min-scale, “1”: “2^-1” is not."),
        ("jmp", "--max-scale 2^-1", "--max-scale must be at least --min-scale, “1”: “2^-1” is not."),
        ("mxnet", "--init-scale 1e9", "--init-scale must be at most --max-scale, “16777216”: “1e9” is not."),
    ],
)
def test_what_the_scaler_has_by_itself_is_not_blamed_for_what_was_written(preset, words, sentence):
    assert run(preset, "NF", *words.split()) == (2, "", f"lossscale: {sentence}\n")


@pytest.mark.parametrize("written", ["3", "3.0", "3e0", "0.3e1", "0x3", "0x1.8p1", "1.5*2^1", "1.5·2¹", " 3 ", "+3"])
def test_a_count_is_any_number_that_is_whole(written):
    right = expected(replace(ScalerPolicy(), growth_interval=3, growth_delay=3, hysteresis=3), "NNNFFFFFFFFF")
    counts = [f"--{name}={written}" for name in ("growth-interval", "growth-delay", "hysteresis")]
    assert data("pytorch", "NNNFFFFFFFFF", *counts) == right


@pytest.mark.parametrize("pattern", ["nfffn", "N F F F N", " n,f, f\tF\nN\n", "NF FF,n"])
def test_a_pattern_as_people_write_it(pattern):
    words = ("--growth-interval", "3")
    assert data("pytorch", pattern, *words) == data("pytorch", "NFFFN", *words)
    assert printed("pytorch", pattern, *words) == printed("pytorch", "NFFFN", *words)


@pytest.mark.parametrize("pattern", ["n n,N f", "NNNF"])
def test_the_end_of_training_counts_steps_only(pattern):
    *_, said = printed("deepspeed_zero", pattern, "--init-scale", "1").splitlines()
    assert said == "Training ends with an error in step 2 of 4."


@given(words=st.lists(st.text(max_size=8), min_size=2, max_size=2), name=st.sampled_from([*OTHER][:-1]))
def test_whatever_is_written_is_answered_or_refused_in_one_line(words, name):
    pattern, value = words
    dashed = name.replace("_", "-")
    for given_ in (["pytorch", "FN", f"--{dashed}={value}"], ["--json", "--", "pytorch", pattern]):
        code, out, err = run(*given_)
        assert (code, bool(out), bool(err)) in ((0, True, False), (2, False, True))
        assert code == 0 or err[:-1].isprintable()


def test_help_names_every_scaler_and_every_option():
    told = printed_help()
    assert told.startswith("usage: lossscale scaler SCALER PATTERN [--json]")
    flat = " ".join(told.split())
    for name in SCALER_PRESETS:
        assert f" {name}" in flat
    for name in OTHER:
        assert f"--{name.replace('_', '-')}" in flat


def printed_help():
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    return out


def test_a_million_steps():
    told = data("pytorch", "NFFFFFFNNF" * 100_000, "--growth-interval", "3")
    assert len(told["actions"]) == 1_000_000
    assert len(told["scales"]) == 1_000_001


def test_the_installed_command():
    ran = subprocess.run(command("scaler", "mxnet", "NNF"), env=environment(), capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == printed("mxnet", "NNF")
