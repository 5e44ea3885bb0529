"""The command `lossscale`: what it prints, what it refuses, and how."""

from contextlib import redirect_stderr, redirect_stdout
import inspect
import io
import os
import signal
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_app import command_line, progress_bar
from lossscale_app.command_line import DEFAULT_PORT, main
import lossscale_app.distributions
import lossscale_app.server
from lossscale_app.window_report import window_data, window_text
from lossscale_core import FORMATS, FP16
from lossscale_core.errors import printable

from .lookup_mirror import strict_json
from .processes import command, environment

SEED = [2**-26, 8.0]


def run(*words):
    """Exit code, standard output and standard error of the command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as exit_:
            code = exit_.code
    return code, out.getvalue(), err.getvalue()


def window(*words):
    """What `lossscale window` prints, all being well."""
    code, out, err = run("window", *map(str, words))
    assert (code, err) == (0, "")
    return out


def data(*words):
    return strict_json(window("--json", *words))


def expected(values, fmt=FP16):
    return window_data(np.array(values, np.float64), fmt)


def test_the_window_for_a_person():
    assert window("2^-26", "8") == window_text(np.array(SEED), FP16) + "\n"
    assert window("2^-26", "8").splitlines()[1] == "safe window:     2 < S < 8190 (2^2 to 2^12)"


def test_the_window_for_a_program():
    assert data("2^-26", "8") == {
        "format": "fp16",
        "survive": {
            "empty": False,
            **{"lower": 2, "lower_closed": False, "upper": 8190, "upper_closed": False, "log2_powers": [2, 12]},
        },
        "full_precision": {
            "empty": False,
            **{"lower": 4094, "lower_closed": True, "upper": 8190, "upper_closed": False, "log2_powers": [12, 12]},
        },
        "counts": {"zero": 0, "underflow": 1, "subnormal": 0, "normal": 1, "overflow": 0, "nonfinite": 0},
    }


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("words", [("2^-26", "8", "--format", "{}"), ("--format={}", "2^-26", "8")])
def test_every_format_wherever_the_option_stands(name, words):
    assert data(*(word.format(name) for word in words)) == expected(SEED, FORMATS[name])


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["-3"], [-3]),
        (["-1e-8", "8"], [-1e-8, 8]),
        (["8", "-2^-3"], [8, -(2**-3)]),
        (["-0x1p-3", "-0x1.8p-24"], [-(2**-3), -1.5 * 2**-24]),
        (["-3,-4"], [-3, -4]),
        (["-.5", "-inf", "-0"], [-0.5, -np.inf, -0.0]),
        (["−3", "-2⁻³"], [-3, -(2**-3)]),
        (["--", "-3"], [-3]),
    ],
)
def test_negative_numbers_are_no_options(words, values):
    assert data(*words) == expected(values)


@pytest.mark.parametrize("word", ["2^-26, 8", "2^-26;8", "2^-26\n8\n", "  2^-26   8 ", "0x1p-26 1.5*2^2 2"])
def test_a_word_may_hold_several_numbers(word):
    assert data(word)["counts"]["underflow"] == 1


def test_a_word_may_hold_more_numbers_than_a_file_name_has_characters():
    numbers = range(1, 201)
    assert data(",".join(map(str, numbers))) == expected(numbers)


def test_only_zeros():
    assert data("0", "-0") == expected([0, 0])
    assert data("0")["survive"]["upper"] is None
    assert window("0").splitlines()[1] == "safe window:     0 < S < inf (every power of two)"


def test_nonfinite_gradients():
    assert data("nan", "inf", "-inf", "8") == expected([np.nan, np.inf, -np.inf, 8])
    assert data("nan")["counts"]["nonfinite"] == 1
    assert "1 of them inf or NaN before scaling" in window("nan", "8")


def test_an_empty_window():
    survive = data("2^-34", "2^10")["survive"]
    assert (survive["empty"], survive["lower"], survive["upper"], survive["log2_powers"]) == (True, None, None, None)
    assert "none: the smallest needs S > 512" in window("2^-34", "2^10")


@pytest.fixture
def folder(tmp_path):
    """A folder with one file of each kind that can be read, each of other values."""
    np.save(tmp_path / "halves.npy", np.array([[1, 2], [3, 4]], np.float16))
    with (tmp_path / "integers.NPY").open("wb") as file:
        np.save(file, np.array([5, -6], np.int64))
    np.savez(tmp_path / "layers.npz", first=np.array([7.5], np.float32), second=np.array([2.0**-26]))
    (tmp_path / "table.csv").write_text("weight,bias\n2^-10,0\n-1e-8,nan\n", "utf-8")
    (tmp_path / "list.txt").write_text("0x1p-3; 9\n2⁻²⁶", "utf-8")
    return tmp_path


VALUES = {
    "halves.npy": [1, 2, 3, 4],
    "integers.NPY": [5, -6],
    "layers.npz": [7.5, 2**-26],
    "table.csv": [2**-10, 0, -1e-8, np.nan],
    "list.txt": [0.125, 9, 2**-26],
}


@pytest.mark.parametrize("name", VALUES)
def test_a_file_of_each_kind(folder, name):
    assert data(folder / name) == expected(VALUES[name])


def test_a_file_of_tensors(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy", reason="the library safetensors is not installed")
    numpy.save_file({"a": np.float16([1, 2]), "b": np.float32([2**-30])}, tmp_path / "g.safetensors")
    assert data(tmp_path / "g.safetensors") == expected([1, 2, 2**-30])


def test_which_tensors_the_ends_come_from(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert window("layers.npz").splitlines()[4] == "the lower end comes from “second”, the upper from “first”"
    assert len(window("halves.npy").splitlines()) == 4
    both = "the lower end comes from “layers.npz: second”, the upper from “halves.npy”"
    np.save("halves.npy", np.float16(100))
    assert window("halves.npy", "layers.npz").splitlines()[4] == both
    assert window("layers.npz", "1e-9", "2").splitlines()[4] == (
        "the lower end comes from “1e-9 2”, the upper from “layers.npz: first”"
    )


@pytest.mark.parametrize(("words", "outcome"), [((), "subnormal"), (("--product", "float32"), "underflow")])
def test_how_products_are_formed(words, outcome):
    """Half a place of float32 above the tie of FP16."""
    assert data("0x1.00000001p-25", *words)["counts"][outcome] == 1


class Terminal(io.StringIO):
    """Standard error of one who looks at it."""

    def isatty(self):
        return True


@pytest.fixture
def shown(folder, monkeypatch):
    """What the command writes to a terminal."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(progress_bar, "PATIENCE", 0)

    def show(*words):
        with redirect_stdout(io.StringIO()), redirect_stderr(Terminal()) as err:
            return main(words), err.getvalue()

    return show


def test_a_terminal_sees_how_far_it_is(shown):
    code, err = shown("window", "list.txt")
    assert code == 0
    assert "\rreading list.txt [" in err
    assert f"\rcounting [{'#' * 30}] 100%" in err
    # Nothing of it stays.
    assert err.endswith(" \r")


def test_what_takes_no_time_shows_nothing(shown, monkeypatch):
    monkeypatch.setattr(progress_bar, "PATIENCE", 60)
    assert shown("window", "list.txt") == (0, "")


def test_an_interruption_ends_it(shown, monkeypatch):
    counting = command_line.window_text

    def interrupted(tensors, fmt, product, tell):
        def interrupt(share):
            tell(share)
            signal.raise_signal(signal.SIGINT)

        return counting(tensors, fmt, product, interrupt)

    monkeypatch.setattr(command_line, "window_text", interrupted)
    code, err = shown("window", "halves.npy")
    assert code == 130
    assert "counting" in err
    assert err.endswith(" \r")


def test_files_mixed_with_numbers(folder, monkeypatch):
    monkeypatch.chdir(folder)
    values = [value for each in VALUES.values() for value in each]
    assert data("1e-9", *VALUES, "-3") == expected([1e-9, *values, -3])


def test_a_file_with_a_name_like_an_option(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "-x.txt").write_text("8", "utf-8")
    assert data("--", "-x.txt") == expected([8])


def test_a_number_is_a_number_even_where_a_file_has_that_name(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "8").write_text("9", "utf-8")
    assert data("8") == expected([8])


BAD_WORDS = {
    "no number": ["eight"],
    "nothing": [""],
    "white space": [" \t"],
    "separators": [",;,"],
    "too large": ["1e999"],
    "too small": ["2^-5000"],
    "one bad among good": ["8", "1;x;2"],
    "the form of links": ["p-26"],
    "a formula": ["1/3"],
    "code": ["__import__('os').getcwd()"],
    "line ends": ["x\ny\r\nz"],
    "control characters": ["\x1b[31mx\x00"],
    "no UTF-8": ["\udcff"],
    "very long": ["x" * 5000],
    "a number of very many digits": ["1" * 5000],
    "a missing file": ["missing.npy"],
    "a missing file in a missing folder": ["missing/far/away.csv"],
    "a very long file name": ["x" * 300 + ".npy"],
    "a folder": ["folder.npy"],
    "a folder without ending": ["."],
    "a file of another kind": ["notes.md"],
    "an empty file": ["empty.txt"],
    "a damaged file": ["damaged.npz"],
    "damaged tensors": ["damaged.safetensors"],
    "pickles": ["pickled.npy"],
    "text in a table": ["words.csv"],
    "no gradients": [],
    "no such option": ["8", "--nope"],
    "no such option, with a line end": ["8", "--no\npe"],
    "no such format": ["8", "--format", "fp4"],
    "a format with a line end": ["8", "--format", "fp\n4"],
    "no such product": ["8", "--product", "float16"],
    "a format left out": ["8", "--format"],
    "a value for a switch": ["8", "--json=yes"],
}


@pytest.mark.parametrize("words", BAD_WORDS.values(), ids=BAD_WORDS)
def test_what_cannot_be_used_is_refused_in_one_line(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "notes.md").write_text("1 2 3", "utf-8")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "damaged.safetensors").write_bytes(b"\x02")
    np.save(tmp_path / "pickled.npy", np.array([{}, None], object), allow_pickle=True)
    (tmp_path / "words.csv").write_text("a,b\n1,two\n", "utf-8")
    assert_refused(run("window", *words))


def assert_refused(result):
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert err.startswith("lossscale")
    assert err[:-1].isprintable()
    assert 20 < len(err) < 400
    return err


@given(words=st.lists(st.text(max_size=8) | st.floats().map(repr), max_size=4))
@settings(deadline=None, max_examples=60)
def test_whatever_is_written_is_answered_or_refused_in_one_line(words):
    code, out, err = run("window", "--json", "--", *words)
    if code == 0:
        assert strict_json(out)["format"] == "fp16"
        assert err == ""
    else:
        assert_refused((code, out, err))


@given(values=st.lists(st.floats(), min_size=1, max_size=5), name=st.sampled_from(list(FORMATS)))
@settings(deadline=None, max_examples=60)
def test_json_is_strict_for_every_gradient(values, name):
    assert data("--format", name, *map(repr, values)) == expected(values, FORMATS[name])


@pytest.mark.parametrize("words", [["nope"], ["--nope"], ["windows", "8"], ["8"], ["-3"], ["serve", "extra"], ["a\nb"]])
def test_a_command_that_is_none_is_refused_in_one_line(words):
    assert_refused(run(*words))


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["window", "--help"], ["serve", "--help"]])
def test_help_is_given(words):
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert out.startswith("usage: lossscale")


@pytest.fixture
def served(monkeypatch):
    """What the server is asked to do, by `lossscale` without and with the word `serve`."""
    asked = []
    signature = inspect.signature(lossscale_app.server.serve)

    def serve(*given, **named):
        asked.append(signature.bind(*given, **named).arguments)

    monkeypatch.setattr(lossscale_app.server, "serve", serve)
    for variable in ("PORT", "LOSSSCALE_ORIGINS"):
        monkeypatch.delenv(variable, raising=False)

    def ask(*words):
        asked.clear()
        assert run(*words) == (0, "", "")
        return asked[0]

    return ask


@pytest.mark.parametrize("words", [[], ["serve"]])
def test_the_page_is_for_this_machine_and_opens_a_browser(served, words):
    asked = served(*words)
    assert (asked["port"], asked["address"], asked["show"]) == (DEFAULT_PORT, "127.0.0.1", True)
    assert not asked["origins"]


def test_the_server_as_it_is_asked_for(served):
    words = ("--port", "8080", "--address", "192.0.2.1", "--no-show")
    hosts = ("--allow-websocket-origin", "a.example", "--allow-websocket-origin", "b.example:80")
    asked = served(*words, *hosts)
    assert asked == served("serve", *words, *hosts)
    assert (asked["port"], asked["address"], asked["show"]) == (8080, "192.0.2.1", False)
    assert list(asked["origins"]) == ["a.example", "b.example:80"]


def test_white_space_around_a_port_is_dropped(served, monkeypatch):
    monkeypatch.setenv("PORT", " 8123\n")
    assert served()["port"] == 8123


def test_the_port_of_the_environment_holds_where_none_is_given(served, monkeypatch):
    monkeypatch.setenv("PORT", "8123")
    assert served()["port"] == 8123
    assert served("--port", "8124")["port"] == 8124
    monkeypatch.setenv("PORT", "")
    assert served()["port"] == DEFAULT_PORT


def test_origins_of_the_environment_join_those_given(served, monkeypatch):
    monkeypatch.setenv("LOSSSCALE_ORIGINS", "a.example, b.example  c.example:80,")
    asked = served("--allow-websocket-origin", "d.example")
    assert list(asked["origins"]) == ["d.example", "a.example", "b.example", "c.example:80"]


@pytest.mark.parametrize(
    ("words", "mebibytes"), [((), 512), (("--max-upload", "1"), 1), (("--max-upload=65536",), 65536)]
)
def test_the_largest_file_that_the_page_may_send(served, words, mebibytes):
    assert served(*words)["max_upload"] == mebibytes << 20


@pytest.mark.parametrize("size", ["0", "-1", "65537", "1.5", "512M", "", "1" * 5000])
def test_a_bad_limit_is_refused_in_one_line(served, size):
    assert "it is a whole number from 1 to 65536" in assert_refused(run("serve", f"--max-upload={size}"))


@pytest.fixture
def opened(monkeypatch):
    """The files that were opened, while none is read."""
    files = []

    def open_file(path, progress=None):
        progress(1.0)
        files.append(path)

    monkeypatch.setattr(lossscale_app.distributions, "open_file", open_file)
    return files


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "grads.npz", "--port", "8080"],
        ["serve", "--port", "8080", "grads.npz"],
        ["--port", "8080", "grads.npz"],
        ["--port=8080", "--", "grads.npz"],
    ],
)
def test_a_file_to_open_the_page_with(served, opened, words):
    asked = served(*words)
    assert opened == ["grads.npz"]
    assert (asked["port"], asked["opened"]) == (8080, True)


@pytest.mark.parametrize("words", [[], ["serve"], ["serve", ""], ["--port", "8080"]])
def test_no_file_to_open_the_page_with(served, opened, words):
    assert served(*words)["opened"] is False
    assert opened == []


@pytest.mark.parametrize("file", ["missing.npz", "notes.md", "damaged.npz", "empty.txt", "folder.npy", "a\nb", "-3"])
def test_a_file_that_cannot_be_opened_is_refused_in_one_line(monkeypatch, tmp_path, file):
    """Before anything listens."""
    monkeypatch.setattr(lossscale_app.server, "serve", lambda *given, **named: pytest.fail("it listens"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "notes.md").write_text("1 2 3", "utf-8")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04 and no more")
    assert f"“{printable(file)}”" in assert_refused(run("serve", file))


def test_a_terminal_sees_how_far_the_file_is(shown, monkeypatch):
    monkeypatch.setattr(lossscale_app.server, "serve", lambda *given, **named: None)
    code, err = shown("serve", "list.txt")
    assert code == 0
    assert "\rreading list.txt [" in err
    assert err.endswith(" \r")


def test_a_file_is_not_opened_where_the_port_is_none(opened):
    assert_refused(run("serve", "grads.npz", "--port", "x"))
    assert opened == []


BAD_PORTS = ["-1", "65536", "80.0", "http", "8 0", "8_0", "٨٠", "0x50", "1" * 5000]


@pytest.mark.parametrize("port", BAD_PORTS)
def test_a_bad_port_is_refused_in_one_line(served, port):
    assert_refused(run("serve", "--port", port, "--no-show"))


@pytest.mark.parametrize("port", BAD_PORTS)
def test_a_bad_port_of_the_environment_is_refused_in_one_line(served, monkeypatch, port):
    monkeypatch.setenv("PORT", port)
    assert "PORT" in assert_refused(run("--no-show"))


def test_a_port_that_is_refused_is_quoted_as_it_was_written(served):
    assert "“-1”" in run("serve", "--port", "-1")[2]


def test_the_installed_command():
    ran = subprocess.run(command("window", "-2^-26", "8"), env=environment(), capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == window("-2^-26", "8")


@pytest.mark.parametrize("buffered", [True, False])
def test_a_reader_that_is_gone_is_no_error(buffered):
    """As in `lossscale window … | head`: standard output is a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    variables = {} if buffered else {"PYTHONUNBUFFERED": "1"}
    try:
        ran = subprocess.run(
            command("window", "8"), env=environment(**variables), stdout=writing, stderr=subprocess.PIPE
        )
    finally:
        os.close(writing)
    assert ran.stderr == b""
    assert ran.returncode == 0


def test_the_window_needs_no_panel():
    """Loading it takes seconds."""
    script = "import sys, lossscale_app.command_line as c; c.main(['window', '8']); print({'panel'} & {*sys.modules})"
    ran = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "set()"
