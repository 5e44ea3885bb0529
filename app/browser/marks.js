// One meaning, four signs: each outcome has a colour, a shape, a hatch and a word.

import { svg } from "./dom.js";
import { NONFINITE, OUTCOMES, OVERFLOW, SUBNORMAL, UNDERFLOW } from "./lookup.js";

const SHAPES = {
  zero: "M-5,-2H5M-5,2H5",
  underflow: "M-6,-6L6,6M-6,6L6,-6",
  subnormal: "M0,-9L9,0L0,9L-9,0Z",
  normal: "M-8,0A8,8,0,1,1,8,0A8,8,0,1,1,-8,0Z",
  overflow: "M0,-9L9,7L-9,7Z",
  nonfinite: "M-7,-7H7V7H-7Z",
};

const SIGNS = { zero: "=", underflow: "✕", subnormal: "◆", normal: "●", overflow: "▲", nonfinite: "■" };

export function mark(outcome, unit = 1) {
  const name = OUTCOMES[outcome];
  return svg("path", { class: `mark ${name}`, d: SHAPES[name], transform: `scale(${unit})` });
}

// One drawing of marks at many places: where they lie over each other, they have one outline.
export function marksAt(outcome, places, unit) {
  const name = OUTCOMES[outcome];
  const d = places.map(({ x, y }) => SHAPES[name].replace(/(-?\d+),(-?\d+)/g, (_, right, down) => `${(x + unit * right).toFixed(1)},${(y + unit * down).toFixed(1)}`));
  return svg("path", { class: `mark ${name}`, d: d.join("") });
}

export function sign(outcome) {
  return SIGNS[OUTCOMES[outcome]];
}

// Hatches by outcome. Patterns are named per page part, since a name is looked up in the whole tree.
export function hatches(prefix) {
  const tile = (name, ...shapes) =>
    svg("pattern", { id: `${prefix}-${name}`, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, ...shapes);
  return svg("defs", {},
    tile("underflow", svg("path", { class: "hatch", d: "M-2,2L2,-2M0,8L8,0M6,10L10,6" })),
    tile("subnormal", svg("circle", { class: "hatch-dot", cx: 4, cy: 4, r: 1.2 })),
    tile("overflow", svg("path", { class: "hatch", d: "M0,0L8,8M8,0L0,8" })),
    tile("nonfinite", svg("path", { class: "hatch", d: "M0,4H8M4,0V8" })));
}

export function hatched(outcome, prefix) {
  return [UNDERFLOW, SUBNORMAL, OVERFLOW, NONFINITE].includes(outcome) ? `url(#${prefix}-${OUTCOMES[outcome]})` : null;
}
