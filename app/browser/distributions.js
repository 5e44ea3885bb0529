// Distributions of many gradients, as Python counted them: nothing here counts or rounds.

import { FIRST } from "./slider.js";

// The outcomes that are counted, in the order of the counts.
export const COUNTED = ["underflow", "subnormal", "normal", "overflow"];

export class Distributions {
  constructor({ distributions, datasets, opened }) {
    this.kept = new Map(Object.entries(distributions).map(([id, text]) => [id, JSON.parse(text)]));
    this.offered = [...datasets];
    this.opened = opened;
    this.files = 0;
  }

  get(id) {
    return this.kept.get(id);
  }

  // Keep what Python counted, under the name it was asked for; a file of the reader's gets one of its own.
  take(id, text) {
    const name = id ?? `file${(this.files += 1)}`;
    this.kept.set(name, JSON.parse(text));
    if (!this.offered.includes(name)) this.offered.push(name);
    return name;
  }
}

// What a distribution shows in a format at a notch of the slider.
export function here(data, { format, k, losing }) {
  const counted = data.formats[format], place = k - FIRST;
  const [lost, subnormal, normal, over] = counted.counts[place];
  const { window, best } = counted.losing[losing];
  const inside = over === 0 && (window === null || (window.powers !== null && window.powers[0] <= k && k <= window.powers[1]));
  return { lost, over, counts: [lost, subnormal, normal, over], shares: counted.shares[place], kept: counted.kept[place], window, best, inside };
}

// The last step of a tensor that is not beyond a notch: [k, lost, overflowing, share lost].
export function stepAt(steps, k) {
  return steps.findLast(([from]) => from <= k);
}
