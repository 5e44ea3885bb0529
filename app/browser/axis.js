// A linear axis of log2 values, in CSS pixels, with ticks at whole octaves.

import { svg } from "./dom.js";
import { power } from "./words.js";

export class Axis {
  constructor(from, to, left, right) {
    Object.assign(this, { from, to, left, right });
    this.octave = (right - left) / (to - from);
  }

  x(log2) {
    return this.left + (log2 - this.from) * this.octave;
  }

  clamp(log2) {
    return Math.max(this.from, Math.min(this.to, log2));
  }

  // As many ticks as their labels leave room for.
  ticks(room) {
    const step = [1, 2, 4, 8, 16, 32, 64].find((octaves) => octaves * this.octave >= room) ?? 128;
    const ticks = [];
    for (let tick = Math.ceil(this.from / step) * step; tick <= this.to; tick += step) ticks.push(tick);
    return ticks;
  }

  draw(y, unit, title) {
    const group = svg("g", { class: "axis" });
    group.append(svg("line", { x1: this.left, x2: this.right, y1: y, y2: y }));
    for (const tick of this.ticks(46 * unit)) {
      const x = this.x(tick);
      group.append(
        svg("line", { x1: x, x2: x, y1: y, y2: y + 6 * unit }),
        svg("text", { x, y: y + 22 * unit, "text-anchor": "middle" }, power(tick)),
      );
    }
    const middle = (this.left + this.right) / 2;
    group.append(svg("text", { class: "axis-title", x: middle, y: y + 42 * unit, "text-anchor": "middle" }, title));
    return group;
  }
}
