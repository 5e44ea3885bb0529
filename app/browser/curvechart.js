// What becomes of a distribution at every scale: its outcomes stacked over the axis that is the slider.

import { Axis } from "./axis.js";
import { COUNTED, here } from "./distributions.js";
import { html, svg } from "./dom.js";
import { labelWidth } from "./measure.js";
import { hatched, hatches } from "./marks.js";
import { ScaleChart } from "./scalechart.js";
import { FIRST, LAST } from "./slider.js";
import { power, pretty, short } from "./words.js";

const MARGIN = 5, NARROWEST = 20, TOP = 92;

// What the chart takes in the layouts of an embedded page, in pixels at 16 px text.
const ROOM = {
  roomy: { tall: 190, axisRoom: 48 },
  compact: { tall: 130, axisRoom: 28 },
  dense: { tall: 80, axisRoom: 28 },
  strip: { tall: 0, axisRoom: 0 },
};

export class CurveChart extends ScaleChart {
  constructor(store) {
    super(store, "curve-chart");
  }

  draw({ width, unit, layout }, data) {
    const { state, words } = this.store;
    const { tall, axisRoom } = ROOM[layout] ?? ROOM.roomy, strip = layout === "strip";
    const counted = data.formats[state.format];
    this.axis = new Axis(...stretch(counted), (strip ? 24 : 60) * unit, width - (strip ? 24 : 44) * unit);
    const { window } = here(data, state);
    this.fillCaption(windowText(window, this.store), !window?.empty);
    const top = TOP * unit, floor = top + tall * unit, bottom = strip ? (TOP - 8) * unit : floor + this.caption.offsetHeight + 10 * unit;
    const height = bottom + axisRoom * unit;
    this.size(width, height);
    this.geometry = { unit, top, floor };
    this.slider.place(this.axis, 44 * unit, 36 * unit);
    this.line = svg("line", { class: "scale-line", y1: 62 * unit, y2: strip ? 62 * unit : bottom });
    const clip = svg("clipPath", { id: "lse-curve" },
      svg("rect", { x: this.axis.left, y: top, width: this.axis.right - this.axis.left, height: floor - top }));
    const areas = strip ? [] : COUNTED.map((name, place) => this.area(name, place, counted)).flat();
    const axis = axisRoom ? this.axis.draw(bottom, unit, axisRoom > 40 ? words.say("scaleAxis") : "") : "";
    // The line runs behind the words, so that both can be read.
    this.picture.replaceChildren(hatches("lse-curve-hatch"), clip, svg("g", { "clip-path": "url(#lse-curve)" }, ...areas),
      axis, this.line, ...(strip ? [] : [...this.shares(), ...this.names(counted)]));
    const everywhere = [this.axis.from, this.axis.to], ends = window && [window.lower.log2, window.upper.log2];
    this.markSafe(window?.empty ? [0, 0] : ends ?? everywhere);
    this.placeCaption(window?.empty ? everywhere : ends ?? everywhere, bottom - 4 * unit, unit);
  }

  y(share) {
    const { top, floor } = this.geometry;
    return floor - share * (floor - top);
  }

  // One outcome's area: a step for every notch, from the outcomes below it to those above.
  area(name, place, { edges }) {
    const below = (row) => (place === 0 ? 0 : row[place - 1]), above = (row) => (place === 3 ? 1 : row[place]);
    const steps = (value) => edges.map((row, index) => {
      const x = this.axis.x(FIRST + index - 0.5), y = this.y(value(row));
      return [[x, y], [x + this.axis.octave, y]];
    }).flat();
    const points = [...steps(above), ...steps(below).reverse()].map((point) => point.join()).join(" ");
    const hatch = hatched(place + 1, "lse-curve-hatch");
    return [svg("polygon", { class: `segment ${name}`, points }), ...(hatch ? [svg("polygon", { points, fill: hatch })] : [])];
  }

  shares() {
    const { unit } = this.geometry;
    return [0, 0.5, 1].map((share) => svg("text", { class: "share", x: this.axis.left - 8 * unit, y: this.y(share) + 5 * unit, "text-anchor": "end" }, pretty(`${100 * share}%`)));
  }

  // The word of each outcome where its area is widest, if it is tall and wide enough there.
  names({ edges }) {
    const { words, lookups, state } = this.store;
    const { unit, top, floor } = this.geometry;
    const tall = 26 * unit / (floor - top);
    const to = pretty(lookups.formats[state.format].overflowsTo);
    const keys = [["barUnderflow", "barUnderflowShort"], ["barSubnormal"], ["barNormal"], ["barOverflow", "barOverflowShort"]];
    return COUNTED.flatMap((name, place) => {
      const span = widest(edges.map((row) => [place === 0 ? 0 : row[place - 1], place === 3 ? 1 : row[place]]), tall, this.axis);
      if (!span) return [];
      const room = (span.to - span.from) * this.axis.octave;
      const label = keys[place].map((key) => words.say(key, { to })).find((text) => labelWidth(text, unit) + 16 * unit < room);
      if (!label) return [];
      const x = this.axis.x((span.from + span.to) / 2), y = this.y(span.middle), wide = labelWidth(label, unit) + 10 * unit;
      return [
        svg("rect", { class: `plate ${name}`, x: x - wide / 2, y: y - 11 * unit, width: wide, height: 22 * unit, rx: 4 * unit }),
        svg("text", { class: `segment-label ${name}`, x, y: y + 5 * unit, "text-anchor": "middle" }, label),
      ];
    });
  }

  // The slider of this view has its notches alone.
  show() {
    this.showScale({ ...this.store.state, scale: null });
  }
}

// The scales where outcomes change, with a margin.
function stretch({ edges }) {
  const moving = edges.flatMap((row, index) => {
    const next = edges[index + 1];
    return next && next.join() !== row.join() ? [FIRST + index, FIRST + index + 1] : [];
  });
  const places = [...moving, 0];
  let from = Math.min(...places) - MARGIN, to = Math.max(...places) + MARGIN;
  const lacking = Math.max(0, NARROWEST - (to - from));
  from = Math.max(FIRST - 0.5, from - lacking / 2);
  to = Math.min(LAST + 0.5, to + lacking / 2);
  return [from, to];
}

// The longest run of notches on an axis where an area is tall enough for a word, and the area's middle there.
function widest(rows, tall, axis) {
  let best = null, run = null;
  rows.forEach(([low, high], index) => {
    const k = FIRST + index;
    const fits = high - low > tall && k >= axis.from && k <= axis.to;
    // A word is level: the run ends where the area moves away from its middle.
    if (run && fits && Math.max(low, run.low) + tall <= Math.min(high, run.high)) {
      run = { ...run, to: Math.min(axis.to, k + 0.5), low: Math.max(low, run.low), high: Math.min(high, run.high) };
    } else run = fits ? { from: Math.max(axis.from, k - 0.5), to: Math.min(axis.to, k + 0.5), low, high } : null;
    if (run && (!best || run.to - run.from > best.to - best.from)) best = run;
  });
  return best && { ...best, middle: (best.low + best.high) / 2 };
}

// The window that loses no more than the reader allows: its ends, then its powers of two.
function windowText(window, { words, state }) {
  const allowed = state.losing === "0" ? "" : ` ${words.say("losingAtMost", { share: pretty(`${state.losing}%`) })}`;
  if (!window) return [html("strong", {}, words.say("windowEverything"))];
  const above = short(window.lower.text), below = short(window.upper.text);
  if (window.empty) {
    const needs = words.say(window.upperClosed ? "distributionNoneClosed" : "distributionNone", { above, below });
    return [html("strong", {}, words.say("windowNone") + allowed), html("span", {}, needs)];
  }
  const ends = words.say(window.upperClosed ? "windowEndsClosed" : "windowEnds", { above, below });
  const { powers } = window;
  const inside = powers === null
    ? words.say("windowPowerless")
    : powers[0] === powers[1]
      ? words.say("windowOnePower", { power: power(powers[0]) })
      : words.say("windowPowers", { first: power(powers[0]), last: power(powers[1]) });
  return [html("strong", {}, ends), html("span", {}, inside + allowed)];
}
