// A linear axis of log2 values, in CSS pixels, with ticks at whole octaves.

import { svg } from "./dom.js";
import { labelWidth } from "./measure.js";
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
    group.append(...this.title(title, y + 42 * unit, unit));
    return group;
  }

  // Under the middle of the axis. One that is longer than the axis begins further left, and is set closer if it must be.
  title(text, y, unit) {
    if (!text) return [];
    const least = 2 * unit, most = this.right + 8 * unit, wide = Math.min(labelWidth(text, unit, 400), most - least);
    const x = Math.max(least + wide / 2, Math.min((this.left + this.right) / 2, most - wide / 2));
    const closer = wide === most - least ? { textLength: wide, lengthAdjust: "spacingAndGlyphs" } : {};
    return [svg("text", { class: "axis-title", x, y, "text-anchor": "middle", ...closer }, text)];
  }
}
