// The windows of a run's steps as areas over the axis of steps: a band where there are windows, what is too large
// above it, what is too small below.

import { svg } from "./dom.js";
import { labelWidth } from "./measure.js";

// Which steps an area covers. A step has the ends of its window and what lies between them; the ends alone, where
// they contradict each other, so that a scale between them is both too large and too small; or nothing, where no
// scale helps.
const COVERS = {
  overflow: (window) => window !== null,
  underflow: (window) => window !== null,
  safe: (window) => window?.length > 2,
  none: (window) => window?.length === 2,
  nonfinite: (window) => window === null,
};

const NAMES = { overflow: "traceOverflow", underflow: "traceLost", safe: "traceWindow", none: "stepNoWindow", nonfinite: "traceNonfinite" };

export class WindowAreas {
  // `start` tells where on the axis a step begins, `y` how high a scale is drawn between `top` and `floor`.
  constructor(windows, { start, y, top, floor }) {
    const ends = ([from, to]) => [y(from ?? -Infinity), y(to ?? Infinity)];
    const above = (window) => Math.min(...ends(window)), below = (window) => Math.max(...ends(window));
    const highest = () => top, lowest = () => floor;
    Object.assign(this, { windows, start, edges: {
      overflow: [highest, above], underflow: [below, lowest], safe: [above, below], none: [above, below], nonfinite: [highest, lowest],
    } });
  }

  has(name) {
    return this.windows.some(COVERS[name]);
  }

  draw(hatches) {
    const shape = (name, attributes) => svg("path", { d: this.outline(name), ...attributes });
    const hatched = (name) => [shape(name, { class: `band-area ${name}` }), shape(name, { class: "band-hatch", fill: `url(#${hatches}-${name})` })];
    return [
      ...["overflow", "underflow"].flatMap(hatched), shape("safe", { class: "band safe" }), shape("none", { class: "band-area none" }), ...hatched("nonfinite"),
    ];
  }

  // Neighbouring steps that an area covers: the places of the first one, and of the one after the last.
  stretches(name) {
    const found = [];
    this.windows.forEach((window, place) => {
      if (!COVERS[name](window)) return;
      if (found.at(-1)?.[1] === place) found.at(-1)[1] += 1;
      else found.push([place, place + 1]);
    });
    return found;
  }

  // A piece for each stretch: along the upper edge from step to step, and back along the lower one.
  outline(name) {
    const [upper, lower] = this.edges[name], at = (number) => number.toFixed(1);
    return this.stretches(name).map(([from, to]) => {
      const steps = this.windows.slice(from, to).map((window, index) => ({ window, step: from + index + 1 }));
      const there = steps.map(({ window, step }) => `V${at(upper(window))}H${at(this.start(step + 1))}`);
      const back = steps.toReversed().map(({ window, step }) => `V${at(lower(window))}H${at(this.start(step))}`);
      return `M${at(this.start(from + 1))},${at(upper(this.windows[from]))}${there.join("")}${back.join("")}Z`;
    }).join("");
  }

  // Names stand in the longest stretch, and only where it has room for them: beyond it a word would tell of another area.
  names(words, unit) {
    const bounded = longest(this.stretches("overflow")), helpless = longest(this.stretches("nonfinite"));
    const here = Math.floor(bounded[0] + (bounded[1] - bounded[0]) / 4);
    const places = [
      ["overflow", bounded, here], [COVERS.none(this.windows[here]) ? "none" : "safe", bounded, here], ["underflow", bounded, here],
      ["nonfinite", helpless, (helpless[0] + helpless[1]) >> 1],
    ];
    return places.flatMap(([area, [from, to], place]) => {
      if (from === to) return [];
      const text = words.say(NAMES[area]), half = labelWidth(text, unit) / 2 + 6 * unit;
      const left = this.start(from + 1), right = this.start(to + 1), [upper, lower] = this.edges[area].map((edge) => edge(this.windows[place]));
      if (lower - upper < 24 * unit || right - left < 2 * half) return [];
      const x = Math.max(left + half, Math.min(this.start(place + 1), right - half));
      return [svg("text", { class: `band-label ${area}`, x, y: (upper + lower) / 2 + 5 * unit, "text-anchor": "middle" }, text)];
    });
  }
}

const longest = (stretches) => stretches.reduce((best, each) => (each[1] - each[0] > best[1] - best[0] ? each : best), [0, 0]);
