// The scale of the dynamic and the static run, step by step, before the window of each step.

import { change, html, svg } from "./dom.js";
import { OVERFLOW } from "./lookup.js";
import { hatches, marksAt } from "./marks.js";
import { StepChart, lineKeys, spread } from "./stepchart.js";
import { WindowAreas } from "./windowareas.js";
import { power, pretty } from "./words.js";

const TALL = 220, MARGIN = 2.5, HATCHES = "lse-trace-hatch";

export class TraceChart extends StepChart {
  constructor(store) {
    super(store, "trace-chart");
    const { words } = store;
    this.keys = {
      dynamic: html("span", {}, words.say("traceSkippedDynamic")), static: html("span", {}, words.say("traceSkippedStatic")),
      none: html("span", {}, html("i", { class: "no-window-key" }), words.say("stepNoWindow")),
    };
    this.lines = lineKeys(words, ["static", "dynamic"]);
    this.legend = html("p", { class: "trace-legend quiet" }, ...Object.values(this.keys));
  }

  draw(size, runs, steps) {
    const { words, state } = this.store;
    const { unit, top, floor } = this.begin(size, steps, TALL, words.say("stepAxis"));
    const banded = runs.dynamic?.windows?.length ? runs.dynamic : runs.static;
    const [low, high] = span(banded?.windows ?? [], runs.dynamic, state.k);
    this.y = (log2) => floor - ((Math.max(low, Math.min(high, log2)) - low) / (high - low)) * (floor - top);
    const areas = new WindowAreas(banded?.windows ?? [], { start: (step) => this.start(step), y: this.y, top, floor });
    const skips = { static: this.skips(runs.static), dynamic: this.skips(runs.dynamic) };
    const marked = (name) => svg("g", { class: `skips ${name}` }, marksAt(OVERFLOW, skips[name], 0.7 * unit));
    this.picture.replaceChildren(hatches(HATCHES), ...areas.draw(HATCHES),
      ...this.ticks(low, high, runs.dynamic, unit), this.stepAxis(words.say("stepAxis")),
      this.staticLine(state.k), marked("static"),
      ...(runs.dynamic ? [svg("path", { class: "run-line dynamic trace", d: this.line(runs.dynamic) })] : []), marked("dynamic"),
      ...areas.names(words, unit), ...(this.labelled ? this.labels(runs, state, unit, floor) : []), this.cursor);
    change(this.lines, { "data-hidden": this.labelled });
    this.showKeys({ dynamic: skips.dynamic.length, static: skips.static.length, none: areas.has("none") });
  }

  // What is in the picture is explained, and nothing else.
  showKeys(shown) {
    for (const [name, key] of Object.entries(this.keys)) change(key, { "data-hidden": !shown[name] });
    change(this.legend, { "data-hidden": !Object.values(shown).some(Boolean) });
  }

  // Powers of two, and at the chart's ends the scales that are none.
  ticks(low, high, dynamic, unit) {
    const gap = [1, 2, 4, 8, 16, 32].find((each) => (high - low) / each <= 8) ?? 64;
    const ticks = [];
    for (let tick = Math.ceil(low / gap) * gap; tick <= high; tick += gap) ticks.push({ y: this.y(tick), text: power(tick) });
    const beyond = new Map((dynamic?.scales ?? []).filter(([, log2]) => log2 === null).map((scale) => [scale[2], this.height(scale)]));
    const ends = [...beyond].map(([text, y]) => ({ y, text: pretty(text) }));
    const free = ticks.filter(({ y }) => ends.every((end) => Math.abs(end.y - y) > 16 * unit));
    return [...free, ...ends].flatMap(({ y, text }) => [
      svg("line", { class: "share-line", x1: this.axis.left, x2: this.axis.right, y1: y, y2: y }),
      svg("text", { class: "share", x: this.axis.left - 8 * unit, y: y + 5 * unit, "text-anchor": "end" }, text),
    ]);
  }

  staticLine(k) {
    return svg("line", { class: "run-line static", x1: this.axis.left, x2: this.axis.right, y1: this.y(k), y2: this.y(k) });
  }

  // A scale of 0 or inf is at the chart's end.
  height([, log2, text]) {
    return this.y(log2 ?? (text === "0" ? -Infinity : Infinity));
  }

  line(run) {
    return run.scales.map((scale, place) => {
      const to = run.scales[place + 1]?.[0] ?? run.did.length + 1;
      return `${place ? "L" : "M"}${this.start(scale[0])},${this.height(scale)}H${this.start(to)}`;
    }).join("");
  }

  // Where the steps are that a run skips, at the scale of each.
  skips(run) {
    return [...(run?.did ?? "")].flatMap((did, index) => (did === "S" ? [] : [
      { x: this.axis.x(index + 1), y: this.height(run.scales.findLast(([from]) => from <= index + 1)) }]));
  }

  labels(runs, state, unit, floor) {
    const { words } = this.store;
    const labels = [{ name: "static", y: this.y(state.k) + 5 * unit }];
    if (runs.dynamic) labels.push({ name: "dynamic", y: this.height(runs.dynamic.scales.at(-1)) + 5 * unit });
    return spread(labels, 17 * unit, floor).map((label) => svg("text", { class: `run-label ${label.name}`, x: this.axis.right + 8 * unit, y: label.y },
      words.say(`run-${label.name}-short`)));
  }
}

function span(windows, dynamic, k) {
  const ends = windows.flatMap((window) => window?.slice(0, 2) ?? []), scales = (dynamic?.scales ?? []).map(([, log2]) => log2);
  const places = [...ends, ...scales, k].filter((place) => place !== null);
  return [Math.min(...places) - MARGIN, Math.max(...places) + MARGIN];
}
