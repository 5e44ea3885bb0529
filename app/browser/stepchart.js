// What the charts over the steps of a run have in common: their axis, and the line at the step that is looked at.

import { Axis } from "./axis.js";
import { change, html, svg } from "./dom.js";
import { labelWidth } from "./measure.js";
import { SHOWN_RUNS } from "./runs.js";

const LEFT = 62, RIGHT = 92, TITLE_ROOM = 46, TICK_ROOM = 26;

export class StepChart {
  constructor(store, name) {
    this.store = store;
    this.picture = svg("svg", { "aria-hidden": "true", class: "picture" });
    this.cursor = svg("line", { class: "step-cursor" });
    this.element = html("div", { class: `chart step-chart ${name}` }, this.picture);
    const point = (event) => this.point(event);
    change(this.picture, { onpointermove: point, onpointerdown: point });
  }

  // The area of a drawing `tall` high, over the axis of `steps` steps.
  begin({ width, unit }, steps, tall, title) {
    const [left, right] = margins(this.store.words);
    this.labelled = width > 34 * 16 * unit;
    this.axis = new Axis(0.5, steps + 0.5, left * unit, width - (this.labelled ? right : 22) * unit);
    const top = 10 * unit, floor = top + tall * unit, height = floor + (title ? TITLE_ROOM : TICK_ROOM) * unit;
    Object.assign(this, { steps, geometry: { unit, top, floor } });
    change(this.picture, { viewBox: `0 0 ${width} ${height}`, width, height });
    this.element.style.height = `${height}px`;
    return this.geometry;
  }

  // Ticks at round steps, a few of them.
  stepAxis(title) {
    const { unit, floor } = this.geometry, { left, right } = this.axis;
    const room = (right - left) / (70 * unit), gap = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((each) => this.steps / each <= room) ?? 2000;
    const group = svg("g", { class: "axis" }, svg("line", { x1: left, x2: right, y1: floor, y2: floor }));
    for (let step = gap === 1 ? 1 : gap; step <= this.steps; step += gap) {
      const x = this.axis.x(step);
      group.append(svg("line", { x1: x, x2: x, y1: floor, y2: floor + 5 * unit }),
        svg("text", { x, y: floor + 21 * unit, "text-anchor": "middle" }, String(step)));
    }
    group.append(...this.axis.title(title, floor + 41 * unit, unit));
    return group;
  }

  // Where on the axis a step's place starts.
  start(step) {
    return this.axis.x(step - 0.5);
  }

  showStep(step) {
    const x = this.axis.x(step), { top, floor } = this.geometry;
    change(this.cursor, { x1: x, x2: x, y1: top, y2: floor });
  }

  point(event) {
    if (event.type === "pointermove" && event.pointerType !== "mouse") return;
    const { left, right } = this.axis, share = (event.offsetX - left) / (right - left);
    this.onstep?.(Math.max(1, Math.min(this.steps, Math.ceil(share * this.steps))));
  }
}

// What all of these charts leave for names on both sides, so that their axes are below each other; at 16 px text.
function margins(words) {
  const widest = (texts, weight) => Math.max(...texts.map((text) => labelWidth(text, 1, weight))) + 10;
  const rows = ["lostOutputs", "lostParameters"].map((key) => words.say(key, { n: 4 }));
  return [Math.max(LEFT, widest(rows, 400)), Math.max(RIGHT, widest(SHOWN_RUNS.map((name) => words.say(`run-${name}-short`)), 700))];
}

// Samples of the lines of a chart that has no room to name them.
export function lineKeys(words, names) {
  return html("p", { class: "line-keys quiet" }, ...names.map((name) => html("span", {},
    svg("svg", { class: "line-key", width: 30, height: 8, "aria-hidden": "true" }, svg("line", { class: `run-line ${name}`, x1: 0, x2: 30, y1: 4, y2: 4 })),
    words.say(`run-${name}-short`))));
}

// Move labels apart that stand one below the other, so that none covers another; in the order of their places.
export function spread(labels, gap, lowest) {
  const ordered = [...labels].sort((a, b) => a.y - b.y);
  ordered.forEach((label, place) => { if (place) label.y = Math.max(label.y, ordered[place - 1].y + gap); });
  let limit = lowest;
  for (const label of ordered.reverse()) {
    label.y = Math.min(label.y, limit);
    limit = label.y - gap;
  }
  return labels;
}
