"""The explorer: its state as params, and the component that shows it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
import time
from typing import Any

from panel.custom import JSComponent
from panel.models.esm import ESMEvent
import param

from lossscale_app.bundle import module_text
from lossscale_app.catalogues import LANGUAGES, language_of, translated
from lossscale_app.datasets import LOSING
from lossscale_app.distributions import dataset_json, file_json, opened_file
from lossscale_app.exports import window_files
from lossscale_app.gradients import (
    LOG2_SCALES,
    MAX_GRADIENTS,
    read_gradients,
    read_scale,
)
from lossscale_app.links import CONTROLS, DEFAULTS, SCENARIO_NAMES, VIEWS, read_link, write_link
from lossscale_app.order_tables import order_json
from lossscale_app.orders import EXAMPLES, MISPLACED, read_arrangement
from lossscale_app.overlays import overlay
from lossscale_app.page_setup import setup_json, state_tables
from lossscale_app.presets import BEGINNING
from lossscale_app.qr import qr_data
from lossscale_app.runs import read_request, train
from lossscale_app.settings import DEFAULT_POLICY, read_policy, read_run
from lossscale_app.uploads import take
from lossscale_core import FORMATS, InputError, parse_numbers

#: What a link sets beside the gradients and the typed scale. Whether the page is embedded, and what it hides, is
#: settled when it opens.
_CHOSEN = tuple(name for name in DEFAULTS if name not in {"gradients", "typed_scale", "embed", "hide"})

#: Seconds between two reports on work that takes longer.
_PROGRESS_EVERY = 0.25

#: Seconds between two messages with the steps of training runs.
_STEPS_EVERY = 0.12

#: Runs take long. They are made by threads of their own, so that no short question waits for one of those; and by
#: few, so that a room full of readers who ask for the same runs at once gets most of them from those made first.
_TRAINERS = ThreadPoolExecutor(4, "training")

#: Far more characters than a full list has; a longer text is not read.
_LONGEST_TYPED = 4000


class GradientList(param.List):
    """A list of gradients as people write them: `["2^-26", "8"]`."""

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        read_gradients(val)


class ScaleText(param.String):
    """A loss scale as people write it, or nothing."""

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        if val:
            read_scale(val)


class SettingsText(param.String):
    """A scaler or the settings of a run, as a link has them."""

    __slots__ = ("read",)

    def __init__(self, default: str, *, read: Callable[[str], Any], **params: Any) -> None:
        self.read = read
        super().__init__(default, **params)

    def _validate(self, val: Any) -> None:
        super()._validate(val)
        self.read(val)


class Explorer(JSComponent):
    """The Loss Scaling Explorer, to be shown in a page or a notebook.

    Every param can be set, watched and bound. `log2_scale` follows the slider once its thumb rests.

    Example:
        >>> explorer = Explorer(gradients=["1e-8", "0.01"], format="fp16")
        >>> pn.bind(lambda k: f"S = 2**{k}", explorer.param.log2_scale)
    """

    gradients = GradientList(default=list(BEGINNING.tokens), item_type=str, doc="The gradients, as written.")
    log2_scale = param.Integer(
        default=BEGINNING.log2_scale, bounds=(LOG2_SCALES[0], LOG2_SCALES[-1]), doc="k: S = 2**k."
    )
    typed_scale = ScaleText(default="", doc="A typed S, which then holds instead of 2**log2_scale.")
    format = param.Selector(default=BEGINNING.format, objects=list(FORMATS), doc="The storage format's link name.")
    selected = param.Integer(default=0, bounds=(0, None), doc="Which gradient's journey is shown.")
    view = param.Selector(default="window", objects=list(VIEWS), doc="Which view is shown.")
    data = param.String(default=DEFAULTS["data"], doc="The distribution that is shown: one of the page's, or a file's.")
    losing = param.Selector(default="0", objects=list(LOSING), doc="Percent of the gradients that may be lost.")
    unscale = param.Selector(default="fp32", objects=["fp32", "fp16", "never"], doc="What the order view unscales in.")
    at = param.Selector(default="loss", objects=["loss", "late"], doc="Where the order view applies the scale.")
    example = param.Selector(default="same", objects=list(EXAMPLES), doc="The step that the order view takes.")
    misplaced = param.ListSelector(default=[], objects=list(MISPLACED), doc="What else it does in a wrong way.")
    policy = SettingsText(DEFAULT_POLICY, read=read_policy, doc="The training view's loss scaler.")
    run = SettingsText("", read=read_run, doc="Settings of its runs that differ from the defaults.")
    scenario = param.Selector(default="", objects=["", *SCENARIO_NAMES], doc="What the page is about, if anything.")
    mode = param.Selector(default="play", objects=["play", "predict", "present"], doc="How a scenario is gone through.")
    theme = param.Selector(default="auto", objects=["auto", "light", "dark", "projector"], doc="The page's colours.")
    language = param.Selector(default="", objects=["", *LANGUAGES], doc="The page's language; empty for the browser's.")
    embed = param.Boolean(default=False, doc="Whether it is shown without chrome, fitted to its box.")
    hide = param.ListSelector(default=[], objects=list(CONTROLS), doc="Controls that are not shown.")

    ignored = param.List(default=[], item_type=str, doc="The parts of the opening link that could not be used.")
    setup = param.String(constant=True, doc="JSON: what never changes in a session.")
    rows = param.String(doc="JSON: the gradients and the typed scale as the browser holds them.")
    tracks = param.String(doc="JSON: the look-up tables they need.")

    _esm = module_text()

    def __init__(self, **params: Any) -> None:
        params.setdefault("sizing_mode", "stretch_width")
        params.setdefault("setup", setup_json(opened=opened_file() is not None))
        super().__init__(**params)
        # Questions that take a while, and those of them that nobody waits for any more.
        self._working: set[int] = set()
        self._cancelled: set[int] = set()
        self._look_up()

    def _get_properties(self, doc: Any) -> dict[str, Any]:
        # The component brings its own style; Panel's sheets could come from another host.
        return {**super()._get_properties(doc), "stylesheets": []}

    @property
    def scale(self) -> float:
        """The loss scale S that is shown."""
        return float(read_scale(self.typed_scale).value) if self.typed_scale else 2.0**self.log2_scale

    @property
    def link(self) -> str:
        """The state as a link: its query string."""
        return write_link(self.param.values())

    @param.depends("gradients", "typed_scale", watch=True)
    def _look_up(self) -> None:
        rows, tracks = state_tables(self.gradients, self.typed_scale)
        self.param.update(tracks=tracks, rows=rows)

    async def _handle_msg(self, data: Any) -> None:
        """Answer the page: read what was typed or linked, or draw a QR code.

        Answers change no param. The page takes one up and sends its new state like any other, so that
        what it sent before the question cannot overwrite what came after.
        """
        try:
            answer = await self._answer(data)
        except InputError as error:
            language = language_of(data.get("language") if isinstance(data, dict) else None)
            answer = {"problem": translated(error, language)}
        question = data.get("ask") if isinstance(data, dict) else None
        self._reply({"answer": question if isinstance(question, int) else None, **answer})

    async def _read_upload(self, upload: str, question: int) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        told = time.monotonic()

        def tell(share: float) -> None:
            nonlocal told
            if question in self._cancelled:
                raise _CancelledError
            if time.monotonic() - told > _PROGRESS_EVERY:
                told = time.monotonic()
                loop.call_soon_threadsafe(self._reply, {"progress": share, "of": question})

        def read() -> str:
            with take(upload) as uploaded:
                return file_json(uploaded.path, tell)

        with self._work(question):
            return {"distribution": await asyncio.to_thread(read)}
        return {"cancelled": True}

    async def _train(self, asked: dict[str, Any], question: int) -> dict[str, Any]:
        request, names = read_request(asked)
        loop = asyncio.get_running_loop()
        waiting: list[dict[str, Any]] = []
        told = time.monotonic()

        def send() -> None:
            nonlocal told
            told = time.monotonic()
            loop.call_soon_threadsafe(self._reply, {"training": waiting.copy(), "of": question})
            waiting.clear()

        def tell(part: dict[str, Any]) -> None:
            # Nobody waits for the runs of a page that is gone.
            if question in self._cancelled or not self._models:
                raise _CancelledError
            waiting.append(part)
            if time.monotonic() - told > _STEPS_EVERY:
                send()

        def run() -> None:
            train(request, names, tell)
            send()

        with self._work(question):
            await loop.run_in_executor(_TRAINERS, copy_context().run, run)
            return {"trained": True}
        return {"cancelled": True}

    @contextmanager
    def _work(self, question: int) -> Iterator[None]:
        """Work that can be cancelled, which ends the block."""
        self._working.add(question)
        try:
            yield
        except _CancelledError:
            pass
        finally:
            self._working.discard(question)
            self._cancelled.discard(question)

    def _reply(self, answer: dict[str, Any]) -> None:
        # A template keeps the same model under two names.
        for model in {model.id: model for model, _ in self._models.values()}.values():
            document = model.document
            if document is not None and document.session_context:
                # What Panel dispatches by itself can get lost while it writes a change; Bokeh's queue waits.
                send = partial(document.callbacks.send_event, ESMEvent(model=model, data=answer))
                document.add_next_tick_callback(send)
            else:
                self._send_msg(answer)

    async def _answer(self, data: Any) -> dict[str, Any]:
        match data:
            case {"gradients": list(entries), "scale": str(scale)} if all(isinstance(entry, str) for entry in entries):
                return await _typed(entries, scale)
            case {"link": str(link)}:
                return await _linked(link)
            case {"data": "file"} if opened_file() is not None:
                return {"distribution": opened_file()}
            case {"data": str(name)}:
                return {"distribution": await asyncio.to_thread(dataset_json, name)}
            case {"upload": str(upload), "ask": int(question)}:
                return await self._read_upload(upload, question)
            case {"train": dict(asked), "ask": int(question)}:
                return await self._train(asked, question)
            case {"settings": {"policy": str(policy), "run": str(run)}}:
                read_policy(policy)
                read_run(run)
                return {"settings": True}
            case {"overlay": {"pattern": str(pattern), "policies": list(policies)}}:
                return {"overlay": await asyncio.to_thread(overlay, pattern, policies)}
            case {"steps": dict(asked)}:
                return {"steps": await asyncio.to_thread(order_json, *read_arrangement(asked))}
            case {"cancel": int(question)}:
                if question in self._working:
                    self._cancelled.add(question)
                return {}
            case {"qr": str(link)}:
                return {"qr": {**qr_data(link), "link": link}}
            case {"export": str(link)}:
                return await asyncio.to_thread(window_files, link)
            case _:
                raise InputError("The page sent a message that is not understood.")


class _CancelledError(Exception):
    """The reader does not want to wait any more."""


async def _typed(entries: list[str], scale: str) -> dict[str, str]:
    if sum(map(len, entries)) > _LONGEST_TYPED:
        raise InputError("That is more than the {most} gradients that the list holds.", most=MAX_GRADIENTS)
    return await _tables([token for entry in entries for token, _ in parse_numbers(entry)], scale)


async def _linked(link: str) -> dict[str, Any]:
    opened = read_link(link)
    state = {**DEFAULTS, **opened.params}
    tables = await _tables(state["gradients"], state["typed_scale"])
    return {**tables, **{name: state[name] for name in _CHOSEN}, "ignored": list(opened.ignored)}


async def _tables(tokens: Sequence[str], typed_scale: str) -> dict[str, str]:
    # Building them takes a while, in which other sessions go on.
    rows, tracks = await asyncio.to_thread(state_tables, tokens, typed_scale)
    return {"rows": rows, "tracks": tracks}
