"""The command `lossscale`: opens the page, or prints the window of given gradients or the moves of a loss scaler."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
import json
import os
from pathlib import Path
import re
import sys
from typing import NoReturn

import numpy as np

from lossscale_app.progress_bar import progress_bar
from lossscale_app.scaler_report import add_policy_options, scaler_json, scaler_policy, scaler_text
from lossscale_app.window_report import window_data, window_text
from lossscale_core import FORMATS, SCALER_PRESETS, InputError, parse_numbers
from lossscale_core.errors import printable, quoted
from lossscale_core.files import FILE_SUFFIXES, MAX_MAPPED_BYTES, read_tensors
from lossscale_core.tensors import Tensor

DEFAULT_PORT = 5006
#: The largest file that the page may send, in MiB.
DEFAULT_MAX_UPLOAD = 512


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the words after the command's name; those of the process by default.

    Returns:
        The exit code: 0, or 2 where the input cannot be used.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words = ["serve", *words]
    options = _parser().parse_args([_shielded(word) for word in words])
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except InputError as error:
        print(f"lossscale: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of the output is gone (`lossscale window … | head`): not our error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without the usage lines."""

    def error(self, message: str) -> NoReturn:
        line = printable(" ".join(message.split()))
        short = line if len(line) <= 200 else f"{line[:200]}…"
        self.exit(2, f"{self.prog}: {short} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="lossscale", description="See which gradients survive at which loss scale.")
    commands = parser.add_subparsers(title="commands", metavar="{serve,export,window,scaler}")
    for add in (_add_serve, _add_export, _add_window, _add_scaler):
        add(commands)
    return parser


def _add_serve(commands: "argparse._SubParsersAction[_Parser]") -> None:
    serve = commands.add_parser("serve", help="open the page (the default)")
    serve.add_argument("file", nargs="?", default="", metavar="FILE", help="a file of gradients to open the page with")
    serve.add_argument("--port", type=_port, default=None, help=f"TCP port (default: $PORT, else {DEFAULT_PORT})")
    serve.add_argument("--address", default="127.0.0.1", help="address to listen on (default: this machine only)")
    serve.add_argument(
        "--allow-websocket-origin",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="a host under which the page is reached, * for any; may be given again (more: $LOSSSCALE_ORIGINS)",
    )
    serve.add_argument(
        "--allow-framing-by",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="an origin that may show the page in a frame, such as https://moodle.example.org (default: any)",
    )
    serve.add_argument(
        "--max-upload",
        type=_mebibytes,
        default=DEFAULT_MAX_UPLOAD,
        metavar="MIB",
        help=f"the largest file that the page may send, in MiB (default: {DEFAULT_MAX_UPLOAD})",
    )
    serve.add_argument("--no-show", action="store_true", help="do not open a browser")
    serve.set_defaults(run=_serve)


def _add_export(commands: "argparse._SubParsersAction[_Parser]") -> None:
    save = commands.add_parser("export", help="save the page as a file that needs no server, or as a small site")
    save.add_argument("target", metavar="FILE.html|DIR", help="what to write")
    save.add_argument("--link", default="", help="the state to open with, such as '?v=1&g=p-34,p10&k=8'")
    save.add_argument("--live", default="", metavar="URL", help="where the live app is, for what a file cannot do")
    save.set_defaults(run=_export)


def _add_window(commands: "argparse._SubParsersAction[_Parser]") -> None:
    window = commands.add_parser("window", help="print the safe window of gradients")
    window.add_argument("gradients", nargs="+", metavar="GRADIENT|FILE", help="2^-26, 1e-8, 0x1p-26, or a file")
    window.add_argument("--format", choices=list(FORMATS), default="fp16", help="storage format (default: fp16)")
    window.add_argument(
        "--product",
        choices=["exact", "float32"],
        default="exact",
        help="how g*S is formed before it is stored: exactly (the default), or rounded to float32 as in training",
    )
    window.add_argument("--json", action="store_true", help="print JSON")
    window.set_defaults(run=_window)


def _add_scaler(commands: "argparse._SubParsersAction[_Parser]") -> None:
    scaler = commands.add_parser(
        "scaler",
        help="print how a framework's loss scaler moves its scale",
        usage="%(prog)s SCALER PATTERN [--json] [--init-scale NUMBER] ...",
    )
    scaler.add_argument("preset", metavar="SCALER", help=f"one of {', '.join(SCALER_PRESETS)}")
    scaler.add_argument(
        "pattern", metavar="PATTERN", help="a letter a step: F for finite gradients, N where some are inf or NaN"
    )
    scaler.add_argument(
        "--json", action="store_true", help="print JSON: the scales, from the first on, and the actions"
    )
    add_policy_options(scaler.add_argument_group("the scaler's policy", "What is not given is as in the scaler named."))
    scaler.set_defaults(run=_scaler)


def _serve(options: argparse.Namespace) -> int:
    port = options.port if options.port is not None else _port_of_environment()
    file = options.file.strip()
    if file:
        _open(file)
    # Loading Panel takes seconds, which a refusal and `lossscale window` do not need.
    from lossscale_app.server import serve

    try:
        serve(
            port,
            options.address,
            _origins(options),
            options.allow_framing_by,
            show=not options.no_show,
            max_upload=options.max_upload << 20,
            opened=bool(file),
        )
    except OSError as error:
        raise InputError(
            "Cannot listen on {address}:{port}: {error}.",
            address=options.address,
            port=port,
            error=error.strerror or error,
        ) from error
    return 0


def _open(file: str) -> None:
    from lossscale_app.distributions import open_file

    with progress_bar(f"reading {Path(file).name}") as tell:
        open_file(file, tell)


def _export(options: argparse.Namespace) -> int:
    from lossscale_app.export import export

    for path in export(options.target, options.link, options.live):
        print(path)
    return 0


def _origins(options: argparse.Namespace) -> list[str]:
    return [*options.allow_websocket_origin, *os.environ.get("LOSSSCALE_ORIGINS", "").replace(",", " ").split()]


def _window(options: argparse.Namespace) -> int:
    tensors, fmt = _tensors([word.strip() for word in options.gradients]), FORMATS[options.format]
    with progress_bar("counting") as tell:
        if options.json:
            said = json.dumps(window_data(tensors, fmt, options.product, tell))
        else:
            said = window_text(tensors, fmt, options.product, tell)
    print(said)
    return 0


def _scaler(options: argparse.Namespace) -> int:
    tell = scaler_json if options.json else scaler_text
    print(tell(scaler_policy(options), options.pattern))
    return 0


def _tensors(words: list[str]) -> list[Tensor]:
    """The tensors of the words that name files, and one of the numbers in all others."""
    tensors: list[Tensor] = []
    numbers: list[float] = []
    others = []
    for word in words:
        if Path(word).suffix.lower() in FILE_SUFFIXES:
            with progress_bar(f"reading {Path(word).name}") as tell:
                tensors += _named(read_tensors(word, tell), word if len(words) > 1 else "")
        else:
            numbers += [value for _, value in parse_numbers(word)]
            others.append(word)
    return [*tensors, Tensor(" ".join(others), np.array(numbers, np.float64))] if others else tensors


def _named(tensors: list[Tensor], word: str) -> list[Tensor]:
    """Tensors named after their file as well, where a word for it is given."""
    if not word:
        return tensors
    whole = len(tensors) == 1 and tensors[0].name == Path(word).stem
    return [replace(tensor, name=word if whole else f"{word}: {tensor.name}") for tensor in tensors]


def _shielded(word: str) -> str:
    """Keep argparse from taking a negative number for an option: with a space before it, it does not."""
    if not word.startswith("-"):
        return word
    try:
        parse_numbers(word)
    except InputError:
        return word
    return f" {word}"


def _port(text: str) -> int:
    written = text.strip()
    if not re.fullmatch("[0-9]{1,5}", written) or int(written) > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, and {quoted(written)} is not")
    return int(written)


def _mebibytes(text: str) -> int:
    written = text.strip()
    if not re.fullmatch("[0-9]{1,5}", written) or not 1 <= int(written) <= MAX_MAPPED_BYTES >> 20:
        raise argparse.ArgumentTypeError(
            f"it is a whole number from 1 to {MAX_MAPPED_BYTES >> 20}, and {quoted(written)} is not"
        )
    return int(written)


def _port_of_environment() -> int:
    text = os.environ.get("PORT", "")
    try:
        return _port(text) if text else DEFAULT_PORT
    except argparse.ArgumentTypeError as error:
        raise InputError("The environment variable PORT: {error}.", error=error) from error
