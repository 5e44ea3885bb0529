// Which gradients of a run are stored as 0, step by step and layer by layer.

import { svg } from "./dom.js";
import { StepChart } from "./stepchart.js";

const ROW = 17, GROUP = 6;

// Shares in percent from which a step is drawn darker.
const LEVELS = [0, 1, 10, 50, 90];

export class LostMap extends StepChart {
  constructor(store) {
    super(store, "lost-map");
    this.values = [];
  }

  // `run` may have come only some of the way.
  draw(size, run, steps) {
    const { words } = this.store;
    const columns = run?.lost ?? [], layers = Math.max(4, columns.length / 2);
    const { unit, top } = this.begin(size, steps, 2 * layers * ROW + GROUP, "");
    this.values = [];
    const rows = columns.map((column, place) => {
      const y = top + (place * ROW + (place >= layers ? GROUP : 0)) * unit;
      const value = svg("text", { class: "share", x: this.axis.right + 8 * unit, y: y + 13 * unit });
      this.values.push(value);
      return [
        svg("text", { class: "share", x: this.axis.left - 8 * unit, y: y + 13 * unit, "text-anchor": "end" },
          words.say(place < layers ? "lostOutputs" : "lostParameters", { n: (place % layers) + 1 })),
        svg("rect", { class: "lost-ground", x: this.axis.left, y, width: this.axis.right - this.axis.left, height: (ROW - 2) * unit }),
        ...this.cells(column, y, (ROW - 2) * unit), ...(this.labelled ? [value] : []),
      ];
    }).flat();
    this.picture.replaceChildren(...rows, this.stepAxis(""), this.cursor);
  }

  // Neighbouring steps of one level are one rectangle.
  cells(column, y, height) {
    const cells = [];
    let from = 0;
    column.forEach((share, index) => {
      const here = level(share);
      if (index + 1 < column.length && level(column[index + 1]) === here) return;
      if (here >= 0) cells.push(svg("rect", { class: `lost level-${here}`, x: this.start(from + 1), width: this.start(index + 2) - this.start(from + 1), y, height }));
      from = index + 1;
    });
    return cells;
  }

  showShares(shares) {
    const { words } = this.store;
    this.values.forEach((value, place) => { value.textContent = shares ? words.percent(shares[place]) : ""; });
  }
}

// -1 where nothing is lost.
function level(share) {
  return LEVELS.findLastIndex((least) => share > least);
}
