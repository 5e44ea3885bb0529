// Where the gradients lie, by octaves; the slider moves the format's bands over them.

import { Axis } from "./axis.js";
import { COUNTED } from "./distributions.js";
import { change, html, svg, write } from "./dom.js";
import { labelWidth } from "./measure.js";
import { hatched, hatches } from "./marks.js";
import { pretty } from "./words.js";

const MARGIN = 3, NARROWEST = 24, TOP = 34, TALL = 200, AXIS_ROOM = 48;

export class Histogram {
  constructor(store) {
    this.store = store;
    this.picture = svg("svg", { "aria-hidden": "true", class: "picture" });
    this.element = html("div", { class: "chart histogram" }, this.picture);
  }

  draw({ width, unit }, data) {
    const { words } = this.store;
    const { first, counts, heights, ticks, shares } = data.octaves;
    const from = (counts.length ? first : -NARROWEST / 2) - MARGIN, to = (counts.length ? first + counts.length : NARROWEST / 2) + MARGIN;
    const lacking = Math.max(0, NARROWEST - (to - from));
    const top = TOP * unit, floor = top + TALL * unit, height = floor + AXIS_ROOM * unit;
    this.axis = new Axis(Math.floor(from - lacking / 2), Math.ceil(to + lacking / 2), 72 * unit, width - 12 * unit);
    this.geometry = { unit, top, floor };
    change(this.picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.element.style.height = `${height}px`;
    const clip = svg("clipPath", { id: "lse-histogram" },
      svg("rect", { x: this.axis.left, y: 0, width: this.axis.right - this.axis.left, height: floor }));
    this.bands = COUNTED.map((name, place) => ({
      area: svg("rect", { class: `band-area ${name}`, y: 0, height: floor }),
      hatch: svg("rect", { class: "band-hatch", y: 0, height: floor, fill: hatched(place + 1, "lse-histogram-hatch") ?? "none" }),
      label: svg("text", { class: `band-label ${name}`, y: 22 * unit, "text-anchor": "middle" }),
    }));
    const bars = heights.map((share, index) => {
      const x = this.axis.x(first + index), tall = share * (floor - top);
      const tip = svg("title", {}, words.say("octaveHolds", { from: pretty(`2^${first + index}`), to: pretty(`2^${first + index + 1}`), share: pretty(shares[index]) }));
      return svg("rect", { class: "octave-bar", x: x + 0.08 * this.axis.octave, width: 0.84 * this.axis.octave, y: floor - tall, height: tall }, tip);
    });
    const grid = ticks.map(([share, text]) => {
      const y = floor - share * (floor - top);
      return [
        svg("line", { class: "share-line", x1: this.axis.left, x2: this.axis.right, y1: y, y2: y }),
        svg("text", { class: "share", x: this.axis.left - 8 * unit, y: y + 5 * unit, "text-anchor": "end" }, pretty(text)),
      ];
    }).flat();
    this.picture.replaceChildren(hatches("lse-histogram-hatch"), clip,
      svg("g", { "clip-path": "url(#lse-histogram)" }, ...this.bands.flatMap(({ area, hatch }) => [area, hatch])), ...grid,
      svg("g", { "clip-path": "url(#lse-histogram)" }, ...bars), ...this.bands.map(({ label }) => label),
      this.axis.draw(floor, unit, words.say("histogramAxis")));
  }

  // Scaling by 2^k moves every limit of the format k octaves down the axis of unscaled gradients.
  show(data) {
    const { state, lookups, words } = this.store;
    const { unit } = this.geometry;
    const format = lookups.formats[state.format];
    const ends = [this.axis.from, ...data.formats[state.format].bands.map((end) => end - state.k), this.axis.to].map((end) => this.axis.clamp(end));
    const to = pretty(format.overflowsTo);
    const keys = [["barUnderflow", "barUnderflowShort"], ["bandSubnormal", "barSubnormal"], ["bandNormal", "barNormal"], ["barOverflow", "barOverflowShort"]];
    this.bands.forEach(({ area, hatch, label }, place) => {
      const left = this.axis.x(ends[place]), right = this.axis.x(ends[place + 1]);
      const box = { x: left, width: Math.max(0, right - left) };
      change(area, box);
      change(hatch, box);
      const text = keys[place].map((key) => words.say(key, { to, n: format.significantBits })).find((each) => labelWidth(each, unit) + 8 * unit < right - left);
      write(label, text ?? "");
      change(label, { x: (left + right) / 2 });
    });
  }
}
