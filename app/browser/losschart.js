// The loss of each run, step by step, on a logarithmic axis.

import { change, svg } from "./dom.js";
import { SHOWN_RUNS } from "./runs.js";
import { StepChart, lineKeys, spread } from "./stepchart.js";
import { pretty } from "./words.js";

const TALL = 190;
const DECADES = [10, 1, 0.1, 0.01, 0.001, 0.0001];

export class LossChart extends StepChart {
  constructor(store) {
    super(store, "loss-chart");
    this.keys = lineKeys(store.words, SHOWN_RUNS);
  }

  draw(size, runs, steps) {
    const { words } = this.store;
    const { unit, top, floor } = this.begin(size, steps, TALL, "");
    const [low, high] = span(runs);
    const y = (loss) => floor - ((Math.log10(loss) - low) / (high - low)) * (floor - top);
    const grid = DECADES.filter((loss) => Math.log10(loss) >= low && Math.log10(loss) <= high).map((loss) => [
      svg("line", { class: "share-line", x1: this.axis.left, x2: this.axis.right, y1: y(loss), y2: y(loss) }),
      svg("text", { class: "share", x: this.axis.left - 8 * unit, y: y(loss) + 5 * unit, "text-anchor": "end" }, words.number(loss)),
    ]).flat();
    const lines = SHOWN_RUNS.filter((name) => runs[name]).map((name) => svg("path", { class: `run-line ${name}`, d: this.path(runs[name].loss, y) }));
    const labels = this.labelled ? this.labels(runs, y, unit, floor) : [];
    change(this.keys, { "data-hidden": this.labelled });
    this.picture.replaceChildren(...grid, this.stepAxis(""), ...lines, ...labels, this.cursor);
  }

  // A loss that is no number leaves a gap.
  path(losses, y) {
    let pen = "M";
    return losses.map((loss, index) => {
      if (!(loss > 0)) {
        pen = "M";
        return "";
      }
      const point = `${pen}${this.axis.x(index + 1).toFixed(1)},${y(loss).toFixed(1)}`;
      pen = "L";
      return point;
    }).join("");
  }

  labels(runs, y, unit, floor) {
    const { words } = this.store;
    const ends = SHOWN_RUNS.flatMap((name) => {
      const losses = runs[name]?.loss ?? [], last = losses.findLastIndex((loss) => loss > 0);
      return last < 0 ? [] : [{ name, y: y(losses[last]) + 5 * unit, x: this.axis.x(last + 1) }];
    });
    return spread(ends, 17 * unit, floor - 2 * unit).map((label) => svg("text", {
      class: `run-label ${label.name}`, x: Math.min(label.x, this.axis.right) + 8 * unit, y: label.y,
    }, pretty(words.say(`run-${label.name}-short`))));
  }
}

function span(runs) {
  const losses = Object.values(runs).flatMap((run) => run?.loss ?? []).filter((loss) => loss > 0).map(Math.log10);
  if (!losses.length) return [-2, 0.5];
  return [Math.min(...losses, 0) - 0.05, Math.max(...losses, 0.3) + 0.05];
}
