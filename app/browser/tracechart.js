// The scale of the dynamic and the static run, step by step, before the window of each step.

import { svg } from "./dom.js";
import { labelWidth } from "./measure.js";
import { hatches, mark } from "./marks.js";
import { OVERFLOW } from "./lookup.js";
import { StepChart, spread } from "./stepchart.js";
import { power } from "./words.js";

const TALL = 220, MARGIN = 2.5;

export class TraceChart extends StepChart {
  constructor(store) {
    super(store, "trace-chart");
  }

  draw(size, runs, steps) {
    const { words, state } = this.store;
    const { unit, top, floor } = this.begin(size, steps, TALL, words.say("stepAxis"));
    const banded = runs.dynamic?.windows?.length ? runs.dynamic : runs.static;
    const windows = banded?.windows ?? [];
    const [low, high] = span(windows, runs.dynamic, state.k);
    this.y = (log2) => floor - ((Math.max(low, Math.min(high, log2)) - low) / (high - low)) * (floor - top);
    const skips = runs.dynamic ? this.skips(runs.dynamic, unit) : [];
    this.picture.replaceChildren(hatches("lse-trace-hatch"), ...this.outside(windows, top, floor), this.band(windows),
      ...this.ticks(low, high, unit), this.stepAxis(words.say("stepAxis")),
      this.staticLine(state.k), ...(runs.dynamic ? [svg("path", { class: "run-line dynamic trace", d: this.steps_(runs.dynamic) })] : []),
      ...skips, ...this.names(windows, unit, top, floor), ...(this.labelled ? this.labels(runs, state, unit, floor) : []), this.cursor);
  }

  // Each step of a run of windows as [from, to] pixels and its ends; a step without a window leaves a gap.
  columns(windows) {
    return windows.flatMap((window, index) => (window ? [{ x: this.start(index + 1), to: this.start(index + 2), window }] : []));
  }

  band(windows) {
    const columns = this.columns(windows);
    const upper = columns.flatMap(({ x, to, window }) => [`${x},${this.y(window[1])}`, `${to},${this.y(window[1])}`]);
    const lower = columns.flatMap(({ x, to, window }) => [`${x},${this.y(window[0])}`, `${to},${this.y(window[0])}`]);
    return svg("polygon", { class: "band safe", points: [...upper, ...lower.reverse()].join(" ") });
  }

  // What lies above the band overflows, what lies below loses too much.
  outside(windows, top, floor) {
    const columns = this.columns(windows);
    if (!columns.length) return [];
    const shape = (end, edge) => {
      const points = columns.flatMap(({ x, to, window }) => [`${x},${this.y(window[end])}`, `${to},${this.y(window[end])}`]);
      return [...points, `${columns.at(-1).to},${edge}`, `${columns[0].x},${edge}`].join(" ");
    };
    return [["overflow", shape(1, top)], ["underflow", shape(0, floor)]].flatMap(([name, points]) => [
      svg("polygon", { class: `band-area ${name}`, points }),
      svg("polygon", { class: "band-hatch", points, fill: `url(#lse-trace-hatch-${name})` }),
    ]);
  }

  ticks(low, high, unit) {
    const gap = [1, 2, 4, 8, 16, 32].find((each) => (high - low) / each <= 8) ?? 64;
    const ticks = [];
    for (let tick = Math.ceil(low / gap) * gap; tick <= high; tick += gap) ticks.push(tick);
    return ticks.flatMap((tick) => [
      svg("line", { class: "share-line", x1: this.axis.left, x2: this.axis.right, y1: this.y(tick), y2: this.y(tick) }),
      svg("text", { class: "share", x: this.axis.left - 8 * unit, y: this.y(tick) + 5 * unit, "text-anchor": "end" }, power(tick)),
    ]);
  }

  // The word of each area, at a third of the width, where the area is tall enough there.
  names(windows, unit, top, floor) {
    const { words } = this.store;
    const columns = this.columns(windows);
    const here = columns[Math.floor(columns.length / 4)];
    if (!here) return [];
    const upper = this.y(here.window[1]), lower = this.y(here.window[0]);
    const places = [["traceOverflow", "overflow", top, upper], ["traceWindow", "normal", upper, lower], ["traceLost", "underflow", lower, floor]];
    return places.flatMap(([key, name, from, to]) => {
      const text = words.say(key), { left, right } = this.axis, half = labelWidth(text, unit) / 2 + 6 * unit;
      if (to - from < 24 * unit || 2 * half > right - left) return [];
      const x = Math.max(left + half, Math.min(here.x, right - half));
      return [svg("text", { class: `band-label ${name}`, x, y: (from + to) / 2 + 5 * unit, "text-anchor": "middle" }, text)];
    });
  }

  staticLine(k) {
    return svg("line", { class: "run-line static", x1: this.axis.left, x2: this.axis.right, y1: this.y(k), y2: this.y(k) });
  }

  // A scale that is no number, 0 or inf, leaves a gap.
  steps_(run) {
    return run.scales.map(([step, log2], place) => {
      if (log2 === null) return "";
      const to = run.scales[place + 1]?.[0] ?? run.did.length + 1;
      const pen = place && run.scales[place - 1][1] !== null ? "L" : "M";
      return `${pen}${this.start(step)},${this.y(log2)}H${this.start(to)}`;
    }).join("");
  }

  skips(run, unit) {
    return [...run.did].flatMap((did, index) => {
      if (did === "S") return [];
      const [, log2] = run.scales.findLast(([from]) => from <= index + 1);
      if (log2 === null) return [];
      const sign = mark(OVERFLOW, 0.7 * unit);
      return [svg("g", { class: "skip", "data-step": index + 1, transform: `translate(${this.axis.x(index + 1)},${this.y(log2)})` }, sign)];
    });
  }

  labels(runs, state, unit, floor) {
    const { words } = this.store;
    const labels = [{ name: "static", y: this.y(state.k) + 5 * unit }];
    const last = runs.dynamic?.scales.findLast(([, log2]) => log2 !== null);
    if (last) labels.push({ name: "dynamic", y: this.y(last[1]) + 5 * unit });
    return spread(labels, 17 * unit, floor).map((label) => svg("text", { class: `run-label ${label.name}`, x: this.axis.right + 8 * unit, y: label.y },
      words.say(`run-${label.name}-short`)));
  }
}

function span(windows, dynamic, k) {
  const ends = windows.filter(Boolean).flat(), scales = (dynamic?.scales ?? []).map(([, log2]) => log2).filter((log2) => log2 !== null);
  const places = [...ends, ...scales, k];
  return [Math.min(...places) - MARGIN, Math.max(...places) + MARGIN];
}
