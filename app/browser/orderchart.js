// How large a step is at every scale, next to the true one: yours as marks, the right order's as rings behind.

import { Axis } from "./axis.js";
import { change, html, svg, write } from "./dom.js";
import { NORMAL, OVERFLOW, SUBNORMAL, UNDERFLOW } from "./lookup.js";
import { mark } from "./marks.js";
import { labelWidth } from "./measure.js";
import { stretches } from "./orderblocks.js";
import { ScaleChart } from "./scalechart.js";
import { FIRST, LAST } from "./slider.js";
import { power, pretty } from "./words.js";

const MARGIN = 5.5, TOP = 92;

// What the chart takes in the layouts of an embedded page, in pixels at 16 px text.
const ROOM = {
  roomy: { tall: 200, axisRoom: 48 },
  compact: { tall: 100, axisRoom: 28 },
  dense: { tall: 84, axisRoom: 28 },
  strip: { tall: 0, axisRoom: 0 },
};

// Outcomes whose signs the verdicts have; all others are steps of a wrong size.
export const SIGNS = {
  right: NORMAL, near: NORMAL, lost: UNDERFLOW, swallowed: UNDERFLOW, partly: UNDERFLOW, partlyWrong: UNDERFLOW,
  skipped: OVERFLOW, nonfinite: OVERFLOW, hiddenSmall: OVERFLOW, hiddenLarge: OVERFLOW,
};

// Verdicts whose ratio is no place on the axis.
const LANES = { lost: "lost", swallowed: "lost", skipped: "skipped", nonfinite: "skipped" };

const ALL = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index);

export class OrderChart extends ScaleChart {
  constructor(store) {
    super(store, "order-chart");
  }

  draw({ width, unit, layout }, { mine, right }) {
    const { words } = this.store;
    const { tall, axisRoom } = ROOM[layout] ?? ROOM.roomy, strip = layout === "strip";
    this.table = mine;
    const names = ["orderSkipped", "orderLost", "orderTrue"].map((key) => labelWidth(words.say(key), unit, 400));
    this.axis = new Axis(...reach(right), strip ? 24 * unit : Math.max(76 * unit, ...names.map((wide) => wide + 10 * unit)), width - (strip ? 24 : 30) * unit);
    this.fillCaption(this.captionText(mine, right), Boolean(right?.same.length));
    const top = TOP * unit, floor = top + tall * unit, lane = Math.min(30, tall / 5) * unit;
    const bottom = strip ? (TOP - 8) * unit : floor + this.caption.offsetHeight + 10 * unit;
    this.size(width, bottom + axisRoom * unit);
    this.geometry = { unit, top, floor, lane, ...heights(this.axis, mine, right) };
    this.slider.place(this.axis, 44 * unit, 36 * unit);
    this.line = svg("line", { class: "scale-line", y1: 62 * unit, y2: strip ? 62 * unit : bottom });
    this.here = svg("g", { class: "order-here" });
    this.ratio = svg("text", { class: "order-ratio" });
    const window = right?.same[0] ?? [0, 0];
    const axis = axisRoom ? this.axis.draw(bottom, unit, axisRoom > 40 ? words.say("scaleAxis") : "") : "";
    this.picture.replaceChildren(...(strip ? [] : this.ground(window)), axis, this.line,
      ...(strip ? [] : [...this.points(right, "rings"), ...this.points(mine, "marks"), this.here, this.ratio]));
    this.markSafe(window);
    this.placeCaption(window[0] === window[1] ? [this.axis.from, this.axis.to] : window, bottom - 4 * unit, unit);
  }

  // Where the right order works, the lanes for what has no ratio, and the ratios' axis.
  ground([first, last]) {
    const { words } = this.store, { unit, top, floor, lane } = this.geometry, { left, right } = this.axis;
    const from = this.axis.x(this.axis.clamp(first)), to = this.axis.x(this.axis.clamp(last));
    const across = (y, name) => svg("line", { class: name, x1: left, x2: right, y1: y, y2: y });
    const label = (y, text) => svg("text", { class: "share", x: left - 8 * unit, y: y + 5 * unit, "text-anchor": "end" }, text);
    return [
      svg("rect", { class: "band-area overflow", x: left, y: top, width: right - left, height: lane }),
      svg("rect", { class: "band-area underflow", x: left, y: floor - lane, width: right - left, height: lane }),
      svg("rect", { class: "band safe", x: from, y: top + lane, width: to - from, height: floor - top - 2 * lane }),
      label(top + lane / 2, words.say("orderSkipped")), label(floor - lane / 2, words.say("orderLost")),
      ...this.ticks().flatMap((octave) => [across(this.y(octave), octave === 0 ? "true-line" : "share-line"), label(this.y(octave), octave === 0 ? words.say("orderTrue") : ratioText(octave))]),
    ];
  }

  ticks() {
    const { unit, top, floor, lane, low, high } = this.geometry;
    const inner = floor - top - 2 * lane - 16 * unit;
    const step = [1, 2, 5, 10, 20, 40].find((octaves) => inner * octaves / (high - low) >= 20 * unit) ?? 80;
    const ticks = [];
    for (let octave = Math.ceil(low / step) * step; octave <= high; octave += step) ticks.push(octave);
    return ticks;
  }

  y(log2) {
    const { unit, top, floor, lane, low, high } = this.geometry;
    const inner = floor - top - 2 * lane - 16 * unit;
    return floor - lane - 8 * unit - (log2 - low) / (high - low) * inner;
  }

  place({ verdict, log2 }) {
    const { top, floor, lane } = this.geometry;
    if (log2 !== null && !(verdict in LANES)) return this.y(log2);
    return LANES[verdict] === "skipped" ? top + lane / 2 : floor - lane / 2;
  }

  // A line through the steps that have a size, and a mark at as many notches as there is room for.
  points(table, kind) {
    if (!table) return [];
    const { unit } = this.geometry, { octave } = this.axis;
    const every = Math.max(1, Math.ceil(13 * unit / octave));
    const seen = ALL.filter((k) => k >= this.axis.from && k <= this.axis.to);
    const path = seen.map((k) => [k, table.result(k)]).map(([k, result], index, all) => {
      const before = all[index - 1]?.[1].verdict;
      return `${before === undefined || before in LANES || result.verdict in LANES ? "M" : "L"}${this.axis.x(k)},${this.place(result)}`;
    }).join("");
    const verdictAt = (k) => table.result(Math.max(FIRST, Math.min(LAST, k))).verdict;
    const isAlone = (k) => verdictAt(k) !== verdictAt(k - 1) && verdictAt(k) !== verdictAt(k + 1);
    const marks = seen.filter((k) => k % every === 0 || isAlone(k)).map((k) => {
      const result = table.result(k), at = { transform: `translate(${this.axis.x(k)},${this.place(result)})` };
      return kind === "rings" ? svg("circle", { class: "hollow", r: 6.5 * unit, ...at }) : svg("g", at, markOf(result.verdict, 0.5 * unit));
    });
    return kind === "rings" ? marks : [svg("path", { class: "order-line", d: path }), ...marks];
  }

  captionText(mine, right) {
    const { words } = this.store;
    if (!right) return [];
    const say = (same, some, none) => (same.length ? words.say(some, { scales: stretches(same, words, power) }) : words.say(none));
    const strong = html("strong", {}, say(right.same, "orderRightFor", "orderRightNever"));
    return mine && String(mine.same) !== String(right.same) ? [strong, html("span", {}, say(mine.same, "orderMineFor", "orderMineNever"))] : [strong];
  }

  // The slider of this view has its notches alone.
  show() {
    const { state } = this.store, { unit } = this.geometry;
    const x = this.showScale({ ...state, scale: null });
    if (!this.table) return;
    const result = this.table.result(state.k), y = this.place(result);
    change(this.here, { transform: `translate(${x},${y})` });
    if (this.here.dataset.verdict !== result.verdict) {
      this.here.replaceChildren(markOf(result.verdict, 1.05 * unit));
      this.here.dataset.verdict = result.verdict;
    }
    write(this.ratio, result.verdict in LANES ? "" : pretty(result.ratio));
    this.placeRatio(result, x, y);
  }

  // Beside the mark, away from the lane above, the right order's rings and the line that falls.
  placeRatio({ log2 }, x, y) {
    const { unit, top, lane } = this.geometry, next = Math.min(LAST, this.store.state.k + 1);
    const isLow = log2 < 0, falls = isLow && this.table.result(next).log2 < log2;
    const long = labelWidth(this.ratio.textContent, unit) + 16 * unit;
    const isRight = !falls && x + long < this.axis.right, below = isLow || y - top - lane < 24 * unit;
    change(this.ratio, { x: x + (isRight ? 14 : -14) * unit, y: y + (below ? 20 : -10) * unit, "text-anchor": isRight ? "start" : "end" });
  }
}

const markOf = (verdict, size) => mark(SIGNS[verdict] ?? SUBNORMAL, size);

const ratioText = (octave) => (Math.abs(octave) > 10 ? power(octave) : octave < 0 ? `1/${2 ** -octave}` : String(2 ** octave));

// Where the right order works, with a margin; everywhere, where that is not known.
function reach(right) {
  const [first, last] = right?.same[0] ?? [FIRST, LAST];
  return [Math.max(FIRST - 0.5, Math.min(0, first) - MARGIN), Math.min(LAST + 0.5, Math.max(0, last) + MARGIN)];
}

// The lowest and the highest ratio in log2, of steps that have one.
function heights(axis, ...tables) {
  const seen = tables.filter(Boolean).flatMap((table) => ALL.filter((k) => k >= axis.from && k <= axis.to).map((k) => table.result(k)));
  const sizes = seen.filter(({ verdict, log2 }) => log2 !== null && !(verdict in LANES)).map(({ log2 }) => log2);
  return { low: Math.min(-2, ...sizes), high: Math.max(2, ...sizes) };
}
