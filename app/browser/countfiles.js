// The counts of a distribution as files for programs: the whole numbers that Python counted, and nothing else.

import { COUNTED } from "./distributions.js";
import { FIRST, LAST } from "./slider.js";

// A line for every notch of the slider.
export function countsCsv(data, format) {
  const lines = data.formats[format].counts.map((counts, place) => [FIRST + place, exactPower(FIRST + place), ...counts]);
  return [["k", "scale", ...COUNTED], ...lines].map((cells) => `${cells.join()}\r\n`).join("");
}

export function countsJson(data, link) {
  const { id, name, size, zeros, nonfinite, alive, octaves, formats, tensors } = data;
  const parts = {
    link, data: name ?? id, size, zeros, nonfinite, alive,
    octaves: { first: octaves.first, counts: octaves.counts },
    log2_scales: [FIRST, LAST], outcomes: COUNTED,
    counts: each(formats, ({ counts }) => counts),
    safe_powers: each(formats, ({ losing }) => each(losing, ({ window }) => (window ? window.powers : [null, null]))),
    tensors: tensors.map((tensor) => ({ name: tensor.name, size: tensor.size, steps: each(tensor.formats, ({ steps }) => steps.map(stepCounts)) })),
  };
  const written = Object.entries(parts).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${written.join(",\n")}\n}\n`;
}

const each = (object, convert) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, convert(value)]));
const stepCounts = ([k, underflow, overflow]) => ({ k, underflow, overflow });

// 2^k with all its digits: a power of two below 1 has as many decimals as octaves.
const exactPower = (k) => (2 ** k).toFixed(Math.max(0, -k));
