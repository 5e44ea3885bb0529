// Where does each scaled gradient land? Hollow = unscaled, filled = stored, in the bands of the format.
// Zero and infinity have no place on a log axis, so they have places of their own at its ends.

import { Axis } from "./axis.js";
import { change, svg, html, write } from "./dom.js";
import { OUTCOMES, OVERFLOW, UNDERFLOW, ZERO } from "./lookup.js";
import { labelWidth } from "./measure.js";
import { mark } from "./marks.js";
import { draggable } from "./octaves.js";
import { about, pretty, short, spoken } from "./words.js";

export class LandingChart {
  constructor(store) {
    this.store = store;
    this.picture = svg("svg", { class: "picture", role: "group", "aria-label": store.words.say("landingName") });
    this.element = html("div", { class: "chart landing-chart" }, this.picture);
  }

  draw({ width, unit }) {
    const { state, lookups, words } = this.store;
    const format = lookups.formats[state.format];
    const slot = 44 * unit;
    const pitch = (state.gradients.length > 5 ? 38 : 58) * unit, top = 40 * unit;
    const bottom = top + Math.max(1, state.gradients.length) * pitch + 6 * unit;
    const from = Math.floor(format.survival) - 11, to = Math.ceil(format.overflow) + 6;
    this.axis = new Axis(from, to, slot, width - slot);
    this.geometry = { unit, top, pitch, bottom, width, slot };
    this.nameless = [];
    const to0 = words.say("placeZero"), toInf = pretty(format.overflowsTo);
    const parts = [
      this.band(0, slot - 3 * unit, "underflow place", [to0]),
      this.band(slot, this.axis.x(format.survival), "underflow", [words.say("barUnderflow"), words.say("barUnderflowShort")]),
      this.band(this.axis.x(format.survival), this.axis.x(format.fullPrecision), "subnormal", [words.say("bandSubnormal"), words.say("barSubnormal")]),
      this.band(this.axis.x(format.fullPrecision), this.axis.x(format.overflow), "normal", [words.say("bandNormal", { n: format.significantBits }), words.say("barNormal")]),
      this.band(this.axis.x(format.overflow), this.axis.right, "overflow", [words.say("barOverflow", { to: toInf }), words.say("barOverflowShort", { to: toInf })]),
      this.band(width - slot + 3 * unit, width, "overflow place", [toInf]),
    ];
    this.rows = state.gradients.map((gradient, index) => this.row(index));
    const { legend, height } = this.legend(bottom + 50 * unit);
    change(this.picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.element.style.height = `${height}px`;
    this.picture.replaceChildren(...parts.flat(), this.axis.draw(bottom, unit, words.say("landingAxis")), ...legend, ...this.rows.map((row) => row.group));
  }

  band(left, right, name, labels) {
    const { unit, bottom } = this.geometry;
    const width = right - left;
    const fitting = labels.find((text) => labelWidth(text, unit) + 6 * unit < width);
    if (fitting === undefined && !name.includes("place")) this.nameless.push({ name, labels });
    const label = fitting ?? (name.includes("place") ? labels[0] : "");
    return [
      svg("rect", { class: `band-area ${name}`, x: left, y: 0, width: Math.max(0, width), height: bottom }),
      svg("text", { class: `band-label ${name}`, x: (left + right) / 2, y: 22 * unit, "text-anchor": "middle" }, label),
    ];
  }

  // What the bands are that are too narrow for their names, below the axis.
  legend(top) {
    const { unit, width } = this.geometry;
    let x = 0, y = top + 16 * unit;
    const legend = this.nameless.flatMap(({ name, labels }) => {
      const taken = (label) => labelWidth(label, unit) + 42 * unit;
      const text = labels.find((label) => taken(label) < width) ?? labels.at(-1), wide = taken(text);
      if (x > 0 && x + wide > width) [x, y] = [0, y + 24 * unit];
      const left = x;
      x += wide;
      return [
        svg("rect", { class: `band-area band-sample ${name}`, x: left + 2 * unit, y: y - 12 * unit, width: 16 * unit, height: 14 * unit }),
        svg("text", { class: `band-label ${name}`, x: left + 24 * unit, y }, text),
      ];
    });
    return { legend, height: legend.length ? y + 8 * unit : top - 2 * unit };
  }

  row(index) {
    const { store } = this;
    const { state, lookups, words } = store;
    const gradient = state.gradients[index];
    const { unit, top, pitch } = this.geometry;
    const y = top + (index + 0.62) * pitch;
    const parts = {
      group: svg("g", { class: "landing", transform: `translate(0,${y})` }),
      arrow: svg("path", { class: "journey-line" }),
      fall: svg("path", { class: "journey-line fall" }),
      stored: svg("g", { class: "stored" }),
      name: svg("text", { class: "gradient-name", y: -16 * unit }),
      kept: svg("text", { class: "kept" }),
      handle: svg("g", { class: "handle" },
        svg("rect", { class: "reach", x: -18 * unit, y: -18 * unit, width: 36 * unit, height: 36 * unit, rx: 8 * unit }),
        svg("circle", { class: "hollow", r: 10 * unit })),
    };
    parts.group.append(parts.fall, parts.arrow, parts.stored, parts.name, parts.kept, parts.handle);
    const octaves = lookups.octaves(gradient);
    if (octaves) {
      change(parts.handle, { role: "slider", tabindex: 0, "aria-valuemin": octaves[0], "aria-valuemax": octaves[1] });
      draggable(parts.handle, {
        pixels: () => this.axis.octave, octave: () => store.state.gradients[index].octave,
        pick: () => store.pick(index), move: (octave) => store.moveGradient(index, octave), rest: () => store.rest(),
      });
      parts.handle.append(svg("title", {}, words.say("dragGradient")));
    }
    return parts;
  }

  // While a gradient is dragged its row must stay the same element, so rows are moved, not made anew.
  show() {
    const { state, lookups, words } = this.store;
    const { unit, width, slot } = this.geometry;
    state.gradients.forEach((gradient, index) => {
      const row = lookups.row(gradient, state), parts = this.rows[index];
      const name = pretty(lookups.name(gradient));
      const stored = short(row.stored);
      const special = row.log2 === null;
      const from = special ? (row.outcome === ZERO ? slot / 2 : width - slot / 2) : this.axis.x(this.axis.clamp(row.log2));
      const scaled = special ? from : this.axis.x(this.axis.clamp(row.scaledLog2));
      const lost = row.outcome === UNDERFLOW ? slot / 2 - 2 * unit : row.outcome === OVERFLOW ? width - slot / 2 + 2 * unit : null;
      const end = lost ?? (special ? from : this.axis.x(this.axis.clamp(row.storedLog2)));
      change(parts.handle, { transform: `translate(${from},0)` });
      if (!special) change(parts.handle, {
        "aria-label": words.say("gradientHandle", { index: index + 1 }),
        "aria-valuenow": gradient.octave, "aria-valuetext": spoken(lookups.name(gradient), words),
      });
      const step = Math.sign(scaled - from);
      const far = Math.abs(scaled - from) > 20 * unit;
      change(parts.arrow, { d: far ? arrow(from + step * 11 * unit, scaled - step * (lost === null ? 10 : 1) * unit, 5 * unit) : "" });
      change(parts.fall, { d: lost === null ? "" : arrow(scaled, end - Math.sign(end - scaled) * 11 * unit, 5 * unit) });
      change(parts.stored, {
        transform: `translate(${end},0)`, "data-outcome": OUTCOMES[row.outcome], "data-stored": row.stored,
        "data-log2": row.storedLog2, "data-scaled-log2": row.scaledLog2,
      });
      if (parts.stored.dataset.drawn !== String(row.outcome)) {
        parts.stored.replaceChildren(mark(row.outcome, unit));
        parts.stored.dataset.drawn = row.outcome;
      }
      write(parts.name, about(`g = ${name}`));
      change(parts.name, { x: Math.max(slot + 4 * unit, Math.min(width - slot - 4 * unit, from)), "text-anchor": anchor(from, width, unit) });
      write(parts.kept, words.say(KEPT[OUTCOMES[row.outcome]], { stored }));
      this.placeKept(parts.kept, row, end, scaled, from);
    });
  }

  // Right of what it names; left of it where there is no room, or where the line to infinity runs.
  placeKept(text, row, end, scaled, from) {
    const { unit, width, slot } = this.geometry;
    const long = labelWidth(text.textContent, unit), gap = 16 * unit;
    // What is lost goes off to an end of the axis: its words stay where it was.
    const lost = row.outcome === UNDERFLOW || row.outcome === OVERFLOW;
    const right = Math.max(...(lost ? [scaled, from] : Math.abs(end - from) < 20 * unit ? [end, from] : [end])) + gap;
    const left = Math.min(end, scaled, from) - gap;
    const fitsRight = row.outcome !== OVERFLOW && right + long < width - slot;
    const place = fitsRight || left - long < slot
      ? { x: Math.min(right, width - slot - long), "text-anchor": "start" }
      : { x: left, "text-anchor": "end" };
    change(text, { ...place, y: 5 * unit });
  }
}

const KEPT = { zero: "staysZero", underflow: "becomesZero", subnormal: "keptAs", normal: "keptAs", overflow: "becomesInf", nonfinite: "notFinite" };

const arrow = (from, to, size) => {
  const step = Math.sign(to - from) * size;
  return Math.abs(to - from) < size ? "" : `M${from},0H${to}M${to - step},${-size}L${to},0L${to - step},${size}`;
};

const anchor = (x, width, unit) => (x < 90 * unit ? "start" : x > width - 90 * unit ? "end" : "middle");
