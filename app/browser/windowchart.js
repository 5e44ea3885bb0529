// For which scales does each gradient survive? One bar a gradient, the windows behind, the slider on top.

import { Axis } from "./axis.js";
import { change, html, svg } from "./dom.js";
import { NONFINITE, NORMAL, OUTCOMES, OVERFLOW, SUBNORMAL, UNDERFLOW, ZERO } from "./lookup.js";
import { labelWidth } from "./measure.js";
import { hatched, hatches, mark } from "./marks.js";
import { draggable } from "./octaves.js";
import { ScaleChart } from "./scalechart.js";
import { FIRST, LAST } from "./slider.js";
import { power, pretty, short, typed } from "./words.js";

const MARGIN = 8, NARROWEST = 16;

// The names beside the bars: their sizes, and what their boxes take around them, in pixels at 16 px text.
const SMALLEST = 14, LARGEST = 17, AROUND = 27;

// What the chart takes in the layouts of an embedded page, in pixels at 16 px text.
const ROOM = {
  roomy: { rowsTop: 92, rowPitch: 56, barHeight: 28, axisRoom: 48 },
  compact: { rowsTop: 84, rowPitch: 36, barHeight: 26, axisRoom: 28 },
  dense: { rowsTop: 80, rowPitch: 26, barHeight: 22, axisRoom: 28 },
  strip: { rowsTop: 82, rowPitch: 0, barHeight: 0, axisRoom: 0 },
};

export class WindowChart extends ScaleChart {
  constructor(store) {
    const labels = html("div", { class: "row-labels" });
    super(store, "window-chart", labels);
    this.labels = labels;
  }

  // The stretch of the axis where something happens, with a margin.
  stretch({ gradients, format, k, scale }) {
    // An axis cut to the window would tell where it is.
    if (this.store.lessons.hidesWindow(this.store.state)) return [FIRST, LAST];
    const windows = this.store.lookups.windows(gradients, format);
    const ends = windows ? [windows.survive.lower, windows.full.lower, windows.survive.upper].map((end) => end.log2) : [];
    const inside = ends.filter((log2) => log2 > FIRST && log2 < LAST);
    if (!inside.length) return [FIRST, LAST];
    const places = [...inside, 0, scale ? Math.max(FIRST, Math.min(LAST, scale.log2)) : k];
    let from = Math.floor(Math.min(...places)) - MARGIN, to = Math.ceil(Math.max(...places)) + MARGIN;
    const short = Math.max(0, NARROWEST - (to - from));
    return [Math.max(FIRST, from - short / 2), Math.min(LAST, to + short / 2)];
  }

  // Everything that depends on gradients, format or size. While a gradient is dragged the axis stays.
  draw({ width, unit, layout }, keepAxis) {
    const { store } = this;
    const { state, lookups } = store;
    if (!keepAxis || !this.span) this.span = this.stretch(state);
    const narrow = width < 560 * unit;
    const { rowsTop, rowPitch, barHeight, axisRoom } = ROOM[layout] ?? ROOM.roomy;
    // The strip has the slider alone.
    const strip = layout === "strip";
    const windows = lookups.windows(state.gradients, state.format);
    const hidden = store.lessons.hidesWindow(state);
    if (hidden) this.fillCaption([html("strong", {}, store.words.say("windowHidden"))], true);
    else this.fillCaption(windowText(windows, store.words, lookups), !windows?.survive.empty);
    const pitch = Math.min(rowPitch, state.gradients.length > 5 ? 34 : narrow ? 44 : 56) * unit, bar = barHeight * unit;
    const top = rowsTop * unit, rows = strip ? 0 : Math.max(1, state.gradients.length) * pitch;
    const bottom = top + rows + (strip ? 0 : this.caption.offsetHeight + 12 * unit), height = bottom + axisRoom * unit;
    const names = Math.max(0, ...state.gradients.map((gradient) => labelWidth(typed(lookups.name(gradient)), unit)));
    if (!keepAxis || !this.column) this.column = Math.max((narrow ? 88 : 124) * unit, Math.min(0.45 * width, names + AROUND * unit));
    this.axis = new Axis(...this.span, strip ? 24 * unit : this.column, width - (strip ? 24 : 44) * unit);
    this.size(width, height);
    const nameSize = Math.max(SMALLEST, Math.min(LARGEST, SMALLEST * (this.column - AROUND * unit) / names));
    this.geometry = { unit, top, bottom, pitch, bar, nameSize };
    this.slider.place(this.axis, 44 * unit, 36 * unit);
    this.names = [];
    this.bars = strip ? [] : state.gradients.map((gradient, index) => this.bar(gradient, index));
    this.line = svg("line", { class: "scale-line", y1: 62 * unit, y2: strip ? 62 * unit : bottom });
    this.crossings = this.bars.map(() => svg("g", {}));
    const clip = svg("clipPath", { id: "lse-rows" },
      svg("rect", { x: this.axis.left, y: 0, width: this.axis.right - this.axis.left, height }));
    const bands = this.bands(hidden ? null : windows, hidden);
    const axis = axisRoom ? this.axis.draw(bottom, unit, axisRoom > 40 ? store.words.say("scaleAxis") : "") : "";
    this.picture.replaceChildren(hatches("lse-bar"), clip, strip ? "" : svg("g", { "clip-path": "url(#lse-rows)" }, ...bands, ...this.bars),
      axis, this.line, ...this.crossings);
    const has = !hidden && windows && !windows.survive.empty;
    this.placeCaption(has ? ends(windows.survive) : [this.axis.from, this.axis.to], bottom - 6 * unit, unit);
  }

  bands(windows, hidden) {
    const { top, bottom, unit } = this.geometry;
    const band = (window, name) => {
      if (window.empty) return null;
      const left = this.axis.x(this.axis.clamp(window.lower.log2)), right = this.axis.x(this.axis.clamp(window.upper.log2));
      return right > left ? svg("rect", { class: name, x: left, width: right - left, y: top - 8 * unit, height: bottom - top + 8 * unit }) : null;
    };
    if (!windows || windows.survive.empty) {
      this.markSafe(windows || hidden ? [0, 0] : [this.axis.from, this.axis.to]);
      return [];
    }
    this.markSafe(ends(windows.survive));
    return [band(windows.survive, "band safe"), band(windows.full, "band full")].filter(Boolean);
  }

  bar(gradient, index) {
    const { store } = this;
    const { lookups, state, words } = store;
    const { top, pitch, bar, unit } = this.geometry;
    const y = top + index * pitch + (pitch - bar) / 2;
    const group = svg("g", { class: "bar", "data-index": index });
    const ends = lookups.ends(gradient, state.format);
    // While the window is to be found a bar does not tell where its gradient survives.
    if (store.lessons.hidesWindow(state)) {
      const left = this.axis.x(this.axis.clamp(FIRST)), right = this.axis.x(this.axis.clamp(LAST));
      group.append(svg("rect", { class: "segment unknown", x: left, y, width: right - left, height: bar }));
      return group;
    }
    const segments = ends
      ? [[UNDERFLOW, FIRST, ends.survival.log2], [SUBNORMAL, ends.survival.log2, ends.fullPrecision.log2],
        [NORMAL, ends.fullPrecision.log2, ends.overflow.log2], [OVERFLOW, ends.overflow.log2, LAST]]
      : [[lookups.row(gradient, state).outcome, FIRST, LAST]];
    for (const [outcome, from, to] of segments) {
      const left = this.axis.x(this.axis.clamp(from)), right = this.axis.x(this.axis.clamp(to));
      if (right - left < 0.5) continue;
      const name = OUTCOMES[outcome];
      const box = { x: left, y, width: right - left, height: bar };
      group.append(svg("rect", { ...box, class: `segment ${name}` }));
      if (hatched(outcome, "lse-bar")) group.append(svg("rect", { ...box, fill: hatched(outcome, "lse-bar") }));
      const label = this.fitting(outcome, right - left);
      if (!label) continue;
      const wide = labelWidth(label, unit) + 10 * unit;
      const plate = svg("rect", { class: `plate ${name}`, y: y + 3 * unit, width: wide, height: bar - 6 * unit, rx: 4 * unit });
      const text = svg("text", { class: `segment-label ${name}`, y: y + bar / 2 + 5 * unit, "text-anchor": "middle" }, label);
      group.append(plate, text);
      this.names.push({ plate, text, wide, left, right });
    }
    if (ends) {
      draggable(group, {
        pixels: () => this.axis.octave, direction: -1, octave: () => store.state.gradients[index].octave,
        pick: () => store.pick(index), move: (octave) => store.moveGradient(index, octave), rest: () => store.rest(),
      });
    } else group.addEventListener("pointerdown", () => store.pick(index));
    group.append(svg("title", {}, words.say("dragBar")));
    return group;
  }

  fitting(outcome, width) {
    const { words, state, lookups } = this.store;
    const to = pretty(lookups.formats[state.format].overflowsTo);
    const candidates = {
      [ZERO]: ["barZero", "barZeroShort"], [NONFINITE]: ["barNonfinite"], [UNDERFLOW]: ["barUnderflow", "barUnderflowShort"],
      [SUBNORMAL]: ["barSubnormal"], [NORMAL]: ["barNormal"], [OVERFLOW]: ["barOverflow", "barOverflowShort"],
    }[outcome].map((key) => words.say(key, { to }));
    return candidates.find((label) => labelWidth(label, this.geometry.unit) + 12 * this.geometry.unit < width);
  }

  // In the middle of its segment, or beside the scale's mark where that would cover it.
  placeName({ plate, text, wide, left, right }, x) {
    const mark = 15 * this.geometry.unit, middle = (left + right) / 2;
    const free = Math.abs(x - middle) > wide / 2 + mark;
    const before = x - mark - wide / 2, after = x + mark + wide / 2;
    const candidates = free ? [middle] : [before, after].filter((place) => place - wide / 2 >= left && place + wide / 2 <= right);
    const place = candidates.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
    change(plate, { x: (place ?? middle) - wide / 2, visibility: place === undefined ? "hidden" : null });
    change(text, { x: place ?? middle, visibility: place === undefined ? "hidden" : null });
  }

  // What changes with the scale alone.
  show() {
    const { state, lookups } = this.store;
    const { unit, top, pitch } = this.geometry;
    const x = this.showScale(state);
    for (const name of this.names) this.placeName(name, x);
    state.gradients.forEach((gradient, index) => {
      const { outcome } = lookups.row(gradient, state);
      const crossing = this.crossings[index];
      if (!crossing) return;
      if (crossing.dataset.outcome !== OUTCOMES[outcome]) crossing.replaceChildren(svg("circle", { r: 12 * unit }), mark(outcome, 0.85 * unit));
      change(crossing, { class: "crossing", "data-outcome": OUTCOMES[outcome], transform: `translate(${x},${top + (index + 0.5) * pitch})` });
    });
  }
}

const ends = ({ lower, upper }) => [lower.log2, upper.log2];

// The window in words: its ends, then its powers of two.
function windowText(windows, words, lookups) {
  if (!windows) return [html("strong", {}, words.say("windowEverything"))];
  const { survive, full } = windows;
  if (survive.empty) {
    const small = pretty(lookups.name(survive.small)), large = pretty(lookups.name(survive.large));
    const above = short(survive.lower.text), below = short(survive.upper.text);
    const key = survive.small === survive.large ? "windowNoneForOne" : survive.upperClosed ? "windowNoneClosed" : "windowNoneNeeds";
    return [html("strong", {}, words.say("windowNone")), html("span", {}, words.say(key, { small, large, above, below }))];
  }
  const ends = words.say(survive.upperClosed ? "windowEndsClosed" : "windowEnds", { above: short(survive.lower.text), below: short(survive.upper.text) });
  const powers = survive.powerless
    ? words.say("windowPowerless")
    : survive.first === survive.last
      ? words.say("windowOnePower", { power: power(survive.first) })
      : words.say("windowPowers", { first: power(survive.first), last: power(survive.last) });
  const exact = full.empty || full.powerless
    ? words.say("fullNone")
    : full.first === full.last
      ? words.say("fullOne", { power: power(full.first) })
      : words.say("fullPowers", { first: power(full.first), last: power(full.last) });
  return [html("strong", {}, ends), html("span", {}, `${powers} · ${exact}`)];
}
