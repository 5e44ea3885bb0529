"""The explorer: its state as params, and the component that shows it."""

import asyncio
from functools import cache
import json
from typing import Any

from panel.custom import JSComponent
import param

from lossscale_app.bundle import module_text
from lossscale_app.gradients import LOG2_SCALES, Gradient, TypedScale, read_gradients, read_scale
from lossscale_app.lookups import formats_data, gradient_data, rows_json, scale_texts, tracks_json
from lossscale_app.messages import ENGLISH
from lossscale_app.presets import BEGINNING, PRESETS
from lossscale_core import FORMATS, InputError, parse_numbers


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
    theme = param.Selector(default="auto", objects=["auto", "light", "dark"], doc="The page's colours.")

    setup = param.String(constant=True, doc="JSON: what never changes in a session.")
    rows = param.String(doc="JSON: the gradients and the typed scale as the browser holds them.")
    tracks = param.String(doc="JSON: the look-up tables they need.")

    _esm = module_text()

    def __init__(self, **params: Any) -> None:
        params.setdefault("sizing_mode", "stretch_width")
        super().__init__(**params, setup=_setup_json())
        self._look_up()

    def _get_properties(self, doc: Any) -> dict[str, Any]:
        # The component brings its own style; Panel's sheets could come from another host.
        return {**super()._get_properties(doc), "stylesheets": []}

    @property
    def scale(self) -> float:
        """The loss scale S that is shown."""
        return float(read_scale(self.typed_scale).value) if self.typed_scale else 2.0**self.log2_scale

    @param.depends("gradients", "typed_scale", watch=True)
    def _look_up(self) -> None:
        gradients, scale = read_gradients(self.gradients), read_scale(self.typed_scale) if self.typed_scale else None
        self.param.update(tracks=_tracks(gradients, scale), rows=rows_json(gradients, scale))

    async def _handle_msg(self, data: Any) -> None:
        """Read what was typed; answer with new params, or with the sentence that says why not."""
        try:
            tokens, scale = _typed(data)
            # Building tables takes a while, in which other sessions go on.
            await asyncio.to_thread(_tracks, read_gradients(tokens), read_scale(scale) if scale else None)
        except InputError as error:
            self._send_msg({"problem": str(error)})
        else:
            self.param.update(gradients=tokens, typed_scale=scale)
            self._send_msg({"problem": ""})


def _typed(data: Any) -> tuple[list[str], str]:
    """The list and the scale in a message; an entry of the list can hold several numbers."""
    match data:
        case {"gradients": list(entries), "scale": str(scale)} if all(isinstance(entry, str) for entry in entries):
            return [token for entry in entries for token, _ in parse_numbers(entry)], scale
    raise InputError("The page sent a message that is not understood.")


def _tracks(gradients: list[Gradient], scale: TypedScale | None) -> str:
    return tracks_json(gradients, _preset_gradients(), scale)


@cache
def _preset_gradients() -> list[Gradient]:
    return [gradient for preset in PRESETS for gradient in preset.gradients]


@cache
def _setup_json() -> str:
    presets = [
        {
            "id": preset.id,
            "gradients": [gradient_data(gradient) for gradient in preset.gradients],
            "format": preset.format,
            "k": preset.log2_scale,
        }
        for preset in PRESETS
    ]
    return json.dumps(
        {
            "language": "en",
            "messages": ENGLISH,
            "formats": formats_data(),
            "scaleTexts": scale_texts(),
            "presets": presets,
            "beginning": presets[PRESETS.index(BEGINNING)],
        }
    )
